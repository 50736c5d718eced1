//! How a bucket fits into one word of 128 bits.
//!
//! ```text
//!  127      94  93  92                        31  30  29    24 23            0
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | full at, ns              62 | 0 | part of a ns         30 |  filling
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | full at, ns              62 | 1 | 0 | ahead 7 | fraction 22 |  reserved
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | ends at, ns              62 | 1 | 63    6 | hits       24 |  window
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | full at, ns              62 | 1 | 60    6 | number     24 |  claim
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | until, ns                62 | 1 | 5 3 | asked 17 | no. 10 |  blocked
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | ends at, ns              62 | 1 | 61    6 | holder     24 |  held
//! +-----------+---+-----------------------------+---+---------+---------------+
//! | key's tag | 0 | at, us          52 | 0000 | 6 | 1 | 59    6 | 24 |  emptied
//! +-----------+---+-----------------------+-----+---+---------+---------------+
//! | key's tag | 1 | 0 | forgiven at, us 52 | debt, us * 64^e               40 |  overdrawn
//! +-----------+---+------------------------+----------------------------------+
//!  127      94  93  92                   40 39                               0
//! ```
//!
//! The time in each form is when the slot expires; of an emptied one that is later by its reach. It can be read without knowing the
//! limit, so a slot can be reused by a call under any other limit. A block was asked for so many seconds * 2^e, in 13 bits and an
//! exponent; the number is that of the window after it. A claim marks a slot whose bucket is about to be committed (see
//! `table`). Its number tells it from other claims of the key (see `claim_number`). A reservation is at most 58 `ahead`.
//!
//! A held slot is a permit, in a table of permits (`permits`). No other table has one: there its bits would
//! be read as a reservation.
//!
//! Bit 92 of an overdrawn slot is free, for windows of large counts.
//!
//! A word of zeros is a full bucket, or a permit that is free: a new table needs no set-up.

use crate::limit::{GRAIN, MAX_REFILL, MOST_REFILLS, Span, State};
use crate::mapped::set::TAG_BITS;

const TAG_SHIFT: u32 = 128 - TAG_BITS;
const TIME_BITS: u32 = 62;
/// The bits behind the time.
const REST_BITS: u32 = 31;
const REST: u32 = (1 << REST_BITS) - 1;
/// Marks the rest of what is not filling: reserved, overdrawn, emptied, blocked, a window, a claim, a permit.
const NOT_FILLING: u32 = 1 << 30;
const FRACTION_BITS: u32 = 24;
const FRACTION: u32 = (1 << FRACTION_BITS) - 1;
/// The bits of the fraction of a reserved bucket; above it are 7 of `ahead`, and a bit that is set in each other form.
const RESERVED_FRACTION_BITS: u32 = 22;
const RESERVED_FRACTION: u32 = (1 << RESERVED_FRACTION_BITS) - 1;
/// Marks an emptied bucket. Its time counts microseconds, and the bits below have the highest ones of its reach.
const REACH_HIGH_BITS: u32 = 10;
const EMPTIED: u32 = 59;
/// Marks a claim.
const CLAIM: u32 = 60;
/// Marks a permit that is held.
const HELD: u32 = 61;
/// Marks a block; three bits of it belong to what follows.
const BLOCKED: u32 = 0b101_000;
const BLOCKED_MORE: u32 = 0b111;
/// The bits of a block that keep how long was asked for, and those of the window after it.
const ASKED_BITS: u32 = 17;
const ASKED_MANTISSA_BITS: u32 = 13;
const NUMBER_BITS: u32 = 10;
/// Marks a window.
const WINDOW: u32 = 63;

const OVERDRAWN: u128 = 1 << 93;
const FORGIVEN_BITS: u32 = 52;
const DEBT_BITS: u32 = 40;
const DEBT_MANTISSA_BITS: u32 = 38;
const DEBT_EXPONENT_STEP: u64 = 6;

/// The bits of a permit's holder.
pub const HOLDER_BITS: u32 = FRACTION_BITS;

/// The bits of a claim's number.
pub const CLAIM_NUMBER_BITS: u32 = FRACTION_BITS;

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u128);

/// A permit that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSlot {
    /// When its lifetime ends, in nanoseconds: a later time is free.
    pub ends_at: u64,
    /// A number of [`HOLDER_BITS`] bits for the holder, above 0 (see `holder`).
    pub holder: u32,
}

/// What a slot's bits mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotForm {
    Filling,
    Reserved,
    Window,
    Claim,
    Blocked,
    Held,
    Emptied,
    Overdrawn,
}

impl Slot {
    /// A slot without a key, whose bucket is full.
    pub const EMPTY: Self = Self(0);

    /// The slot of a bucket in `state`.
    ///
    /// What does not fit is rounded against the client: a debt above 38 hours to 32 µs, above 101
    /// days to 2 ms.
    #[inline(always)]
    pub fn committed(tag: u64, state: State) -> Self {
        match state {
            State::Filling { full_at } => Self::filling(tag, full_at),
            State::Reserved { full_at, fraction, ahead } => {
                Self::reserved(tag, full_at, fraction, ahead)
            }
            State::Window { ends_at, hits } => Self::window(tag, ends_at, hits),
            State::Overdrawn { forgiven_at, debt } => Self::overdrawn(tag, forgiven_at, debt),
            State::Blocked { until, asked, number } => Self::blocked(tag, until, asked, number),
            State::Emptied { at, reach } => Self::emptied(tag, at, reach),
        }
    }

