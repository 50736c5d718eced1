//! token_bucket: a rate limiter for PHP, in layers. Each layer knows only those below it.
//!
//! `php` is the PHP extension, [`limiter`] a limit on a store, [`store`] keeps the states of buckets, and
//! [`limit`] is the arithmetic. See ARCHITECTURE.md.

pub mod address;
pub mod clock;
pub mod descriptor;
pub mod dsn;
pub mod error;
pub mod http;
pub mod limit;
pub mod limiter;
pub mod mapped;
pub mod net;
// A fuzzing target is not linked to PHP.
#[cfg(not(fuzzing))]
mod php;
pub mod process;
pub mod store;
