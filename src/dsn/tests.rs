//! DSNs: what each kind means, and the errors of wrong ones.

use super::*;
use crate::settings::OnError;
use std::time::Duration;

fn refused(dsn: &str) -> String {
    Dsn::parse(dsn).unwrap_err().to_string()
}

fn target(dsn: &str) -> Target {
    Dsn::parse(dsn).unwrap().target
}

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.into(), port }
}

fn redis(dsn: &str) -> RedisTarget {
    match target(dsn) {
        Target::Redis(redis) => redis,
        other => panic!("{other:?}"),
    }
}

#[test]
fn local_stores_need_no_address() {
    let shm = |name: &str| Target::SharedMemory { name: name.into() };
    assert_eq!(target("shm:"), shm("default"));
    assert_eq!(target("shm:a-B_9"), shm("a-B_9"));
    assert_eq!(target("array:"), Target::Array);
    let prefix = |dsn| Dsn::parse(dsn).unwrap().overrides.prefix;
    assert_eq!(prefix("array:?"), None);
    assert_eq!(prefix("array:?prefix="), Some(vec![]));
    assert_eq!(prefix("array:?prefix=a%00%26b"), Some(b"a\0&b".to_vec()));
}

#[test]
fn redis_dsn_is_parsed_in_every_form() {
    let plain = redis("redis://localhost");
    assert_eq!(plain.topology, Topology::Single(tcp("localhost", 6379)));
    assert_eq!((plain.user, plain.password, plain.database, plain.tls), (None, None, 0, None));

    let full = redis("rediss://joe:p%40ss:word@[::1]:7000/5?ca=/a.pem&cert=/b.pem&key=/c.pem");
    assert_eq!(full.topology, Topology::Single(tcp("::1", 7000)));
    assert_eq!(full.user.as_deref(), Some("joe"));
    assert_eq!(full.password, Some(Secret("p@ss:word".into())));
    assert_eq!(full.database, 5);
    assert_eq!(full.tls.unwrap().ca, Some("/a.pem".into()));

    let socket = redis("redis+unix://:secret@/run/redis.sock?db=2");
    assert_eq!(socket.topology, Topology::Single(Address::Unix("/run/redis.sock".into())));
    assert_eq!((socket.user, socket.database), (None, 2));

    let nodes = vec![tcp("a", 6379), tcp("b", 7001)];
    assert_eq!(redis("redis+cluster://a,b:7001").topology, Topology::Cluster(nodes));
    assert!(redis("rediss+cluster://a").tls.is_some());

    let sentinel = redis("redis+sentinel://:pw@a,b:5000/main/3?sentinel_password=x");
    assert_eq!(sentinel.database, 3);
    let sentinels = vec![tcp("a", 26379), tcp("b", 5000)];
    let (master, password) = ("main".into(), Some(Secret("x".into())));
    assert_eq!(sentinel.topology, Topology::Sentinel { sentinels, master, password });
}

#[test]
fn memcached_dsn_is_parsed_in_every_form() {
    let servers = vec![tcp("10.0.0.1", 11211), tcp("10.0.0.2", 11212)];
    assert_eq!(target("memcached://10.0.0.1,10.0.0.2:11212"), Target::Memcached { servers });
    let servers = vec![Address::Unix("/run/m.sock".into())];
    assert_eq!(target("memcached+unix:///run/m.sock"), Target::Memcached { servers });
}

