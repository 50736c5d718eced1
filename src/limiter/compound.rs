//! Calls on several limits: all of them are charged, or none.
//!
//! If one server can decide on all limits in one atomic step, it does ([`Store::decide_all`]). Otherwise all
//! limits are looked at first, then charged in their order; if one denies after all, because another process
//! was faster, those before it get back what they were charged. So no limit is exceeded, and none stays
//! charged for a denied call. For a moment other processes may find less than they would have, and a process
//! that dies in between leaves its own charges behind. If the one server fails, each limit's own policy answers.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use super::limiter::Limiter;
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::{DecidedBy, Event, Guard, NoAnswer, Report, answers_to};
use crate::identifier::Identifier;
use crate::limit::{Decision, Limit, Op};
use crate::statistics::{CallContext, CounterHandle};
use crate::store::{Answer, JointRequest, Key, KeyHash, Request, Store, Time};
use std::cell::Cell;
use std::rc::Rc;

/// The most limits of a call.
pub const MAX_MEMBERS: usize = 16;

/// One of several limits, and what a call takes from it.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The store, with its policy.
    pub limiter: &'a Limiter,
    /// The identifier.
    pub identifier: &'a [u8],
    /// The limit's name, if it was given one.
    pub name: Option<&'a [u8]>,
    /// Caches the hash of the key.
    pub key_hash: &'a Cell<KeyHash>,
    /// Caches where calls are counted.
    pub counter: &'a Cell<CounterHandle>,
    /// The limit.
    pub limit: &'a Limit,
    /// Tokens or hits.
    pub cost: u64,
}

/// The answer of each limit, in their order; none of a limit that was not asked, because another one denies.
pub type Answers = Vec<Option<FlaggedDecision>>;

/// The calls on each limit so far.
type Calls = Vec<Option<Report>>;

/// Asks one limit.
type Ask<'a> = dyn Fn(&Member<'_>, Op) -> Report + 'a;

