//! The name that a limit without one is counted by, inferred from an identifier.

use crate::identifier::Identifier;
use std::net::Ipv6Addr;

/// The name that a limit without one is counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InferredName<'a> {
    /// The name; empty where the identifier has none.
    pub name: &'a [u8],
    /// Whether the name is the whole identifier. It may be a client's then.
    pub is_whole_identifier: bool,
}

/// Infers the name of a limit from an identifier, for a client of an application from the application's: the part
/// before the first colon.
///
/// An address has no name, nor has an identifier that is a number: they are a client's.
#[inline]
pub fn infer_name(identifier: Identifier<'_>) -> InferredName<'_> {
    let (Identifier::Client { name: text, .. } | Identifier::Plain(text)) = identifier;
    let first = up_to_colon(text);
    let is_whole_identifier = first.len() == text.len();
    let is_clients = match is_whole_identifier {
        true => is_number(first),
        false => is_ipv6(first, text) || (first.contains(&b'.') && is_number(first)),
    };
    match is_clients {
        // An empty slice of the identifier rather than b"": comparing against a dangling pointer misses the
        // fast path (make bench, consume()).
        true => {
            InferredName { name: first.get(..0).unwrap_or_default(), is_whole_identifier: false }
        }
        false => InferredName { name: first, is_whole_identifier },
    }
}

/// Whether it is digits, dots and slashes: a number, or an IPv4 address or network.
fn is_number(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
        // ASCII has `.`, `/` and the digits in a row.
        && text.iter().all(|byte| (b'.'..=b'9').contains(byte))
}

/// Whether `identifier` is an IPv6 address or network. `first` is its part before the first colon.
fn is_ipv6(first: &[u8], identifier: &[u8]) -> bool {
    if first.len() > 4 || !first.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    // Without the length of a network's prefix, and without a zone.
    let address = identifier.split(|byte| matches!(byte, b'/' | b'%')).next().unwrap_or_default();
    std::str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// The part before the first colon. Compares eight bytes at once, inline: each new object has its
/// identifier searched, and a call of the crate memchr takes longer on texts of a few bytes (`make bench`,
/// a new object's `consume()`).
#[inline]
fn up_to_colon(text: &[u8]) -> &[u8] {
    const COLONS: u64 = u64::from_le_bytes([b':'; 8]);
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, rest) = text.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        // A byte is zero where the text has a colon. The lowest set high bit marks the first zero byte.
        let word = u64::from_le_bytes(*word) ^ COLONS;
        let found = word.wrapping_sub(LOW) & !word & HIGH;
        if found != 0 {
            return text.get(..at + found.trailing_zeros() as usize / 8).unwrap_or_default();
        }
        at += 8;
    }
    let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
    text.get(..at + end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(identifier: &[u8]) -> String {
        let inferred = infer_name(Identifier::Plain(identifier));
        String::from_utf8_lossy(inferred.name).into_owned()
    }

    #[test]
    fn name_is_the_part_before_the_first_colon() {
        assert_eq!(name(b"login:192.0.2.1"), "login");
        assert_eq!(name(b"login:2001:db8::1"), "login");
        assert_eq!(name(b"api"), "api");
        assert_eq!(name(b"feed:joe"), "feed");
        assert_eq!(name(b"feed:ad:joe"), "feed");
        assert_eq!(name(b"db:17:192.0.2.1"), "db");
        assert_eq!(name(b"2fa"), "2fa");
        assert_eq!(name(b"42:joe"), "42");
        for length in 1..40 {
            let long = "n".repeat(length);
            assert_eq!(name(format!("{long}:x:y").as_bytes()), long);
            assert_eq!(name(format!("{long}\u{bb}").as_bytes()), format!("{long}\u{bb}"));
        }
    }

    #[test]
    fn numbers_and_addresses_have_no_name() {
        assert_eq!(name(b"4711"), "");
        for address in ["192.0.2.1", "2001:db8::1", "::1", "::ffff:192.0.2.1", "192.0.2.1:80"]
            .into_iter()
            .chain(["2001:db8:1:2::/64", "192.0.2.0/24", "fe80::1%eth0"])
        {
            assert_eq!(name(address.as_bytes()), "");
        }
    }

    #[test]
    fn identifier_of_an_application_is_tested_like_any_other() {
        for text in [&b"login"[..], b"a:b", b"2", b"192.0.2.1", b"2001:db8::1"] {
            let of_client = infer_name(Identifier::Client { name: text, id: b"c" });
            assert_eq!(of_client, infer_name(Identifier::Plain(text)));
        }
        let whole = InferredName { name: b"joe", is_whole_identifier: true };
        assert_eq!(infer_name(Identifier::Plain(b"joe")), whole);
    }
}
