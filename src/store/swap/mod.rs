//! Decisions on servers that compare and swap: memcached, MariaDB and MySQL.
//!
//! Such a server runs no algorithm. A process reads the value of a key, applies the operation to it, and
//! replaces the value if the server still holds the one that was read; if not, it tries again. Of a host's processes that
//! make equal calls on one key at one time, one does so for all: see [`batch`].
//!
//! * [`decider`]: decides on a value on a server, an [`entry`], as a member of a batch
//! * [`batch`]: who asks the server, and for whom; [`control`]: its control word
//! * [`results`]: by what the calls of batches were decided on; [`basis`]: one of them; [`repeated`]: applies their operation
//! * [`key_record`]: where all of that is kept, as [`record_words`]
//! * [`handoff`]: the state that the last process wrote
//! * [`locked_key`]: keys whose value another session keeps locked
//! * [`attempt`]: reads, applies and swaps

mod attempt;
pub mod basis;
pub mod batch;
mod control;
mod decider;
mod entry;
pub mod handoff;
pub mod key_record;
pub mod locked_key;
mod record_words;
pub mod repeated;
pub mod results;

pub use decider::SwapDecider;
pub use entry::{Decide, Found, Swap, SwapEntry};
pub use repeated::{MAX_CLOCK_SKEW, latest_clock};
