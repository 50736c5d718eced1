//! Limits files: what they may say, and the errors of what they may not.

use super::*;
use crate::limit::{CalendarUnit, LimitError};
use crate::settings::{OnError, Settings};

/// A much simpler reader than PHP's, for lines without comments and quotes.
fn read(text: &str) -> Result<NamedLimits, FileError> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.is_empty());
    let lines: Vec<FileLine> = lines
        .map(|(line, number)| {
            let content = match line.split_once('=') {
                Some((key, value)) => {
                    LineContent::Entry(key.trim().to_owned(), value.trim().to_owned())
                }
                None => LineContent::Section(line.trim_matches(['[', ']']).to_owned()),
            };
            FileLine { number, content }
        })
        .collect();
    let clients = |name: &str| match name {
        "clients.ini" => Ok(Rc::new(ClientsFile {
            path: name.to_owned(),
            clients: read_clients(b"4711 = 1000\n10.1.0.0/16 = 7\npartner = none\n4712 = 5 / 10")
                .unwrap(),
        })),
        "numbers.ini" => Ok(Rc::new(ClientsFile {
            path: name.to_owned(),
            clients: read_clients(b"4711 = 7\nlow = 0\n10.0.0.0/8 = 0").unwrap(),
        })),
        _ => Err(format!("{name}: No such file or directory")),
    };
    let sources = Sources { is_zone: &|zone| zone == "Europe/Berlin", clients: &clients };
    NamedLimits::from_lines(&lines, &sources)
}

#[test]
fn client_has_what_its_line_says_and_the_others_have_the_limit() {
    let limits = read(
        "[a]\nlimit = 10\ninterval = 60\nexcept = 10.0.0.0/8, monitoring\nclients = clients.ini\n\
         [b]\nlike = a\n[c]\nalgorithm = concurrency\nlimit = 2\nexcept = 10.0.0.0/8 10.1.2.0/24",
    )
    .unwrap();
    let numbers = |name: &[u8], client: &str| {
        let named = limits.find(name).unwrap();
        match named.rule_for(client.as_bytes()) {
            ClientRule::Exempt(_) => None,
            ClientRule::Limited(rule) => match &*rule {
                Rule::One { count, interval, .. } => Some((*count, *interval)),
                Rule::Concurrency(limit) => Some((limit.max().into(), 0.0)),
                _ => panic!(),
            },
        }
    };
    for name in [b"a", b"b"] {
        for (client, expected) in [
            ("4711", Some((1_000, 60.0))),
            ("4712", Some((5, 10.0))),
            ("4713", Some((10, 60.0))),
            ("partner", None),
            ("monitoring", None),
            ("10.2.0.1", None),
            ("10.1.0.1", Some((7, 60.0))),
            ("10.1.0.1 anna", Some((10, 60.0))),
        ] {
            assert_eq!(numbers(name, client), expected, "{client}");
        }
    }
    assert_eq!((numbers(b"c", "10.1.2.3"), numbers(b"c", "11.1.2.3")), (None, Some((2, 0.0))));
    let exception = limits.find(b"a").unwrap().exception(b"10.1.0.1").unwrap();
    assert_eq!((exception.file.unwrap().path.as_str(), exception.said.line), ("clients.ini", 2));
    let settled_by = |identifier: &[u8]| limits.limit_on(b"a", identifier).unwrap().capacity();
    assert_eq!(
        (settled_by(b"a:4711"), settled_by(b"a:x"), settled_by(b"a:partner")),
        (1_000, 10, 10)
    );
}

#[test]
fn limit_and_each_of_its_clients_have_more_than_it_leaves() {
    let message = |leave: u32, clients: &str| {
        let text =
            format!("[a]\nlimit = 10\ninterval = 60\nleave = {leave}\n{clients}\n[b]\nlike = a\n");
        read(&text).err().map(|error| format!("{}: {}", error.line, error.message))
    };
    assert_eq!(message(9, ""), None);
    assert_eq!(message(10, "").unwrap(), "1: [a] must leave less than its limit, 10: leave is 10");
    assert_eq!(message(4, "clients = clients.ini"), None);
    let few =
        "1: [a] must leave less than its limit, which clients.ini: line 4 sets to 5: leave is 5";
    assert_eq!(message(5, "clients = clients.ini").unwrap(), few);
}

