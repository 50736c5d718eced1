//! The limits: pure arithmetic on a state, a time and an operation.
//!
//! Nothing in here reads a clock, does I/O or knows PHP. [`apply`] takes what a
//! store remembers of a bucket and answers with a [`Decision`] and with what the
//! store has to remember next. Stores that compare and swap call it in a loop;
//! a store that computes on its server carries a port that tests hold to it.
//!
//! The token bucket is kept as a GCRA (ITU-T I.371, "generic cell rate
//! algorithm"): not as a number of tokens, but as the time at which the bucket is
//! full again. A token is worth a fixed span of time, so taking one moves that time
//! ahead, waiting lets it come nearer, and no clean-up ever has to run.

mod decision;
mod interval;
mod span;
mod state;
mod token_bucket;

pub use decision::Decision;
pub use span::{GRAIN, MAX_NOW, MAX_REFILL, SECOND, Span};
pub use state::State;
pub use token_bucket::{LimitError, MAX_CAPACITY, MAX_RATE, Op, TokenBucket, apply};