#[test]
fn mysql_dsn_is_parsed_in_every_form() {
    let mysql = |dsn: &str| match target(dsn) {
        Target::Mysql(mysql) => mysql,
        other => panic!("{other:?}"),
    };
    let plain = mysql("mysql://joe:s%40@db/limits");
    assert_eq!((plain.address, plain.user.as_str()), (tcp("db", 3306), "joe"));
    assert_eq!((plain.password, plain.database.as_str()), (Secret("s@".into()), "limits"));
    assert_eq!((plain.table.as_str(), plain.tls), ("token_bucket", None));
    assert_eq!(mysql("mysql://joe@db:3307/d?table=t_1$").table, "t_1$");
    assert_eq!(mysql("mysql://joe@db/d?tls=1").tls, Some(Tls::default()));
    let tls = mysql("mysql://joe@db/d?ca=/a&cert=/c&key=/k").tls.unwrap();
    assert_eq!((tls.ca, tls.cert), (Some("/a".into()), Some("/c".into())));
    let socket = mysql("mysql+unix://joe:pw@/run/m.sock?db=d");
    assert_eq!(socket.address, Address::Unix("/run/m.sock".into()));
    assert_eq!((socket.database.as_str(), socket.table.as_str()), ("d", "token_bucket"));
    for (dsn, why) in [
        ("mysql://db/d", "mysql://user:password@host[:port]/database"),
        ("mysql://joe@a,b/d", "mysql://user:password@host"),
        ("mysql://joe@db", "must name a database: mysql://host/database"),
        ("mysql+unix://joe@/run/m.sock", "must name a database: \"?db=database\""),
        ("mysql://joe@db/d?table=a`b", "\"table\" must be 1 to 64 letters"),
        ("mysql://joe@db/d?table=", "\"table\" must be 1 to 64 letters"),
        ("mysql://joe@db/d?tls=0", "\"tls\" must be 1"),
        ("mysql://joe@db/d?cert=/c", "given together"),
        ("mysql+unix://joe@/run/m.sock?ca=/a", "known are: prefix, on_error"),
    ] {
        assert!(refused(dsn).contains(why), "{}", refused(dsn));
    }
}

#[test]
fn every_store_has_the_common_parameters() {
    let dsn = "redis://h?on_error=throw&timeout_ms=7&connect_timeout_ms=60000";
    let overrides = Dsn::parse(dsn).unwrap().overrides;
    assert_eq!(overrides.on_error, Some(OnError::Throw));
    assert_eq!(overrides.timeout_ms, Some(Duration::from_millis(7)));
    assert_eq!(overrides.connect_timeout_ms, Some(Duration::from_secs(60)));
}