#[test]
fn mistake_about_clients_is_told_with_its_line_in_their_file() {
    let mistake = |text: &str| {
        let FileError { line, message } = read(text).err().unwrap();
        format!("{line}: {message}")
    };
    let one = "[a]\nlimit = 10\ninterval = 60\n";
    assert_eq!(
        mistake(&format!("{one}clients = gone.ini")),
        "4: clients: gone.ini: No such file or directory"
    );
    let no_capacity = LimitError::Capacity;
    assert_eq!(
        mistake(&format!("{one}clients = numbers.ini")),
        format!("4: clients: numbers.ini: line 2: limit {no_capacity}")
    );
    let interval = "clients: clients.ini: line 4: must be client = limit, because this algorithm has no interval";
    assert_eq!(
        mistake("[c]\nalgorithm = concurrency\nlimit = 2\nclients = clients.ini"),
        format!("4: {interval}")
    );
    assert_eq!(
        mistake(&format!("{one}except = 10.0.0.1/8")),
        "4: except: 10.0.0.1/8 has bits beyond its length: write 10.0.0.0/8"
    );
    assert_eq!(mistake(&format!("{one}except = a b a")), "4: except: names a client twice");
    let no_network = "is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client";
    for client in ["203.0.113", "192.168.", "10.0", "203.0.113.0\\24"] {
        let shown = sanitize(client);
        assert_eq!(
            mistake(&format!("{one}except = {client}")),
            format!("4: except: {shown} {no_network}")
        );
    }
    assert!(
        mistake(&format!("{one}except = \"10.0.0.0/8"))
            .starts_with("4: except: quotes must be around the whole value")
    );
    let alone = "a set with all can have no other key: its limits have them";
    assert_eq!(mistake(&format!("{one}[s]\nall = a\nexcept = 10.0.0.0/8")), format!("5: {alone}"));
}

#[test]
fn message_shows_no_password_of_a_misplaced_dsn() {
    // What a message cuts off tells, too.
    let dsn = format!("redis://user:s3cret{}@10.0.0.5", "x".repeat(80));
    let (long_key, long_value) = (format!("storage {dsn} ="), format!("limit = {dsn}"));
    for line in [
        "storage: redis://user:s3cret@10.0.0.5 =",
        "storage redis://user:s3cret@10.0.0.5 =",
        "redis://user:s3cret@10.0.0.5 =",
        "redis://user:s3cret@10.0.0.5?lease = 1",
        "s3cret@10.0.0.5 =",
        long_key.as_str(),
        long_value.as_str(),
        "limit = redis://user:s3cret@10.0.0.5",
        "clients = redis://user:s3cret@10.0.0.5",
        "on_error = redis://user:s3cret@10.0.0.5",
    ] {
        let error = read(&format!("[a]\n{line}\n")).err().unwrap();
        assert!(error.line == 2 && !error.message.contains("cret"), "{line}: {}", error.message);
    }
}

#[test]
fn limits_and_sets_are_found_by_name() {
    let limits = read(
        "[login]\nall = network, user\n\n[user]\nalgorithm = sliding_window\nlimit = 5\ninterval = 900\n\
         [network]\nlimit = 20\ninterval = 60.5\nstorage = array:\nenforce = off\non_error = closed\n",
    )
    .unwrap();
    let find = |name: &[u8]| limits.find(name);
    assert_eq!(limits.names().collect::<Vec<_>>(), ["login", "network", "user"]);
    let Rule::All(names) = &find(b"login").unwrap().rule else { panic!() };
    assert_eq!(names, &["network", "user"]);
    let user = find(b"user").unwrap();
    let Rule::One { algorithm, count, interval, limit } = &user.rule else { panic!() };
    assert_eq!((*algorithm, *count, *interval), (Algorithm::SlidingWindow, 5, 900.0));
    assert_eq!(limit.window(), 900_000_000_000);
    let network = find(b"network").unwrap();
    let Rule::One { algorithm, .. } = network.rule else { panic!() };
    assert_eq!((algorithm, network.storage()), (Algorithm::TokenBucket, Some("array:")));
    let mut settings = Settings::default();
    settings.override_with(network.overrides().unwrap());
    assert_eq!((settings.enforce, settings.on_error), (false, OnError::Closed));
    assert!(user.overrides().is_none());
    assert!(find(b"logi").is_none() && find(b"").is_none());
}

