//! A limit on a store: from a caller's words to a decision.
//!
//! A store on this host is asked, and that is that. Before a store on servers stands the
//! [`guard`], which knows what to do while it fails.

mod guard;
mod limiters;
mod settings;
mod statistics;

use crate::clock::boot_time;
use crate::dsn::Dsn;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, State, apply};
/// What the layer above needs of the stores, so that it need not know them.
pub use crate::store::counters::{LimitName, LimitStatistics, Outcome};
pub use crate::store::file::{MAX_SIZE as MAX_SHM_SIZE, MIN_SIZE as MIN_SHM_SIZE};
use crate::store::{self, Key, Request, Store, Stores};
pub use crate::store::{FileSettings, KeyHash, Timeouts};
use guard::Guard;
pub use limiters::Limiters;
pub use settings::Settings;
/// By what name a limit is counted, for fuzzing.
#[cfg(fuzzing)]
pub use statistics::name_of;
pub use statistics::{CounterHandle, Statistics, StatisticsFile};
use std::cell::Cell;
use std::rc::Rc;

/// The default of `token_bucket.prefix`.
pub const DEFAULT_PREFIX: &[u8] = b"tb:";

/// The longest identifier, in bytes.
pub const MAX_IDENTIFIER: usize = 4096;

/// Whose bucket it is.
#[derive(Clone, Copy)]
pub enum Identifier<'a> {
    /// An identifier, as the application made it.
    Plain(&'a [u8]),
    /// A client of an application: `login` and `192.0.2.1`.
    Client {
        /// The application's name.
        name: &'a [u8],
        /// The client's.
        id: &'a [u8],
    },
}

/// Who asks.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// Whose bucket it is.
    pub identifier: Identifier<'a>,
    /// The limit's name, where the identifier does not tell.
    pub name: Option<&'a [u8]>,
    /// Where earlier calls of the same identifier have found its bucket; new else.
    pub key_hash: &'a Cell<KeyHash>,
    /// Where earlier calls of the same limit have been counted; new else.
    pub counter: &'a Cell<CounterHandle>,
}

/// A store, and what stands before all keys in it.
pub struct Limiter {
    store: Rc<dyn Store>,
    timeouts: Timeouts,
    prefix: Vec<u8>,
    /// Of a store on servers.
    guard: Option<Box<Guard>>,
    /// Whether what is denied is denied, or only counted.
    enforce: bool,
    track: bool,
    statistics: Statistics,
}

/// A decision, and who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlaggedDecision {
    /// What was decided.
    pub decision: Decision,
    /// What is to be said of it.
    pub flags: DecisionFlags,
}

/// Who decided, and whether it counts. In a word of its own, for words are copied whole: a byte
/// that was just written would keep the copy waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFlags(u64);

impl DecisionFlags {
    const DEGRADED: u64 = 1;
    const ENFORCED: u64 = 2;

    /// Of a decision by the store, or where it is `degraded`, by the on-error policy; of a limit that is
    /// `enforced`, or only watched.
    #[inline(always)]
    pub const fn new(degraded: bool, enforced: bool) -> Self {
        Self(degraded as u64 * Self::DEGRADED + enforced as u64 * Self::ENFORCED)
    }

    /// Whether the store failed, and the on-error policy answered.
    pub const fn is_degraded(self) -> bool {
        self.0 & Self::DEGRADED != 0
    }

    /// Whether the limit is enforced: else the call may go on, whatever was decided.
    pub const fn is_enforced(self) -> bool {
        self.0 & Self::ENFORCED != 0
    }
}

impl FlaggedDecision {
    /// Whether the call may go on.
    pub fn is_admitted(&self) -> bool {
        self.decision.accepted || !self.flags.is_enforced()
    }
}

impl Limiter {
    /// The limiter on the store of `dsn`, which is one of `stores`; what the DSN says goes before
    /// `prefix` and `settings`.
    ///
    /// Opens nothing yet: the first decision does, in the process that makes it.
    pub fn new(
        dsn: &Dsn,
        prefix: &[u8],
        settings: &Settings,
        stores: &Stores,
        statistics: Statistics,
    ) -> Self {
        let opened = stores.get(&dsn.target, &settings.files);
        let settings = settings.overridden_by(&dsn.options);
        let guard = opened.host.map(|host| Box::new(Guard::new(host, &settings)));
        let needs_prefix = store::needs_prefix(&dsn.target);
        if !needs_prefix && dsn.options.prefix.is_none() && prefix != DEFAULT_PREFIX {
            guard.iter().for_each(|guard| guard.warn_of_prefix());
        }
        let prefix = if needs_prefix { prefix } else { b"" };
        Self {
            store: opened.store,
            timeouts: settings.timeouts,
            prefix: dsn.options.prefix.clone().unwrap_or_else(|| prefix.to_vec()),
            guard,
            enforce: settings.enforce,
            track: settings.track_identifiers,
            statistics,
        }
    }

    /// Decides on one call.
    ///
    /// `now` is the frozen time of a test.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store cannot be reached, and the
    /// on-error policy leaves it at that.
    #[inline]
    pub fn decide(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        now: Option<u64>,
    ) -> Result<FlaggedDecision> {
        let enforced = self.enforce;
        self.with_request(context, limit, op, now, |request| match &self.guard {
            None => match self.store.decide(request) {
                Ok(decision) => {
                    self.count(context, request.key.evicted.get(), *op, Some(decision.accepted));
                    Ok(FlaggedDecision { decision, flags: DecisionFlags::new(false, enforced) })
                }
                Err(error) => {
                    self.count(context, request.key.evicted.get(), *op, None);
                    self.failed(error, limit, now)
                }
            },
            Some(guard) => {
                let decided = guard.decide(&*self.store, request);
                let accepted = decided.as_ref().ok().map(|(decision, _)| decision.accepted);
                self.count(context, request.key.evicted.get(), *op, accepted);
                match decided {
                    Ok((decision, degraded)) => Ok(FlaggedDecision {
                        decision,
                        flags: DecisionFlags::new(degraded, enforced),
                    }),
                    Err(error) => self.failed(error, limit, now),
                }
            }
        })
    }

