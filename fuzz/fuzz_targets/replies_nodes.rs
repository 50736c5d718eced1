//! Parses any answers about a cluster's nodes or a sentinel's master: an address is one that a DSN could
//! name, and that the answer contains.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use redis::{Parser, Value};
use std::net::IpAddr;
use token_bucket::dsn::{Address, Dsn, Target, Topology};
use token_bucket::store::{parse_map, parse_master, parse_redirection};
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::server::bytes;

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Unstructured::new(input));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let asked = match u.int_in_range(0..=3u8)? {
        0 => Address::Unix("/run/redis.sock".into()),
        1 => Address::Tcp { host: "::1".to_owned(), port: 7000 },
        _ => Address::Tcp { host: "seed".to_owned(), port: 6379 },
    };
    match u.int_in_range(0..=3u8)? {
        0 | 1 => map(u, &asked),
        2 => master(u),
        _ => redirection(u, &asked),
    }
}

/// Parses an answer as the store does.
fn parsed(answer: &[u8]) -> Option<Value> {
    Parser::new().parse_value(answer).ok()
}

fn map(u: &mut Unstructured<'_>, asked: &Address) -> Result<()> {
    let many = u.int_in_range(0..=8u8)?;
    let mut answer = match many {
        0 => bytes(u)?,
        many => format!("*{many}\r\n").into_bytes(),
    };
    for _ in 0..many {
        answer.extend(range(u)?);
    }
    let Some(answer) = parsed(&answer) else { return Ok(()) };
    let mut map = parse_map(&answer, asked).into_iter().peekable();
    for told in array(&answer) {
        let [Value::Int(first), Value::Int(last), Value::Array(node), ..] = array(told) else {
            continue;
        };
        let [host, Value::Int(port), ..] = node.as_slice() else { continue };
        let host = text(host);
        let range = map.next_if(|range| {
            (range.first.into(), range.last.into()) == (*first, *last)
                && named(&range.node, host.as_deref().unwrap_or_default(), *port, asked)
        });
        let runs = 0 <= *first && first <= last && *last < 16384;
        assert!(runs || range.is_none(), "no range of slots: {range:?}");
        if runs && host.is_some_and(|host| is_right(&host, *port)) {
            assert!(range.is_some(), "not in the map: {told:?}");
        }
    }
    assert_eq!(map.next(), None, "not in the answer, or not like this");
    Ok(())
}

fn master(u: &mut Unstructured<'_>) -> Result<()> {
    let (host, port) = (host(u)?, number(u, 1 << 17)?.to_string());
    let port = [format!("${}\r\n{port}\r\n", port.len()).into_bytes(), bytes(u)?];
    let answer = [&b"*2\r\n"[..], &host, u.choose(&port)?].concat();
    let Some(answer) = parsed(&answer) else { return Ok(()) };
    let master = parse_master(&answer);
    let told = match array(&answer) {
        [host, port] => text(host).zip(text(port).and_then(|port| port.parse().ok())),
        _ => None,
    };
    let Some((host, port)) = told else {
        assert_eq!(master, None, "not in the answer");
        return Ok(());
    };
    // A sentinel's own address is not its master's.
    let no_node = Address::Unix("".into());
    match master {
        Some(master) => assert!(named(&master, &host, port, &no_node), "{master:?}"),
        None => assert!(!is_right(&host, port), "{host:?}"),
    }
    Ok(())
}

fn redirection(u: &mut Unstructured<'_>, asked: &Address) -> Result<()> {
    let any = String::from_utf8_lossy(&bytes(u)?).into_owned();
    let host = text(&parsed(&host(u)?).unwrap_or(Value::Nil)).unwrap_or(any.clone());
    let (slot, port) = (number(u, 1 << 17)?, number(u, 1 << 17)?);
    let made = format!("{slot} {host}:{port}");
    let to = parse_redirection(&made, asked);
    if slot < 16384 && is_right(&host, port as i64) {
        let expected = (slot as u16, Address::Tcp { host, port: port as u16 });
        assert_eq!(to, Some(expected), "{made:?}");
    }
    for detail in [made, any] {
        let Some((slot, node)) = parse_redirection(&detail, asked) else { continue };
        assert!(slot < 16384, "no slot: {detail:?}");
        let (told, to) = detail.split_once(' ').expect("two words");
        let (host, port) = to.rsplit_once(':').expect("a port");
        assert_eq!(told.parse(), Ok(slot));
        assert!(named(&node, host, port.parse().expect("a port"), asked), "{node:?}");
    }
    Ok(())
}

/// Whether it is the address of this node. A node without a host of its own is the one that was asked.
fn named(node: &Address, host: &str, port: i64, asked: &Address) -> bool {
    let host = match (host, asked) {
        ("" | "?", Address::Tcp { host, .. }) => host,
        _ => host,
    };
    let dsn = format!("redis+cluster://{node}").replace('%', "%25");
    match (Dsn::parse(&dsn).map(|dsn| dsn.target), node) {
        (Ok(Target::Redis(redis)), Address::Tcp { host: called, port: at }) => {
            assert_eq!(redis.topology, Topology::Cluster(vec![node.clone()]));
            assert!(called.len() < 256, "longer than a host's name");
            called == host && i64::from(*at) == port
        }
        _ => panic!("no DSN could name {node:?}"),
    }
}

/// Whether it is certainly a valid address.
fn is_right(host: &str, port: i64) -> bool {
    let name = (1..64).contains(&host.len()) && host.bytes().all(|b| b.is_ascii_alphabetic());
    (1..65536).contains(&port) && (name || host.parse::<IpAddr>().is_ok())
}

fn array(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        _ => &[],
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}

/// A range of slots as a cluster describes it, or something else.
fn range(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut slot = || match number(u, 1 << 17)? {
        other if other >> 16 > 0 => u.arbitrary::<i64>(),
        slot => Ok((slot % 20_000) as i64),
    };
    let (first, last) = (slot()?, slot()?);
    let (host, port) = (host(u)?, number(u, 1 << 17)?);
    Ok(match u.int_in_range(0..=7u8)? {
        0 => bytes(u)?,
        1 => host,
        2 => [format!("*2\r\n:{first}\r\n:{last}\r\n").as_bytes(), &host].concat(),
        // The master, and then replicas.
        kind => {
            let slots = format!("*{kind}\r\n:{first}\r\n:{last}\r\n");
            let node = [&b"*2\r\n"[..], &host, format!(":{port}\r\n").as_bytes()].concat();
            [slots.as_bytes(), &node.repeat(usize::from(kind) - 2)].concat()
        }
    })
}

/// A host as a cluster describes it, or something else.
fn host(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const HOSTS: [&[u8]; 9] = [
        b"",
        b"?",
        b"10.0.0.1",
        b"::1",
        b"fe80::1%eth0",
        b"node-1.example",
        b"node",
        b"a b",
        b"\x1b[2J\0\r\n",
    ];
    let text = match u.int_in_range(0..=3u8)? {
        0 => bytes(u)?,
        1 => b"x".repeat(u.arbitrary::<u16>()?.into()),
        _ => u.choose(&HOSTS)?.to_vec(),
    };
    Ok(match u.int_in_range(0..=7u8)? {
        0 => b"$-1\r\n".to_vec(),
        1 => [b"+", text.as_slice(), b"\r\n"].concat(),
        _ => [format!("${}\r\n", text.len()).as_bytes(), &text, b"\r\n"].concat(),
    })
}
