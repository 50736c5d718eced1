//! What a caller asks of a store, and the trait of all stores.

use super::answer::Answer;
use super::key::Key;
use super::permits::Permits;
use crate::clock::frozen;
use crate::error::{Error, Result};
use crate::limit::{Charge, Decision, Limit, Op, StoredState, apply};
use crate::net::Timeouts;

/// One call on a store.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Names the bucket.
    pub key: &'a Key<'a>,
    /// The limit.
    pub limit: &'a Limit,
    /// The operation. A reference, for a copy would have to wait until the caller's writes to it are done
    /// (`make bench`, `consume()`).
    pub op: &'a Op,
    /// This host's clock, which has just been read: several decisions on this host share a reading.
    pub now: u64,
    /// How long a store on servers may take.
    pub timeouts: &'a Timeouts,
}

impl Request<'_> {
    /// The time to decide at on this host: that of a test's clock, or [`now`](Self::now).
    #[inline(always)]
    pub fn time(&self) -> u64 {
        frozen().unwrap_or(self.now)
    }
}

/// One of several requests that are decided on together.
#[derive(Clone, Copy)]
pub struct JointRequest<'a> {
    /// The request.
    pub request: Request<'a>,
    /// Whether its denial denies all of them.
    pub is_enforced: bool,
}

/// The charges of requests on keys with these states.
pub(in crate::store) fn charges<'a>(
    requests: &[JointRequest<'a>],
    states: &[StoredState],
) -> Vec<Charge<'a>> {
    let charge = |(joint, state): (&JointRequest<'a>, &StoredState)| {
        let JointRequest { request, is_enforced } = *joint;
        Charge { limit: request.limit, state: state.clone(), op: *request.op, is_enforced }
    };
    requests.iter().zip(states).map(charge).collect()
}

/// The decisions of requests that change nothing, on keys with these states.
pub(in crate::store) fn peek_all(
    requests: &[JointRequest<'_>],
    states: &[StoredState],
    now: u64,
) -> Vec<Decision> {
    let each = requests.iter().zip(states);
    each.map(|(joint, state)| apply(joint.request.limit, state, now, *joint.request.op).0).collect()
}

/// A place that remembers buckets and decides on them, each decision in one atomic step.
pub trait Store {
    /// Applies an operation to a bucket under a limit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if a server failed,
    /// [`ErrorKind::Local`](crate::error::ErrorKind::Local) if this process cannot reach it, and
    /// [`ErrorKind::Refused`](crate::error::ErrorKind::Refused) if it is up but does not decide on this key.
    fn decide(&self, request: &Request<'_>) -> Result<Answer>;

    /// Decides, and returns no more than whether the call was accepted. The state changes as by
    /// [`decide`](Self::decide).
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    fn accepts(&self, request: &Request<'_>) -> Result<Answer<bool>> {
        let Answer { decision, lacked_room } = self.decide(request)?;
        Ok(Answer { decision: decision.is_accepted(), lacked_room })
    }

    /// Whether the store can decide on these requests in one atomic step.
    fn can_decide_all(&self, _requests: &[Request<'_>]) -> bool {
        false
    }

    /// Decides on several requests in one atomic step: if all enforced ones accept, those that accept change what they ask for, else
    /// none does. The requests are on different keys, at one time; either all are [`Op::Peek`], or none is.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide). Stores for which [`can_decide_all`](Self::can_decide_all) is false
    /// return an error.
    fn decide_all(&self, _requests: &[JointRequest<'_>]) -> Result<Vec<Decision>> {
        Err(Error::storage("This store cannot decide on several keys in one call"))
    }

    /// Other users of this host that have a table of this name, which is not this one; only root's processes know them.
    /// None if no user has a table of such a store.
    fn other_users(&self) -> Option<Vec<u32>> {
        None
    }

    /// Makes the store ready for use, for keys with this prefix. Without it, the first decision does so.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    fn prepare(&self, prefix: &[u8], timeouts: &Timeouts) -> Result<()>;

    /// Checks that the memory of this host that the store needs can be had. Makes no file, at most the user's directory.
    ///
    /// # Errors
    ///
    /// The [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) of a decision.
    fn check_memory(&self) -> Result<()> {
        Ok(())
    }

    /// The permits of the store; none if it cannot hold permits.
    fn permits(&self) -> Option<&dyn Permits> {
        None
    }

    /// What `phpinfo()` shows of the store: pairs of a name and a value.
    fn describe(&self) -> Vec<(&'static str, String)>;
}

#[cfg(test)]
pub mod tests;
