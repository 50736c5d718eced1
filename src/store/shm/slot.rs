//! How a bucket fits into one word of 128 bits.
//!
//! ```text
//!  127      94 93 92                                31 30                   0
//! +-----------+--+------------------------------------+---------------------+
//! | key's tag | 0| time, ns                        62 | rest             31 |
//! +-----------+--+----------------------------+-------+---------------------+
//! | key's tag | 1| time, 500 ns            53 | debt, 500 ns * 64^e      40 |
//! +-----------+--+----------------------------+-----------------------------+
//! ```
//!
//! The time is when the bucket is as good as new: it can be read without knowing the
//! limit, and says which slots are free. The rest is the fraction of a nanosecond in parts of
//! the limit; with its top bit set, 6 bits of how far a reservation reached ahead and 24 of the
//! fraction; with all of those 6 set, the hits of a window, whose last moment the time is; all ones
//! mark a claim (see [`table`](super::table)). The second form is for buckets overdrawn by `check`, the debt being 38 bits and an exponent of 2.
//!
//! A word of zeros is a full bucket: a fresh table needs no set-up.

use crate::limit::{GRAIN, Span, State};

/// The bits of a key's tag.
pub const TAG_BITS: u32 = 34;

const TAG_SHIFT: u32 = 128 - TAG_BITS;
const OVERDRAWN: u128 = 1 << 93;
const REST_BITS: u32 = 31;
const TIME_BITS: u32 = 62;
const DEBT_BITS: u32 = 40;
const DEBT_MANTISSA_BITS: u32 = 38;
const DEBT_EXPONENT_STEP: u64 = 6;
const RESERVED: u32 = 1 << 30;
const FRACTION_BITS: u32 = 24;
const FRACTION: u32 = (1 << FRACTION_BITS) - 1;
/// The largest exponent of a reservation's reach.
const MAX_AHEAD: u8 = 62;
/// What stands in its place for a window, whose hits are fewer than all ones, which is a claim.
const WINDOW: u32 = 63;
const CLAIM: u32 = (1 << REST_BITS) - 1;

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u128);

impl Slot {
    /// A slot that belongs to nobody.
    pub const EMPTY: Self = Self(0);

    /// The slot of a bucket in `state`.
    ///
    /// What does not fit is rounded against the caller: a debt above 38 hours to 32 µs,
    /// above 101 days to 2 ms.
    #[inline(always)]
    pub fn committed(tag: u64, state: State) -> Self {
        match state {
            State::Filling { full_at } => Self::of(tag, full_at.ns, full_at.part as u32),
            State::Reserved { full_at, fraction, ahead } => {
                let ahead = u32::from(ahead.min(MAX_AHEAD));
                Self::of(tag, full_at, RESERVED | ahead << FRACTION_BITS | fraction & FRACTION)
            }
            State::Window { ends_at, hits } => {
                Self::of(tag, ends_at, RESERVED | WINDOW << FRACTION_BITS | hits & FRACTION)
            }
            State::Overdrawn { forgiven_at, debt } => {
                let debt = to_float(debt.div_ceil(GRAIN));
                let body = u128::from(forgiven_at / GRAIN) << DEBT_BITS | u128::from(debt);
                Self(u128::from(tag) << TAG_SHIFT | OVERDRAWN | body)
            }
        }
    }

    /// The slot of a bucket that is being brought in, full again at `full_at`.
    #[inline(always)]
    pub fn claim(tag: u64, full_at: u64) -> Self {
        Self::of(tag, full_at, CLAIM)
    }

    #[inline(always)]
    fn of(tag: u64, time: u64, rest: u32) -> Self {
        Self(u128::from(tag) << TAG_SHIFT | u128::from(time) << REST_BITS | u128::from(rest))
    }

    /// The same bucket, of nobody.
    #[inline(always)]
    pub fn as_tombstone(self) -> Self {
        Self::committed(0, self.state())
    }

    /// A bucket of nobody that owes as much as both, and for as long. Rounded up where it has to be.
    pub fn raised_to(self, other: Self) -> Self {
        let expires_at = self.expires_at().max(other.expires_at());
        let owes_until = self.owes_until().max(other.owes_until());
        let state = match owes_until > expires_at {
            true => {
                let forgiven_at = expires_at.next_multiple_of(GRAIN);
                State::Overdrawn { forgiven_at, debt: owes_until.saturating_sub(forgiven_at) }
            }
            false => State::Filling { full_at: Span::from_ns(expires_at) },
        };
        Self::committed(0, state)
    }

    /// Whose slot it is.
    #[inline(always)]
    pub const fn tag(self) -> u64 {
        (self.0 >> TAG_SHIFT) as u64
    }

    /// Whether the slot is claimed and not settled yet.
    #[inline(always)]
    pub const fn is_claim(self) -> bool {
        self.0 & OVERDRAWN == 0 && self.rest() == CLAIM
    }

    /// The time from which the bucket is as good as new.
    #[inline(always)]
    pub const fn expires_at(self) -> u64 {
        if self.0 & OVERDRAWN != 0 {
            return self.forgiven_at();
        }
        let fraction = match self.rest() {
            CLAIM => 0,
            reserved if reserved & RESERVED != 0 => reserved & FRACTION,
            part => part,
        };
        // A fraction of a nanosecond more makes it not yet new at the whole one.
        self.time() + (fraction > 0) as u64
    }

    /// When the bucket would be full if its debts had to be paid off, which [`expires_at`] forgives.
    ///
    /// [`expires_at`]: Self::expires_at
    pub const fn owes_until(self) -> u64 {
        match self.state() {
            State::Overdrawn { forgiven_at, debt } => forgiven_at.saturating_add(debt),
            _ => self.expires_at(),
        }
    }

