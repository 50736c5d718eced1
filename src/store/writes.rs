//! The writes of a store on which a write may wait for a lock while reads are answered.

use std::cell::{Cell, RefCell};

/// What became of the write of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The call has tried none.
    #[default]
    NotTried,
    /// The server has answered it.
    Answered,
    /// It waited for a lock until the call's time was over; with what is said of that.
    Waited(String),
    /// It had to write, but must not.
    Withheld,
}

/// Whether the current call may write, and what the store notes of it.
#[derive(Debug, Default)]
pub struct Writes {
    must_not: Cell<bool>,
    has_read: Cell<bool>,
    outcome: RefCell<WriteOutcome>,
}

impl Writes {
    /// Begins a call.
    pub fn begin(&self, may_write: bool) {
        self.must_not.set(!may_write);
        self.has_read.set(false);
        self.note(WriteOutcome::NotTried);
    }

    /// Whether the call may write.
    pub fn may_write(&self) -> bool {
        !self.must_not.get()
    }

    /// Notes that the server has answered a read of the call.
    pub fn note_read(&self) {
        self.has_read.set(true);
    }

    /// Whether the server has answered a read of the call.
    pub fn has_read(&self) -> bool {
        self.has_read.get()
    }

    /// Notes what became of a write.
    pub fn note(&self, outcome: WriteOutcome) {
        self.outcome.replace(outcome);
    }

    /// What became of the call's last write.
    pub fn outcome(&self) -> WriteOutcome {
        self.outcome.borrow().clone()
    }
}
