//! A file of clients: a line each, `client = limit`, `client = limit / interval`, or `client = none`.

use super::clients::{ClientList, Clients, Terms};
use super::mistake::{FileError, mistake};

/// What a line must be.
const FORM: &str = "must be client = limit, client = limit / interval, or client = none";
const QUOTES: &str =
    "a client with spaces, control characters, or what looks like a network needs \"quotes\"";

/// A client, whether it stands in quotes, and its terms.
type Line<'a> = (&'a str, bool, Terms);

/// Reads a file of clients. Empty lines, and those that begin with `;` or `#`, say nothing.
///
/// # Errors
///
/// The first line with a mistake, or a client that is there twice.
pub fn read(text: &[u8]) -> Result<Clients, FileError> {
    let mut list = ClientList::default();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let text = std::str::from_utf8(text).map_err(|_| mistake(line, "must be UTF-8"))?;
        let text = text.trim();
        if text.is_empty() || text.starts_with([';', '#']) {
            continue;
        }
        let (client, is_quoted, terms) = parse(text).map_err(|what| mistake(line, what))?;
        list.add(line, client, is_quoted, terms)?;
    }
    list.finish()
}

fn parse(line: &str) -> Result<Line<'_>, &'static str> {
    let (client, is_quoted, terms) = match line.strip_prefix('"') {
        Some(rest) => {
            let (client, rest) = rest.split_once('"').ok_or(FORM)?;
            (client, true, rest.trim_start().strip_prefix('=').ok_or(FORM)?)
        }
        None => {
            let line = line.split_once([' ', '\t']).map_or(line, |(client, rest)| {
                // A comment begins after a space.
                let comment = rest.find(';').unwrap_or(rest.len());
                line.get(..client.len() + 1 + comment).unwrap_or(line)
            });
            // The last one: a client may have others.
            let (client, terms) = line.rsplit_once('=').ok_or(FORM)?;
            (client.trim_end(), false, terms)
        }
    };
    if !is_quoted && client.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err(QUOTES);
    }
    let terms = terms.split(';').next().unwrap_or_default().trim();
    Ok((client, is_quoted, parse_terms(terms).ok_or(FORM)?))
}

fn parse_terms(text: &str) -> Option<Terms> {
    // As php.ini has it.
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if text == "none" {
        return Some(Terms::Exempt);
    }
    let (count, interval) = match text.split_once('/') {
        Some((count, interval)) => (count.trim_end(), Some(interval.trim_start())),
        None => (text, None),
    };
    let interval = interval.map(str::parse).transpose().ok()?;
    Some(Terms::Numbers { count: count.parse().ok()?, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(text: &str) -> String {
        let FileError { line, message } = read(text.as_bytes()).err().unwrap();
        format!("line {line}: {message}")
    }

    fn terms(clients: &Clients, client: &str) -> Option<(u32, Terms)> {
        clients.find(client.as_bytes()).map(|(_, line)| (line.line, line.terms))
    }

    #[test]
    fn line_says_what_a_client_may() {
        let text = "; customers\n4711 = 1000\n\n# partners\n10.0.0.0/8=500/60 ; a = b\r\n\
                    \"a ;b = c\" = none ; monitoring\nbase64== = \"7 / 0.5\"\n";
        let clients = read(text.as_bytes()).unwrap();
        let numbers = |count, interval| Terms::Numbers { count, interval };
        assert_eq!(terms(&clients, "4711"), Some((2, numbers(1_000, None))));
        assert_eq!(terms(&clients, "10.1.2.3"), Some((5, numbers(500, Some(60.0)))));
        assert_eq!(terms(&clients, "a ;b = c"), Some((6, Terms::Exempt)));
        assert_eq!(terms(&clients, "base64=="), Some((7, numbers(7, Some(0.5)))));
        assert_eq!(terms(&clients, "base64"), None);
        assert_eq!(clients.count(), 4);
    }

    #[test]
    fn mistake_is_told_with_its_line_and_what_would_be_right() {
        for line in ["[clients]", "4711", "4711 = many", "4711 = 10 / x", "4711 = None", "\"a = 1"]
        {
            assert_eq!(message(&format!(";\n{line}\n")), format!("line 2: {FORM}"), "{line}");
        }
        assert_eq!(
            message("10.0.0.5/8 = 1"),
            "line 1: 10.0.0.5/8 has bits beyond its length: write 10.0.0.0/8"
        );
        let no_network = "is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client";
        for client in [
            "10.0.0.0/33",
            "10.0.0.256",
            "10.0.0.0/",
            "2001:db8::/129",
            "1:2:3",
            "10.0.0.0/255.0.0.0",
            "::ffff:10.0.0.0/8",
            "192.168.0.1-192.168.0.9",
            "10.1/16",
            "10.2.*",
            "[2001:db8::1]",
            "1.2.3",
            "10.0",
            "192.168.",
            "64:ff9b::/96",
        ] {
            assert_eq!(
                message(&format!("{client} = none")),
                format!("line 1: {client} {no_network}")
            );
        }
        let quoted =
            read(b"\"aa:bb:cc:00:11:22\" = 1\n\"10.0.0.0/8\" = 2\nrelease-1.2.3 = 3").unwrap();
        assert_eq!(terms(&quoted, "aa:bb:cc:00:11:22").unwrap().0, 1);
        assert_eq!(terms(&quoted, "10.9.9.9").unwrap().0, 2, "a network in quotes is one");
        let twice = "this client is already in line 1";
        assert_eq!(message("a = 1\nb = 1\na = 2"), format!("line 3: {twice}"));
        assert_eq!(message("10.0.0.0/8 = 1\n::ffff:10.0.0.0/104 = 1"), format!("line 2: {twice}"));
        assert_eq!(message(" = 1"), "line 1: a client must have 1 to 4096 bytes");
        assert_eq!(read(b"a = 1\n\xff = 1").err().unwrap().line, 2);
        let many: String = (0..=100_000).map(|n| format!("c{n} = 1\n")).collect();
        assert_eq!(message(&many), "line 100001: must have at most 100000 clients");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(text: Vec<u8>, like in "([0-9a-f:./\"=; \n#]{0,9}(= ?(none|[0-9]{1,3}))?\n){0,9}") {
            for text in [text.as_slice(), like.as_bytes()] {
                if let Ok(clients) = read(text) {
                    for client in text.split(|byte| b"=\n ".contains(byte)) {
                        let _ = clients.find(client);
                    }
                    prop_assert!(clients.extremes().len() <= 2 * clients.count());
                }
            }
        }
    }
}
