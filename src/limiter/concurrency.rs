//! Limits of how many run at once: takes permits, and gives them back to where they were taken.

use super::limiter::Limiter;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::guard::{DecidedBy, Guard, GuardedCall, Host, NoAnswer, PolicyAnswers};
use crate::limit::{Op, PermitLimit};
use crate::process;
use crate::statistics::{CallContext, CallEnd, DenialCause, DenialReason, DeniedBy};
use crate::store::{Key, LimitKind, PermitCall, PermitHandle, Permits};
use std::rc::Rc;

/// As what a call for a permit is counted.
const TAKE: Op = Op::Take { cost: 1 };

/// A permit that a caller has taken.
///
/// It must be [released](Self::release): dropping it leaves the permit held until its lease ends.
pub struct HeldPermit {
    limiter: Rc<Limiter>,
    place: Place,
    /// The breaker of the server that gave it.
    breaker: u64,
    /// The process that took it. A child that it forks does not hold it.
    process: u64,
}

/// Where a permit was taken.
enum Place {
    /// Nowhere: the call goes on without a permit, in a dry run or by `on_error=open`.
    Nowhere,
    /// From the store.
    Store(PermitHandle),
    /// From this host's own permits, in place of a store that failed.
    Host(PermitHandle),
}

impl Limiter {
    /// Whether the store holds permits.
    pub fn has_permits(&self) -> bool {
        self.store.permits().is_some()
    }

    /// Takes a permit and counts the call; none if as many as the limit allows are held. `frozen` is the time
    /// of a test's clock.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the store failed and the on-error policy is to throw.
    #[inline(always)]
    pub fn acquire(
        self: &Rc<Self>,
        context: &CallContext<'_>,
        limit: &PermitLimit,
        frozen: Option<u64>,
    ) -> Result<Option<HeldPermit>> {
        let (key, permits) = (self.permit_key(context), self.permits()?);
        let held = |place, breaker| {
            let (limiter, process) = (Rc::clone(self), process::generation());
            Some(HeldPermit { limiter, place, breaker, process })
        };
        let (taken, breaker) = match &self.guard {
            None => {
                let handle = permits.acquire(&key, limit, self.permit_call(frozen));
                let accepted = handle.as_ref().ok().map(Option::is_some);
                let cause = || self.permit_denial(limit, DecidedBy::Store);
                self.counts.count_local(context, None, TAKE, accepted, false, boot_time, cause);
                (handle.map(|handle| handle.map(Place::Store)), 0)
            }
            Some(guard) => self.acquire_guarded(guard, context, &key, limit, frozen),
        };
        match taken {
            Ok(Some(place)) => Ok(held(place, breaker)),
            // A dry run denies no call, and fails none.
            _ if !self.policy.enforce => Ok(held(Place::Nowhere, breaker)),
            other => other.map(|_| None),
        }
    }

    /// Takes a permit from a store on servers, or as the on-error policy says, and counts the call.
    #[inline(never)]
    fn acquire_guarded(
        &self,
        guard: &Guard,
        context: &CallContext<'_>,
        key: &Key<'_>,
        limit: &PermitLimit,
        frozen: Option<u64>,
    ) -> (Result<Option<Place>>, u64) {
        let (breaker, call) = (self.store.breaker(key), self.permit_call(frozen));
        let acquire = || self.permits()?.acquire(key, limit, call);
        let taken = match self.ask_behind(guard, breaker, acquire) {
            Ok(handle) => GuardedCall::by_store(handle.map(Place::Store)),
            Err(no_answer) => guard.answer_by_policy(
                &no_answer,
                PolicyAnswers {
                    on_host: |host: &Host| {
                        Ok(permits_of(host)?.acquire(key, limit, call)?.map(Place::Host))
                    },
                    open: Some(Place::Nowhere),
                    closed: None,
                },
            ),
        };
        let end = CallEnd::new(&taken, Option::is_some, false);
        let cause = || self.permit_denial(limit, taken.decided_by);
        self.counts.count(*context, None, TAKE, &end, boot_time, cause);
        (taken.answer, breaker)
    }

    /// The cause of a denial, for the log.
    fn permit_denial(&self, limit: &PermitLimit, by: DecidedBy) -> DenialCause {
        let (kind, is_enforced) = (LimitKind::Concurrency, self.policy.enforce);
        let (capacity, by) = (limit.max().into(), DeniedBy::from(by));
        let reason = match by {
            DeniedBy::OnError => DenialReason::Outage,
            _ => DenialReason::Empty,
        };
        DenialCause { kind, capacity, window: 0, reason, by, is_enforced }
    }

    /// Counts the permits of an identifier that are held. If the store fails, `fallback` counts those of this
    /// host; `open` knows of none, and `closed` says that `limit` has no more to give.
    ///
    /// # Errors
    ///
    /// Those of [`acquire`](Self::acquire).
    pub fn count_permits(
        &self,
        context: &CallContext<'_>,
        limit: &PermitLimit,
        frozen: Option<u64>,
    ) -> Result<u32> {
        let (key, call) = (self.permit_key(context), self.permit_call(frozen));
        let counted = self.ask_permits(
            &key,
            |permits| permits.count(&key, call),
            PolicyAnswers {
                on_host: |host: &Host| permits_of(host)?.count(&key, call),
                open: 0,
                closed: limit.max(),
            },
        );
        match counted {
            Err(_) if !self.policy.enforce => Ok(0),
            counted => counted,
        }
    }