    /// As [`decide`](Self::decide), where nobody asks for more than whether to go on.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    #[inline(always)]
    pub fn admits(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        now: Option<u64>,
    ) -> Result<bool> {
        let mut evicted = false;
        let admitted = self.with_request(context, limit, op, now, |request| {
            let admitted = match &self.guard {
                None => self.store.admits(request),
                Some(guard) => guard.admits(&*self.store, request),
            };
            evicted = request.key.evicted.get();
            admitted
        });
        self.count(context, evicted, *op, admitted.as_ref().ok().copied());
        match admitted {
            Ok(admitted) => Ok(admitted || !self.enforce),
            Err(_) if !self.enforce => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// What comes of a failure that no policy has answered: what is only watched harms nobody.
    #[cold]
    fn failed(&self, error: Error, limit: &Limit, now: Option<u64>) -> Result<FlaggedDecision> {
        if self.enforce {
            return Err(error);
        }
        let now = now.unwrap_or_else(boot_time);
        let (decision, _) = apply(limit, State::FULL, now, Op::Peek { cost: 0 });
        Ok(FlaggedDecision { decision, flags: DecisionFlags::new(true, false) })
    }

    /// Counts a call that asked whether to go on, and what happened on the way.
    #[inline(always)]
    fn count(&self, context: &CallContext<'_>, evicted: bool, op: Op, accepted: Option<bool>) {
        // The usual case by itself, for it is in every decision's way.
        match (op, accepted, &self.guard) {
            (Op::Take { .. } | Op::Check, Some(accepted), None) if !evicted => {
                let outcome = Outcome::from_answer(Some(accepted), self.enforce);
                self.statistics.count(context, outcome, self.track);
            }
            _ => self.count_other(*context, evicted, op, accepted),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_other(&self, context: CallContext<'_>, evicted: bool, op: Op, accepted: Option<bool>) {
        if evicted {
            self.statistics.count(&context, Outcome::Evicted, false);
        }
        let (failed, degraded) =
            self.guard.as_ref().map(|guard| guard.take_news()).unwrap_or_default();
        let asks = match op {
            Op::Peek { .. } | Op::Refund { .. } | Op::Reset => false,
            // A bucket that someone else has started is then asked like any other.
            Op::Start { .. } => accepted == Some(true),
            _ => true,
        };
        if !asks {
            return;
        }
        // Also where the store was not asked, for it is known to be down, and nobody answered instead.
        if failed || accepted.is_none() {
            self.statistics.count(&context, Outcome::Failed, false);
        }
        if degraded {
            self.statistics.count(&context, Outcome::Degraded, false);
        }
        if accepted.is_some() {
            let outcome = Outcome::from_answer(accepted, self.enforce);
            self.statistics.count(&context, outcome, self.track);
        }
    }

    /// What a caller has to be warned of, once: an outage that this host has just noticed.
    #[inline(always)]
    pub fn take_warning(&self) -> Option<String> {
        match &self.guard {
            None => None,
            Some(guard) => guard.take_warning(),
        }
    }

    /// Whether the store is on servers.
    pub fn is_remote(&self) -> bool {
        self.guard.is_some()
    }

    #[inline(always)]
    fn with_request<R>(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
        decide: impl FnOnce(&Request<'_>) -> R,
    ) -> R {
        let prefix = self.prefix.as_slice();
        let escaped;
        let parts = match context.identifier {
            Identifier::Plain(identifier) => [prefix, identifier, b"", b""],
            Identifier::Client { name, id } if needs_escape(name) => {
                escaped = client_key(name, id);
                [prefix, &escaped, b"", b""]
            }
            Identifier::Client { name, id } => [prefix, name, b":", id],
        };
        let window = matches!(limit, Limit::FixedWindow(_));
        let key = Key { parts, key_hash: context.key_hash, window, evicted: Cell::new(false) };
        decide(&Request { key: &key, limit, op, frozen, timeouts: &self.timeouts })
    }

    /// Makes the store ready for use.
    ///
    /// # Errors
    ///
    /// As [`Store::prepare`]; no policy stands in for that.
    pub fn prepare(&self) -> Result<()> {
        self.store.prepare(&self.timeouts)
    }

    /// What an operator wants to see of it.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut rows = self.store.describe();
        rows.extend(self.guard.iter().flat_map(|guard| guard.describe()));
        rows
    }
}

/// The identifier of a client of an application: `name:id`.
///
/// A colon in the name, and what stands for one, is escaped: no two pairs of a name and an
/// id make the same identifier.
///
/// # Example
///
/// ```
/// use token_bucket::limiter::client_key;
///
/// assert_eq!(client_key(b"login", b"2001:db8::1"), b"login:2001:db8::1");
/// assert_eq!(client_key(b"a:b", b"c"), b"a%3Ab:c");
/// ```
pub fn client_key(name: &[u8], id: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1 + id.len());
    for byte in name {
        match byte {
            b':' => key.extend(b"%3A"),
            b'%' => key.extend(b"%25"),
            other => key.push(*other),
        }
    }
    key.push(b':');
    key.extend(id);
    key
}

fn needs_escape(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b':' | b'%'))
}
