//! The limits: pure arithmetic on a state, a time and an operation.
//!
//! Nothing in here reads a clock, does I/O or knows PHP. [`apply`] takes the state that a store
//! remembers of a bucket, and returns a [`Decision`] and the state to remember next. Stores that
//! compare and swap call it in a loop; Redis has a server-side implementation, which the
//! differential test in `tests/conformance.rs` holds to it.
//!
//! `token_bucket` has the numbers of a token bucket, `gcra` decides on one; `reserved` is one with debts, `emptied` one that other
//! numbers have made. `window` decides on windows whose hits come back all at once, `fixed_window` and `calendar_window` find their
//! ends; `sliding_window` is a window by itself. `permits` limits how many run at once. `block` denies every call until a time,
//! whatever the algorithm; `compound` charges several limits or none.

#![forbid(unsafe_code)]

mod algorithm;
mod any_limit;
mod block;
mod block_length;
mod bounds;
mod calendar_unit;
mod calendar_window;
mod compound;
mod decision;
mod duration;
mod emptied;
mod error;
mod fixed_window;
mod gcra;
mod interval;
mod kept;
mod leased;
mod op;
mod permits;
mod reach;
mod refills;
mod reserved;
mod sliding_window;
mod span;
mod state;
mod stored_state;
mod token_bucket;
mod window;
mod window_number;

pub use algorithm::WordAlgorithm;
pub use any_limit::Limit;
pub use block_length::whole_seconds;
pub use bounds::{
    MAX_BLOCK, MAX_CAPACITY, MAX_HITS, MAX_NOW, MAX_PERMITS, MAX_RATE, MAX_REFILL, MAX_SLIDING_HITS,
};
pub use calendar_unit::CalendarUnit;
pub use calendar_window::CalendarWindow;
pub use compound::{Charge, JointDecision, take_all};
pub use decision::{Available, Decision, Verdict};
pub use duration::{describe_seconds, duration_from_seconds};
pub use error::LimitError;
pub use fixed_window::FixedWindow;
pub use kept::Kept;
pub use leased::{apply, held};
pub use op::Op;
pub use permits::{HeldPermits, PermitAnswer, PermitId, PermitLimit, PermitOp};
pub use refills::MOST_REFILLS;
pub use sliding_window::{Place, SlidingWindow};
pub use span::{GRAIN, SECOND, Span};
pub use state::State;
pub use stored_state::{Hits, Leased, StoredState};
pub use token_bucket::TokenBucket;
pub use window::Window;