    /// Frees all permits of an identifier, also those of other processes. If the store fails, `fallback` frees
    /// those of this host; `open` and `closed` do nothing.
    ///
    /// # Errors
    ///
    /// Those of [`acquire`](Self::acquire).
    pub fn reset_permits(&self, context: &CallContext<'_>, frozen: Option<u64>) -> Result<()> {
        let (key, call) = (self.permit_key(context), self.permit_call(frozen));
        let reset = self.ask_permits(
            &key,
            |permits| permits.reset(&key, call),
            PolicyAnswers {
                on_host: |host: &Host| permits_of(host)?.reset(&key, call),
                open: (),
                closed: (),
            },
        );
        if self.policy.enforce { reset } else { Ok(()) }
    }

    /// Asks the store about a key, or answers as the on-error policy says. The call is not counted.
    fn ask_permits<T>(
        &self,
        key: &Key<'_>,
        ask: impl FnOnce(&dyn Permits) -> Result<T>,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<T>>,
    ) -> Result<T> {
        let permits = self.permits()?;
        let Some(guard) = &self.guard else { return ask(permits) };
        let breaker = self.store.breaker(key);
        match self.ask_behind(guard, breaker, || ask(permits)) {
            Ok(answer) => Ok(answer),
            Err(no_answer) => guard.answer_by_policy(&no_answer, answers).answer,
        }
    }

    /// Asks the store, unless the server behind a breaker is known to fail.
    fn ask_behind<T>(
        &self,
        guard: &Guard,
        breaker: u64,
        ask: impl FnOnce() -> Result<T>,
    ) -> std::result::Result<T, NoAnswer> {
        guard.ask_behind(breaker, &*self.store, self.timeouts, boot_time(), ask)
    }

    fn permits(&self) -> Result<&dyn Permits> {
        self.store.permits().ok_or_else(|| Error::configuration(NO_PERMITS))
    }

    #[inline(always)]
    fn permit_key<'a>(&'a self, context: &CallContext<'a>) -> Key<'a> {
        self.key(context, LimitKind::Concurrency)
    }

    const fn permit_call(&self, frozen: Option<u64>) -> PermitCall<'_> {
        PermitCall { frozen, timeouts: &self.timeouts }
    }
}

/// This host's own permits, for a server that fails.
fn permits_of(host: &Host) -> Result<&dyn Permits> {
    host.permits().ok_or_else(|| Error::configuration(NO_PERMITS))
}

/// The error of a store that holds no permits.
pub const NO_PERMITS: &str = "TokenBucket\\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on \
     Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits";

impl HeldPermit {
    /// The limiter that gave it.
    pub fn limiter(&self) -> &Rc<Limiter> {
        &self.limiter
    }

    /// Lets the lease begin anew, for `lease` nanoseconds. False if the permit is not held any more, by this
    /// process; none if that is not known, for the store gives no answer and `on_error` is not `open`. A permit
    /// that was taken nowhere is always renewed, as is any in a dry run.
    ///
    /// # Errors
    ///
    /// Those of [`Limiter::acquire`].
    pub fn renew(&mut self, lease: u64, frozen: Option<u64>) -> Result<Option<bool>> {
        if self.process != process::generation() {
            return Ok(Some(false));
        }
        let Self { limiter, place, breaker, .. } = self;
        let (permits, call) = (limiter.permits()?, limiter.permit_call(frozen));
        let renewed = match (place, &limiter.guard) {
            (Place::Nowhere, _) => return Ok(Some(true)),
            (Place::Store(handle), None) => permits.renew(handle, lease, call).map(Some),
            (Place::Store(handle), Some(guard)) => {
                let renew = || permits.renew(handle, lease, call);
                let renewed = limiter.ask_behind(guard, *breaker, renew);
                let renewed = guard.only_by_store(renewed);
                renewed.map(|renewed| renewed.or(guard.is_open_on_error().then_some(true)))
            }
            (Place::Host(handle), guard) => {
                let permits = guard.as_ref().and_then(|guard| guard.host_permits());
                let renewed =
                    permits.map_or(Ok(false), |permits| permits.renew(handle, lease, call));
                renewed.map(Some)
            }
        };
        match limiter.policy.enforce {
            true => renewed,
            false => Ok(Some(true)),
        }
    }

    /// Gives the permit back to where it was taken, if it is still held there. A process that has inherited
    /// the permit gives nothing back.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the store failed and the on-error policy is to throw. The permit stays held until
    /// its lease ends then.
    #[inline(always)]
    pub fn release(self, frozen: Option<u64>) -> Result<()> {
        if self.process != process::generation() {
            return Ok(());
        }
        let Self { limiter, place, breaker, .. } = &self;
        let call = limiter.permit_call(frozen);
        match (place, &limiter.guard) {
            (Place::Nowhere, _) => Ok(()),
            (Place::Store(handle), None) => limiter.permits()?.release(handle, call),
            (Place::Store(handle), Some(guard)) => {
                let release = || limiter.permits()?.release(handle, call);
                let released = guard.only_by_store(limiter.ask_behind(guard, *breaker, release));
                if limiter.policy.enforce { released.map(drop) } else { Ok(()) }
            }
            (Place::Host(handle), guard) => {
                let permits = guard.as_ref().and_then(|guard| guard.host_permits());
                permits.map_or(Ok(()), |permits| permits.release(handle, call))
            }
        }
    }
}
