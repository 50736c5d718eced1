//! Limits of how many run at once: takes permits, and gives them back to where they were taken.

use super::limiter::Limiter;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::guard::{Asked, DecidedBy, Host, PolicyAnswers, Report};
use crate::limit::{Op, PermitLimit};
use crate::process;
use crate::statistics::{CallContext, DenialCause, DenialReason, DeniedBy};
use crate::store::{Answer, Key, LimitKind, PermitHandle, Permits};
use std::rc::Rc;

/// The operation that a call for a permit is counted as.
const TAKE: Op = Op::Take { cost: 1 };

/// A permit that a caller has taken.
///
/// It must be [released](Self::release): dropping it leaves the permit held until its lifetime ends.
pub struct HeldPermit {
    limiter: Rc<Limiter>,
    place: TakenFrom,
    /// The breaker of the server that gave it.
    breaker: u64,
    /// The process that took it. A child that it forks does not hold it.
    process: u64,
}

/// Where a permit was taken.
enum TakenFrom {
    /// Nowhere: the call goes on without a permit, in a dry run or by `on_error=open`.
    Nowhere,
    /// From the store.
    Store(PermitHandle),
    /// From this host's own permits, in place of a store that failed.
    Host(PermitHandle),
}

/// Whether the store holds permits.
pub fn has_permits(limiter: &Limiter) -> bool {
    limiter.store.permits().is_some()
}

/// Takes a permit and counts the call; none if `leave` others would not stay free.
///
/// # Errors
///
/// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the store failed and the on-error policy is to throw.
#[inline(always)]
pub fn acquire(
    limiter: &Rc<Limiter>,
    context: &CallContext<'_>,
    limit: &PermitLimit,
    leave: u64,
) -> Report<Option<HeldPermit>> {
    let (key, timeouts) = (permit_key(limiter, context), &limiter.timeouts);
    let breaker = permit_breaker(limiter, &key);
    let taken = ask_permits_for(
        context,
        limiter,
        breaker,
        |permits| Ok(permits.acquire(&key, limit, leave, timeouts)?.map(TakenFrom::Store)),
        PolicyAnswers {
            on_host: |host: &Host| {
                Ok(host
                    .permits()
                    .acquire(&key, limit, leave, timeouts)?
                    .map(TakenFrom::Host)
                    .into())
            },
            open: Some(TakenFrom::Nowhere),
            closed: None,
        },
    );
    if let Some(guard) = &limiter.guard
        && taken.by_store().is_some_and(Option::is_some)
    {
        guard.host.note_write(boot_time());
    }
    let cause = || permit_denial(limiter, limit, taken.decided_by);
    let count = |taken: &Report<_>| {
        limiter.calls().add_report(context, None, &TAKE, taken, Option::is_some, boot_time, cause)
    };
    let mistake = count(&taken);
    let held = |place| {
        let (limiter, process) = (Rc::clone(limiter), process::generation());
        HeldPermit { limiter, place, breaker, process }
    };
    taken.before(mistake).map(|answer| match answer {
        Ok(Some(place)) => Ok(Some(held(place))),
        // A dry run denies no call, and fails none.
        _ if !limiter.settings.enforce => Ok(Some(held(TakenFrom::Nowhere))),
        other => other.map(|_| None),
    })
}

