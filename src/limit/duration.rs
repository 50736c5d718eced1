//! Durations as callers give them: in seconds.

use super::bounds::MAX_REFILL;
use super::error::LimitError;
use super::span::SECOND;

/// Converts the length of a window, a lease or a block to nanoseconds, to the nearest.
///
/// # Errors
///
/// It must be at least a nanosecond and at most four years.
pub fn duration_from_seconds(seconds: f64) -> Result<u64, LimitError> {
    let ns = (seconds * SECOND as f64).round();
    match ns >= 1.0 && ns <= MAX_REFILL as f64 {
        true => Ok(ns as u64),
        false => Err(LimitError::Interval),
    }
}
