//! Asks several limits: together if one server can decide on all, else one after the other.

use super::in_order::InOrder;
use super::member::Member;
use super::settlement::Settlement;
use super::together::decide_together;
use super::uncharged::exempt;
use crate::clock::boot_time;
use crate::guard::{DecidedBy, Event, Guard, Report};
use crate::limit::Op;
use crate::store::Request;

/// The calls on each limit so far; none on a limit that was not asked, because another one has decided.
pub type Calls = Vec<Option<Report>>;

/// Asks one limit.
type Ask<'a> = &'a dyn Fn(&Member<'_>, Op) -> Report;

/// A call on several limits.
pub struct JointCall<'a> {
    members: &'a [Member<'a>],
}

impl<'a> JointCall<'a> {
    /// A call on these limits.
    pub const fn new(members: &'a [Member<'a>]) -> Self {
        Self { members }
    }

    /// Charges all limits, or none. Returns also what there is to report beside the calls.
    pub fn take(&self) -> (Calls, Option<Box<Event>>) {
        if self.members.iter().any(|member| member.is_exempt) {
            return self.beside_exempt(|call| call.take());
        }
        self.ask(Member::take, |ask| self.take_in_order(ask))
    }

    /// Looks at the limits. Returns also what there is to report beside the calls.
    pub fn peek(&self) -> (Calls, Option<Box<Event>>) {
        if self.members.iter().any(|member| member.is_exempt) {
            return self.beside_exempt(|call| call.peek());
        }
        self.ask(Member::peek, |ask| {
            self.members.iter().map(|it| Some(ask(it, it.peek()))).collect()
        })
    }

    /// Makes a call of the limits that hold for their clients. The others accept.
    #[cold]
    fn beside_exempt(
        &self,
        make: impl FnOnce(JointCall<'_>) -> (Calls, Option<Box<Event>>),
    ) -> (Calls, Option<Box<Event>>) {
        let asked: Vec<_> = self.members.iter().filter(|it| !it.is_exempt).copied().collect();
        let (calls, event) = match asked.is_empty() {
            true => (Calls::new(), None),
            false => make(JointCall::new(&asked)),
        };
        let mut calls = calls.into_iter();
        let call = |member: &Member<'_>| match member.is_exempt {
            true => Some(exempt(member.limit)),
            false => calls.next().flatten(),
        };
        (self.members.iter().map(call).collect(), event)
    }

    /// Makes a call of these operations: on the server that has all limits, or `in_order`.
    fn ask(
        &self,
        op: fn(&Member<'a>) -> Op,
        in_order: impl FnOnce(Ask<'_>) -> Calls,
    ) -> (Calls, Option<Box<Event>>) {
        let ops: Vec<Op> = self.members.iter().map(op).collect();
        if let Some(denials) = self.known_denials(&ops) {
            return (denials, None);
        }
        let mut event = None;
        // Several limits that are charged together have no leases.
        let each = InOrder::new(Guard::decide_without_lease);
        let each = match decide_together(self.members, &ops, &mut event) {
            Some(Ok(decisions)) => {
                let by_store = |decision| Some(Report::answered(decision, DecidedBy::Store));
                return (decisions.into_iter().map(by_store).collect(), event);
            }
            Some(Err(no_answer)) => each.without_answer(no_answer),
            None => each,
        };
        (in_order(&|member, op| each.ask(member, op, boot_time())), event)
    }

    /// The denials that this host knows without asking a server, if one of them denies the call.
    fn known_denials(&self, ops: &[Op]) -> Option<Calls> {
        let now = boot_time();
        let known = |(member, op): (&Member<'_>, &Op)| {
            let guard = member.guard()?;
            let known = |request: &Request<'_>| guard.known_denial(request, now);
            let denial = member.with_request(*op, now, known)?;
            Some(Report::answered(denial, DecidedBy::DenyCache))
        };
        let calls: Calls = self.members.iter().zip(ops).map(known).collect();
        let denies = |(member, call): (&Member<'_>, &Option<Report>)| {
            call.as_ref().is_some_and(|report| !member.is_admitted_by(report))
        };
        let is_denied = self.members.iter().zip(&calls).any(denies);
        is_denied.then_some(calls)
    }

    /// Looks at all limits, then charges them in their order. Gives back what was charged if one denies after all, or
    /// fails.
    fn take_in_order(&self, ask: Ask<'_>) -> Calls {
        let mut calls: Calls = self.members.iter().map(|_| None).collect();
        let mut is_denied = false;
        // The first limit is not looked at: its charge comes next and answers the same.
        for (member, call) in self.members.iter().zip(&mut calls).skip(1) {
            let seen = ask(member, member.peek());
            let has_error = seen.answer.is_err() && member.limiter.is_enforced();
            is_denied |= !member.is_admitted_by(&seen);
            *call = Some(seen);
            if has_error {
                return calls;
            }
        }
        if is_denied {
            if let (Some(member), Some(call)) = (self.members.first(), calls.first_mut()) {
                *call = Some(ask(member, member.peek()));
            }
            self.members.iter().zip(&mut calls).for_each(|(it, call)| correct(it, call, ask));
            return calls;
        }
        for (i, member) in self.members.iter().enumerate() {
            let taken = ask(member, member.take());
            let is_admitted = member.is_admitted_by(&taken);
            let Some((call, before)) = calls.get_mut(..=i).and_then(<[_]>::split_last_mut) else {
                break;
            };
            *call = Some(after(taken, call.take()));
            if !is_admitted {
                for (member, call) in self.members.iter().zip(before).rev() {
                    self.give_back(member, call, ask);
                }
                let rest = self.members.iter().zip(&mut calls).skip(i + 1);
                rest.for_each(|(member, call)| correct(member, call, ask));
                break;
            }
        }
        calls
    }

    /// Gives back what a call has taken, and looks at the limit again.
    fn give_back(&self, member: &Member<'_>, call: &mut Option<Report>, ask: Ask<'_>) {
        let Some(Report { answer: Ok(decision), decided_by, .. }) = &call else { return };
        let (Member { limiter, identifier, limit, .. }, decided_by) = (*member, *decided_by);
        let in_force = None;
        let settlement = Settlement {
            limiter,
            identifier,
            limit,
            in_force,
            decision,
            decided_by,
            cost: 0,
            asked_for_nothing: false,
        };
        // If the server fails now, the charge stays.
        let refunded = settlement.settle();
        let seen = ask(member, member.peek()).after(refunded.event);
        *call = Some(after(seen, call.take()));
    }
}

/// Lets a limit that was looked at bring a time from the future down, if it may have one: a peek leaves it as it is.
fn correct(member: &Member<'_>, call: &mut Option<Report>, ask: Ask<'_>) {
    let has_state = |seen: &Report| {
        matches!(seen.decided_by, DecidedBy::Store | DecidedBy::Host)
            && seen.answer.as_ref().is_ok_and(|seen| member.limit.may_be_corrected(seen))
    };
    if call.as_ref().is_some_and(has_state) {
        let corrected = ask(member, Op::Take { cost: 0 });
        *call = call.take().map(|seen| after(seen, Some(corrected)));
    }
}

/// The same answer, with what happened in an earlier call on the same limit.
fn after(report: Report, earlier: Option<Report>) -> Report {
    let Some(earlier) = earlier else { return report };
    Report {
        has_failed: report.has_failed || earlier.has_failed,
        is_busy: report.is_busy || earlier.is_busy,
        lacked_room: report.lacked_room || earlier.lacked_room,
        ..report.after(earlier.event)
    }
}
