//! What several test programs share.

use std::cell::Cell;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use token_bucket::limiter::{CallContext, RecordHandle};
use token_bucket::store::KeyHash;

/// A folder in memory, removed when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Makes the folder; `name` is unique among the tests of a program.
    pub fn new(name: &str) -> Self {
        let folder =
            PathBuf::from(format!("/dev/shm/token_bucket-test-{}-{name}", std::process::id()));
        // Others may not write to it, whatever the umask.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The DSN of a server, from the environment; see scripts/servers.sh.
#[allow(dead_code, reason = "not every test program has a server")]
pub fn server_dsn(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run scripts/servers.sh cargo test, or make test")
    })
}

/// A prefix of its own for each case: servers outlive a case.
#[allow(dead_code, reason = "not every test program has a server")]
pub fn unused_prefix() -> Vec<u8> {
    static CASES: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}:", std::process::id(), CASES.fetch_add(1, Ordering::Relaxed)).into_bytes()
}

/// The number of random sequences to try on a store.
///
/// Redis has a server-side implementation, and shared memory packs a state most tightly. The others call the pure
/// function on the state as it is, or Redis's scripts once more; over a socket or TLS they do the same once more.
#[allow(dead_code, reason = "not every test program is differential")]
pub fn sequences(dsn: &str) -> u32 {
    let begins_with = |schemes: &[&str]| schemes.iter().any(|scheme| dsn.starts_with(scheme));
    match begins_with(&["shm:", "array:", "redis+unix:"]) {
        true => 3_000,
        false if begins_with(&["rediss:", "memcached+unix:", "mysql+unix:"]) => 50,
        false if dsn.contains("ca=") => 50,
        false => 150,
    }
}

/// Calls with the context of an identifier that has no name.
#[allow(dead_code, reason = "not every test program makes calls on limiters")]
pub fn with_context<R>(name: &[u8], call: impl FnOnce(CallContext<'_>) -> R) -> R {
    let (key_hash, record) = (Cell::new(KeyHash::default()), Cell::new(RecordHandle::default()));
    call(CallContext::of_identifier(name, &key_hash, &record))
}

/// Declares a module with a test for each case on the server whose DSN is in an environment variable.
#[allow(unused_macros, reason = "not every test program has a server")]
macro_rules! on_server {
    ($store:ident $variable:ident: $($case:ident),*) => {
        mod $store {
            $(#[test] fn $case() {
                super::$case(&super::Bench::for_server(stringify!($variable), stringify!($case)));
            })*
        }
    };
}

/// Declares a test for each case in shared memory, on `array:` and on every kind of Redis.
#[allow(unused_macros, reason = "not every test program has a server")]
macro_rules! on_host_and_redis {
    ($($case:ident),* $(,)?) => {
        mod shared_memory {
            $(#[test] fn $case() {
                super::$case(&super::Bench::new("shm:", concat!("shm-", stringify!($case))));
            })*
        }
        mod array {
            $(#[test] fn $case() {
                super::$case(&super::Bench::new("array:", concat!("array-", stringify!($case))));
            })*
        }
        on_server!(redis TB_REDIS: $($case),*);
        on_server!(redis_unix TB_REDIS_UNIX: $($case),*);
        on_server!(redis_tls TB_REDIS_TLS: $($case),*);
        on_server!(redis_cluster TB_REDIS_CLUSTER: $($case),*);
        on_server!(redis_sentinel TB_REDIS_SENTINEL: $($case),*);
    };
}
