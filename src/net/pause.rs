//! The clock of deadlines: time in which this process could not run does not count.
//!
//! Paid: a call may end later than its time-out, by [`MAX_PAUSES`] pauses and [`MAX_DELAY`] of shorter delays at most. Got: a process that was
//! stopped (SIGSTOP, a cgroup without CPU time left, a suspended machine) does not blame a server that was not slow. Tried instead: the plain
//! clock, by which one worker that was stopped opened the breaker of all.
//!
//! Nothing tells a process that it was stopped. But each of its steps has a known length: a wait ends about when it should, and little is
//! computed between two waits. What a step took beyond that length was a pause.

use crate::clock::boot_time;
use std::cell::Cell;
use std::ops::{Add, AddAssign};
use std::time::Duration;

/// The longest computation between two readings of the clock.
const LONGEST_STEP: Duration = Duration::from_millis(2);
/// How much later than it should a wait may end.
const MAX_LATENESS: Duration = Duration::from_millis(2);
/// A shorter excess is a delay, not a pause.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
/// The most pauses that prolong a call.
const MAX_PAUSES: u32 = 16;
/// The most by which all delays together prolong a call.
const MAX_DELAY: Duration = Duration::from_millis(100);

/// A time of this clock, in nanoseconds. Each call has a clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// How long it is from `now` to this moment; zero if it is over.
    pub fn left_at(self, now: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(now.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(ns(time)))
    }
}

impl AddAssign<Duration> for Moment {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

/// The steps of the current call of this thread.
#[derive(Clone, Copy)]
struct Steps {
    /// When the last step ended.
    last: u64,
    /// The length of all pauses and delays that do not count.
    paused: Duration,
    pauses: u32,
    /// The length of the delays among them.
    delayed: Duration,
}

impl Steps {
    const fn new(last: u64) -> Self {
        Self { last, paused: Duration::ZERO, pauses: 0, delayed: Duration::ZERO }
    }
}

thread_local! {
    static STEPS: Cell<Option<Steps>> = const { Cell::new(None) };
}

/// Begins a call. Returns the time.
pub fn start() -> Moment {
    start_at(boot_time())
}

fn start_at(now: u64) -> Moment {
    STEPS.set(Some(Steps::new(now)));
    Moment(now)
}

/// The time, less the pauses of this call.
pub fn now() -> Moment {
    step(boot_time(), LONGEST_STEP)
}

/// Notes that the last step was a wait that should take `at_most` this long.
pub fn note_wait(at_most: Duration) {
    step(boot_time(), at_most + MAX_LATENESS);
}

/// Ends a step at `now` that should take `at_most` this long.
fn step(now: u64, at_most: Duration) -> Moment {
    let start = Steps::new(now);
    let mut steps = STEPS.get().unwrap_or(start);
    let took = Duration::from_nanos(now.saturating_sub(steps.last));
    let excess = took.saturating_sub(at_most);
    if excess > SHORTEST_PAUSE && steps.pauses < MAX_PAUSES {
        steps.paused += excess;
        steps.pauses += 1;
    } else if excess <= SHORTEST_PAUSE && steps.delayed < MAX_DELAY {
        // Normal on a busy machine, so it does not use up a pause.
        steps.paused += excess;
        steps.delayed += excess;
    }
    steps.last = now;
    STEPS.set(Some(steps));
    Moment(now.saturating_sub(ns(steps.paused)))
}

/// In nanoseconds. Longer times than 584 years are not.
fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn after(time: u64, more: Duration) -> u64 {
        time + ns(more)
    }

    #[test]
    fn time_in_which_the_process_was_stopped_does_not_count() {
        let begin = boot_time();
        let at = start_at(begin);
        assert_eq!(step(after(begin, MS), LONGEST_STEP), at + MS, "a short step counts in full");
        let stopped = after(begin, 3_600_001 * MS);
        assert_eq!(step(stopped, LONGEST_STEP), at + MS + LONGEST_STEP);
        assert_eq!(
            step(after(stopped, 5 * MS), 5 * MS),
            at + 6 * MS + LONGEST_STEP,
            "a wait counts"
        );
    }

    #[test]
    fn call_that_is_stopped_again_and_again_ends() {
        let mut now = boot_time();
        let begin = start_at(now);
        let mut counted = begin;
        for _ in 0..MAX_PAUSES + 10 {
            now = after(now, 100 * MS);
            counted = step(now, MS);
        }
        assert_eq!(counted.left_at(begin), MAX_PAUSES * MS + 10 * 100 * MS);
    }

    #[test]
    fn pauses_do_not_carry_over_to_the_next_call() {
        let begin = boot_time();
        start_at(begin);
        step(after(begin, 100 * MS), MS);
        let next = after(begin, 200 * MS);
        let at = start_at(next);
        assert_eq!(step(after(next, MS), MS), at + MS);
    }
}