    /// The slot of a key whose bucket is about to be committed, full again at `full_at`. `number` has
    /// [`CLAIM_NUMBER_BITS`] bits; higher ones are left out.
    #[inline(always)]
    pub fn claim(tag: u64, full_at: u64, number: u32) -> Self {
        Self::with_rest(tag, full_at, NOT_FILLING | CLAIM << FRACTION_BITS | number & FRACTION)
    }

    #[inline(always)]
    fn filling(tag: u64, full_at: Span) -> Self {
        Self::with_rest(tag, full_at.ns, full_at.part as u32)
    }

    #[inline(always)]
    fn reserved(tag: u64, full_at: u64, fraction: u32, ahead: u8) -> Self {
        let ahead = u32::from(ahead.min(MOST_REFILLS));
        let rest = ahead << RESERVED_FRACTION_BITS | fraction & RESERVED_FRACTION;
        Self::with_rest(tag, full_at, NOT_FILLING | rest)
    }

    #[inline(always)]
    fn window(tag: u64, ends_at: u64, hits: u32) -> Self {
        Self::with_rest(tag, ends_at, NOT_FILLING | WINDOW << FRACTION_BITS | hits & FRACTION)
    }

    #[inline(always)]
    fn blocked(tag: u64, until: u64, asked: u32, number: u16) -> Self {
        let number = u32::from(number) & ((1 << NUMBER_BITS) - 1);
        let asked = asked_to_float(asked) << NUMBER_BITS;
        Self::with_rest(tag, until, NOT_FILLING | BLOCKED << FRACTION_BITS | asked | number)
    }

    #[inline(always)]
    fn emptied(tag: u64, at: u64, reach: u32) -> Self {
        let high = u64::from(reach >> FRACTION_BITS) & ((1 << REACH_HIGH_BITS) - 1);
        let time = at.div_ceil(GRAIN) << REACH_HIGH_BITS | high;
        Self::with_rest(tag, time, NOT_FILLING | EMPTIED << FRACTION_BITS | reach & FRACTION)
    }

    /// The slot of a permit that is held.
    #[inline(always)]
    pub fn held(tag: u64, HeldSlot { ends_at, holder }: HeldSlot) -> Self {
        // The time in the slot is the last moment of the lifetime, as that of a window: the end follows from it
        // by the same rounding.
        let last_moment = ends_at.saturating_sub(1);
        Self::with_rest(tag, last_moment, NOT_FILLING | HELD << FRACTION_BITS | holder & FRACTION)
    }

    /// The slot of a permit that is free.
    #[inline(always)]
    pub const fn free(tag: u64) -> Self {
        Self((tag as u128) << TAG_SHIFT)
    }

    /// The permit that the slot holds, whether its lifetime has ended or not; none if the slot has another form.
    #[inline(always)]
    pub const fn as_held(self) -> Option<HeldSlot> {
        match (self.form(), self.rest() & FRACTION) {
            (SlotForm::Held, holder @ 1..) => Some(HeldSlot { ends_at: self.time() + 1, holder }),
            _ => None,
        }
    }

    #[inline(always)]
    fn overdrawn(tag: u64, forgiven_at: u64, debt: u64) -> Self {
        let debt = to_float(debt.div_ceil(GRAIN));
        let body = u128::from(forgiven_at / GRAIN) << DEBT_BITS | u128::from(debt);
        Self(u128::from(tag) << TAG_SHIFT | OVERDRAWN | body)
    }

    /// A slot of any form but overdrawn.
    #[inline(always)]
    fn with_rest(tag: u64, time: u64, rest: u32) -> Self {
        Self(u128::from(tag) << TAG_SHIFT | u128::from(time) << REST_BITS | u128::from(rest))
    }

    /// The same bucket without its key.
    #[inline(always)]
    pub fn as_tombstone(self) -> Self {
        Self::committed(0, self.state())
    }

    /// A tombstone that owes as much as both slots, and for as long, rounded up.
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

    /// The tag of the slot's key. Zero is the tag of a slot without a key.
    #[inline(always)]
    pub const fn tag(self) -> u64 {
        (self.0 >> TAG_SHIFT) as u64
    }

    /// Whether the slot is a claim, not yet committed.
    #[inline(always)]
    pub const fn is_claim(self) -> bool {
        matches!(self.form(), SlotForm::Claim)
    }

    /// The time from which the slot may be reused, since its state is expired.
    #[inline(always)]
    pub const fn expires_at(self) -> u64 {
        let fraction = match self.form() {
            SlotForm::Overdrawn => return self.forgiven_at(),
            SlotForm::Emptied => return self.to_emptied().expires_at(),
            SlotForm::Claim | SlotForm::Blocked => 0,
            SlotForm::Filling => self.rest(),
            SlotForm::Reserved => self.rest() & RESERVED_FRACTION,
            _ => self.rest() & FRACTION,
        };
        // Rounded up: at the whole nanosecond a fraction is still missing.
        self.time() + (fraction > 0) as u64
    }

