//! Writes that wait for a lock while reads are answered, as during a backup.
//!
//! They are no outage: the server goes on denying. A breaker of their own sees that not every call waits for the lock. While it
//! is open, calls that need no more than a read are answered by the store, and the others by the policy.
//!
//! Run: `FLUSH TABLES WITH READ LOCK`, `LOCK TABLES ... READ`, locked rows, a commit that waits for a replica (`mysql_waiting_writes.phpt`). Not run: a
//! full disk, an `ALTER TABLE` that copies, a Galera node that donates. `LOCK TABLES ... WRITE` stops reads, too, and is an outage.

use super::breaker::{Access, FailureMeaning};
use super::host::Host;
use super::store_record::OF_WRITES;
use crate::clock::boot_time;
use crate::net::Timeouts;
use crate::store::{RemoteStore, WriteOutcome};

/// How a call may write.
#[derive(Clone, Copy)]
pub(super) struct WriteAccess(Option<Access>);

/// Tells a store whether the next call may write.
pub(super) fn begin(store: &dyn RemoteStore, host: &Host, timeouts: Timeouts) -> WriteAccess {
    let Some(writes) = store.writes() else { return WriteAccess(None) };
    let access = host.record(|it| it.breaker(OF_WRITES).access(boot_time(), timeouts.longest()));
    let access = access.unwrap_or(Access::Granted);
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
    let now = boot_time();
    host.record(|it| match (writes.outcome(), is_answered) {
        (WriteOutcome::Waited(reason), _) => {
            Some(it.note_waiting_write(access, host.without_name(&reason), sent, now))
        }
        (WriteOutcome::Answered, true) => {
            it.note_success(OF_WRITES, access, timeouts.due(sent), now);
            None
        }
        _ => {
            it.breaker(OF_WRITES).give_back(access, now);
            None
        }
    })
    .flatten()
}

/// Whether the call would have had to write, but must not. The server is up then, for it has answered a read.
pub(super) fn is_withheld(store: &dyn RemoteStore) -> bool {
    store.writes().is_some_and(|writes| writes.outcome() == WriteOutcome::Withheld)
}
