//! Calls on several limits: all of them are charged, or none.
//!
//! If one server can decide on all limits in one atomic step, it does ([`Store::decide_all`]). Otherwise all
//! limits are looked at first, then charged in their order; if one denies after all, because another process
//! was faster, those before it get back what they were charged. So no limit is exceeded, and none stays
//! charged for a denied call. For a moment other processes may find less than they would have, and a process
//! that dies in between leaves its own charges behind.

use super::flagged_decision::FlaggedDecision;
use super::limiter::Limiter;
use super::uncounted::Uncounted;
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::{DecidedBy, Guard, GuardedCall, NoAnswer};
use crate::identifier::Identifier;
use crate::limit::{Limit, Op};
use crate::statistics::{CallContext, CounterHandle};
use crate::store::{JointRequest, Key, KeyHash, Request, Store, Time};
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
type Calls = Vec<Option<Uncounted>>;

/// Asks one limit.
type Ask<'a> = dyn Fn(&Member<'_>, Op) -> Uncounted + 'a;

/// Takes from all limits if every enforced one accepts, else from none. Counts the call for each limit that
/// is charged or denies.
///
/// # Errors
///
/// Those of [`Limiter::decide`]. What was taken is given back first, unless that server fails, too.
pub fn take_all(members: &[Member<'_>], frozen: Option<u64>) -> Result<Answers> {
    let take = |member: &Member<'_>| Op::Take { cost: member.cost };
    let in_order = |ask: &Ask<'_>| take_in_order(members, frozen, ask);
    let calls = ask_all(members, frozen, take, in_order);
    let is_admitted = calls.iter().flatten().all(Uncounted::is_admitted);
    let now = boot_time();
    for (member, call) in members.iter().zip(&calls) {
        let Some(Uncounted { answer, end }) = call else { continue };
        let denies = member.limiter.is_enforced() && end.accepted != Some(true);
        let (limiter, limit) = (member.limiter, member.limit);
        let cause = || match answer {
            Ok(FlaggedDecision { decision, flags }) => {
                limiter.denial_cause(limit, flags.decided_by(), decision.is_blocked)
            }
            Err(_) => limiter.denial_cause(limit, DecidedBy::Policy, false),
        };
        match is_admitted || denies {
            true => limiter.counts.count(
                member.context(),
                Some(limit),
                take(member),
                end,
                || now,
                cause,
            ),
            // Neither charged nor denying.
            false => limiter.counts.count_incidents(member.context(), end),
        }
    }
    answers(calls)
}

/// Takes as [`take_all`] does; returns only whether the call may go on.
///
/// # Errors
///
/// Those of [`take_all`].
pub fn admits_all(members: &[Member<'_>], frozen: Option<u64>) -> Result<bool> {
    if take_all_on_host(members, frozen) {
        return Ok(true);
    }
    let answers = take_all(members, frozen)?;
    Ok(answers.iter().flatten().all(FlaggedDecision::is_admitted))
}

/// Asks all limits what they would answer, and changes nothing.
///
/// # Errors
///
/// Those of [`Limiter::decide`].
pub fn peek_all(members: &[Member<'_>], frozen: Option<u64>) -> Result<Answers> {
    let peek = |member: &Member<'_>| member.peek();
    let each = |ask: &Ask<'_>| members.iter().map(|it| Some(ask(it, it.peek()))).collect();
    answers(ask_all(members, frozen, peek, each))
}

fn answers(calls: Calls) -> Result<Answers> {
    calls.into_iter().map(|call| call.map(|call| call.answer).transpose()).collect()
}

/// Asks all limits: together if one server can, else one after the other by `in_order`.
fn ask_all(
    members: &[Member<'_>],
    frozen: Option<u64>,
    op: impl Fn(&Member<'_>) -> Op + Copy,
    in_order: impl FnOnce(&Ask<'_>) -> Calls,
) -> Calls {
    if let Some(denials) = known_denials(members, frozen, op) {
        return denials;
    }
    match ask_together(members, frozen, op) {
        Some(Ok(calls)) => calls,
        // Each limit's own policy answers.
        Some(Err(no_answer)) => {
            in_order(&|member, op| member.answer_by_policy(op, frozen, &no_answer))
        }
        None => in_order(&|member, op| member.ask(op, frozen)),
    }
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
        let (key, op, evicted) = (member.key(), op(member), Cell::new(false));
        let request = member.limiter.request(&key, member.limit, &op, frozen.into(), &evicted);
        let denial = guard?.known_denial(&request, now)?;
        Some(member.limiter.uncounted(&request, GuardedCall::by_deny_cache(denial)))
    };
    let calls: Calls = members.iter().map(known).collect();
    let is_denied = calls.iter().flatten().any(|call| !call.is_admitted());
    is_denied.then_some(calls)
}

/// Lets the server on which all limits are decide in one step. None if they are not on one server, or it
/// cannot do that.
fn ask_together(
    members: &[Member<'_>],
    frozen: Option<u64>,
    op: impl Fn(&Member<'_>) -> Op,
) -> Option<Result<Calls, NoAnswer>> {
    let (store, first_guard) = members.first()?.limiter.store_and_guard();
    let first_guard = first_guard?;
    let guards: Vec<&Guard> =
        members.iter().map(|member| member.guard_on(store)).collect::<Option<_>>()?;
    let keys: Vec<Key<'_>> = members.iter().map(Member::key).collect();
    let ops: Vec<Op> = members.iter().map(op).collect();
    let evicted = Cell::new(false);
    let with_keys = members.iter().zip(&keys).zip(&ops);
    let requests: Vec<Request<'_>> = with_keys
        .map(|((it, key), op)| it.limiter.request(key, it.limit, op, frozen.into(), &evicted))
        .collect();
    if !store.can_decide_all(&requests) {
        return None;
    }
    let by_store = |(member, request): (&Member<'_>, _), decision| {
        member.limiter.uncounted(request, GuardedCall::by_store(decision))
    };
    let sent = boot_time();
    let asked = || members.iter().zip(&requests);
    let joint: Vec<_> = asked()
        .map(|(member, it)| JointRequest {
            request: *it,
            is_enforced: member.limiter.is_enforced(),
        })
        .collect();
    let first = requests.first()?;
    let decided = first_guard.ask(&**store, first, sent, || store.decide_all(&joint));
    Some(decided.map(|decisions| {
        for ((guard, request), decision) in guards.iter().zip(&requests).zip(&decisions) {
            guard.note_decision(request, *decision, sent);
        }
        asked().zip(decisions).map(|(it, decision)| Some(by_store(it, decision))).collect()
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
        let has_error = seen.answer.is_err();
        is_denied |= !seen.is_admitted();
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
        let is_admitted = taken.is_admitted();
        let Some((call, before)) = calls.get_mut(..=i).and_then(<[_]>::split_last_mut) else {
            break;
        };
        *call = Some(taken.after(call.take()));
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

    fn answer_by_policy(&self, op: Op, frozen: Option<u64>, no_answer: &NoAnswer) -> Uncounted {
        let (key, evicted) = (self.key(), Cell::new(false));
        let request = self.limiter.request(&key, self.limit, &op, frozen.into(), &evicted);
        match self.limiter.store_and_guard() {
            (_, Some(guard)) => {
                self.limiter.uncounted(&request, guard.decide_by_policy(&request, no_answer))
            }
            (_, None) => self.ask(op, frozen),
        }
    }

    fn ask(&self, op: Op, frozen: Option<u64>) -> Uncounted {
        let (key, evicted) = (self.key(), Cell::new(false));
        let request = self.limiter.request(&key, self.limit, &op, frozen.into(), &evicted);
        self.limiter.decide_uncounted(&request)
    }

    /// Whether a store on this host would accept the call.
    #[inline(always)]
    fn would_accept(&self, time: Time) -> bool {
        let ((store, _), evicted) = (self.limiter.store_and_guard(), Cell::new(false));
        let (key, op) = (self.key(), self.peek());
        let request = self.limiter.request(&key, self.limit, &op, time, &evicted);
        store.accepts(&request) == Ok(true)
    }

    /// Charges the limit on a store on this host. Returns when its state expires, if it accepts.
    #[inline(always)]
    fn charge(&self, time: Time) -> Option<u64> {
        let ((store, _), evicted) = (self.limiter.store_and_guard(), Cell::new(false));
        let (key, op) = (self.key(), Op::Take { cost: self.cost });
        let request = self.limiter.request(&key, self.limit, &op, time, &evicted);
        let decision = store.decide(&request).ok()?;
        if evicted.get() {
            self.limiter.counts.count_evicted(self.context());
        }
        decision.accepted.then_some(decision.expires_at)
    }

    /// Gives back what [`charge`](Self::charge) took.
    #[cold]
    fn undo(&self, expires_at: u64, time: Time) {
        let ((store, _), evicted) = (self.limiter.store_and_guard(), Cell::new(false));
        let key = self.key();
        let op = Op::Refund { cost: self.cost, expiry: Some(expires_at) };
        // If shared memory can no longer be used, the charge is gone with it.
        let _ = store.decide(&self.limiter.request(&key, self.limit, &op, time, &evicted));
    }

    /// Gives back what a call has taken, and looks at the limit again.
    fn give_back(&self, call: &mut Option<Uncounted>, frozen: Option<u64>, ask: &Ask<'_>) {
        let Some(Uncounted { answer: Ok(flagged), .. }) = &call else { return };
        // If the server fails now, the charge stays.
        let _ = self.limiter.refund(self.identifier, self.limit, flagged, frozen);
        *call = Some(ask(self, self.peek()).after(call.take()));
    }
}

impl Uncounted {
    fn is_admitted(&self) -> bool {
        self.answer.as_ref().is_ok_and(FlaggedDecision::is_admitted)
    }

    /// The same answer, with what happened in an earlier call on the same limit.
    fn after(mut self, earlier: Option<Self>) -> Self {
        if let Some(Self { end, .. }) = earlier {
            self.end.has_failed |= end.has_failed;
            self.end.has_evicted |= end.has_evicted;
        }
        self
    }
}
