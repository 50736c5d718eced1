//! The bridge to PHP's engine. It knows no limiter.
//!
//! * [`declare`]: classes and functions; [`object`]: what their objects hold; [`call`] and [`argument`]: the calls of
//!   their methods and the arguments
//! * [`exceptions`]: the exception classes, and functions that throw
//! * [`php_array`], [`shared_string`]: arrays and counted references to strings
//! * [`sapi`]: the end of a request as the SAPI sees it
//! * [`sleep`]: a sleep that a signal ends
//! * [`versions`]: where the versions of PHP differ
//!
//! Classes are declared by hand, because ext-php-rs's macros have no union types and no untyped parameters, and replace
//! the engine's coercion and error texts. ARCHITECTURE.md says for each file here why ext-php-rs does not take its place.

pub mod argument;
pub mod call;
pub mod declare;
pub mod exceptions;
pub mod object;
pub mod php_array;
pub mod sapi;
pub mod shared_string;
pub mod sleep;
pub mod versions;
