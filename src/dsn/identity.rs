//! What identifies a store to the processes of a host: by it they find the breakers, denials, leases and buckets of `fallback`
//! that they share.
//!
//! Workers before and after an update share these only if both make the same bytes of a DSN. So each field has a name here that
//! no renaming in the code changes, and the tests pin the bytes.
//!
//! There is no password in them: a process with a new password shares what the others know.
//! [`passwords`](super::Target::passwords) tells the breakers apart.

use super::address::Address;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The fields of a store, each as its name, its length and its bytes: so no two stores make the same bytes.
pub struct Identity(Vec<u8>);

impl Identity {
    /// Begins with the kind of store.
    pub fn new(store: &str) -> Self {
        Self(Vec::new()).with("store", store.as_bytes())
    }

    /// With a field.
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        self.0.extend(format!("{name}={}:", value.len()).as_bytes());
        self.0.extend(value);
        self.0.push(b';');
        self
    }

    /// With the address of a server.
    pub fn with_address(self, address: &Address) -> Self {
        match address {
            Address::Tcp { host, port } => {
                self.with("host", host.as_bytes()).with("port", port.to_string().as_bytes())
            }
            Address::Unix(path) => self.with("socket", path.as_os_str().as_bytes()),
        }
    }

    /// With a field for how many addresses there are, and the addresses.
    pub fn with_addresses(self, name: &str, addresses: &[Address]) -> Self {
        let counted = self.with(name, addresses.len().to_string().as_bytes());
        addresses.iter().fold(counted, Self::with_address)
    }

    /// With the path of a file, if there is one.
    pub fn with_file(self, name: &str, file: Option<&PathBuf>) -> Self {
        match file {
            Some(file) => self.with(name, file.as_os_str().as_bytes()),
            None => self,
        }
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use crate::dsn::Dsn;

    fn identity(dsn: &str) -> String {
        String::from_utf8(Dsn::parse(dsn).unwrap().target.identity()).unwrap()
    }

    /// A change here splits what a host's old and new workers know of their servers.
    #[test]
    fn identity_of_each_scheme_is_pinned() {
        let dsns = [
            ("shm:logins", "store=3:shm;name=6:logins;"),
            ("array:", "store=5:array;"),
            ("redis://h", "store=5:redis;host=1:h;port=4:6379;database=1:0;"),
            (
                "rediss://joe:s3cret@h:7/5?ca=/a.pem&cert=/b.pem&key=/c.pem",
                "store=5:redis;host=1:h;port=1:7;user=3:joe;database=1:5;tls=1:1;ca=6:/a.pem;cert=6:/b.pem;key=6:/c.pem;",
            ),
            (
                "redis+unix://:s3cret@/run/r.sock?db=2",
                "store=5:redis;socket=11:/run/r.sock;database=1:2;",
            ),
            (
                "redis+cluster://a,b:7001",
                "store=5:redis;nodes=1:2;host=1:a;port=4:6379;host=1:b;port=4:7001;database=1:0;",
            ),
            (
                "rediss+cluster://a",
                "store=5:redis;nodes=1:1;host=1:a;port=4:6379;database=1:0;tls=1:1;",
            ),
            (
                "redis+sentinel://:s3cret@a,b:5000/main/3?sentinel_password=s3cret",
                "store=5:redis;sentinels=1:2;host=1:a;port=5:26379;host=1:b;port=4:5000;master=4:main;database=1:3;",
            ),
            (
                "rediss+sentinel://a/main",
                "store=5:redis;sentinels=1:1;host=1:a;port=5:26379;master=4:main;database=1:0;tls=1:1;",
            ),
            (
                "memcached://a,[::1]:11212",
                "store=9:memcached;servers=1:2;host=1:a;port=5:11211;host=3:::1;port=5:11212;",
            ),
            (
                "memcached+unix:///run/m.sock",
                "store=9:memcached;servers=1:1;socket=11:/run/m.sock;",
            ),
            (
                "mysql://joe:s3cret@db/limits?tls=1",
                "store=5:mysql;host=2:db;port=4:3306;user=3:joe;database=6:limits;table=12:token_bucket;tls=1:1;",
            ),
            (
                "mysql+unix://joe:s3cret@/run/m.sock?db=d&table=t",
                "store=5:mysql;socket=11:/run/m.sock;user=3:joe;database=1:d;table=1:t;",
            ),
        ];
        for (dsn, expected) in dsns {
            assert_eq!(identity(dsn), expected);
            assert!(!expected.contains("s3cret"));
        }
    }

    #[test]
    fn one_store_in_two_spellings_has_one_identity() {
        for (one, other) in [
            ("redis://h", "redis://h:6379/0?prefix=shop:&timeout_ms=7"),
            ("redis://h/2", "redis://h?db=2"),
            ("redis://:old@h", "redis://:new@h"),
            ("mysql://joe:old@db/d", "mysql://joe@db:3306/d?table=token_bucket&on_error=open"),
            ("mysql://joe@db/d?tls=1", "mysql://joe@db/d?tls=1&prefix=a"),
            ("shm:", "shm:default"),
        ] {
            assert_eq!(identity(one), identity(other));
        }
    }

    #[test]
    fn a_value_cannot_pass_for_another_field() {
        let identity = |dsn: &str| Dsn::parse(dsn).unwrap().target.identity();
        assert_ne!(
            identity("mysql://a@h/d%3Btable=1:t?table=t"),
            identity("mysql://a@h/d?table=t")
        );
        assert_ne!(identity("redis://u:p@h"), identity("redis://:p@h"));
        assert_ne!(identity("redis://h"), identity("redis+cluster://h"));
        assert_ne!(identity("redis://h"), identity("rediss://h"));
    }
}
