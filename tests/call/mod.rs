//! One call on a set of slots, at a time that stands still.

use token_bucket::limit::{Decision, Op, State, TokenBucket, WordAlgorithm};
use token_bucket::mapped::word::Word;
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::shm::table::{Change, update};

pub const NOW: u64 = 1_000_000_000_000;

struct Call {
    limit: TokenBucket,
    op: Op,
    decision: Option<Decision>,
}

impl Change for Call {
    fn apply(&mut self, slot: Slot) -> Option<Slot> {
        let state = slot.state();
        let (decision, after) = self.limit.apply(state, NOW, &self.op);
        self.decision = Some(decision);
        (after != state).then(|| Slot::committed(slot.tag(), after))
    }

    fn inherited_state(&self, expires_at: u64) -> State {
        self.limit.inherited_state(expires_at, NOW)
    }

    fn takes(&self) -> bool {
        self.limit.takes(self.op)
    }

    fn note_eviction(&mut self) {}
}

/// Applies an operation; returns whether it is accepted.
pub fn run<W: Word>(set: &[W], tag: u64, limit: TokenBucket, op: Op) -> bool {
    let call = Call { limit, op, decision: None };
    update(set, tag, NOW, call).decision.unwrap().is_accepted()
}
