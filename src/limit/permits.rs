//! Permits: how many may run at the same time.
//!
//! A request takes a permit before its work and gives it back afterwards. A permit has a lifetime, after which
//! it is free even if it was not given back. Stores that keep a list of the permits held decide by
//! [`HeldPermits::apply`]; Redis has a server-side implementation, which the differential test in
//! `tests/permits.rs` holds to it. Shared memory has a slot for each permit instead.

use super::block_length::{longest, whole_seconds};
use super::bounds::MAX_PERMITS;
use super::duration::duration_from_seconds;
use super::error::LimitError;

/// A limit of how many run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitLimit {
    max: u32,
    /// Nanoseconds.
    lifetime: u64,
}

impl PermitLimit {
    /// At most `max` permits at once, each for `lifetime` seconds at most unless it is renewed.
    ///
    /// # Errors
    ///
    /// The permits must be within 1 and [`MAX_PERMITS`]; the lifetime at least a nanosecond and at most four
    /// years.
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket_limit::PermitLimit;
    ///
    /// assert_eq!(PermitLimit::new(3, 60.0)?.lifetime(), 60_000_000_000);
    /// # Ok::<(), token_bucket_limit::LimitError>(())
    /// ```
    pub fn new(max: i64, lifetime: f64) -> Result<Self, LimitError> {
        Ok(Self { max: permits(max)?, lifetime: duration_from_seconds(lifetime)? })
    }

    /// As many permits as `max` says, each for the same lifetime.
    ///
    /// # Errors
    ///
    /// That of [`new`](Self::new) for the permits.
    pub fn with_max(&self, max: i64) -> Result<Self, LimitError> {
        Ok(Self { max: permits(max)?, ..*self })
    }

    /// How many may be held at once.
    pub const fn max(&self) -> u32 {
        self.max
    }

    /// How many may be held once a call has taken one that leaves so many.
    pub fn max_leaving(&self, leave: u64) -> u32 {
        u64::from(self.max).saturating_sub(leave) as u32
    }

    /// How long a permit is held at most, in nanoseconds.
    pub const fn lifetime(&self) -> u64 {
        self.lifetime
    }
}

fn permits(max: i64) -> Result<u32, LimitError> {
    let max = u32::try_from(max).ok().filter(|n| (1..=MAX_PERMITS).contains(n));
    max.ok_or(LimitError::Permits)
}

/// A number that no other permit has.
pub type PermitId = u128;

/// What a caller asks about the permits of one identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitOp {
    /// Takes a permit, if fewer than `max` are held. Accepted without a change if the id holds one, so
    /// that a call may be repeated whose answer was lost.
    Acquire {
        /// The permit's id.
        id: PermitId,
        /// The most that may be held, the new one included.
        max: u32,
        /// Nanoseconds.
        lifetime: u64,
    },
    /// Lets the lifetime of a permit that is held begin anew.
    Renew {
        /// The permit's id.
        id: PermitId,
        /// Nanoseconds.
        lifetime: u64,
    },
    /// Gives a permit back. Accepted if it was held.
    Release {
        /// The permit's id.
        id: PermitId,
    },
    /// Counts the permits that are held.
    Count,
    /// Frees all permits.
    Reset,
}

/// The answer to an operation on permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitAnswer {
    /// Whether the operation is accepted.
    pub accepted: bool,
    /// How many permits are held after it.
    pub active: u32,
}

/// A permit that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    ends_at: u64,
    /// How many seconds before its end the lifetime began at most. An end further off is of a clock that went back.
    asked: u32,
    id: PermitId,
}

/// The permits of one identifier that are held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPermits(Vec<Held>);

impl HeldPermits {
    /// Applies an operation, and drops the permits whose lifetime has ended at `now`.
    pub fn apply(&mut self, now: u64, op: PermitOp) -> PermitAnswer {
        if op == PermitOp::Count {
            let held = self.0.iter().filter(|held| held.ends_at > now).count();
            return PermitAnswer { accepted: true, active: held as u32 };
        }
        self.0.retain(|held| held.ends_at > now);
        for held in &mut self.0 {
            held.ends_at = held.ends_at.min(now + longest(held.asked));
        }
        let known = |id| move |held: &Held| held.id == id;
        let begun =
            |id, lifetime| Held { ends_at: now + lifetime, asked: whole_seconds(lifetime), id };
        let accepted = match op {
            PermitOp::Acquire { id, max, lifetime } => {
                let is_new = !self.0.iter().any(known(id));
                let has_room = self.0.len() < max as usize;
                if is_new && has_room {
                    self.0.push(begun(id, lifetime));
                }
                !is_new || has_room
            }
            PermitOp::Renew { id, lifetime } => {
                let held = self.0.iter_mut().find(|held| held.id == id);
                held.map(|held| *held = begun(id, lifetime)).is_some()
            }
            PermitOp::Release { id } => {
                let held = self.0.iter().position(known(id));
                held.map(|at| self.0.remove(at)).is_some()
            }
            // Counted above.
            PermitOp::Count => true,
            PermitOp::Reset => {
                self.0.clear();
                true
            }
        };
        // Fits: at most MAX_PERMITS are added.
        PermitAnswer { accepted, active: self.0.len() as u32 }
    }

