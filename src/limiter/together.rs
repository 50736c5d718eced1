//! One step of the server on which all limits of a call are.

use super::member::Member;
use crate::clock::boot_time;
use crate::guard::{Event, Guard, NoAnswer};
use crate::limit::{Decision, Op};
use crate::store::{JointRequest, Key, Request};

/// Lets the server on which all limits are decide in one step. None if they are not on one server, or it cannot do that.
pub(super) fn decide_together(
    members: &[Member<'_>],
    ops: &[Op],
    event: &mut Option<Box<Event>>,
) -> Option<Result<Vec<Decision>, NoAnswer>> {
    let store = &members.first()?.limiter.store;
    let guards: Vec<&Guard> = members.iter().map(|it| it.guard_on(store)).collect::<Option<_>>()?;
    let first_guard = guards.first()?;
    let now = boot_time();
    let keys: Vec<Key<'_>> = members.iter().map(Member::key).collect();
    let with_keys = members.iter().zip(&keys).zip(ops);
    let requests: Vec<Request<'_>> =
        with_keys.map(|((it, key), op)| it.limiter.request(key, it.limit, op, now)).collect();
    if !store.can_decide_all(&requests) {
        return None;
    }
    let joint = |(member, request): (&Member<'_>, _)| JointRequest {
        request,
        is_enforced: member.limiter.is_enforced() && !request.op.settles(),
    };
    let joint: Vec<_> = members.iter().zip(requests.iter().copied()).map(joint).collect();
    let Request { key, timeouts, .. } = *requests.first()?;
    let asked = first_guard.asked(key, ops, *timeouts, now);
    let decide = || {
        let decisions = store.decide_all(&joint)?;
        let mut each = decisions.iter().zip(&joint);
        let is_accepted = each.all(|(it, asked)| it.is_accepted() || !asked.is_enforced);
        first_guard.check_is_current(ops, is_accepted)?;
        Ok(decisions)
    };
    let decisions = match first_guard.ask(asked, event, decide) {
        Ok(decisions) => decisions,
        Err(no_answer) => return Some(Err(no_answer)),
    };
    for ((guard, request), decision) in guards.iter().zip(&requests).zip(&decisions) {
        guard.note_decision(request, *decision, asked.sent);
        guard.note_write(decision, asked.sent);
    }
    Some(Ok(decisions))
}
