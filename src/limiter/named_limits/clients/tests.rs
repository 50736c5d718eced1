//! Lists of clients: whose line is found.

use super::*;
use proptest::prelude::*;

fn list(clients: &[&str]) -> Clients {
    let mut list = ClientList::default();
    for (line, client) in (1..).zip(clients) {
        list.add(line, client, false, Terms::Exempt).unwrap();
    }
    list.finish().unwrap()
}

fn line_of(clients: &Clients, client: &str) -> Option<u32> {
    clients.find(client.as_bytes()).map(|(_, line)| line.line)
}

#[test]
fn smallest_network_wins_and_a_client_to_the_letter_before_any() {
    let clients = list(&[
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.3",
        "2001:db8::/32",
        "2001:db8:1:2::/64",
        "anna",
        "::/0",
    ]);
    for (client, line) in [
        ("10.2.0.1", Some(1)),
        ("10.1.9.9", Some(2)),
        ("10.1.2.3", Some(3)),
        ("10.1.2.3:4711", Some(3)),
        ("::ffff:10.1.2.3", Some(3)),
        ("10.1.2.4", Some(2)),
        ("11.0.0.1", None),
        ("10.0.0.0/8", Some(1)),
        ("10.0.0.0/7", None),
        ("2001:db8:1:2::5", Some(5)),
        ("2001:DB8:1:2::/64", Some(5)),
        ("2001:db8:1:2::/63", Some(4)),
        ("2001:db8:ffff::/64", Some(4)),
        ("fe80::1%eth0", Some(7)),
        ("anna", Some(6)),
        ("Anna", None),
        ("10.1.2.3 anna", None),
        ("", None),
    ] {
        assert_eq!(line_of(&clients, client), line, "{client}");
    }
}

#[test]
fn numbers_are_those_of_the_line() {
    let mut list = ClientList::default();
    let numbers = |count, interval| Terms::Numbers { count, interval };
    let said = [numbers(1, None), numbers(2, Some(60.0)), Terms::Exempt, numbers(3, Some(0.5))];
    for (line, terms) in (1..).zip(said) {
        list.add(line, &format!("c{line}"), false, terms).unwrap();
    }
    let clients = list.finish().unwrap();
    for (line, terms) in (1..).zip(said) {
        let found = clients.find(format!("c{line}").as_bytes());
        assert_eq!(found, Some((Precision::Name, ClientLine { line, terms })));
    }
    assert_eq!(clients.count(), 4);
    let mut lines: Vec<u32> = clients.extremes().iter().map(|it| it.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [1, 1, 2, 2, 4, 4], "an exempt client has no number");
}

fn network() -> impl Strategy<Value = (u32, u32)> {
    // Few addresses, so that networks hold each other.
    (0..32u32, 24..=32u32).prop_map(|(low, bits)| (0x0a00_0000 | low << 3, bits))
}

proptest! {
    #[test]
    fn network_that_is_found_is_the_smallest_of_all_that_hold_the_client(
        networks in prop::collection::vec(network(), 0..40),
        (client, client_bits) in network(),
    ) {
        let text = |(address, bits): (u32, u32)| {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            format!("{}/{bits}", std::net::Ipv4Addr::from_bits(address & mask))
        };
        let mut texts: Vec<String> = networks.into_iter().map(text).collect();
        texts.sort();
        texts.dedup();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let client = text((client, client_bits));
        let parse = |text: &str| Network::parse(text.as_bytes()).unwrap();
        let holding = texts.iter().zip(1..).filter(|(it, _)| parse(it).holds(&parse(&client)));
        let expected = holding.max_by_key(|(it, _)| parse(it).prefix().0).map(|(_, line)| line);
        prop_assert_eq!(line_of(&list(&texts), &client), expected);
    }
}