    /// The bucket in it.
    #[inline(always)]
    pub const fn state(self) -> State {
        if self.0 & OVERDRAWN != 0 {
            let debt = (self.0 & ((1 << DEBT_BITS) - 1)) as u64;
            let debt = from_float(debt).saturating_mul(GRAIN);
            return State::Overdrawn { forgiven_at: self.forgiven_at(), debt };
        }
        let (time, rest) = (self.time(), self.rest());
        if rest == CLAIM {
            State::Filling { full_at: Span { ns: time, part: 0 } }
        } else if rest & RESERVED != 0 {
            let ahead = ((rest & !RESERVED) >> FRACTION_BITS) as u8;
            if ahead as u32 == WINDOW {
                return State::Window { ends_at: time, hits: rest & FRACTION };
            }
            State::Reserved { full_at: time, fraction: rest & FRACTION, ahead }
        } else {
            State::Filling { full_at: Span { ns: time, part: rest as u64 } }
        }
    }

    const fn rest(self) -> u32 {
        self.0 as u32 & CLAIM
    }

    const fn time(self) -> u64 {
        (self.0 >> REST_BITS) as u64 & ((1 << TIME_BITS) - 1)
    }

    const fn forgiven_at(self) -> u64 {
        // Never wraps: 53 bits times 500 are below 2^62.
        ((self.0 >> DEBT_BITS) as u64 & ((1 << (93 - DEBT_BITS)) - 1)) * GRAIN
    }
}

/// A debt as a mantissa and, above it, an exponent in steps of 64, rounded up.
const fn to_float(debt: u64) -> u64 {
    let (mut mantissa, mut exponent) = (debt, 0);
    while mantissa >> DEBT_MANTISSA_BITS != 0 {
        mantissa = mantissa.div_ceil(1 << DEBT_EXPONENT_STEP);
        exponent += 1;
    }
    exponent << DEBT_MANTISSA_BITS | mantissa
}

const fn from_float(float: u64) -> u64 {
    let mantissa = float & ((1 << DEBT_MANTISSA_BITS) - 1);
    // Never shifts out: the exponent has 2 bits, so the factor is at most 2^18.
    mantissa << ((float >> DEBT_MANTISSA_BITS) * DEBT_EXPONENT_STEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{MAX_NOW, MAX_REFILL};
    use proptest::prelude::*;

    const LATEST: u64 = MAX_NOW + 2 * MAX_REFILL;

    fn there_and_back(state: State) -> State {
        let slot = Slot::committed((1 << TAG_BITS) - 1, state);
        assert_eq!(slot.tag(), (1 << TAG_BITS) - 1);
        assert!(!slot.is_claim());
        assert_eq!(slot.expires_at(), slot.state().expires_at());
        slot.state()
    }

    #[test]
    fn what_two_owe_together_is_no_less_than_either() {
        let filling = |ns| Slot::committed(7, State::Filling { full_at: Span { ns, part: 1 } });
        let overdrawn =
            |forgiven_at, debt| Slot::committed(9, State::Overdrawn { forgiven_at, debt });
        let slots =
            [filling(1), filling(10_001), overdrawn(5_000, 1_000), overdrawn(1_000, 90_000)];
        for (a, b) in slots.iter().flat_map(|a| slots.map(|b| (*a, b))) {
            let both = a.raised_to(b);
            assert_eq!(both.tag(), 0);
            let at_least = |f: fn(Slot) -> u64| f(both) >= f(a) && f(both) >= f(b);
            assert!(at_least(Slot::expires_at) && at_least(Slot::owes_until), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_zeroed_table_is_full_of_full_buckets() {
        assert_eq!(Slot::EMPTY.state(), State::FULL);
        assert_eq!(Slot::EMPTY.expires_at(), 0);
        assert!(!Slot::EMPTY.is_claim());
        assert_eq!(Slot::committed(0, State::FULL), Slot::EMPTY);
    }

    proptest! {
        #[test]
        fn what_fills_is_kept_exactly(ns in 0..LATEST, part in 0u64..1 << 30) {
            let state = State::Filling { full_at: Span { ns, part } };
            prop_assert_eq!(there_and_back(state), state);
        }

        #[test]
        fn a_claim_is_a_claim(tag in 0u64..1 << TAG_BITS, time in 0..LATEST) {
            let claim = Slot::claim(tag, time);
            prop_assert!(claim.is_claim());
            prop_assert_eq!((claim.tag(), claim.expires_at()), (tag, time));
            prop_assert_eq!(claim.state(), State::Filling { full_at: Span::from_ns(time) });
        }

        #[test]
        fn a_reservation_is_kept_exactly(
            full_at in 0..LATEST, fraction in 0u32..1 << 24, ahead in 0u8..=57,
        ) {
            let state = State::Reserved { full_at, fraction, ahead };
            prop_assert_eq!(there_and_back(state), state);
        }

        #[test]
        fn a_debt_is_never_cut(forgiven in 0..LATEST / GRAIN, debt in prop_oneof![
            0..1u64 << 38, 0..MAX_REFILL / GRAIN,
        ]) {
            let (forgiven_at, debt) = (forgiven * GRAIN, debt * GRAIN);
            let State::Overdrawn { forgiven_at: time, debt: more } =
                there_and_back(State::Overdrawn { forgiven_at, debt }) else { panic!() };
            prop_assert_eq!(time, forgiven_at);
            prop_assert!(more >= debt && more - debt <= debt >> 31);
            if debt < GRAIN << 38 { prop_assert_eq!(more, debt); }
        }

        #[test]
        fn any_word_can_be_read(word: u128) {
            let slot = Slot(word);
            let _ = (slot.tag(), slot.is_claim(), slot.expires_at(), slot.state());
        }
    }
}
