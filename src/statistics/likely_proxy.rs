//! Notices a limit that probably counts all clients of a proxy as one: nearly all of its denials are of one private address.

use super::limit_statistics::LimitStatistics;
use crate::address::{UNKNOWN, is_private};
use crate::dsn::sanitize;
use std::collections::HashMap;

/// So many denials, as they are counted by identifier, say something.
const FEWEST: u64 = 20;
/// The share of them that one client has, in percent.
const SHARE: u64 = 90;

/// Says that the limit of this name probably counts a proxy's clients as one.
pub fn describe_likely_proxy(name: &[u8], limit: &LimitStatistics) -> Option<String> {
    let mut by_client: HashMap<&str, u64> = HashMap::new();
    for (identifier, count) in &limit.denied {
        *by_client.entry(find_client(identifier).unwrap_or_default()).or_default() += *count;
    }
    let all: u64 = by_client.values().sum();
    let (client, denials) = by_client.into_iter().max_by_key(|(_, denials)| *denials)?;
    let share = denials.saturating_mul(100).checked_div(all).unwrap_or(0);
    if all < FEWEST || share < SHARE || client.is_empty() {
        return None;
    }
    let (what, proxy) = match client {
        UNKNOWN => ("clients without an address", "unix:"),
        client => (client, client),
    };
    let name = String::from_utf8_lossy(name);
    let of_limit = match &*name {
        "" => "limits of addresses".to_owned(),
        name => format!("limit \"{}\"", sanitize(name)),
    };
    Some(format!(
        "{share} % of the denials of the {of_limit} are of {what}. If that is a proxy, all its clients count as one: name \
         it, client_address($_SERVER, ['{proxy}'])"
    ))
}

/// The client in an identifier, if it is a private address or network, or one without an address: all of the identifier, or
/// what stands behind a colon, up to a space.
fn find_client(identifier: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(identifier).ok()?;
    let parts = text.match_indices(':').filter_map(|(at, _)| text.get(at + 1..));
    let mut clients = [text].into_iter().chain(parts).filter_map(|part| part.split(' ').next());
    clients.find(|client| *client == UNKNOWN || is_private(client.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(denied: &[(&str, u64)]) -> Option<String> {
        let denied = denied.iter().map(|(id, count)| (id.as_bytes().to_vec(), *count)).collect();
        describe_likely_proxy(b"login", &LimitStatistics { denied, ..Default::default() })
    }

    #[test]
    fn private_client_with_nearly_all_denials_is_reported() {
        for (proxy, denied) in [
            ("10.0.0.5", &[("login:10.0.0.5", 20)][..]),
            (
                "10.0.0.5",
                &[("login:10.0.0.5 joe", 10), ("login:10.0.0.5 ann", 8), ("login:192.0.2.1", 2)],
            ),
            ("fd00:1::/64", &[("login:fd00:1::/64 joe", 30)]),
            ("127.0.0.1", &[("127.0.0.1", 30)]),
            ("unix:", &[("login:unknown", 30)]),
        ] {
            let text = describe(denied).unwrap();
            assert!(text.ends_with(&format!("client_address($_SERVER, ['{proxy}'])")), "{text}");
        }
    }

    #[test]
    fn attacker_and_several_private_clients_are_not() {
        for denied in [
            &[("login:192.0.2.1", 1_000)][..],
            &[("login:10.0.0.5", 19)],
            &[("login:10.0.0.5", 89), ("login:192.0.2.1", 11)],
            &[("login:10.0.0.5", 50), ("login:10.0.0.6", 50)],
            &[("login:joe", 100)],
            &[],
        ] {
            assert_eq!(describe(denied), None, "{denied:?}");
        }
    }
}
