//! Parses any text as a DSN: values are in range, and no message or debug text contains a password.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use token_bucket::dsn::{Address, Dsn, Target, Topology, sanitize};
use token_bucket::settings::{MAX_PREFIX, MAX_TIMEOUT_MS};

/// Both halves of the password. The fuzzer chooses what is between them.
const SECRET: [&str; 2] = ["Zq7vS", "Kx9wJ"];
/// The placeholder of the password in the text.
const HERE: &str = "$";

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    /// The DSN with a password where one may stand.
    Secret {
        scheme: u8,
        user: &'a str,
        between: &'a str,
        rest: &'a str,
    },
    /// The password as a parameter.
    Parameter {
        between: &'a str,
        rest: &'a str,
    },
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Text(text) => {
        read(text);
    }
    Input::Secret { scheme, user, between, rest } => {
        let schemes = [
            "redis",
            "rediss",
            "redis+unix",
            "redis+cluster",
            "redis+sentinel",
            "mysql",
            "mysql+unix",
            "memcached",
            "shm",
        ];
        let scheme = schemes[usize::from(scheme) % schemes.len()];
        // The text around the password must not end it, and a password with both characters is ambiguous.
        if user.contains(['@', '/', ':', '?', '#']) || rest.contains('@') {
            return;
        }
        if between.contains('@') && between.contains('?') {
            return;
        }
        let text = format!("{scheme}://{user}:{HERE}@{rest}");
        hides(&text, between);
    }
    Input::Parameter { between, rest } => {
        if between.contains('&') || rest.contains('@') {
            return;
        }
        hides(&format!("redis+sentinel://h/m?sentinel_password={HERE}&{rest}"), between);
        hides(&format!("redis+sentinel://u:p@h/m?sentinel_password={HERE}&{rest}"), between);
    }
});

fn hides(text: &str, between: &str) {
    if text.replacen(HERE, "", 1).contains(HERE) || SECRET.iter().any(|half| text.contains(half)) {
        return;
    }
    let text = text.replacen(HERE, &[SECRET[0], between, SECRET[1]].concat(), 1);
    let shown = match Dsn::parse(&text) {
        Ok(dsn) => format!("{dsn:?} {}", Dsn::redact(&text)),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(SECRET.iter().all(|half| !shown.contains(half)), "{text} shows {shown}");
    read(&text);
}

fn read(text: &str) {
    let _ = (Dsn::redact(text), sanitize(text));
    let Ok(dsn) = Dsn::parse(text) else { return };
    assert_eq!(Dsn::parse(text).as_ref(), Ok(&dsn));
    let overrides = &dsn.overrides;
    assert!(overrides.prefix.as_ref().is_none_or(|prefix| prefix.len() <= MAX_PREFIX));
    for timeout in [overrides.timeout_ms, overrides.connect_timeout_ms].into_iter().flatten() {
        assert!((1..=u128::from(MAX_TIMEOUT_MS)).contains(&timeout.as_millis()));
    }
    match &dsn.target {
        Target::Array => {}
        Target::SharedMemory { name } => {
            assert!((1..=64).contains(&name.len()));
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)));
        }
        Target::Memcached { servers } => servers.iter().for_each(address),
        Target::Redis(redis) => {
            match &redis.topology {
                Topology::Single(one) => address(one),
                Topology::Cluster(nodes) => nodes.iter().for_each(address),
                Topology::Sentinel { sentinels, .. } => sentinels.iter().for_each(address),
            }
            // A user always has a password.
            assert!(redis.user.is_none() || redis.password.is_some());
            if let Some(tls) = &redis.tls {
                assert_eq!(tls.cert.is_some(), tls.key.is_some());
            }
        }
        Target::Mysql(mysql) => {
            address(&mysql.address);
            assert!(!mysql.database.is_empty());
            // Statements contain the name in backquotes.
            assert!((1..=64).contains(&mysql.table.len()));
            assert!(mysql.table.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$".contains(&b)));
        }
    }
}

fn address(address: &Address) {
    match address {
        Address::Tcp { host, port } => {
            assert!(*port > 0 && (1..256).contains(&host.len()));
            assert!(
                !host.contains(|c: char| c.is_control() || c.is_whitespace() || "@/".contains(c))
            );
        }
        Address::Unix(path) => {
            assert!(path.is_absolute() && (1..=103).contains(&path.as_os_str().len()));
        }
    }
}
