//! Batches: equal calls of a host's processes on one key, for all of which one of them asks the server.
//!
//! A call *joins* the open batch of its key and learns its number in it. When no process asks the server, a member *closes* the
//! batch, asks for all of its members, and *publishes* by what they were decided on: from that each member computes its own
//! decision. Meanwhile the next batch is open.
//!
//! * A batch has members of one *kind*, a hash of all that makes calls equal; a refund equals no other. A call of another kind
//!   *seals* the open batch, so that no further call joins it; the batch after a sealed one is for other kinds first. A record has
//!   two keys if their hashes say so: they are two kinds.
//! * A member uses what was published for its own batch alone, whose number no other has, and its place in the batch, which
//!   no other call has. So no grant is used twice, or by a later call.
//! * A process that asks is waited for until a time that it has set, and prolongs unless calls of another kind wait. If it is
//!   killed or paused, its members join again, and what it takes for them is lost. A process that finds that it was given up
//!   takes for itself alone.
//! * A member that gives up leaves, if it was the last to join. Else what is taken for it is lost.
//!
//! `tests/swap_protocol.rs` lets loom run three processes.

use super::basis::Basis;
use super::control::{Control, MAX_MEMBERS};
use super::key_record::{Batch, Batches, Bell, RESULTS, Share};
use super::results::collect;
use portable_atomic::AtomicU128;
use std::time::Duration;

/// How long a waiting call sleeps at most before it looks again, in nanoseconds. A process that was to wake it may have been
/// killed.
const LONGEST_SLEEP: u64 = 5_000_000;

/// What a call does next.
#[derive(Debug)]
pub enum Step {
    /// It asks the server for all members of the batch.
    Ask(Batch),
    /// It was decided on, as the call of this index.
    Decided(Basis, u32),
    /// It sleeps, and looks again.
    Sleep(Sleep),
    /// It would have to ask the server, and has no time for that.
    TooLate,
}

/// How a call waits.
#[derive(Debug, PartialEq, Eq)]
pub struct Sleep {
    /// The lower 32 bits of the control word. Once they have changed, the call looks again.
    pub seen: u32,
    /// As what it is woken.
    pub groups: u32,
    /// The longest time.
    pub at_most: Duration,
}

/// A call that waits for a decision.
pub struct Caller<'a, W = AtomicU128, const R: usize = RESULTS> {
    batches: Batches<'a, W, R>,
    kind: u64,
    place: Place,
}

/// Where a call is.
#[derive(Clone, Copy)]
enum Place {
    /// In no batch. No process closes the open batch of another kind: since when, and its number.
    Outside { stuck: Option<(u64, u32)> },
    /// In the batch of this number, with so many before it.
    Member { number: u32, index: u32 },
}

/// The group of those that wait to join: the open batch takes none of them.
const OTHERS: u32 = 1 << 31;

/// The group of a batch's members.
const fn members_of(number: u32) -> u32 {
    1 << (number % 16)
}

impl<'a, W: Bell, const R: usize> Caller<'a, W, R> {
    /// A call of this kind, which has not joined a batch yet.
    pub fn new(batches: Batches<'a, W, R>, kind: u64) -> Self {
        Self { batches, kind: Control::kind_of(kind), place: Place::Outside { stuck: None } }
    }

    /// What the call does next, at `now`. If it asks the server, it is waited for `until`; it has to have the time for that
    /// (`may_ask`).
    pub fn step(&mut self, now: u64, until: u64, may_ask: bool) -> Step {
        loop {
            let next = match self.place {
                Place::Outside { stuck } => self.join(stuck, now, until, may_ask),
                Place::Member { number, index } => self.look(number, index, now, until, may_ask),
            };
            if let Some(step) = next {
                return step;
            }
        }
    }

    /// Joins the open batch, and closes it if no process asks. None if the call has to look again.
    fn join(
        &mut self,
        stuck: Option<(u64, u32)>,
        now: u64,
        until: u64,
        may_ask: bool,
    ) -> Option<Step> {
        let (word, open) = self.batches.load();
        let is_asking = open.is_asking(now);
        let is_same = open.kind == self.kind;
        let may_join = match open.members {
            0 => !(open.is_sealed && is_same && is_asking),
            members => is_same && !open.is_sealed && members < MAX_MEMBERS,
        };
        let joined =
            Control { kind: self.kind, members: open.members + 1, is_sealed: false, ..open };
        let share = Share { index: open.members, count: open.members + 1 };
        match (may_join, is_asking) {
            (true, true) => {
                if self.batches.replace(word, joined) {
                    self.place = Place::Member { number: open.number, index: open.members };
                    if open.is_sealed {
                        // It was kept for calls of other kinds. Those of the kind before seal it now.
                        self.batches.ring(OTHERS);
                    }
                }
                None
            }
            (true, false) if !may_ask => Some(Step::TooLate),
            (true, false) => {
                let is_closed = self.batches.replace(word, joined.closed(until));
                is_closed.then_some(Step::Ask(Batch {
                    number: open.number,
                    kind: self.kind,
                    share,
                }))
            }
            (false, true) => self.wait_for_turn(word, open, now),
            (false, false) => match stuck {
                // Its members would have closed it by now: they were killed or paused.
                Some((since, number))
                    if number == open.number && now >= since + LONGEST_SLEEP && may_ask =>
                {
                    // They may yet come. So the number of their batch is not used.
                    let number = Control::next(open.number);
                    let own = Control { number, kind: self.kind, is_sealed: false, ..open };
                    if !self.batches.replace(word, own.closed(until)) {
                        return None;
                    }
                    self.batches.ring(OTHERS | members_of(open.number));
                    Some(Step::Ask(Batch { number, kind: self.kind, share: Share::ALONE }))
                }
                Some((_, number)) if number == open.number => self.wait_for_turn(word, open, now),
                _ => {
                    self.place = Place::Outside { stuck: Some((now, open.number)) };
                    None
                }
            },
        }
    }