/// The cause of a denial, for the log.
fn permit_denial(limiter: &Limiter, limit: &PermitLimit, by: DecidedBy) -> DenialCause {
    let (kind, is_enforced) = (LimitKind::Concurrency, limiter.settings.enforce);
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
/// Those of [`acquire`].
pub fn count_permits(
    limiter: &Limiter,
    context: &CallContext<'_>,
    limit: &PermitLimit,
) -> Report<u32> {
    let (key, timeouts) = (permit_key(limiter, context), &limiter.timeouts);
    let counted = ask_permits_for(
        context,
        limiter,
        permit_breaker(limiter, &key),
        |permits| permits.count(&key, timeouts),
        PolicyAnswers {
            on_host: |host: &Host| Ok(host.permits().count(&key, timeouts)?.into()),
            open: 0,
            closed: limit.max(),
        },
    );
    counted.map(|answer| unless_dry_run(limiter, answer, 0))
}

/// Frees all permits of an identifier, also those of other processes. If the store fails, `fallback` frees
/// those of this host; `open` and `closed` do nothing.
///
/// # Errors
///
/// Those of [`acquire`].
pub fn reset_permits(limiter: &Limiter, context: &CallContext<'_>) -> Report<()> {
    let (key, timeouts) = (permit_key(limiter, context), &limiter.timeouts);
    let reset = ask_permits_for(
        context,
        limiter,
        permit_breaker(limiter, &key),
        |permits| permits.reset(&key, timeouts),
        PolicyAnswers {
            on_host: |host: &Host| Ok(host.permits().reset(&key, timeouts)?.into()),
            open: (),
            closed: (),
        },
    );
    reset.map(|answer| unless_dry_run(limiter, answer, ()))
}

/// Asks the store for a client, unless no limit holds for it: then the call goes on as if the policy were to let it.
#[inline(always)]
fn ask_permits_for<T>(
    context: &CallContext<'_>,
    limiter: &Limiter,
    breaker: u64,
    ask: impl FnOnce(&dyn Permits) -> Result<T>,
    answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
) -> Report<T> {
    match context.is_exempt {
        true => Report::answered(answers.open, DecidedBy::Exemption),
        false => ask_permits(limiter, breaker, ask, answers),
    }
}

/// Asks the store, or answers as the on-error policy says. The call is not counted.
#[inline(always)]
fn ask_permits<T>(
    limiter: &Limiter,
    breaker: u64,
    ask: impl FnOnce(&dyn Permits) -> Result<T>,
    answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
) -> Report<T> {
    let ask = || Ok(ask(permits(limiter)?)?.into());
    let Some(guard) = &limiter.guard else { return Report::of_local(ask()) };
    let (timeouts, sent) = (limiter.timeouts, boot_time());
    guard.call(Asked { breaker, timeouts, trips: 1, sent }, ask, answers)
}

/// The breaker of the server that has a key's permits.
#[inline(always)]
fn permit_breaker(limiter: &Limiter, key: &Key<'_>) -> u64 {
    limiter.guard.as_ref().map_or(0, |guard| guard.breaker(key))
}

/// The answer; in a dry run, which fails no call, another one in the place of an error.
fn unless_dry_run<T>(limiter: &Limiter, answer: Result<T>, other: T) -> Result<T> {
    if limiter.settings.enforce { answer } else { Ok(answer.unwrap_or(other)) }
}

fn permits(limiter: &Limiter) -> Result<&dyn Permits> {
    limiter.store.permits().ok_or_else(|| Error::configuration(NO_PERMITS))
}

#[inline(always)]
fn permit_key<'a>(limiter: &'a Limiter, context: &CallContext<'a>) -> Key<'a> {
    limiter.key(context, LimitKind::Concurrency)
}

/// The error of a store that holds no permits.
pub const NO_PERMITS: &str = "TokenBucket\\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on \
     Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits";

impl HeldPermit {
    /// Lets the lifetime begin anew, for `lifetime` nanoseconds. False if the permit is not held any more, by this
    /// process; none if that is not known, for the store gives no answer and `on_error` is not `open`. A permit
    /// that was taken nowhere is always renewed, as is any in a dry run.
    ///
    /// # Errors
    ///
    /// Those of [`acquire`].
    pub fn renew(&mut self, lifetime: u64) -> Report<Option<bool>> {
        let Self { limiter, place, breaker, .. } = self;
        let timeouts = &limiter.timeouts;
        if self.process != process::generation() {
            return Report::answered(Some(false), DecidedBy::Store);
        }
        let by_host = |renewed: Result<bool>| {
            Report::of_local(renewed.map(|renewed| Answer::from(Some(renewed))))
        };
        let renewed = match place {
            TakenFrom::Nowhere => by_host(Ok(true)),
            TakenFrom::Store(handle) => ask_permits(
                limiter,
                *breaker,
                |permits| permits.renew(handle, lifetime, timeouts).map(Some),
                PolicyAnswers { open: Some(true), ..PolicyAnswers::none() },
            ),
            TakenFrom::Host(handle) => by_host(match limiter.host().map(Host::permits) {
                Some(permits) => permits.renew(handle, lifetime, timeouts),
                None => Ok(false),
            }),
        };
        renewed.map(|answer| if limiter.settings.enforce { answer } else { Ok(Some(true)) })
    }

    /// Gives the permit back to where it was taken, if it is still held there. A process that has inherited
    /// the permit gives nothing back.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the store failed and the on-error policy is to throw. The permit stays held until
    /// its lifetime ends then.
    #[inline(always)]
    pub fn release(self) -> Report<()> {
        let Self { limiter, place, breaker, .. } = &self;
        let timeouts = &limiter.timeouts;
        let on_host = |released: Result<()>| Report::of_local(released.map(Answer::from));
        let released = match place {
            _ if self.process != process::generation() => on_host(Ok(())),
            TakenFrom::Nowhere => on_host(Ok(())),
            TakenFrom::Store(handle) => ask_permits(
                limiter,
                *breaker,
                |permits| permits.release(handle, timeouts),
                PolicyAnswers { on_host: |_: &Host| Ok(().into()), open: (), closed: () },
            ),
            TakenFrom::Host(handle) => on_host(match limiter.host().map(Host::permits) {
                Some(permits) => permits.release(handle, timeouts),
                None => Ok(()),
            }),
        };
        released.map(|answer| unless_dry_run(limiter, answer, ()))
    }
}
