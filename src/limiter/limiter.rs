//! A store with all that applies to every key in it.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use super::uncharged::{decision_of_failed_dry_run, exempt};
use crate::clock::{boot_time, now};
use crate::dsn::{Dsn, Target, sanitize};
use crate::error::Result;
use crate::guard::{self, DecidedBy, Event, Guard, Host, Report, Stores};
use crate::identifier::{Identifier, client_identifier, needs_escape};
use crate::limit::{Decision, Kept, Limit, Op};
use crate::mapped::FileSettings;
use crate::net::Timeouts;
use crate::settings::Settings;
use crate::statistics::{
    BlockedKey, CallContext, CallStatistics, DenialCause, Incidents, Statistics,
};
use crate::store::{Answer, Key, KeyHash, LimitKind, Request, Store};
use std::cell::Cell;
use std::mem::take;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A store with all that applies to every key in it: settings and statistics.
///
/// A store on this host decides by itself. A [`Guard`] stands before a store on servers and knows what to
/// do while they fail.
pub struct Limiter {
    pub(super) store: Rc<dyn Store>,
    pub(super) settings: Settings,
    pub(super) timeouts: Timeouts,
    /// None for a store on this host.
    pub(super) guard: Option<Box<Guard>>,
    pub(super) statistics: Statistics,
    /// What identifies the store. None for `array:`, whose blocks end with the process.
    identity: Option<Vec<u8>>,
}

impl Limiter {
    /// Makes the limiter on the store of `dsn`, which is one of `stores`. The DSN overrides `settings`.
    ///
    /// Opens nothing: the first decision does, in the process that makes it.
    pub fn new(dsn: &Dsn, mut settings: Settings, stores: &Stores, statistics: Statistics) -> Self {
        let opened = stores.get(&dsn.target, &FileSettings::from(&settings));
        let mut is_prefix_ignored = false;
        if !dsn.target.needs_prefix() {
            let prefix = take(&mut settings.prefix);
            is_prefix_ignored =
                dsn.overrides.prefix.is_none() && prefix != Settings::default().prefix;
        }
        settings.override_with(&dsn.overrides);
        let guard = opened.remote.map(|(store, host)| Guard::new(store, host, &settings));
        if is_prefix_ignored {
            guard.iter().for_each(Guard::warn_of_ignored_prefix);
        }
        Self {
            store: opened.store,
            timeouts: Timeouts { call: settings.timeout_ms, connect: settings.connect_timeout_ms },
            guard: guard.map(Box::new),
            statistics,
            settings,
            identity: (dsn.target != Target::Array).then(|| dsn.target.identity()),
        }
    }

    /// Decides on one call and counts it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the store failed and the on-error policy is to
    /// throw.
    #[inline(always)]
    pub fn decide(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
    ) -> Report<FlaggedDecision> {
        let ask = |store: &dyn Store, request: &Request<'_>| store.decide(request);
        let mut report = self.flagged(self.call(context, limit, op, ask), limit);
        if let Op::Reset | Op::Block { .. } = op {
            self.note_block(context, limit, &report);
            report.add(match context.is_exempt {
                true => self.warn_of_ignored_block(context, op),
                false => self.warn_of_other_users(),
            });
        }
        report
    }

    /// Notes for operators what the store has blocked or reset. If it gave no answer, nothing is known to have changed.
    #[cold]
    fn note_block(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        report: &Report<FlaggedDecision>,
    ) {
        let by_store = report.by_store().filter(|_| !report.has_failed);
        let Some((store, FlaggedDecision { decision, .. })) = self.identity.as_ref().zip(by_store)
        else {
            return;
        };
        // By the clock of this host, not by the server's.
        let end = now() + decision.expires_at.saturating_sub(decision.now);
        let (kind, is_enforced) = (LimitKind::from(limit), self.settings.enforce);
        let (prefix, context) = (&self.settings.prefix, *context);
        let key = BlockedKey { store, prefix, context, kind, is_enforced };
        let until = decision.is_blocked().then_some(end);
        self.statistics.note_block(&key, until, self.settings.track_identifiers);
    }

    /// Returns a warning if this process is root's and another user has a table of this store's name: a reset or a block
    /// is meant for that table. Looks once in a process.
    #[cold]
    fn warn_of_other_users(&self) -> Option<Box<Event>> {
        static HAS_LOOKED: AtomicBool = AtomicBool::new(false);
        if !self.settings.warn_of_mistakes || HAS_LOOKED.load(Ordering::Relaxed) {
            return None;
        }
        let users = self.store.other_users()?;
        HAS_LOOKED.store(true, Ordering::Relaxed);
        let user = users.first()?;
        Some(Event::from_warning(format!(
            "This process is root's and uses root's own table; user {user} has another one of this name: run as \
             that user (sudo -u '#{user}')"
        )))
    }

