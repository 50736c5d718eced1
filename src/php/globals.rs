//! What a worker keeps from one request to the next.

use super::calendar_unit::Calendar;
use super::directives::Directives;
use super::engine::exceptions::Thrown;
use super::limits_file::LimitsFile;
use super::permit_registry::PermitRegistry;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::limit::{Limit, LimitError, TokenBucket};
use crate::limiter::{Limiter, Limiters, NamedLimit, Statistics};
use ext_php_rs::zend::{ModuleGlobal, ModuleGlobals};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// The worker's globals; in a thread-safe PHP, the thread's.
pub static GLOBALS: ModuleGlobals<Globals> = ModuleGlobals::new();

/// How many DSNs a worker finds again without parsing them. Most programs use one or two.
const MAX_RECENT: usize = 8;

/// The text of a DSN and its limiter.
type RecentLimiter = (Box<[u8]>, Rc<Limiter>);

/// The limit made last and the numbers it was made of.
type LastLimit = RefCell<Option<(i64, f64, Rc<Limit>)>>;

/// What a worker keeps from one request to the next.
#[derive(Default)]
pub struct Globals {
    /// The values of the directives.
    pub directives: Directives,
    /// Warnings about values that were set before the request. The next request emits them.
    pub pending_warnings: RefCell<Vec<String>>,
    /// The time of `TokenBucket\TestClock`, in nanoseconds, while a test has frozen it.
    pub frozen_time: Cell<Option<u64>>,
    /// The kinds of likely mistakes that this process has said, a bit for each.
    pub said_mistakes: Cell<u8>,
    /// Whether the engine has begun a request, and not ended it.
    pub is_in_request: Cell<bool>,
    /// The permits that the request holds.
    pub permits: PermitRegistry,
    /// The calendars that the worker made last.
    pub calendars: RefCell<VecDeque<Rc<Calendar>>>,
    last_per_second: LastLimit,
    last_per_period: LastLimit,
    last_per_window: LastLimit,
    /// All limiters of the worker, and the stores that they share.
    limiters: Limiters,
    /// The limits that an operator has named.
    pub limits_file: LimitsFile,
    /// The limiter on the default storage. Empty until it is used, and after a directive changes.
    default_limiter: RefCell<Option<Rc<Limiter>>>,
    /// The limiters that were used last. Empty after a directive changes.
    recent_limiters: RefCell<Vec<RecentLimiter>>,
    /// Counts the calls on storages written in PHP. Empty after a directive changes.
    statistics: RefCell<Option<Rc<Statistics>>>,
}

impl ModuleGlobal for Globals {
    fn gshutdown(&mut self) {
        self.forget_limiters();
        self.limiters = Limiters::default();
    }
}

impl Globals {
    /// Returns [`TokenBucket::per_second`], from a cache if the last call had the same arguments: programs
    /// make the same limit over and over, and making one takes divisions (`make bench`, a new object's
    /// `consume()`).
    #[inline(always)]
    pub fn per_second(&self, capacity: i64, rate: f64) -> Result<Rc<Limit>, LimitError> {
        reuse_or_make(&self.last_per_second, capacity, rate, TokenBucket::per_second)
    }

    /// Returns [`TokenBucket::per_period`], from a cache if the last call had the same arguments.
    #[inline(always)]
    pub fn per_period(&self, capacity: i64, period: f64) -> Result<Rc<Limit>, LimitError> {
        reuse_or_make(&self.last_per_period, capacity, period, TokenBucket::per_period)
    }

    /// Does what [`per_period`](Self::per_period) does, from a cache of its own: for `check()`, which a program may call
    /// between those that make other limits.
    #[inline]
    pub fn per_window(&self, limit: i64, window: f64) -> Result<Rc<Limit>, LimitError> {
        reuse_or_make(&self.last_per_window, limit, window, TokenBucket::per_period)
    }

