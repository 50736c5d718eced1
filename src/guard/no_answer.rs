//! Why a store on servers gave no answer, and what answers in its place.

use super::host::Host;
use crate::clock::{now, time_of_day_ahead};
use crate::error::{Error, Result};
use crate::limit::{Available, Decision, Limit, Op, SECOND, StoredState, Verdict, apply};
use crate::store::{Answer, Request};

/// Why a store gave no answer.
pub enum NoAnswer {
    /// It failed, or it failed a moment ago and was not asked.
    Outage {
        /// Why, for the exception of `on_error=throw`.
        reason: String,
        /// Whether the store was asked, so that it may have done what the call asked for.
        was_asked: bool,
        /// Whether it is up, but the call could not be decided on in its time beside others.
        is_busy: bool,
    },
    /// The call cannot be made at all.
    Error(Error),
}

impl NoAnswer {
    /// The outage of a store that is not asked.
    pub const fn without_asking(reason: String) -> Self {
        Self::Outage { reason, was_asked: false, is_busy: false }
    }
}

/// What each on-error policy answers in place of a store.
pub struct PolicyAnswers<T, H> {
    /// `fallback`: asks this host.
    pub on_host: H,
    /// `open`.
    pub open: T,
    /// `closed`.
    pub closed: T,
}

impl<T> PolicyAnswers<Option<T>, fn(&Host) -> Result<Answer<Option<T>>>> {
    /// No policy answers in place of the store: a call that concerns what only the store has.
    pub fn none() -> Self {
        Self { on_host: |_| Ok(None.into()), open: None, closed: None }
    }
}

/// The decision on a call that takes nothing, on a limit of which nothing was taken.
pub fn untouched(limit: &Limit) -> Decision {
    let now = now();
    let limit = limit.on_this_host(time_of_day_ahead(now));
    apply(&limit, &StoredState::FULL, now, Op::Peek { cost: 0 }).0
}

/// What the policies answer to a call that asks for a decision.
pub fn answers_to<'a>(
    request: &'a Request<'a>,
) -> PolicyAnswers<Decision, impl FnOnce(&Host) -> Result<Answer>> {
    let full = untouched(request.limit);
    let (retry_at, available) = (full.now + SECOND, Available::NOTHING);
    PolicyAnswers {
        on_host: |host: &Host| host.decide(request),
        open: full,
        closed: Decision { verdict: Verdict::Denied, retry_at, available, ..full },
    }
}
