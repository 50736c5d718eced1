//! The block and the reset of a sliding window.
//!
//! A block stands in the first place alone, so it takes one slot, whatever the limit. Every call looks at that place first.
//!
//! * **A block that is set while a call takes its hits** counts: a call with a hit in another place looks at the first place once
//!   more, and gives the hit back if the window is blocked. So a call that is accepted has seen the window unblocked when it had its
//!   hits.
//! * **The hits from before** are forgotten: the process that sets the block frees their places. It frees a hit only if it has read the
//!   hit and then found the window blocked. So no hit is lost that was taken after the block, also if that process is suspended, and
//!   the block ends or is lifted meanwhile. If it is killed, some hits stay until they leave, and the limit is stricter after the block.
//! * **A block that was evicted** stays in the tombstone of its set, which owes more than any hit does. A window whose first place
//!   has no slot in such a set is blocked as long as the latest of those blocks lasts, also if it never was, and a reset does not
//!   change that. In a set full of blocks this takes a newcomer's first place, so that its calls evict none of them.

use super::place::PlaceState;
use super::window::WindowInTable;
use crate::limit::{Decision, MAX_SLIDING_HITS, Op, State, StoredState};
use crate::mapped::word::Word;
use crate::store::shm::slot::Slot;
use crate::store::shm::table::{self, Look};

/// Blocks the window, at least as long as an earlier block does, and forgets its hits.
pub(super) fn block<W: Word>(window: &WindowInTable<'_, W>, duration: u64) -> Decision {
    // An evicted block is not in the slot that is blocked here.
    let left = match find_first(window, Op::Peek { cost: 1 }) {
        Some(PlaceState::Blocked(evicted)) => evicted.expires_at().saturating_sub(window.now.get()),
        _ => 0,
    };
    let op = Op::Block { duration: duration.max(left) };
    let before = match window.change(0, op).0 {
        PlaceState::Blocked(block) => block,
        _ => State::FULL,
    };
    forget_hits(window);
    window.limit.apply(&before.into(), window.now.get(), op).0
}

/// Frees all places but the first, as long as the window is blocked.
fn forget_hits<W: Word>(window: &WindowInTable<'_, W>) {
    for number in (1..MAX_SLIDING_HITS).rev() {
        let Some((set, tag)) = window.places.get(number) else { return };
        if let Look::Known(word, slot) = table::look(&set.0, tag, window.now.get())
            && slot != Slot::free(tag)
        {
            if !is_blocked_at(window, window.clock()) {
                return;
            }
            // If the slot has changed, what is there now stays.
            word.replace(slot.0, Slot::free(tag).0);
        }
    }
}

/// Frees all places, the last one first: as long as the first one is blocked, no other process takes a hit.
pub(super) fn reset<W: Word>(window: &WindowInTable<'_, W>) -> Decision {
    for number in (0..MAX_SLIDING_HITS).rev() {
        if let Some((set, tag)) = window.places.get(number)
            && let Look::Known(..) = table::look(&set.0, tag, window.now.get())
        {
            window.change(number, Op::Reset);
        }
    }
    window.limit.apply(&StoredState::FULL, window.now.get(), Op::Reset).0
}

/// Whether the window was blocked after the first place had this content. If that is unchanged, this is one read of one word.
#[inline(always)]
pub(super) fn is_blocked_since<W: Word>(
    window: &WindowInTable<'_, W>,
    first: Option<(&W, Slot)>,
) -> bool {
    let is_unchanged = first.is_some_and(|(word, seen)| word.load() == seen.0);
    !is_unchanged && is_blocked_at(window, window.now.get())
}

/// Whether the window is blocked, by a block that lasts beyond `time`.
#[cold]
pub(super) fn is_blocked_at<W: Word>(window: &WindowInTable<'_, W>, time: u64) -> bool {
    // The look may read the clock again, which must not move the time of the call.
    let now = window.now.replace(time);
    let found = find_first(window, Op::Peek { cost: 1 });
    window.now.set(now);
    matches!(found, Some(PlaceState::Blocked(_)))
}

/// Whether the block was set after the time of this call, which is a later one then. One that was set before a clock went back ends
/// earlier from now on.
pub(super) fn is_set_later<W: Word>(window: &WindowInTable<'_, W>, block: State, op: Op) -> bool {
    let now = window.now.get();
    if !block.is_block_from_future(now) {
        return false;
    }
    window.now.set(window.clock());
    if window.now.get() == now && !matches!(op, Op::Peek { .. }) {
        window.change(0, Op::Start { missing: 0 });
    }
    window.now.get() > now
}

fn find_first<W: Word>(window: &WindowInTable<'_, W>, op: Op) -> Option<PlaceState> {
    window.places.get(0).map(|place| window.find(0, place, op))
}
