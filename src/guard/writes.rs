//! Writes that wait for a lock while reads are answered, as during a backup.
//!
//! They are no outage: the server goes on denying. A breaker of their own sees that not every call waits for the lock. While it
//! is open, calls that need no more than a read are answered by the store, and the others by the policy.

use super::breakers::{Access, FailureMeaning};
use super::host::Host;
use crate::net::Timeouts;
use crate::store::{RemoteStore, WriteOutcome};

/// How a call may write.
#[derive(Clone, Copy)]
pub(super) struct WriteAccess(Option<Access>);

/// Tells a store whether the next call may write.
pub(super) fn begin(store: &dyn RemoteStore, host: &Host, timeouts: Timeouts) -> WriteAccess {
    let Some(writes) = store.writes() else { return WriteAccess(None) };
    let access = host.access(breaker_of(store), timeouts);
    writes.begin(!matches!(access, Access::Denied { .. }));
    WriteAccess(Some(access))
}

/// Notes what became of the write of a call that was sent at `sent`. Returns what it means if it waited until the call's time was over:
/// a denial that could not be written is an answer all the same.
pub(super) fn end(
    store: &dyn RemoteStore,
    host: &Host,
    WriteAccess(access): WriteAccess,
    (sent, timeouts): (u64, Timeouts),
    is_answered: bool,
) -> Option<FailureMeaning> {
    let (writes, access) = store.writes().zip(access)?;
    let breaker = breaker_of(store);
    match (writes.outcome(), is_answered) {
        (WriteOutcome::Waited(reason), _) => {
            return Some(host.note_waiting_write(breaker, access, &reason, sent));
        }
        (WriteOutcome::Answered, true) => {
            host.note_success(breaker, access, sent, timeouts);
        }
        _ => host.give_back(breaker, access),
    }
    None
}

/// Whether the call would have had to write, but must not. The server is up then, for it has answered a read.
pub(super) fn is_withheld(store: &dyn RemoteStore) -> bool {
    store.writes().is_some_and(|writes| writes.outcome() == WriteOutcome::Withheld)
}

/// The last breaker of the store.
fn breaker_of(store: &dyn RemoteStore) -> u64 {
    store.breakers().saturating_sub(1)
}
