//! Any bytes as identifiers: their names on servers are harmless, and no two keys share a name.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::cell::{Cell, LazyCell};
use std::net::Ipv6Addr;
use std::rc::Rc;
use token_bucket::dsn::{Address, RedisTarget, Target, Topology};
use token_bucket::guard::Stores;
use token_bucket::identifier::{Identifier, client_identifier};
use token_bucket::limiter::{InferredName, infer_name};
use token_bucket::mapped::FileSettings;
use token_bucket::store::{Key, KeyHash, LimitKind, RemoteStore, key_name, row_name};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    prefix: &'a [u8],
    first: (&'a [u8], &'a [u8], u8),
    second: (&'a [u8], &'a [u8], u8),
    cut: usize,
}

thread_local! {
    static CLUSTER: LazyCell<Rc<dyn RemoteStore>> = LazyCell::new(|| {
        let node = Address::Tcp { host: "127.0.0.1".into(), port: 1 };
        let topology = Topology::Cluster(vec![node]);
        let target = RedisTarget { topology, user: None, password: None, database: 0, tls: None };
        let opened = Stores::default().get(&Target::Redis(target), &FileSettings::default());
        opened.remote.expect("a store on servers").0
    });
}

fuzz_target!(|input: Input<'_>| {
    let Input { prefix, first, second, cut } = input;
    let keys = [first, second].map(|(name, id, kind)| {
        let kind = LimitKind::ALL[usize::from(kind) % LimitKind::ALL.len()];
        check_inferred_name(Identifier::Client { name, id });
        check_inferred_name(Identifier::Plain(id));
        // Each as an identifier, and as the client of an application.
        [([prefix, id].concat(), kind), ([prefix, &client_identifier(name, id)].concat(), kind)]
    });
    for (name, kind) in keys.as_flattened() {
        assert_harmless(name, *kind, cut);
    }
    for ([plain, client], [other, other_client]) in [(&keys[0], &keys[1])] {
        assert_apart(plain, other);
        assert_apart(client, other_client);
        assert_apart(plain, other_client);
        // Keys that differ in their kind only.
        for (one, another) in LimitKind::ALL.iter().zip(&LimitKind::ALL[1..]) {
            assert_apart(&(plain.0.clone(), *one), &(plain.0.clone(), *another));
            assert_apart(&(plain.0.clone(), *one), &(other.0.clone(), *another));
        }
    }
    // An identifier that looks like a name does not get that name.
    let (name, kind) = &keys[0][0];
    for called in [with_key(&[name], *kind, key_name), with_key(&[name], *kind, row_name)] {
        for other in LimitKind::ALL {
            assert_apart(&(called.clone(), other), &(name.clone(), *kind));
        }
    }
    if (first.0, first.1) != (second.0, second.1) {
        assert_ne!(client_identifier(first.0, first.1), client_identifier(second.0, second.1));
    }
});

fn with_key<R>(parts: &[&[u8]], kind: LimitKind, look: impl FnOnce(&Key<'_>) -> R) -> R {
    let (key_hash, mut all) = (Cell::new(KeyHash::default()), [&b""[..]; 4]);
    // Without a prefix, which also stands before a hash.
    all.iter_mut().skip(1).zip(parts).for_each(|(to, from)| *to = from);
    look(&Key { parts: all, key_hash: &key_hash, kind })
}

/// Two keys have one name only if they are the same.
fn assert_apart(a: &(Vec<u8>, LimitKind), b: &(Vec<u8>, LimitKind)) {
    for make in [key_name, row_name] {
        let [one, other] = [a, b].map(|(name, kind)| with_key(&[name], *kind, make));
        assert_eq!(one == other, a == b, "{a:?} and {b:?} are {:?}", String::from_utf8_lossy(&one));
        // Nor where a table does not distinguish case, or spaces at the end.
        let fold = |name: &[u8]| name.trim_ascii_end().to_ascii_lowercase();
        if fold(&one) == fold(&other) {
            assert!(a.1 == b.1 && fold(&a.0) == fold(&b.0), "{a:?} and {b:?}");
        }
    }
}

fn assert_harmless(name: &[u8], kind: LimitKind, cut: usize) {
    let called = with_key(&[name], kind, key_name);
    assert!((1..=250).contains(&called.len()), "more than memcached takes");
    assert!(called.iter().all(|b| b.is_ascii_alphanumeric() || b"._:@/-{}#".contains(b)));
    let row = with_key(&[name], kind, row_name);
    assert!((1..=255).contains(&row.len()), "more than the column takes");
    assert!(row.iter().all(|b| (b' '..=b'~').contains(b)) && !row.ends_with(b" "));
    // The name does not depend on the parts.
    let (head, tail) = name.split_at(cut % (name.len() + 1));
    for parts in [[head, b"", tail], [b"", head, tail], [head, tail, b""]] {
        assert_eq!(with_key(&parts, kind, key_name), called);
        assert_eq!(with_key(&parts, kind, row_name), row);
    }
    let breaker = CLUSTER.with(|store| with_key(&[name], kind, |key| store.breaker(key)));
    assert_eq!(breaker, u64::from(crc16(hashed_part(&called)) % 16384 / 512));
}

/// What a cluster hashes of a name: the part between the first `{` and the `}` after it, unless that is
/// empty.
fn hashed_part(name: &[u8]) -> &[u8] {
    let (_, behind) = split(name, b'{').unwrap_or_default();
    match split(behind, b'}') {
        Some((tag @ [_, ..], _)) => tag,
        _ => name,
    }
}

/// The parts before and behind the first of these bytes.
fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let mut parts = bytes.splitn(2, |byte| *byte == at);
    Some((parts.next()?, parts.next()?))
}

/// CRC-16/XMODEM, bit by bit, as the cluster's specification has it.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
        })
    })
}

/// Compares the inferred name with one that is computed in a simpler way.
fn check_inferred_name(identifier: Identifier<'_>) {
    let (Identifier::Client { name: text, .. } | Identifier::Plain(text)) = identifier;
    let first = text.split(|byte| *byte == b':').next().unwrap_or_default();
    let bare = !text.contains(&b':');
    let number = first.first().is_some_and(u8::is_ascii_digit)
        && first.iter().all(|b| b.is_ascii_digit() || b"./".contains(b));
    // Of a network, in a zone, or with a port.
    let address = text.split(|b| b"/%".contains(b)).next().unwrap_or_default();
    let address = std::str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
        || number && first.contains(&b'.');
    let (name, is_whole_identifier) =
        if bare && number || address { (&b""[..], false) } else { (first, bare) };
    let expected = InferredName { name, is_whole_identifier };
    assert_eq!(infer_name(identifier), expected, "{:?}", String::from_utf8_lossy(text));
}