    /// The time that limiters on this host go by, frozen or not, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.frozen_time.get().unwrap_or_else(boot_time)
    }

    /// The limiter on `token_bucket.storage`.
    #[inline(always)]
    pub fn default_limiter(&self) -> Result<Rc<Limiter>, Thrown> {
        if let Some(limiter) = &*self.default_limiter.borrow() {
            return Ok(Rc::clone(limiter));
        }
        self.find_default_limiter()
    }

    #[cold]
    fn find_default_limiter(&self) -> Result<Rc<Limiter>, Thrown> {
        let dsn = self.directives.storage.dsn()?;
        let limiter = self.limiter_on(dsn.as_bytes(), |_, error| error)?;
        *self.default_limiter.borrow_mut() = Some(Rc::clone(&limiter));
        Ok(limiter)
    }

    /// The limiter on the store of a DSN, with the prefix and settings of the directives. `explain` may add to the
    /// error of a DSN that is not valid.
    #[inline]
    pub fn limiter_on(
        &self,
        dsn: &[u8],
        explain: fn(&[u8], Error) -> Error,
    ) -> Result<Rc<Limiter>, Thrown> {
        // A change of a directive empties this list.
        if let Some((_, limiter)) =
            self.recent_limiters.borrow().iter().find(|(known, _)| **known == *dsn)
        {
            return Ok(Rc::clone(limiter));
        }
        self.find_limiter_or_throw(dsn, explain)
    }

    #[cold]
    #[inline(never)]
    fn find_limiter_or_throw(
        &self,
        dsn: &[u8],
        explain: fn(&[u8], Error) -> Error,
    ) -> Result<Rc<Limiter>, Thrown> {
        // The error becomes an exception here, where nothing is borrowed: a fatal error meanwhile (the memory
        // limit) skips these frames, and a RefCell that they borrow would stay borrowed.
        Ok(self.find_limiter(dsn).map_err(|error| explain(dsn, error))?)
    }

    /// The limiter on the store of a DSN, for a caller that does not throw.
    #[cold]
    pub fn find_limiter(&self, dsn: &[u8]) -> Result<Rc<Limiter>> {
        let limiter = {
            let prefix = self.directives.prefix.get();
            self.limiters.get(dsn, &prefix, &self.directives.settings())?
        };
        let mut recent = self.recent_limiters.borrow_mut();
        if recent.len() >= MAX_RECENT {
            recent.clear();
        }
        recent.push((dsn.into(), Rc::clone(&limiter)));
        Ok(limiter)
    }

    /// The limiter of a limit that an operator has named.
    pub fn limiter_for(&self, named: &NamedLimit) -> Result<Rc<Limiter>> {
        let dsn = match named.storage() {
            Some(dsn) => dsn.to_owned(),
            None => self.directives.storage.dsn()?,
        };
        let settings = named.override_settings(self.directives.settings());
        let prefix = self.directives.prefix.get();
        self.limiters.get(dsn.as_bytes(), &prefix, &settings)
    }

    /// The limiters that directives name: on `token_bucket.storage`, and of the limits of a file. One on an invalid
    /// storage is left out.
    pub fn configured_limiters<'a>(
        &self,
        named: impl Iterator<Item = &'a NamedLimit>,
    ) -> Vec<Rc<Limiter>> {
        let (prefix, settings) = (self.directives.prefix.get(), self.directives.settings());
        let default = self.directives.storage.dsn();
        let default = default.and_then(|dsn| self.limiters.get(dsn.as_bytes(), &prefix, &settings));
        default.into_iter().chain(named.filter_map(|named| self.limiter_for(named).ok())).collect()
    }

    /// A limiter on the store of a DSN that no other limiter shares.
    pub fn unshared_limiter_on(&self, dsn: &[u8]) -> Result<Limiter> {
        let prefix = self.directives.prefix.get();
        self.limiters.unshared(dsn, &prefix, &self.directives.settings())
    }

    /// Notes that the file of limits was read again, and has others.
    pub fn note_changed_limits(&self) {
        self.limiters.note_changed_limits();
    }

    /// Counts calls below the current `token_bucket.prefix`.
    pub fn statistics(&self) -> Rc<Statistics> {
        let mut statistics = self.statistics.borrow_mut();
        let make = || {
            let prefix = self.directives.prefix.get();
            Rc::new(self.limiters.statistics(&prefix, &self.directives.settings()))
        };
        Rc::clone(statistics.get_or_insert_with(make))
    }

    /// Gives back the permits of the request.
    pub fn give_back_permits(&self) {
        self.permits.end_request(self.frozen_time.get());
    }

    /// Gives back the permits of the request that ends, and resumes the clock.
    pub fn end_request(&self) {
        self.give_back_permits();
        self.frozen_time.set(None);
    }

    /// Ends a request of the engine's, which restores the directives.
    pub fn end_engine_request(&self) {
        self.end_request();
        if self.directives.storage.end_request() {
            self.forget_limiters();
        }
    }

    /// Forgets everything that depends on directives, because one has changed.
    pub fn forget_limiters(&self) {
        self.default_limiter.take();
        self.recent_limiters.take();
        self.statistics.take();
        self.limits_file.forget_limiters();
    }
}

#[inline(always)]
fn reuse_or_make(
    last: &LastLimit,
    capacity: i64,
    pace: f64,
    make: fn(i64, f64) -> Result<TokenBucket, LimitError>,
) -> Result<Rc<Limit>, LimitError> {
    if let Some((last_capacity, last_pace, limit)) = &*last.borrow()
        && *last_capacity == capacity
        && *last_pace == pace
    {
        return Ok(Rc::clone(limit));
    }
    make_and_keep(last, capacity, pace, make)
}

#[cold]
fn make_and_keep(
    last: &LastLimit,
    capacity: i64,
    pace: f64,
    make: fn(i64, f64) -> Result<TokenBucket, LimitError>,
) -> Result<Rc<Limit>, LimitError> {
    let limit = Rc::new(Limit::from(make(capacity, pace)?));
    last.replace(Some((capacity, pace, Rc::clone(&limit))));
    Ok(limit)
}