    /// When the last lifetime ends; 0 if no permit is held.
    pub fn expires_at(&self) -> u64 {
        self.0.iter().map(|held| held.ends_at).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_REFILL, SECOND};
    use proptest::prelude::*;
    use std::collections::HashMap;

    const T0: u64 = 1_000_000 * SECOND;

    #[test]
    fn limit_tells_how_many_may_be_held() {
        assert_eq!(PermitLimit::new(3, 1.0).unwrap().max(), 3);
    }

    fn any_op() -> impl Strategy<Value = PermitOp> {
        let (id, lifetime) = (0u128..12, prop_oneof![1..5 * SECOND, 1..=MAX_REFILL]);
        prop_oneof![
            5 => (id.clone(), 1u32..5, lifetime.clone())
                .prop_map(|(id, max, lifetime)| PermitOp::Acquire { id, max, lifetime }),
            3 => (id.clone(), lifetime).prop_map(|(id, lifetime)| PermitOp::Renew { id, lifetime }),
            3 => id.prop_map(|id| PermitOp::Release { id }),
            1 => Just(PermitOp::Count),
            1 => Just(PermitOp::Reset),
        ]
    }

    proptest! {
        /// Compares with a plain record of each permit's end: there are never more permits than the limit, and a
        /// permit ends only by its own release, a reset or the end of its lifetime.
        #[test]
        fn answers_follow_from_the_permits_that_are_held(
            ops in prop::collection::vec((any_op(), 0u64..2 * SECOND), 1..200),
        ) {
            let (mut list, mut naive, mut now) = (HeldPermits::default(), HashMap::new(), T0);
            for (op, wait) in ops {
                now += wait;
                naive.retain(|_, ends_at| *ends_at > now);
                let before = naive.clone();
                let answer = list.apply(now, op);
                let expected = match op {
                    PermitOp::Acquire { id, max, lifetime } => {
                        let is_held = naive.contains_key(&id);
                        let has_room = naive.len() < max as usize;
                        if !is_held && has_room { naive.insert(id, now + lifetime); }
                        prop_assert!(naive.len() <= before.len().max(max as usize));
                        is_held || has_room
                    }
                    PermitOp::Renew { id, lifetime } => {
                        naive.get_mut(&id).map(|ends_at| *ends_at = now + lifetime).is_some()
                    }
                    PermitOp::Release { id } => naive.remove(&id).is_some(),
                    PermitOp::Count => true,
                    PermitOp::Reset => { naive.clear(); true }
                };
                prop_assert_eq!(answer, PermitAnswer { accepted: expected, active: naive.len() as u32 });
                let in_force = Some(list.expires_at()).filter(|end| *end > now).unwrap_or(0);
                prop_assert_eq!(in_force, naive.values().copied().max().unwrap_or(0));
            }
        }

        #[test]
        fn clock_that_went_back_keeps_permits_for_one_more_lifetime_at_most(
            lifetime in 1..900 * SECOND, passed in 0u64..1_000, back in 1..T0,
        ) {
            let mut list = HeldPermits::default();
            let [first, second] = [1, 2].map(|id| PermitOp::Acquire { id, max: 1, lifetime });
            prop_assert!(list.apply(T0, first).accepted);
            let now = T0 + lifetime * passed / 1_000 - back;
            for op in [PermitOp::Count, second, second] {
                let answer = list.apply(now, op);
                prop_assert_eq!((answer.accepted, answer.active), (op == PermitOp::Count, 1));
            }
            prop_assert!(list.apply(now + lifetime.next_multiple_of(SECOND), second).accepted);
        }
    }

    #[test]
    fn lifetime_ends_at_its_last_nanosecond() {
        let mut list = HeldPermits::default();
        let take = |id| PermitOp::Acquire { id, max: 1, lifetime: 10 };
        assert!(list.apply(T0, take(1)).accepted);
        assert!(!list.apply(T0 + 9, take(2)).accepted);
        assert!(list.apply(T0 + 10, take(2)).accepted);
        assert!(!list.apply(T0 + 10, PermitOp::Renew { id: 1, lifetime: 10 }).accepted);
        assert!(!list.apply(T0 + 10, PermitOp::Release { id: 1 }).accepted, "it is another's");
        assert_eq!(list.apply(T0 + 10, PermitOp::Count).active, 1);
    }

    #[test]
    fn limit_is_within_its_range() {
        for max in [i64::MIN, -1, 0, 1_025, i64::MAX] {
            assert_eq!(PermitLimit::new(max, 60.0), Err(LimitError::Permits));
        }
        for lifetime in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-10, 126_230_400.1] {
            assert_eq!(PermitLimit::new(1, lifetime), Err(LimitError::Interval));
        }
        assert_eq!(PermitLimit::new(1_024, 126_230_400.0).unwrap().lifetime(), MAX_REFILL);
        assert_eq!(PermitLimit::new(1, 1e-9).unwrap().lifetime(), 1);
    }
}
