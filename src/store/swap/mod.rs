//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm. A process reads the value of a key, applies the operation to it, and
//! replaces the value if the server still holds the one that was read; if not, it tries again. Of a host's processes that
//! want the same key one does so at a time: see [`turn`].
//!
//! * [`decider`]: decides on a value on a server, an [`entry`], when it is the call's turn
//! * [`turn`]: whose turn it is; [`hot_key`]: the record where that is kept
//! * [`handoff`]: the state that the last process wrote
//! * [`locked_key`]: keys whose value another session keeps locked
//! * [`attempt`]: reads, applies and swaps
//! * [`skew`]: decides though the clocks of writers differ

mod attempt;
mod decider;
mod entry;
pub mod handoff;
pub mod hot_key;
pub mod locked_key;
pub mod skew;
pub mod turn;

pub use decider::SwapDecider;
pub use entry::{Decide, Found, Swap, SwapEntry};
pub use skew::{MAX_CLOCK_SKEW, latest_clock};