#[test]
fn limit_of_the_calendar_has_a_unit_and_a_time_zone() {
    let limits = read(
        "[a]\nalgorithm = calendar\nlimit = 9\nunit = month\ntimezone = Europe/Berlin\n\
         [b]\nlike = a\n[c]\nfirst = a d\n[d]\nalgorithm = calendar\nlimit = 1\nunit = hour",
    )
    .unwrap();
    for (name, expected) in [
        (b"a", (9, CalendarUnit::Month, "Europe/Berlin")),
        (b"b", (9, CalendarUnit::Month, "Europe/Berlin")),
        (b"d", (1, CalendarUnit::Hour, "UTC")),
    ] {
        let rule = &limits.find(name).unwrap().rule;
        let Rule::Calendar { count, unit, timezone } = rule else { panic!() };
        assert_eq!((*count, *unit, timezone.as_str()), expected);
    }
}

#[test]
fn limit_like_another_has_its_buckets_under_another_name() {
    let limits =
        read("[batch]\nlike = api\nleave = 20\n[api]\nlimit = 90\ninterval = 60\nstorage = array:")
            .unwrap();
    let (batch, api) = (limits.find(b"batch").unwrap(), limits.find(b"api").unwrap());
    assert_eq!((batch.key.as_str(), batch.leave, batch.storage()), ("api", 20, Some("array:")));
    assert_eq!((api.key.as_str(), api.leave), ("api", 0));
    let Rule::One { count, .. } = batch.rule else { panic!() };
    assert_eq!(count, 90);
}

