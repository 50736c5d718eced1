//! Why a limit cannot be made.

use super::bounds::{MAX_CAPACITY, MAX_HITS, MAX_PERMITS, MAX_SLIDING_HITS};

/// Why numbers do not make a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The capacity is below 1 or above [`MAX_CAPACITY`].
    #[error("must be between 1 and {MAX_CAPACITY}")]
    Capacity,
    /// The rate is not finite, or not above zero.
    #[error("must be finite and greater than 0")]
    Rate,
    /// The hits of a window are below 1 or above [`MAX_HITS`].
    #[error("must be between 1 and {MAX_HITS}")]
    Hits,
    /// The hits of a sliding window are below 1 or above [`MAX_SLIDING_HITS`].
    #[error(
        "must be between 1 and {MAX_SLIDING_HITS}; a fixed window, a calendar window or a token bucket takes more"
    )]
    SlidingHits,
    /// The permits are below 1 or above [`MAX_PERMITS`].
    #[error("must be between 1 and {MAX_PERMITS}")]
    Permits,
    /// The interval is not a number, below a nanosecond or above four years.
    #[error("must be greater than 0 and at most four years, in seconds")]
    Interval,
    /// The rate is above [`MAX_RATE`](super::MAX_RATE).
    #[error("must be at most 1000000000")]
    RateTooHigh,
    /// A full refill takes longer than [`MAX_REFILL`](super::MAX_REFILL).
    #[error("must refill the whole bucket within four years")]
    RefillTooLong,
}
