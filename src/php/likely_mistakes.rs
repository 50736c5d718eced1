//! Likely mistakes in code: each kind is said once in a process, and none while `token_bucket.warn_of_mistakes` is off.

use super::engine::exceptions::Thrown;
use super::events::deliver_warning;
use super::globals::GLOBALS;

/// A kind of mistake.
#[derive(Clone, Copy)]
pub enum Mistake {
    /// A rate that is a period.
    Period,
    /// Seconds that are milliseconds.
    Milliseconds,
    /// A client without an address.
    UnknownClient,
    /// A proxy that is not named, or sends another header.
    ForgottenProxy,
}

/// Whether to say a mistake of this kind now. Notes that it was said.
#[cold]
pub fn claim(mistake: Mistake) -> bool {
    let globals = GLOBALS.get();
    let (said, kind) = (globals.said_mistakes.get(), 1 << mistake as u8);
    let is_due = said & kind == 0 && globals.settings().warn_of_mistakes;
    if is_due {
        globals.said_mistakes.set(said | kind);
    }
    is_due
}

/// Half a minute in milliseconds, as which it is more than eight hours.
const HALF_MINUTE: f64 = 30_000.0;

/// Warns of a number of seconds that is probably one of milliseconds. `parameter` has its name.
#[inline(always)]
pub fn warn_of_milliseconds(parameter: &str, seconds: f64) -> Result<(), Thrown> {
    if seconds < HALF_MINUTE { Ok(()) } else { warn_of_long_time(parameter, seconds) }
}

#[cold]
#[inline(never)]
fn warn_of_long_time(parameter: &str, seconds: f64) -> Result<(), Thrown> {
    if !is_probably_milliseconds(seconds) || !claim(Mistake::Milliseconds) {
        return Ok(());
    }
    let (hours, meant) = (seconds / 3_600.0, seconds / 1_000.0);
    let time = if hours < 48.0 {
        format!("{hours:.1} hours")
    } else {
        format!("{:.1} days", hours / 24.0)
    };
    deliver_warning(Some(format!(
        "{parameter} is in seconds, and {seconds} are {time}; if milliseconds were meant, write {meant}"
    )))
}

/// Whether it is a whole number of half minutes in milliseconds and no whole days in seconds: such times are rare in
/// seconds. A day or some hours in milliseconds may be whole days in seconds, 125 of them or more.
fn is_probably_milliseconds(seconds: f64) -> bool {
    const DAY: f64 = 86_400.0;
    const HOUR_IN_MILLISECONDS: f64 = 3_600_000.0;
    seconds % HALF_MINUTE == 0.0 && (seconds % DAY != 0.0 || seconds % HOUR_IN_MILLISECONDS == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_half_minutes_in_milliseconds_are_noticed() {
        for milliseconds in
            [30_000.0, 60_000.0, 90_000.0, 300_000.0, 900_000.0, 3_600_000.0, 86_400_000.0]
        {
            assert!(is_probably_milliseconds(milliseconds), "{milliseconds}");
        }
    }

    #[test]
    fn days_weeks_months_and_years_in_seconds_are_meant() {
        const DAY: f64 = 86_400.0;
        let days = [1, 2, 5, 7, 10, 14, 25, 28, 30, 31, 50, 60, 90, 100, 180, 365, 366];
        for seconds in days.map(|days| f64::from(days) * DAY) {
            assert!(!is_probably_milliseconds(seconds), "{seconds}");
        }
        // The blocks of docs/login.md, and hours.
        for seconds in [38_400.0, 36_000.0, 43_200.0, 45_000.5, 64_800.0, 129_600.0, 31_557_600.0] {
            assert!(!is_probably_milliseconds(seconds), "{seconds}");
        }
    }
}