    /// Returns a warning once in a process if a client is blocked that is exempt: no call of it will be denied.
    #[cold]
    fn warn_of_ignored_block(&self, context: &CallContext<'_>, op: &Op) -> Option<Box<Event>> {
        static HAS_WARNED: AtomicBool = AtomicBool::new(false);
        let is_meant = matches!(op, Op::Block { .. }) && self.settings.warn_of_mistakes;
        if !is_meant || HAS_WARNED.swap(true, Ordering::Relaxed) {
            return None;
        }
        let name = String::from_utf8_lossy(context.name.unwrap_or_default()).into_owned();
        Some(Event::from_warning(format!(
            "The client is exempt from the limit {} (token_bucket.limits), so it was not blocked",
            sanitize(&name)
        )))
    }

    /// What counts the calls on this limiter.
    #[inline(always)]
    pub(super) const fn calls(&self) -> CallStatistics<'_> {
        CallStatistics { statistics: &self.statistics, settings: &self.settings }
    }

    /// The report with what the decision tells of how it came about. A dry run fails no call.
    #[inline(always)]
    pub(super) fn flagged(&self, report: Report, limit: &Limit) -> Report<FlaggedDecision> {
        if report.answer.is_err() && !self.settings.enforce {
            return report.map(|_| Ok(decision_of_failed_dry_run(limit)));
        }
        let flags = DecisionFlags::new(report.decided_by, self.settings.enforce);
        report.map(|answer| answer.map(|decision| FlaggedDecision { decision, flags }))
    }

    /// Whether a denial denies.
    pub(super) const fn is_enforced(&self) -> bool {
        self.settings.enforce
    }

    /// Whether two limiters and identifiers name the same bucket, under limits of one kind.
    pub fn has_same_key(&self, identifier: &[u8], other: &Self, others_identifier: &[u8]) -> bool {
        let key =
            |limiter: &Self, identifier| [limiter.settings.prefix.as_slice(), identifier].concat();
        // A worker that has opened many stores drops them: two of them may be one.
        let is_one_store = Rc::ptr_eq(&self.store, &other.store)
            || self.identity.is_some()
                && self.identity == other.identity
                && self.settings.shm_path == other.settings.shm_path;
        is_one_store && key(self, identifier) == key(other, others_identifier)
    }

    /// Decides on one call and counts it, and returns no more than whether the call may go on.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    #[inline(always)]
    pub fn admits(&self, context: &CallContext<'_>, limit: &Limit, op: &Op) -> Report<bool> {
        let ask = |store: &dyn Store, request: &Request<'_>| store.accepts(request);
        let enforced = self.settings.enforce;
        self.call(context, limit, op, ask).map(|answer| match answer {
            Ok(accepted) => Ok(accepted || !enforced),
            Err(_) if !enforced => Ok(true),
            Err(error) => Err(error),
        })
    }

    /// Makes a call on the store and counts it.
    #[inline(always)]
    fn call<R: Kept>(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        ask: impl FnOnce(&dyn Store, &Request<'_>) -> Result<Answer<R>>,
    ) -> Report<R> {
        if context.is_exempt {
            return self.call_exempt(context, limit, op);
        }
        let escaped = escape(context);
        let key = match &escaped {
            Some(escaped) => self.plain_key(escaped, limit, context.key_hash),
            None => self.key(context, LimitKind::from(limit)),
        };
        let now = boot_time();
        match &self.guard {
            None => self.call_on_host(context, &self.request(&key, limit, op, now), ask),
            Some(guard) => {
                let report = guard::decide(guard, &self.request(&key, limit, op, now), now);
                let mistake = self.count(context, limit, op, &report, now);
                report.before(mistake).map(|answer| Ok(R::of(answer?)))
            }
        }
    }

    /// Accepts a call of a client that no limit holds, and counts it. Nothing is charged, and no store is asked.
    #[cold]
    #[inline(never)]
    fn call_exempt<R: Kept>(&self, context: &CallContext<'_>, limit: &Limit, op: &Op) -> Report<R> {
        let report = exempt(limit);
        let mistake = self.count(context, limit, op, &report, boot_time());
        report.before(mistake).map(|answer| Ok(R::of(answer?)))
    }

    /// Makes a call on a store of this host and counts it.
    #[inline(always)]
    fn call_on_host<R: Kept>(
        &self,
        context: &CallContext<'_>,
        request: &Request<'_>,
        ask: impl FnOnce(&dyn Store, &Request<'_>) -> Result<Answer<R>>,
    ) -> Report<R> {
        let Request { limit, op, now, .. } = *request;
        let answer = ask(&*self.store, request);
        // Not in the closure: an answer that it borrows would have to lie in memory (make bench, consume()).
        let kept = answer.as_ref().ok().map(|answer| answer.decision);
        let (accepted, is_blocked) = (kept.map(Kept::is_accepted), kept.and_then(Kept::is_blocked));
        let cause = || {
            let is_blocked = is_blocked.unwrap_or_else(|| self.is_blocked(request));
            self.denial_cause(limit, DecidedBy::Store, is_blocked)
        };
        let (incidents, limit) = (Incidents::of_local(&answer), Some(limit));
        let mistake = self.calls().add_call(context, limit, op, accepted, incidents, || now, cause);
        Report { event: mistake, ..Report::of_local(answer) }
    }

    /// Counts a call by its report. Returns the warning of a likely mistake.
    #[inline(always)]
    pub(super) fn count(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        report: &Report,
        now: u64,
    ) -> Option<Box<Event>> {
        let cause = || {
            let is_blocked = report.answer.as_ref().is_ok_and(|decision| decision.is_blocked());
            self.denial_cause(limit, report.decided_by, is_blocked)
        };
        let is_accepted = |decision: &Decision| decision.is_accepted();
        self.calls().add_report(context, Some(limit), op, report, is_accepted, || now, cause)
    }

    /// Whether a client is blocked whose call was denied. Asks the store once more: the answer to `consume()` does not
    /// tell, and few denials are noted where there are many.
    #[cold]
    fn is_blocked(&self, request: &Request<'_>) -> bool {
        let looked_at = Request { op: &Op::Peek { cost: 0 }, ..*request };
        self.store.decide(&looked_at).is_ok_and(|answer| answer.decision.is_blocked())
    }

    /// The cause of a denial, for the log.
    fn denial_cause(&self, limit: &Limit, by: DecidedBy, is_blocked: bool) -> DenialCause {
        DenialCause::new(limit, by.into(), is_blocked, self.settings.enforce)
    }

    /// The key of a call whose name needs no escape.
    #[inline(always)]
    pub(super) fn key<'a>(&'a self, context: &CallContext<'a>, kind: LimitKind) -> Key<'a> {
        let prefix = self.settings.prefix.as_slice();
        let parts: [&[u8]; 4] = match context.identifier {
            Identifier::Plain(identifier) => [prefix, identifier, b"", b""],
            Identifier::Client { name, id } => [prefix, name, b":", id],
        };
        Key { parts, kind, key_hash: context.key_hash }
    }

    /// The key of an identifier that needs no escape.
    #[inline(always)]
    pub(super) fn plain_key<'a>(
        &'a self,
        identifier: &'a [u8],
        limit: &Limit,
        key_hash: &'a Cell<KeyHash>,
    ) -> Key<'a> {
        let parts: [&[u8]; 4] = [&self.settings.prefix, identifier, b"", b""];
        Key { parts, kind: LimitKind::from(limit), key_hash }
    }

    /// The request of a call on a key.
    #[inline(always)]
    pub(super) fn request<'a>(
        &'a self,
        key: &'a Key<'a>,
        limit: &'a Limit,
        op: &'a Op,
        now: u64,
    ) -> Request<'a> {
        Request { key, limit, op, now, timeouts: &self.timeouts }
    }

    /// The settings, with those of the DSN in place of the directives'.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the store is on servers.
    pub fn is_remote(&self) -> bool {
        self.guard.is_some()
    }

    /// Makes the store ready for use.
    ///
    /// # Errors
    ///
    /// Those of [`Store::prepare`]. The on-error policy does not apply.
    pub fn prepare(&self) -> Result<()> {
        self.store.prepare(&self.settings.prefix, &self.timeouts)
    }

    /// What this host knows of its servers; none for a store on this host.
    pub fn host(&self) -> Option<&Host> {
        self.guard.as_ref().map(|guard| &*guard.host)
    }

    /// Checks that the memory of this host that the limiter needs can be had: the store's, or what is known of its
    /// servers.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if it cannot.
    pub fn check_memory(&self) -> Result<()> {
        match self.host() {
            None => self.store.check_memory(),
            Some(host) => host.check_memory(),
        }
    }

    /// What `phpinfo()` shows of the store: pairs of a name and a value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut rows = self.store.describe();
        rows.extend(self.guard.iter().flat_map(|guard| guard.describe()));
        rows
    }
}

/// The identifier of a call whose name has to be escaped.
#[inline(always)]
fn escape(context: &CallContext<'_>) -> Option<Vec<u8>> {
    match context.identifier {
        Identifier::Client { name, id } if needs_escape(name) => Some(client_identifier(name, id)),
        _ => None,
    }
}