#[test]
fn first_mistake_is_reported_with_its_line_and_what_is_right() {
    for (text, line, message) in [
        ("", 1, "a section must come first"),
        ("limit = 5", 1, "a section must come first"),
        ("[a b]", 1, "must be 1 to 56 letters"),
        (format!("[{}]", "a".repeat(57)).as_str(), 1, "must be 1 to 56 letters"),
        ("[a]", 1, "[a] must have limit and interval, or all"),
        ("[a]\nlimit = 5", 1, "[a] has no interval: it must have limit and interval"),
        ("[a]\ninterval = 5", 1, "[a] has no limit: it must have limit and interval"),
        ("[a]\nlimit: 5 =", 2, "must be [name] or key = value; it begins with \"limit\""),
        ("[a]\nlimit = 1,000", 2, "limit must be a whole number; it is \"1,000\""),
        ("[a]\ninterval = 5m", 2, "interval must be a number of seconds; it is \"5m\""),
        ("[a]\nrate = 5", 2, "all or first"),
        ("[a]\ntime zone = UTC", 2, "\"time zone\" is unknown"),
        ("[a]\nTime-Zone = UTC", 2, "did you mean timezone?"),
        ("[a]\nLIMIT = 5", 2, "did you mean limit?"),
        (
            "[a]\nlimits = 5",
            2,
            "\"limits\" is unknown: a key must be algorithm, limit, interval, unit, timezone, lifetime, storage, on_error, enforce, leave, except, clients, like, all or first; did you mean limit?",
        ),
        ("[a]\nlimit = five\ninterval = 1", 2, "limit must be a whole number"),
        ("[a]\nlimit = 0\ninterval = 1", 2, "limit must be between 1 and 2147483647"),
        ("[a]\nlimit = 5\ninterval = 0", 3, "interval must be greater than 0"),
        ("[a]\nlimit = 5\ninterval = nan", 3, "interval must be greater than 0"),
        ("[a]\nlimit = 5\ninterval = 1e-9", 3, "at least one nanosecond"),
        ("[a]\nalgorithm = sliding\nlimit = 5\ninterval = 1", 2, "algorithm must be token_bucket,"),
        (
            "[a]\nalgorithm = sliding_window\nlimit = 1025\ninterval = 1",
            3,
            "limit must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more",
        ),
        (
            "[a]\nlimit = 5\ninterval = 1\nlifetime = 9",
            4,
            "lifetime is for algorithm = concurrency",
        ),
        ("[a]\nalgorithm = concurrency\nlimit = 5\ninterval = 1", 1, "limit, and no interval"),
        ("[a]\nalgorithm = concurrency", 1, "must have limit"),
        ("[a]\nalgorithm = concurrency\nlimit = 1025", 3, "limit must be between 1 and 1024"),
        (
            "[a]\nalgorithm = concurrency\nlimit = 5\nlifetime = 0",
            4,
            "lifetime must be greater than 0",
        ),
        (
            "[a]\nall = b\nlifetime = 5\n[b]\nlimit = 5\ninterval = 1",
            2,
            "a set with all can have no other key",
        ),
        (
            "[a]\nall = b\n[b]\nalgorithm = concurrency\nlimit = 5",
            1,
            "[b] limits how many run at once",
        ),
        (
            "[a]\nlimit = 5\ninterval = 1\nlimit = 6",
            4,
            "limit is set twice: the first time in line 2",
        ),
        (
            "[a]\nlimit = 5\ninterval = 1\n[a]\nlimit = 5\ninterval = 1",
            4,
            "there are two sections [a]",
        ),
        ("[a]\nlimit = 5\ninterval = 1\nstorage = reddis:", 4, "storage: "),
        ("[a]\nlimit = 5\ninterval = 1\nenforce = maybe", 4, "enforce must be 0, 1, off or on"),
        ("[a]\nlimit = 5\ninterval = 1\nenforce =", 4, "enforce must be 0, 1, off or on"),
        ("[a]\nenforce = 1\nenforce = 1", 3, "enforce is set twice: the first time in line 2"),
        ("[a]\nlimit = 5\ninterval = 1\non_error = ignore", 4, "on_error must be \"fallback\""),
        ("[a]\nall = b", 1, "there is no limit [b]"),
        ("[a]\nall = b\n[b]\nall = a", 1, "[b] is a set"),
        ("[a]\nall = b b\n[b]\nlimit = 5\ninterval = 1", 1, "b is there twice"),
        (
            "[a]\nall = b\nlimit = 5\n[b]\nlimit = 5\ninterval = 1",
            2,
            "a set with all can have no other key",
        ),
        ("[a]\nall =", 2, "all must be the names"),
        (
            "[a]\nall = b\nleave = 3\n[b]\nlimit = 5\ninterval = 1",
            2,
            "a set with all can have no other key",
        ),
        ("[a]\nalgorithm = calendar\nlimit = 5", 1, "must have limit and unit, and no interval"),
        ("[a]\nalgorithm = calendar\nlimit = 5\nunit = month\ninterval = 5", 1, "and no interval"),
        ("[a]\nalgorithm = calendar\nlimit = 0\nunit = month", 3, "limit must be between 1 and"),
        ("[a]\nalgorithm = calendar\nlimit = 5\nunit = decade", 4, "unit must be \"hour\", "),
        (
            "[a]\nalgorithm = calendar\nlimit = 5\nunit = day\ntimezone = Berlin",
            5,
            "timezone must be UTC, an offset",
        ),
        ("[a]\nlimit = 5\ninterval = 1\nunit = day", 4, "unit and timezone are for algorithm"),
        ("[a]\nall = b\nunit = day", 2, "a set with all can have no other key"),
        ("[a]\nfirst = b\n[b]\nlimit = 5\ninterval = 1", 2, "first must be the names of 2 to 16"),
        ("[a]\nfirst = b c\nleave = 3", 2, "a set with first can have no other key"),
        ("[a]\nfirst = b c\nall = b c", 3, "a set with all can have no other key"),
        (
            "[a]\nfirst = b c\n[b]\nlimit = 5\ninterval = 1",
            1,
            "first must name limits of this file",
        ),
        ("[a]\nfirst = b b\n[b]\nlimit = 5\ninterval = 1", 1, "first must name each limit once"),
        ("[a]\nfirst = b c\n[b]\nall = c\n[c]\nlimit = 5\ninterval = 1", 1, "[b] is a set"),
        ("[a]\nlike = b\nfirst = b c", 2, "a limit with like can have no other key but leave"),
        ("[a]\nlimit = 5\ninterval = 1\nleave = -1", 4, "leave must be a whole number"),
        ("[a]\nlike = b", 2, "[b] is not one"),
        ("[a]\nlike = a", 2, "[a] is not one"),
        ("[a]\nlike = b\n[b]\nlike = c\n[c]\nlimit = 5\ninterval = 1", 2, "[b] is not one"),
        ("[a]\nlike = b\n[b]\nall = c\n[c]\nlimit = 5\ninterval = 1", 2, "[b] is not one"),
        (
            "[a]\nlike = b\nenforce = 0\n[b]\nlimit = 5\ninterval = 1",
            2,
            "a limit with like can have no other key but leave",
        ),
        (
            "[a]\nall = b c\n[b]\nlike = c\n[c]\nlimit = 5\ninterval = 1",
            1,
            "shares those of another one",
        ),
        ("[a]\n".repeat(1_001).as_str(), 1_001, "must have at most 1000 limits"),
    ] {
        let error = read(text).err().unwrap();
        assert_eq!(error.line, line, "{text}: {}", error.message);
        assert!(error.message.contains(message), "{text}: {}", error.message);
    }
}
