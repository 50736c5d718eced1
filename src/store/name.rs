//! The name under which a server knows a bucket.

use super::Key;
use sha2::{Digest, Sha256};

/// The longest name that is sent as it is, in bytes.
const READABLE: usize = 200;

/// The name of a key: the key itself where it is short and of harmless characters, which an
/// operator can read; else `h:` and a hash. `w:` stands before that of a window. So nothing of a
/// client's making reaches a protocol unescaped.
///
/// The hash is half a SHA-256. It has no secret, for all hosts must make the same; to find a
/// name that shares a given client's bucket takes 2¹²⁸ tries.
pub fn of(key: &Key<'_>) -> Vec<u8> {
    of_characters(key, |byte| byte.is_ascii_alphanumeric() || b"._:@/-".contains(&byte))
}

/// The name of a key as that of a row in a table: as [`of`], but all that can be printed may stand as it
/// is, so that rows of the classic table are found again. It must not be quoted but encoded.
pub fn of_row(key: &Key<'_>) -> Vec<u8> {
    // Tables do not tell apart names that differ in spaces at their end.
    let ends_in_space =
        key.parts.iter().rfind(|part| !part.is_empty()).is_some_and(|part| part.ends_with(b" "));
    of_characters(key, |byte| byte.is_ascii_graphic() || byte == b' ' && !ends_in_space)
}

fn of_characters(key: &Key<'_>, harmless: impl Fn(u8) -> bool) -> Vec<u8> {
    let plain = key.to_vec();
    // What begins like a hash or a window is hashed too, or a client could name another's.
    // Whatever its case, which a table may not tell apart.
    let marked = matches!(plain.as_slice(), [b'h' | b'H' | b'w' | b'W', b':', ..]);
    let readable = (1..=READABLE).contains(&plain.len()) && !marked;
    let name = match readable && plain.iter().all(|byte| harmless(*byte)) {
        true => plain,
        false => {
            let digest = Sha256::digest(&plain);
            let half = digest.first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
            format!("h:{half:032x}").into_bytes()
        }
    };
    match key.window {
        true => [b"w:", name.as_slice()].concat(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::KeyHash;
    use std::cell::Cell;

    fn name(parts: [&[u8]; 4]) -> String {
        named(parts, false)
    }

    fn named(parts: [&[u8]; 4], window: bool) -> String {
        let key_hash = Cell::new(KeyHash::default());
        String::from_utf8(of(&Key {
            parts,
            key_hash: &key_hash,
            window,
            evicted: Cell::new(false),
        }))
        .unwrap()
    }

    #[test]
    fn readable_where_harmless() {
        assert_eq!(name([b"tb:", b"login", b":", b"2001:db8::1"]), "tb:login:2001:db8::1");
        let longest = [b'a'; 197];
        assert_eq!(name([b"tb:", &longest, b"", b""]).len(), 200);
    }

    #[test]
    fn windows_have_a_space_of_their_own() {
        assert_eq!(named([b"tb:", b"x", b"", b""], true), "w:tb:x");
        assert!(named([b"tb:", b"a b", b"", b""], true).starts_with("w:h:"));
        assert_ne!(named([b"", b"w:x", b"", b""], false), named([b"", b"x", b"", b""], true));
    }

    #[test]
    fn hashed_where_not() {
        let hashes = [
            name([b"tb:", b"a b", b"", b""]),
            name([b"tb:", b"a\r\nflush_all", b"", b""]),
            name([b"tb:", b"{tag}", b"", b""]),
            name([b"", b"h:00000000000000000000000000000000", b"", b""]),
            name([b"", b"w:tb:x", b"", b""]),
            name([b"", b"", b"", b""]),
            name([b"tb:", &[b'a'; 198], b"", b""]),
        ];
        for (i, hash) in hashes.iter().enumerate() {
            assert!(hash.starts_with("h:") && hash.len() == 34, "{hash}");
            assert!(hashes.iter().skip(i + 1).all(|other| other != hash));
        }
        // As every host must make it, whatever the version: printf 'tb:a b' | sha256sum
        assert_eq!(hashes[0], "h:57696ce0495826e48cd396e06dc81657");
    }
}
