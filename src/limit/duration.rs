//! Durations as callers give them: in seconds.

use super::bounds::MAX_REFILL;
use super::error::LimitError;
use super::span::SECOND;

/// Seconds as a message shows them: two digits below one second, else at most three behind the point.
///
/// # Example
///
/// ```
/// use token_bucket_limit::describe_seconds;
///
/// assert_eq!(describe_seconds(5.0 / 300.0), "0.017 s");
/// assert_eq!(describe_seconds(90.0), "90 s");
/// ```
pub fn describe_seconds(seconds: f64) -> String {
    let decimals = match seconds < 1.0 {
        true => (1.0 - seconds.log10().floor()).min(20.0) as usize,
        false => 3,
    };
    let text = format!("{seconds:.decimals$}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Converts the length of a window, a lifetime or a block to nanoseconds, to the nearest.
///
/// # Errors
///
/// It must be at least a nanosecond and at most four years.
// Where it is inlined, the compiler also rounds the seconds that an Option does not have, and valgrind reports those.
#[inline(never)]
pub fn duration_from_seconds(seconds: f64) -> Result<u64, LimitError> {
    let ns = (seconds * SECOND as f64).round();
    match ns >= 1.0 && ns <= MAX_REFILL as f64 {
        true => Ok(ns as u64),
        false => Err(LimitError::Interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_shown_with_few_digits() {
        for (seconds, text) in [
            (0.000_123_4, "0.00012 s"),
            (0.5, "0.5 s"),
            (0.996, "1 s"),
            (1.0, "1 s"),
            (1.234_5, "1.234 s"),
            (1_200.0, "1200 s"),
        ] {
            assert_eq!(describe_seconds(seconds), text);
        }
    }
}
