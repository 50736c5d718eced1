//! token_bucket: a rate limiter for PHP, in layers. Each layer knows only those below it.
//!
//! `php` is the PHP extension, [`limiter`] a limit on a store, [`statistics`] what is counted, [`guard`] stands before
//! stores on servers, [`store`] keeps the states of buckets, [`net`] and [`mapped`] are connections and files in shared
//! memory, and [`limit`] is the arithmetic. See ARCHITECTURE.md.

pub mod address;
pub mod clock;
pub mod descriptor;
pub mod dsn;
pub mod error;
pub mod guard;
mod hash;
pub mod http;
pub mod identifier;
pub mod limiter;
pub mod mapped;
pub mod net;
// A fuzzing target is not linked to PHP.
#[cfg(not(fuzzing))]
mod php;
pub mod process;
mod regular_file;
pub mod settings;
pub mod statistics;
pub mod store;
mod suggestion;

pub use token_bucket_limit as limit;