    /// When the bucket would be full if its debt were paid, which [`expires_at`](Self::expires_at)
    /// forgives. A block owes the longest refill beyond its end: so it is empty under any limit as long as
    /// it lasts.
    pub const fn owes_until(self) -> u64 {
        match self.state() {
            State::Overdrawn { forgiven_at, debt } => forgiven_at.saturating_add(debt),
            State::Blocked { until, .. } => until.saturating_add(MAX_REFILL),
            _ => self.expires_at(),
        }
    }

    /// The state of the bucket. A claim is a bucket that fills.
    #[inline(always)]
    pub const fn state(self) -> State {
        match self.form() {
            SlotForm::Filling => self.to_filling(),
            SlotForm::Claim => State::Filling { full_at: Span { ns: self.time(), part: 0 } },
            SlotForm::Window => self.to_window(),
            SlotForm::Blocked => self.to_blocked(),
            SlotForm::Reserved | SlotForm::Held => self.to_reserved(),
            SlotForm::Emptied => self.to_emptied(),
            SlotForm::Overdrawn => self.to_overdrawn(),
        }
    }

    #[inline(always)]
    const fn to_filling(self) -> State {
        State::Filling { full_at: Span { ns: self.time(), part: self.rest() as u64 } }
    }

    /// The state of a bucket that fills. None for any other, and for a claim.
    #[inline(always)]
    pub const fn as_filling(self) -> Option<State> {
        if matches!(self.form(), SlotForm::Filling) { Some(self.to_filling()) } else { None }
    }

    #[inline(always)]
    const fn to_reserved(self) -> State {
        let ahead = ((self.rest() & !NOT_FILLING) >> RESERVED_FRACTION_BITS) as u8;
        let fraction = self.rest() & RESERVED_FRACTION;
        State::Reserved { full_at: self.time(), fraction, ahead }
    }

    #[inline(always)]
    const fn to_window(self) -> State {
        State::Window { ends_at: self.time(), hits: self.rest() & FRACTION }
    }

    #[inline(always)]
    const fn to_emptied(self) -> State {
        let high = (self.time() & ((1 << REACH_HIGH_BITS) - 1)) as u32;
        let at = (self.time() >> REACH_HIGH_BITS) * GRAIN;
        State::Emptied { at, reach: high << FRACTION_BITS | self.rest() & FRACTION }
    }

    const fn to_blocked(self) -> State {
        let asked = asked_from_float(self.rest() >> NUMBER_BITS & ((1 << ASKED_BITS) - 1));
        let number = (self.rest() & ((1 << NUMBER_BITS) - 1)) as u16;
        State::Blocked { until: self.time(), asked, number }
    }

    #[inline(always)]
    const fn to_overdrawn(self) -> State {
        let debt = (self.0 & ((1 << DEBT_BITS) - 1)) as u64;
        let debt = from_float(debt).saturating_mul(GRAIN);
        State::Overdrawn { forgiven_at: self.forgiven_at(), debt }
    }

    #[inline(always)]
    const fn form(self) -> SlotForm {
        if self.0 & OVERDRAWN != 0 {
            return SlotForm::Overdrawn;
        }
        match self.rest() {
            part if part & NOT_FILLING == 0 => SlotForm::Filling,
            marked => match (marked & !NOT_FILLING) >> FRACTION_BITS {
                CLAIM => SlotForm::Claim,
                WINDOW => SlotForm::Window,
                HELD => SlotForm::Held,
                EMPTIED => SlotForm::Emptied,
                form if form & !BLOCKED_MORE == BLOCKED => SlotForm::Blocked,
                _ => SlotForm::Reserved,
            },
        }
    }

    const fn rest(self) -> u32 {
        self.0 as u32 & REST
    }

    const fn time(self) -> u64 {
        (self.0 >> REST_BITS) as u64 & ((1 << TIME_BITS) - 1)
    }

    const fn forgiven_at(self) -> u64 {
        // Never wraps: 52 bits times 1,000 are below 2^62.
        ((self.0 >> DEBT_BITS) as u64 & ((1 << FORGIVEN_BITS) - 1)) * GRAIN
    }
}

/// Seconds as a mantissa and, above it, an exponent of two, rounded up.
const fn asked_to_float(seconds: u32) -> u32 {
    let (mut mantissa, mut exponent) = (seconds, 0);
    while mantissa >> ASKED_MANTISSA_BITS != 0 {
        mantissa = mantissa.div_ceil(2);
        exponent += 1;
    }
    // More than a block can have: four bits of exponent.
    if exponent > 15 { (1 << ASKED_BITS) - 1 } else { exponent << ASKED_MANTISSA_BITS | mantissa }
}

const fn asked_from_float(float: u32) -> u32 {
    (float & ((1 << ASKED_MANTISSA_BITS) - 1)) << (float >> ASKED_MANTISSA_BITS)
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
mod tests;