    /// Waits until another batch is open.
    fn wait_for_turn(&self, word: u128, open: Control, now: u64) -> Option<Step> {
        if !open.is_sealed && open.members < MAX_MEMBERS {
            let sealed = Control { is_sealed: true, ..open };
            // Sealing leaves the bits as they are that are slept on.
            if !self.batches.replace(word, sealed) {
                return None;
            }
        }
        Some(sleep(word, OTHERS, open, now))
    }

    /// Looks at the batch that the call has joined, and closes it if no process asks. None if the call has to join again.
    fn look(
        &mut self,
        number: u32,
        index: u32,
        now: u64,
        until: u64,
        may_ask: bool,
    ) -> Option<Step> {
        let (word, open) = self.batches.load();
        if open.number != number {
            // After the control word: what was published before the process ended its work is there.
            let basis = collect(self.batches, number, self.kind);
            return match basis {
                Some(basis) => Some(Step::Decided(basis, index)),
                None if open.is_batch_of(number) && open.is_asking(now) => {
                    Some(sleep(word, members_of(number), open, now))
                }
                None => {
                    self.place = Place::Outside { stuck: None };
                    None
                }
            };
        }
        if open.members <= index {
            // Something else has written to the file.
            self.place = Place::Outside { stuck: None };
            return None;
        }
        if open.is_asking(now) {
            return Some(sleep(word, members_of(number), open, now));
        }
        if !may_ask {
            return Some(Step::TooLate);
        }
        if !self.batches.replace(word, open.closed(until)) {
            return None;
        }
        if open.is_sealed || open.members == MAX_MEMBERS {
            self.batches.ring(OTHERS);
        }
        let share = Share { index, count: open.members };
        Some(Step::Ask(Batch { number, kind: self.kind, share }))
    }

    /// Gives up. A call that is the last of the open batch leaves it, and has nothing taken for it.
    pub fn leave(&self, now: u64) {
        let Place::Member { number, index } = self.place else { return };
        loop {
            let (word, open) = self.batches.load();
            let is_last = open.number == number && open.members == index + 1;
            let left = Control { members: index, ..open };
            if !is_last || self.batches.replace(word, left) {
                if open.number == number && !open.is_asking(now) {
                    // It may be the one that was woken to close the batch.
                    self.batches.record.control.ring(members_of(number), 1);
                }
                return;
            }
        }
    }
}

/// Sleeps until the batch under way is decided on, or is waited for no longer.
fn sleep(word: u128, groups: u32, open: Control, now: u64) -> Step {
    let left = match open.is_asking(now) {
        true => open.time_left(now).min(LONGEST_SLEEP),
        false => LONGEST_SLEEP,
    };
    // The lower 32 bits.
    Step::Sleep(Sleep { seen: word as u32, groups, at_most: Duration::from_nanos(left) })
}

/// Makes the process that asks be waited for `until`, but for no longer than so far if calls of another kind wait: theirs may
/// be another key, whose server answers. Returns the share of those whose calls it may decide on: its own alone, if it was given up.
pub fn extend<W: Bell, const R: usize>(
    batches: Batches<'_, W, R>,
    batch: &Batch,
    until: u64,
) -> Share {
    loop {
        let (word, open) = batches.load();
        if !open.is_batch_of(batch.number) {
            return Share::ALONE;
        }
        let others_wait = open.is_sealed || open.members > 0 && open.kind != batch.kind;
        if others_wait || batches.replace(word, open.extended(until)) {
            return batch.share;
        }
    }
}

/// Ends the asking for a batch, with a result or without one, and wakes who waits for it.
pub fn release<W: Bell, const R: usize>(batches: Batches<'_, W, R>, batch: &Batch) {
    let mut next = None;
    loop {
        let (word, open) = batches.load();
        if !open.is_batch_of(batch.number) {
            break;
        }
        if batches.replace(word, open.released()) {
            next = Some(open);
            break;
        }
    }
    // First the one that asks next: it waits for the server while the others go on.
    match next {
        Some(open) if open.members > 0 => {
            batches.record.control.ring(members_of(open.number), 1);
        }
        Some(open) if open.is_sealed => batches.ring(OTHERS),
        _ => {}
    }
    if batch.share.count > 1 {
        batches.ring(members_of(batch.number));
    }
}

#[cfg(test)]
mod tests;
