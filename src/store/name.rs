//! The name under which a server knows a key.

use super::key::Key;
use super::kind::LimitKind;
use sha2::{Digest, Sha256};

/// The longest name that is sent without hashing, in bytes.
const MAX_READABLE: usize = 200;
/// What stands before a hash. No readable name on Redis or memcached has this character.
const HASH_MARK: &[u8] = b"#h";
/// The hexadecimal digits of a hash.
const HASH_DIGITS: usize = 32;

/// The name of a key on Redis and memcached: the prefix, then the identifier.
///
/// A short key of harmless characters is its own name, which an operator can read; braces are among them,
/// for the hash tags of a Redis Cluster. Any other is named by the prefix, `#h` and a hash. The kind's suffix
/// stands at the end of both. So no character that a client chose reaches a protocol unescaped, and all keys of
/// an application begin with its prefix.
///
/// The hash is half a SHA-256. It has no secret, for all hosts must make the same name; to find a key
/// that shares the name of a given one takes 2¹²⁸ tries.
pub fn key_name(key: &Key<'_>) -> Vec<u8> {
    name_with(key, |byte| byte.is_ascii_alphanumeric() || b"._:@/-{}".contains(&byte))
}

/// The name of a key as the primary key of a row.
///
/// Every printable character of ASCII stands as it is, so that rows of the legacy schema are found
/// again. The name must be sent as a parameter, never within a statement.
pub fn row_name(key: &Key<'_>) -> Vec<u8> {
    // A table does not distinguish names that differ in spaces at the end.
    let last = key.parts.iter().rfind(|part| !part.is_empty());
    let ends_in_space = last.is_some_and(|part| part.ends_with(b" "));
    name_with(key, |byte| byte.is_ascii_graphic() || byte == b' ' && !ends_in_space)
}

/// The name on Redis and memcached of a key with this prefix that no identifier has.
pub fn unused_name(prefix: &[u8]) -> Vec<u8> {
    [prefix, HASH_MARK].concat()
}

fn name_with(key: &Key<'_>, is_harmless: impl Fn(u8) -> bool) -> Vec<u8> {
    let are_harmless = |bytes: &[u8]| bytes.iter().all(|byte| is_harmless(*byte));
    let plain = key.to_vec();
    let suffix = key.kind.name_suffix();
    let is_readable = (1..=MAX_READABLE).contains(&plain.len()) && !is_marked(&plain);
    if is_readable && are_harmless(&plain) {
        return [&plain, suffix].concat();
    }
    let digest = Sha256::digest(&plain);
    let half = digest.first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
    let hash = format!("{half:0HASH_DIGITS$x}");
    let [prefix, ..] = key.parts;
    let prefix = if are_harmless(prefix) { prefix } else { b"" };
    [prefix, HASH_MARK, hash.as_bytes(), suffix].concat()
}

/// Whether a key ends like a hash, or like the name of a kind's key. It is hashed then, or a client could
/// name the key of another one. Upper case as well, which a table may not distinguish.
fn is_marked(plain: &[u8]) -> bool {
    let ends_with = |suffix: &[u8]| {
        let start = plain.len().checked_sub(suffix.len());
        let end = start.and_then(|start| plain.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    let mut suffixes = LimitKind::ALL.iter().map(|kind| kind.name_suffix());
    let without_hash = plain.len().checked_sub(HASH_DIGITS).and_then(|end| plain.get(..end));
    without_hash.is_some_and(|start| start.to_ascii_lowercase().ends_with(HASH_MARK))
        || suffixes.any(|suffix| !suffix.is_empty() && ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::KeyHash;
    use std::cell::Cell;

    fn name_of_kind(kind: LimitKind, parts: [&[u8]; 4]) -> String {
        let key_hash = &Cell::new(KeyHash::default());
        String::from_utf8(key_name(&Key { parts, kind, key_hash })).unwrap()
    }

    fn bucket(parts: [&[u8]; 4]) -> String {
        name_of_kind(LimitKind::TokenBucket, parts)
    }

    fn window(parts: [&[u8]; 4]) -> String {
        name_of_kind(LimitKind::FixedWindow, parts)
    }

    #[test]
    fn harmless_key_is_its_own_name() {
        assert_eq!(bucket([b"tb:", b"login", b":", b"2001:db8::1"]), "tb:login:2001:db8::1");
        assert_eq!(bucket([b"tb:", b"login:{192.0.2.1}", b"", b""]), "tb:login:{192.0.2.1}");
        let longest = [b'a'; 197];
        assert_eq!(bucket([b"tb:", &longest, b"", b""]).len(), 200);
    }

    #[test]
    fn names_of_windows_are_never_those_of_buckets() {
        assert_eq!(window([b"tb:", b"x", b"", b""]), "tb:x#w");
        assert!(window([b"tb:", b"a b", b"", b""]).starts_with("tb:#h"));
        assert!(window([b"tb:", b"a b", b"", b""]).ends_with("#w"));
        let row = |kind, identifier: &[u8]| {
            let (parts, key_hash) =
                ([&b""[..], identifier, b"", b""], &Cell::new(KeyHash::default()));
            row_name(&Key { parts, kind, key_hash })
        };
        for identifier in [&b"x#w"[..], b"x#W"] {
            let bucket = row(LimitKind::TokenBucket, identifier);
            assert!(bucket.starts_with(b"#h"), "{bucket:?}");
        }
        let hashed = row(LimitKind::TokenBucket, "\u{e9}".as_bytes());
        assert_ne!(row(LimitKind::TokenBucket, &hashed), hashed);
    }

    #[test]
    fn any_other_key_is_hashed() {
        let hashes = [
            bucket([b"tb:", b"a b", b"", b""]),
            bucket([b"tb:", b"a\r\nflush_all", b"", b""]),
            bucket([b"tb:", b"{a tag}", b"", b""]),
            bucket([b"tb:", b"#h00000000000000000000000000000000", b"", b""]),
            bucket([b"tb:", b"x#w", b"", b""]),
            bucket([b"tb:", &[b'a'; 198], b"", b""]),
        ];
        for (i, hash) in hashes.iter().enumerate() {
            assert!(hash.starts_with("tb:#h") && hash.len() == 37, "{hash}");
            assert!(hashes.iter().skip(i + 1).all(|other| other != hash));
        }
        // Every host and every version must make this one: printf 'tb:a b' | sha256sum
        assert_eq!(hashes[0], "tb:#h57696ce0495826e48cd396e06dc81657");
        for odd in [bucket([b"", b"", b"", b""]), bucket([b"a b", b"x", b"", b""])] {
            assert!(odd.starts_with("#h") && odd.len() == 34, "{odd}");
        }
    }
}
