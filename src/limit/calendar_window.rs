//! The calendar window: a number of hits in an hour, a day, a week, a month or a year of a time zone.
//!
//! The caller knows the calendar, and passes the ends of three windows: the last one, the current one and the
//! next one. The store's clock decides which of them is open. Beyond them a window counts as long as the last of
//! the three. A call that is settled late does not know the window that is open then, so it leaves its end as it is.
//!
//! On one host clocks that count from boot tell the time, so processes may take an end for slightly different moments.
//! Ends that differ by less than [`SLACK`] are the same.
//!
//! A window that was reset or blocked is another one, though the calendar's boundary stays: a call that was charged before must not be
//! settled among the hits after. So boundaries are whole milliseconds, and the microseconds beyond number the windows of one boundary.
//! A reset moves the end to the next number; a block keeps the number of the window that begins after it. If a store has forgotten
//! the block by then, the window has the number 0 again.

use super::error::LimitError;
use super::op::Op;
use super::span::SECOND;
use super::state::State;
use super::window::{StoredWindow, Window, check_hits};
use super::window_number::{BOUNDARY, UNIT, number, number_after};

/// How much the ends of one window may differ, in nanoseconds: much less than the shortest window, an hour.
const SLACK: u64 = 600 * SECOND;

/// A calendar window: up to `max_hits` hits until the calendar's next boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CalendarWindow {
    max_hits: u32,
    /// The ends of the last window, of the current and of the next one, in nanoseconds of the store's clock.
    ends: [u64; 3],
}

impl CalendarWindow {
    /// A window of `max_hits` hits; `ends` are the ends of the last window, the current and the next one, in
    /// nanoseconds, each at least a second after the other; rounded up to milliseconds.
    ///
    /// # Errors
    ///
    /// The hits must be within 1 and [`MAX_HITS`](super::MAX_HITS).
    pub fn new(max_hits: i64, ends: [u64; 3]) -> Result<Self, LimitError> {
        Ok(Self { max_hits: check_hits(max_hits)?, ends: apart(ends) })
    }

    /// The ends of the last window, the current and the next one.
    pub const fn ends(&self) -> [u64; 3] {
        self.ends
    }

    /// How long the current window lasts, in nanoseconds.
    pub const fn length(&self) -> u64 {
        self.ends[1] - self.ends[0]
    }

    /// The window by a clock that shows this much less.
    #[must_use]
    pub fn by_clock_behind(&self, by: u64) -> Self {
        Self { ends: apart(self.ends.map(|end| end.saturating_sub(by))), ..*self }
    }

    /// The end of the stored window that an operation counts in which settles no call.
    fn find_current(&self, stored: &StoredWindow, now: u64) -> Option<u64> {
        let end = self.end_at(now);
        let lasts = now < stored.end;
        if stored.is_inherited {
            return lasts.then_some(stored.end.min(end));
        }
        let numbered = end + number(stored.end) * UNIT;
        let is_current = is_same(stored.end, end);
        // Shortly before the boundary a process may have found the next window open.
        let may_be_next = end - now <= SLACK && is_same(stored.end, self.end_at(end));
        let is_from_future = stored.end > end && !is_current && !may_be_next;
        if lasts && !is_from_future {
            return Some(stored.end);
        }
        (is_current || is_from_future).then_some(numbered)
    }
}

impl Window for CalendarWindow {
    const SLACK: u64 = SLACK;
    const ENDS_WITHOUT_HITS: bool = true;

    #[inline(always)]
    fn max_hits(&self) -> u32 {
        self.max_hits
    }

    #[inline(always)]
    fn end_at(&self, now: u64) -> u64 {
        let [_, second, third] = self.ends;
        match self.ends.into_iter().find(|end| now < *end) {
            Some(end) => end,
            None => {
                let length = third - second;
                third + ((now - third) / length + 1) * length
            }
        }
    }

    #[inline(always)]
    fn find_open(&self, stored: &StoredWindow, now: u64, op: Op) -> Option<u64> {
        let expiry = match op {
            Op::Refund { expiry, .. } => expiry,
            Op::Settle { expiry, .. } => Some(expiry),
            _ => return self.find_current(stored, now),
        };
        // A window that has ended as it is stored may be open by the decision on the call.
        let is_open = |end| !stored.is_inherited && now < end && is_same(stored.end, end);
        (now < stored.end || expiry.is_some_and(is_open)).then_some(stored.end)
    }

