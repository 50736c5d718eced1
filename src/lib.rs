//! token_bucket: a rate limiter for PHP, in layers that know only those below them.
//!
//! `php` is what PHP sees, [`limiter`] a limit on a store, [`store`] where state lives and
//! [`limit`] the arithmetic. See ARCHITECTURE.md.

pub mod clock;
pub mod dsn;
pub mod error;
pub mod limit;
pub mod limiter;
// What is fuzzed is linked to no PHP.
#[cfg(not(fuzzing))]
mod php;
pub mod store;