/// Takes from all limits if every enforced one accepts, else from none. Counts the call for each limit that
/// is charged or denies.
///
/// # Errors
///
/// Those of [`Limiter::decide`]. What was taken is given back first, unless that server fails, too.
pub fn take_all(members: &[Member<'_>], frozen: Option<u64>) -> Report<Answers> {
    let take = |member: &Member<'_>| Op::Take { cost: member.cost };
    let in_order = |ask: &Ask<'_>| take_in_order(members, frozen, ask);
    let (calls, event) = ask_all(members, frozen, take, in_order);
    let asked = || members.iter().zip(&calls).filter_map(|(it, call)| Some((it, call.as_ref()?)));
    let is_admitted = asked().all(|(member, report)| member.is_admitted_by(report));
    let now = boot_time();
    for (member, report) in asked() {
        let is_accepted = report.answer.as_ref().is_ok_and(|decision| decision.accepted);
        let denies = member.limiter.is_enforced() && !is_accepted;
        let (limiter, limit, context) = (member.limiter, member.limit, member.context());
        let cause = || match &report.answer {
            Ok(decision) => limiter.denial_cause(limit, report.decided_by, decision.is_blocked),
            Err(_) => limiter.denial_cause(limit, DecidedBy::Policy, false),
        };
        let accepted = |decision: &Decision| decision.accepted;
        match is_admitted || denies {
            true => {
                let op = take(member);
                limiter.counts.count(&context, Some(limit), op, report, accepted, || now, cause);
            }
            // Neither charged nor denying.
            false => limiter.counts.count_incidents(context, report),
        }
    }
    finish(members, calls, event, frozen)
}

/// Takes as [`take_all`] does; returns only whether the call may go on.
///
/// # Errors
///
/// Those of [`take_all`].
pub fn admits_all(members: &[Member<'_>], frozen: Option<u64>) -> Report<bool> {
    if take_all_on_host(members, frozen) {
        return finish(members, Vec::new(), None, frozen).map(|_| Ok(true));
    }
    let admits = |answers: Answers| answers.iter().flatten().all(FlaggedDecision::is_admitted);
    take_all(members, frozen).map(|answers| answers.map(admits))
}

/// Asks all limits what they would answer, and changes nothing.
///
/// # Errors
///
/// Those of [`Limiter::decide`].
pub fn peek_all(members: &[Member<'_>], frozen: Option<u64>) -> Report<Answers> {
    let peek = |member: &Member<'_>| member.peek();
    let each = |ask: &Ask<'_>| members.iter().map(|it| Some(ask(it, it.peek()))).collect();
    let (calls, event) = ask_all(members, frozen, peek, each);
    finish(members, calls, event, frozen)
}

/// The report of the whole call: all answers, and what each limit has to report.
fn finish(
    members: &[Member<'_>],
    calls: Calls,
    mut event: Option<Box<Event>>,
    frozen: Option<u64>,
) -> Report<Answers> {
    for member in members {
        event = Event::both(event, member.limiter.counts.take_event());
    }
    let flagged = |(member, call): (&Member<'_>, Option<Report>)| match call {
        None => Report::answered(None, DecidedBy::Store),
        Some(report) => {
            member.limiter.flagged(report, member.limit, frozen).map(|answer| answer.map(Some))
        }
    };
    Report::of_all(members.iter().zip(calls).map(flagged)).after(event)
}

/// Asks all limits: together if one server can, else one after the other by `in_order`. Returns also what there is to
/// report beside the calls.
fn ask_all(
    members: &[Member<'_>],
    frozen: Option<u64>,
    op: impl Fn(&Member<'_>) -> Op + Copy,
    in_order: impl FnOnce(&Ask<'_>) -> Calls,
) -> (Calls, Option<Box<Event>>) {
    if let Some(denials) = known_denials(members, frozen, op) {
        return (denials, None);
    }
    let mut event = None;
    let calls = match ask_together(members, frozen, op, &mut event) {
        Some(Ok(calls)) => calls,
        // Each limit's own policy answers.
        Some(Err(no_answer)) => {
            in_order(&|member, op| member.answer_by_policy(op, frozen, &no_answer))
        }
        None => in_order(&|member, op| member.ask(op, frozen)),
    };
    (calls, event)
}

/// The denials that this host knows without asking a server, if one of them denies the call. The other limits
/// are not asked then.
fn known_denials(
    members: &[Member<'_>],
    frozen: Option<u64>,
    op: impl Fn(&Member<'_>) -> Op,
) -> Option<Calls> {
    let now = boot_time();
    let known = |member: &Member<'_>| {
        let (_, guard) = member.limiter.store_and_guard();
        let denial = member
            .with_request(op(member), frozen.into(), |request| guard?.known_denial(request, now))?;
        Some(Report::answered(denial, DecidedBy::DenyCache))
    };
    let calls: Calls = members.iter().map(known).collect();
    let denies = |(member, call): (&Member<'_>, &Option<Report>)| {
        call.as_ref().is_some_and(|report| !member.is_admitted_by(report))
    };
    members.iter().zip(&calls).any(denies).then_some(calls)
}

/// Lets the server on which all limits are decide in one step. None if they are not on one server, or it
/// cannot do that.
fn ask_together(
    members: &[Member<'_>],
    frozen: Option<u64>,
    op: impl Fn(&Member<'_>) -> Op,
    event: &mut Option<Box<Event>>,
) -> Option<Result<Calls, NoAnswer>> {
    let (store, first_guard) = members.first()?.limiter.store_and_guard();
    let first_guard = first_guard?;
    let guards: Vec<&Guard> =
        members.iter().map(|member| member.guard_on(store)).collect::<Option<_>>()?;
    let keys: Vec<Key<'_>> = members.iter().map(Member::key).collect();
    let ops: Vec<Op> = members.iter().map(op).collect();
    let with_keys = members.iter().zip(&keys).zip(&ops);
    let requests: Vec<Request<'_>> = with_keys
        .map(|((it, key), op)| it.limiter.request(key, it.limit, op, frozen.into()))
        .collect();
    if !store.can_decide_all(&requests) {
        return None;
    }
    let asked = || members.iter().zip(&requests);
    let joint: Vec<_> = asked()
        .map(|(member, it)| JointRequest {
            request: *it,
            is_enforced: member.limiter.is_enforced(),
        })
        .collect();
    let Request { key, timeouts, .. } = *requests.first()?;
    let first = first_guard.asked(key, *timeouts, boot_time());
    let decided = first_guard.ask(first, event, || store.decide_all(&joint));
    Some(decided.map(|decisions| {
        for ((guard, request), decision) in guards.iter().zip(&requests).zip(&decisions) {
            guard.note_decision(request, *decision, first.sent);
        }
        let by_store = |decision| Some(Report::answered(decision, DecidedBy::Store));
        decisions.into_iter().map(by_store).collect()
    }))
}

/// Takes from all limits if all of them are on this host and accept: the usual case there, with one reading
/// of the clock and without what a decision costs (`make bench`, `Compound`). Returns false if that is not so;
/// then nothing is taken or counted.
fn take_all_on_host(members: &[Member<'_>], frozen: Option<u64>) -> bool {
    let is_on_host = |member: &Member<'_>| member.limiter.store_and_guard().1.is_none();
    if members.len() > MAX_MEMBERS || !members.iter().all(is_on_host) {
        return false;
    }
    let time = frozen.map_or_else(|| Time::Read(boot_time()), Time::Frozen);
    // The first limit is not looked at: its charge comes next and answers the same.
    if !members.iter().skip(1).all(|member| member.would_accept(time)) {
        return false;
    }
    let mut charged = [0; MAX_MEMBERS];
    for (i, (member, charged_until)) in members.iter().zip(&mut charged).enumerate() {
        match member.charge(time) {
            Some(expires_at) => *charged_until = expires_at,
            None => {
                let before = members.iter().zip(charged).take(i);
                before.rev().for_each(|(member, expires_at)| member.undo(expires_at, time));
                return false;
            }
        }
    }
    for member in members {
        member.limiter.counts.count_accepted(&member.context(), Some(member.limit));
    }
    true
}

/// Looks at all limits, then charges them in their order. Gives back what was charged if one denies after
/// all, or fails.
fn take_in_order(members: &[Member<'_>], frozen: Option<u64>, ask: &Ask<'_>) -> Calls {
    let mut calls: Calls = members.iter().map(|_| None).collect();
    let mut is_denied = false;
    // The first limit is not looked at: its charge comes next and answers the same.
    for (member, call) in members.iter().zip(&mut calls).skip(1) {
        let seen = ask(member, member.peek());
        let has_error = seen.answer.is_err() && member.limiter.is_enforced();
        is_denied |= !member.is_admitted_by(&seen);
        *call = Some(seen);
        if has_error {
            return calls;
        }
    }
    if is_denied {
        if let (Some(member), Some(call)) = (members.first(), calls.first_mut()) {
            *call = Some(ask(member, member.peek()));
        }
        return calls;
    }
    for (i, member) in members.iter().enumerate() {
        let taken = ask(member, Op::Take { cost: member.cost });
        let is_admitted = member.is_admitted_by(&taken);
        let Some((call, before)) = calls.get_mut(..=i).and_then(<[_]>::split_last_mut) else {
            break;
        };
        *call = Some(after(taken, call.take()));
        if !is_admitted {
            for (member, call) in members.iter().zip(before).rev() {
                member.give_back(call, frozen, ask);
            }
            break;
        }
    }
    calls
}

impl<'a> Member<'a> {
    /// The context of a call on the limit.
    pub fn context(&self) -> CallContext<'a> {
        let Self { identifier, name, key_hash, counter, .. } = *self;
        CallContext { identifier: Identifier::Plain(identifier), name, key_hash, counter }
    }

    #[inline(always)]
    fn key(&self) -> Key<'a> {
        self.limiter.plain_key(self.identifier, self.limit, self.key_hash)
    }

    fn peek(&self) -> Op {
        Op::Peek { cost: self.cost }
    }

    /// The guard of the limiter, if it is on this store.
    fn guard_on(&self, store: &Rc<dyn Store>) -> Option<&'a Guard> {
        let (own, guard) = self.limiter.store_and_guard();
        guard.filter(|_| Rc::ptr_eq(own, store))
    }

    fn answer_by_policy(&self, op: Op, frozen: Option<u64>, no_answer: &NoAnswer) -> Report {
        match self.limiter.store_and_guard() {
            (_, Some(guard)) => self.with_request(op, frozen.into(), |request| {
                guard.answer_by_policy(no_answer, answers_to(request))
            }),
            (_, None) => self.ask(op, frozen),
        }
    }

    fn ask(&self, op: Op, frozen: Option<u64>) -> Report {
        self.with_request(op, frozen.into(), |request| self.limiter.decide_uncounted(request))
    }

    /// Runs `work` with the request of an operation on the limit.
    #[inline(always)]
    fn with_request<R>(&self, op: Op, time: Time, work: impl FnOnce(&Request<'_>) -> R) -> R {
        work(&self.limiter.request(&self.key(), self.limit, &op, time))
    }

    /// Whether the call may go on as far as this limit is concerned.
    fn is_admitted_by(&self, report: &Report) -> bool {
        let is_accepted = report.answer.as_ref().is_ok_and(|decision| decision.accepted);
        is_accepted || !self.limiter.is_enforced()
    }

    /// Whether a store on this host would accept the call.
    #[inline(always)]
    fn would_accept(&self, time: Time) -> bool {
        let (store, _) = self.limiter.store_and_guard();
        self.with_request(self.peek(), time, |request| {
            store.accepts(request).is_ok_and(|answer| answer.decision)
        })
    }

    /// Charges the limit on a store on this host. Returns when its state expires, if it accepts.
    #[inline(always)]
    fn charge(&self, time: Time) -> Option<u64> {
        let ((store, _), op) = (self.limiter.store_and_guard(), Op::Take { cost: self.cost });
        let Answer { decision, evicted } =
            self.with_request(op, time, |request| store.decide(request)).ok()?;
        if evicted {
            self.limiter.counts.count_evicted(self.context());
        }
        decision.accepted.then_some(decision.expires_at)
    }

    /// Gives back what [`charge`](Self::charge) took.
    #[cold]
    fn undo(&self, expires_at: u64, time: Time) {
        let (store, _) = self.limiter.store_and_guard();
        let op = Op::Refund { cost: self.cost, expiry: Some(expires_at) };
        // If shared memory can no longer be used, the charge is gone with it.
        let _ = self.with_request(op, time, |request| store.decide(request));
    }

    /// Gives back what a call has taken, and looks at the limit again.
    fn give_back(&self, call: &mut Option<Report>, frozen: Option<u64>, ask: &Ask<'_>) {
        let Some(Report { answer: Ok(decision), decided_by, .. }) = &call else { return };
        let flags = DecisionFlags::new(*decided_by, self.limiter.is_enforced());
        let flagged = FlaggedDecision { decision: *decision, flags };
        // If the server fails now, the charge stays.
        let refunded = self.limiter.refund(self.identifier, self.limit, &flagged, frozen);
        let seen = ask(self, self.peek()).after(refunded.event);
        *call = Some(after(seen, call.take()));
    }
}

/// The same answer, with what happened in an earlier call on the same limit.
fn after(report: Report, earlier: Option<Report>) -> Report {
    let Some(earlier) = earlier else { return report };
    Report {
        has_failed: report.has_failed || earlier.has_failed,
        evicted: report.evicted || earlier.evicted,
        ..report.after(earlier.event)
    }
}