    fn is_window_of(&self, end: u64, expiry: u64) -> bool {
        is_same(end, expiry) && number(end) == number(expiry)
    }

    fn end_after(&self, state: State, end: u64) -> Option<u64> {
        Some(end - end % BOUNDARY + u64::from(number_after(state)) * UNIT)
    }
}

/// Whether two ends are those of one window.
const fn is_same(end: u64, other: u64) -> bool {
    end.abs_diff(other) <= SLACK
}

/// The ends, in whole milliseconds, each at least a second after the other.
fn apart(ends: [u64; 3]) -> [u64; 3] {
    let [first, second, third] = ends.map(|end| end.div_ceil(BOUNDARY).saturating_mul(BOUNDARY));
    let second = second.max(first.saturating_add(SECOND));
    [first, second, third.max(second.saturating_add(SECOND))]
}

/// The earliest time that the clock can have shown when it wrote this state of a calendar window.
pub fn earliest_write(window: &CalendarWindow, ends_at: u64) -> u64 {
    let [first, second, third] = window.ends;
    match (ends_at + 1) / BOUNDARY * BOUNDARY {
        end if end == third => second,
        end if end == second => first,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::window_number::MAX_NUMBER;
    use super::*;
    use crate::span::Span;
    use crate::{Decision, MAX_HITS, State, WordAlgorithm};
    use proptest::prelude::*;
    use std::collections::HashSet;

    const HOUR: u64 = 3_600 * SECOND;
    const T: u64 = 1_000 * HOUR;

    /// Days of 24, 23 and 25 hours.
    fn days(max_hits: i64) -> CalendarWindow {
        CalendarWindow::new(max_hits, [T, T + 23 * HOUR, T + 48 * HOUR]).unwrap()
    }

    fn take(window: &CalendarWindow, state: State, now: u64) -> (Decision, State) {
        window.apply(state, now, &Op::Take { cost: 1 })
    }

    #[test]
    fn decision_on_a_settlement_after_the_stored_end_expires_now() {
        let (_, state) = take(&days(5), State::FULL, T - HOUR);
        let settle = Op::Settle { cost: 1, expiry: T + 2 * SECOND };
        let (decision, _) = days(5).apply::<Decision>(state, T + SECOND, &settle);
        assert_eq!((decision.is_accepted(), decision.expires_at), (true, T + SECOND));
    }

    #[test]
    fn window_of_a_longer_unit_is_ended_at_any_time_of_the_shorter_one_that_of_a_clock_ahead_is_not()
     {
        let (hour, now) =
            (CalendarWindow::new(1, [T, T + HOUR, T + 2 * HOUR]).unwrap(), T + HOUR - 60 * SECOND);
        let with_end = |ends_at| State::Window { ends_at: ends_at - 1, hits: 1 };
        for (end, expected) in
            [(T + 700 * HOUR, T + HOUR), (T + 3 * HOUR, T + HOUR), (T + 2 * HOUR, T + 2 * HOUR)]
        {
            let (decision, _) = take(&hour, with_end(end), now);
            assert_eq!((decision.is_accepted(), decision.expires_at), (false, expected));
        }
        let after_all = T + 5 * HOUR - SECOND;
        for (end, expected) in [(T + 700 * HOUR, T + 5 * HOUR), (T + 6 * HOUR, T + 6 * HOUR)] {
            assert_eq!(take(&hour, with_end(end), after_all).0.expires_at, expected);
        }
    }

    #[test]
    fn clock_that_is_set_to_before_all_ends_still_finds_a_window() {
        let (decision, _) = take(&days(1).by_clock_behind(u64::MAX), State::FULL, T);
        assert_eq!((decision.is_accepted(), decision.expires_at), (true, T + SECOND));
    }

    #[test]
    fn window_begins_at_the_boundary_and_not_at_the_first_hit() {
        let window = days(1);
        let (first, state) = take(&window, State::FULL, T + 22 * HOUR);
        assert!(first.is_accepted());
        assert_eq!(first.expires_at, T + 23 * HOUR);
        let (denied, state) = take(&window, state, T + 23 * HOUR - 1);
        assert_eq!((denied.is_accepted(), denied.retry_at), (false, T + 23 * HOUR));
        let (next, state) = take(&window, state, T + 23 * HOUR);
        assert_eq!((next.is_accepted(), next.expires_at), (true, T + 48 * HOUR));
        // A day of 25 hours; the next one counts as long.
        assert!(!take(&window, state, T + 48 * HOUR - 1).0.is_accepted());
        let (later, state) = take(&window, state, T + 48 * HOUR);
        assert_eq!((later.is_accepted(), later.expires_at), (true, T + 73 * HOUR));
        assert!(!take(&window, state, T + 72 * HOUR).0.is_accepted());
        let unused = window.apply::<Decision>(State::FULL, T + HOUR, &Op::Peek { cost: 1 }).0;
        assert_eq!(unused.expires_at, T + 23 * HOUR, "it ends without a hit, too");
    }

    /// A call for two hits is denied in a window of two that has one hit. Returns the end that it reports, and the state after it.
    fn denied(ends_at: u64, now: u64) -> (u64, State) {
        let state = State::Window { ends_at: ends_at - 1, hits: 1 };
        let (decision, after): (Decision, _) = days(2).apply(state, now, &Op::Take { cost: 2 });
        assert!(!decision.is_accepted());
        (decision.expires_at, after)
    }

    #[test]
    fn end_within_ten_minutes_of_the_calendars_is_kept_and_another_corrected() {
        let (noon, end) = (T + 12 * HOUR, T + 23 * HOUR);
        for other in [end - 600 * SECOND, end, end + 600 * SECOND] {
            let kept = State::Window { ends_at: other - 1, hits: 1 };
            assert_eq!(denied(other, noon), (other, kept));
        }
        let corrected = (end, State::Window { ends_at: end - 1, hits: 1 });
        assert_eq!(denied(end + 600 * SECOND + 1, noon), corrected);
        // One that has ended is not of this window.
        let over = end - 600 * SECOND - 1;
        let taken = take(&days(2), State::Window { ends_at: over - 1, hits: 2 }, over);
        assert_eq!((taken.0.is_accepted(), taken.0.available.count_hits()), (true, 1));
    }

    #[test]
    fn next_windows_state_is_kept_ten_minutes_before_it_begins() {
        let (end, next) = (T + 23 * HOUR, T + 48 * HOUR);
        assert_eq!(denied(next, end - 600 * SECOND).0, next);
        assert_eq!(denied(next, end - 600 * SECOND - 1).0, end);
        let from_future = |expires_at: u64| {
            let state = State::Window { ends_at: expires_at - 1, hits: 1 };
            days(2).is_from_future(state, T + HOUR)
        };
        assert!(!from_future(end + SLACK) && from_future(end + SLACK + 1));
    }

    #[test]
    fn evicted_state_leaves_no_hit_until_it_ends_or_the_window_does() {
        let (noon, end) = (T + 12 * HOUR, T + 23 * HOUR);
        for (full_at, expected) in [(noon + HOUR, noon + HOUR), (end + 1, end), (end + HOUR, end)] {
            let state = State::Filling { full_at: Span::from_ns(full_at) };
            let (denied, _) = take(&days(2), state, noon);
            assert_eq!((denied.is_accepted(), denied.expires_at), (false, expected));
        }
    }

    #[test]
    fn call_that_changes_nothing_keeps_a_state_that_counts_too_many() {
        let state = State::Window { ends_at: T + 23 * HOUR - 1, hits: MAX_HITS };
        let (_, after): (Decision, _) = days(2).apply(state, T, &Op::Take { cost: 1 });
        assert_eq!(after, state);
    }

    #[test]
    fn refund_is_for_the_window_whose_end_it_names_within_ten_minutes() {
        let end = T + 23 * HOUR;
        let state = State::Window { ends_at: end - 1, hits: 1 };
        for (expiry, is_meant) in [
            (end, true),
            (end - SLACK, true),
            (end + SLACK, true),
            (end - SLACK - 1, false),
            (end + SLACK + 1, false),
        ] {
            let refund = Op::Refund { cost: 1, expiry: Some(expiry) };
            let (decision, _): (Decision, _) = days(2).apply(state, T, &refund);
            assert_eq!(decision.available.count_hits(), if is_meant { 2 } else { 1 }, "{expiry}");
        }
    }

    #[test]
    fn thousand_windows_of_one_boundary_have_different_ends() {
        let (mut state, mut ends) = (take(&days(5), State::FULL, T).1, HashSet::new());
        for _ in 0..=MAX_NUMBER {
            assert!(ends.insert(state.expires_at()), "{state:?}");
            state = days(5).apply::<Decision>(state, T, &Op::Reset).1;
            state = take(&days(5), state, T).1;
        }
        assert!(ends.iter().all(|end| end - T - 23 * HOUR < BOUNDARY));
    }

    #[test]
    fn limit_out_of_range_is_refused() {
        for hits in [0, -1, i64::from(MAX_HITS) + 1] {
            assert_eq!(CalendarWindow::new(hits, [T, 2 * T, 3 * T]), Err(LimitError::Hits));
        }
    }

    proptest! {
        /// Two processes of a host know the boundary a little differently.
        #[test]
        fn no_window_has_more_hits_than_its_limit_though_its_ends_differ(
            limit in 1i64..5, calls in prop::collection::vec((any::<bool>(), -3i64..4, 0u64..SLACK / 4), 1..200),
        ) {
            let exact = days(limit);
            let other = exact.by_clock_behind(SLACK / 2);
            let (mut state, mut hits) = (State::FULL, 0);
            let mut now = T + 22 * HOUR;
            let mut last = 0;
            for (is_other, jitter, step) in calls {
                now += step;
                let clock = now.saturating_add_signed(jitter);
                let window = if is_other { other } else { exact };
                let (decision, after) = take(&window, state, clock);
                state = after;
                if decision.is_accepted() {
                    // The end moves by a whole window, or stays where it was.
                    if decision.expires_at > last + SLACK { hits = 0; }
                    last = decision.expires_at;
                    hits += 1;
                }
                prop_assert!(hits <= limit, "{hits} of {limit}");
            }
        }

        /// A window that was reset, and one that begins after a block, has another end than each one before.
        #[test]
        fn no_call_before_a_reset_or_block_is_settled_after_it(
            calls in prop::collection::vec((0u8..6, 1u64..4, 1..9 * SECOND), 1..60),
        ) {
            let window = days(9);
            let (mut state, mut now, mut expiries) = (State::FULL, T, Vec::new());
            let mut begins = 0;
            for (kind, cost, step) in calls {
                now += step;
                let op = match kind {
                    0 => Op::Reset,
                    1 => Op::Block { duration: cost * SECOND },
                    _ => Op::Take { cost },
                };
                for (i, expiry) in expiries.iter().enumerate() {
                    for settle in [Op::Refund { cost, expiry: Some(*expiry) }, Op::Settle { cost, expiry: *expiry }] {
                        let (settled, after): (Decision, _) = window.apply(state, now, &settle);
                        let is_open = i >= begins && matches!(state, State::Window { .. });
                        prop_assert_eq!(settled.is_accepted(), is_open, "{:?} by {:?}", state, settle);
                        prop_assert!(is_open || after == state);
                    }
                }
                let (decision, after): (Decision, _) = window.apply(state, now, &op);
                if !matches!(op, Op::Take { .. }) { begins = expiries.len(); }
                if decision.taken > 0 { expiries.push(decision.expires_at); }
                state = after;
            }
        }

        #[test]
        fn clock_that_went_back_denies_until_the_next_boundary_at_most(
            ends_at in 0..10 * T, hits in 0..MAX_HITS, hour in 0u64..47,
        ) {
            let (window, now) = (days(3), T + hour * HOUR);
            let (decision, _) = take(&window, State::Window { ends_at, hits }, now);
            prop_assert!(decision.is_accepted() || decision.retry_at <= window.end_at(now) + SLACK);
        }
    }
}