#[test]
fn error_names_what_is_not_accepted() {
    assert!(
        refused("mariadb://h/d")
            .contains("\"mariadb:\" in the storage DSN (mysql: is for MariaDB, too)")
    );
    assert!(refused("127.0.0.1:6379").contains("(redis://ADDRESS:PORT is a Redis there)"));
    assert_eq!(refused("array:?enforce=1&enforce=0"), "DSN parameter \"enforce\" is given twice",);
    assert!(refused("reddis://h").starts_with("Unknown scheme \"reddis:\" in the storage DSN"));
    let listed = refused("");
    for scheme in ["shm:", "array:", "rediss+cluster:", "rediss+sentinel:", "mysql+unix:"] {
        assert!(listed.contains(scheme), "{listed}");
    }
    assert!(refused("").starts_with("The storage DSN must begin with a scheme"));
    assert_eq!(
        refused("shm:?prefx=a"),
        "Unknown parameter \"prefx\" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, \
         connect_timeout_ms"
    );
    assert!(refused("redis://h?ca=/x").contains("Unknown parameter \"ca\""));
    assert!(refused("shm:../etc").contains("must be 1 to 64 letters"));
    assert!(refused(&format!("shm:{}", "a".repeat(65))).contains("..."));
    assert!(refused("array:x").contains("nothing after the colon"));
    assert!(refused(&format!("array:?prefix={}", "x".repeat(65))).contains("at most 64 bytes"));
    assert!(refused("redis:host").contains("redis://[user:password@]host"));
    assert!(refused("redis://").contains("must name a host"));
    assert!(refused(&format!("redis://{}", "h".repeat(256))).contains("must name a host"));
    assert!(refused("redis://a,b").contains("redis://[user:password@]host"));
    assert!(refused("unix:///run/redis.sock").contains("is redis+unix:///path/to/socket"));
    assert!(refused("redis:///run/x").contains("is redis+unix://[user:password@]/path/to/socket"));
    assert!(refused("redis://:pw@/run/x").contains("is redis+unix://"));
    assert!(refused("memcached:///run/x").contains("is memcached+unix:///path/to/socket"));
    assert!(refused("mysql://joe@/run/x").contains("is mysql+unix://user:password@/path"));
    assert!(refused("REDIS://h").contains("(write \"redis:\")"));
    assert!(refused(" Redis+Unix:///x").contains("(write \"redis+unix:\")"));
    assert!(refused("redis://h/x").contains("must be a number"));
    assert!(refused("redis://h:0").contains("between 1 and 65535"));
    assert!(!refused("redis://h:70000").contains("IPv6"));
    assert!(refused("redis://2001:db8::5").contains("an IPv6 address stands in brackets"));
    assert!(refused("redis://::1").contains("in brackets"));
    assert!(refused("redis+sentinel://a").contains("master_name"));
    assert!(refused("redis+cluster://a/1").contains("redis+cluster://"));
    assert!(refused("redis+unix://run/x").contains("/path/to/socket"));
    assert!(refused("memcached://u:p@a").contains("memcached://h1"));
    assert!(refused("redis://h?on_error=fail").contains("\"fallback\", \"open\""));
    assert!(refused("redis://h?timeout_ms=0").contains("between 1 and 60000"));
    assert!(refused("rediss://h?cert=/x").contains("given together"));
    assert!(refused("rediss://h?ca=x").contains("absolute path"));
    assert_eq!(sanitize("a\0\u{e9}"), "a\\u{0}\\u{e9}");
}

#[test]
fn no_message_shows_a_password() {
    let wrong = [
        "redis://u:s3cret@h:99999",
        "redis://u:s3?cret@h",
        "redis://u:s3/cret@h?x=s3cret",
        "redis://s3cret@h",
        "redis+unix://:s3cret@run?db=s3cret",
        "redis//u:s3cret@h",
        "s3cret@h:6379",
        "shm://u:s3cret@h",
        "redis://u:p@ss?s3cret=@h",
        "redis+sentinel://h/m?sentinel_password=p&s3cret",
    ];
    for dsn in wrong {
        let message = refused(dsn);
        assert!(!message.contains("s3") && !message.contains("cret@"), "{dsn}: {message}");
    }
    let dsn = Dsn::parse("redis+sentinel://u:s3cret@h/m?sentinel_password=s3cret").unwrap();
    assert!(!format!("{dsn:?}").contains("s3cret"));
    assert_eq!(
        Dsn::redact(
            "redis+sentinel://u:s3cret@h/m?sentinel_password=s3cret&prefix=a&sentinel_password=s3cret"
        ),
        "redis+sentinel://***@h/m?sentinel_password=***&prefix=a&sentinel_password=***"
    );
    assert_eq!(
        Dsn::redact("redis+sentinel://u:s3cret@h/m?sentinel_password=s3@cret&prefix=a"),
        "redis+sentinel://***@h/m?sentinel_password=***&prefix=a"
    );
    assert_eq!(Dsn::redact("shm:x?prefix=a"), "shm:x?prefix=a");
}

#[test]
fn zone_of_an_ipv6_address_is_written_with_or_without_25_and_is_no_encoded_byte() {
    for (written, host) in [
        ("[fe80::1%eth0]", "fe80::1%eth0"),
        ("[fe80::1%25eth0]", "fe80::1%eth0"),
        ("[fe80::1%ec2]", "fe80::1%ec2"),
    ] {
        let found = redis(&format!("redis://{written}:7000"));
        assert_eq!(found.topology, Topology::Single(tcp(host, 7000)), "{written}");
    }
}
