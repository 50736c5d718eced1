//! The bridge to PHP's engine. It knows no limiter.
//!
//! * [`declare`]: classes and functions; [`object`]: what their objects hold; [`call`] and [`argument`]: the calls of
//!   their methods and the arguments
//! * [`exceptions`]: the exception classes, and functions that throw
//! * [`php_array`], [`shared_string`]: arrays and counted references to strings
//! * [`fiber`]: which fiber runs
//! * [`open_basedir`]: the files that a script may name
//! * [`sapi`]: the end of a request as the SAPI sees it
//! * [`sleep`]: a sleep that a signal ends
//! * [`versions`]: where the versions of PHP differ
//!
//! Classes are declared by hand, because ext-php-rs's macros have no union types and no untyped parameters, and replace
//! the engine's coercion and error texts. Each file's head says what ext-php-rs (0.16.4, the newest version in November 2026) has
//! instead, and why it is not used. Instructions in these heads are cachegrind's, of the release on PHP 8.2.

pub mod argument;
pub mod call;
pub mod declare;
pub mod exceptions;
pub mod fiber;
pub mod object;
pub mod open_basedir;
pub mod php_array;
pub mod sapi;
pub mod shared_string;
pub mod sleep;
pub mod versions;
