//! What a worker keeps from one request to the next.

use super::exceptions::Thrown;
use super::ini::Directives;
use crate::error::Result;
use crate::limit::{Limit, LimitError, TokenBucket};
use crate::limiter::{Limiter, Limiters, Statistics};
use ext_php_rs::zend::{ModuleGlobal, ModuleGlobals};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The worker's globals; in a thread-safe PHP, the thread's.
pub static GLOBALS: ModuleGlobals<Globals> = ModuleGlobals::new();

/// How many DSNs a worker remembers by their text alone: programs use one or two.
const MAX_RECENT: usize = 8;

/// A limiter, and the DSN that it was asked for by.
type RecentLimiter = (Box<[u8]>, Rc<Limiter>);

/// What a worker keeps from one request to the next.
#[derive(Default)]
pub struct Globals {
    /// The directives, as they stand.
    pub directives: Directives,
    /// What is wrong with the pool's directives, until there is a request to say it in.
    pub complaints: RefCell<Vec<String>>,
    /// The time a test has frozen, in nanoseconds.
    pub frozen: Cell<Option<u64>>,
    /// The limits made last: programs make the same ones over and over.
    last_per_second: RefCell<Option<(i64, f64, Rc<Limit>)>>,
    last_per_window: RefCell<Option<(i64, i64, Rc<Limit>)>>,
    /// The limiters, and the stores that they share.
    limiters: Limiters,
    /// The limiter on `token_bucket.storage`, once it is used; until a directive changes.
    default: RefCell<Option<Rc<Limiter>>>,
    /// The limiters that were asked for last, by DSN; until a directive changes.
    recent: RefCell<Vec<RecentLimiter>>,
    /// What counts the calls on storages written in PHP; until a directive changes.
    statistics: RefCell<Option<Rc<Statistics>>>,
}

impl ModuleGlobal for Globals {
    fn gshutdown(&mut self) {
        self.directive_changed();
        self.limiters = Limiters::default();
    }
}

impl Globals {
    /// [`TokenBucket::per_second`], which has divisions in it, remembered.
    #[inline(always)]
    pub fn per_second(&self, capacity: i64, rate: f64) -> Result<Rc<Limit>, LimitError> {
        remembered(&self.last_per_second, capacity, rate, TokenBucket::per_second)
    }

    /// [`TokenBucket::per_window`], likewise.
    #[inline]
    pub fn per_window(&self, limit: i64, window: i64) -> Result<Rc<Limit>, LimitError> {
        remembered(&self.last_per_window, limit, window, TokenBucket::per_window)
    }

    /// The limiter on `token_bucket.storage`.
    #[inline(always)]
    pub fn default_limiter(&self) -> Result<Rc<Limiter>, Thrown> {
        if let Some(limiter) = &*self.default.borrow() {
            return Ok(Rc::clone(limiter));
        }
        self.find_default_limiter()
    }

    #[cold]
    fn find_default_limiter(&self) -> Result<Rc<Limiter>, Thrown> {
        let dsn = self.directives.storage.dsn()?;
        let limiter = self.limiter_on(dsn.as_bytes())?;
        *self.default.borrow_mut() = Some(Rc::clone(&limiter));
        Ok(limiter)
    }

    /// The limiter on the store of a DSN: one for each DSN, prefix and settings.
    #[inline]
    pub fn limiter_on(&self, dsn: &[u8]) -> Result<Rc<Limiter>, Thrown> {
        // The directives are those of the time when these were found.
        if let Some((_, limiter)) = self.recent.borrow().iter().find(|(known, _)| **known == *dsn) {
            return Ok(Rc::clone(limiter));
        }
        // The error becomes an exception here, where nothing is borrowed: a fatal error while it is made
        // (the memory limit) jumps over these frames, and what they borrow would stay so.
        Ok(self.find_limiter(dsn)?)
    }

    /// As [`limiter_on`](Self::limiter_on), for a caller that does not throw.
    #[cold]
    pub fn find_limiter(&self, dsn: &[u8]) -> Result<Rc<Limiter>> {
        let limiter = {
            let prefix = self.directives.prefix.borrow();
            self.limiters.get(dsn, &prefix, &self.directives.settings())?
        };
        let mut recent = self.recent.borrow_mut();
        if recent.len() >= MAX_RECENT {
            recent.clear();
        }
        recent.push((dsn.into(), Rc::clone(&limiter)));
        Ok(limiter)
    }

    /// A limiter on the store of a DSN that no other limiter shares.
    pub fn limiter_alone_on(&self, dsn: &[u8]) -> Result<Limiter> {
        let prefix = self.directives.prefix.borrow();
        self.limiters.alone(dsn, &prefix, &self.directives.settings())
    }

    /// What counts the calls below the prefix and the `shm_path` as they stand.
    pub fn statistics(&self) -> Rc<Statistics> {
        let mut statistics = self.statistics.borrow_mut();
        let make = || {
            let prefix = self.directives.prefix.borrow();
            Rc::new(self.limiters.statistics(&prefix, &self.directives.settings()))
        };
        Rc::clone(statistics.get_or_insert_with(make))
    }

    /// Ends a request: what belongs to it alone is forgotten.
    pub fn end_request(&self) {
        // A frozen clock is the affair of the request that froze it.
        self.frozen.set(None);
        if self.directives.storage.end_request() {
            self.directive_changed();
        }
    }

    /// Has what depends on directives be looked up anew: one has changed.
    pub fn directive_changed(&self) {
        self.default.take();
        self.recent.take();
        self.statistics.take();
    }
}

#[inline(always)]
fn remembered<T: Copy + PartialEq>(
    last: &RefCell<Option<(i64, T, Rc<Limit>)>>,
    capacity: i64,
    pace: T,
    make: fn(i64, T) -> Result<TokenBucket, LimitError>,
) -> Result<Rc<Limit>, LimitError> {
    if let Some((of, at, limit)) = &*last.borrow()
        && *of == capacity
        && *at == pace
    {
        return Ok(Rc::clone(limit));
    }
    remember(last, capacity, pace, make)
}

#[cold]
fn remember<T: Copy>(
    last: &RefCell<Option<(i64, T, Rc<Limit>)>>,
    capacity: i64,
    pace: T,
    make: fn(i64, T) -> Result<TokenBucket, LimitError>,
) -> Result<Rc<Limit>, LimitError> {
    let limit = Rc::new(Limit::from(make(capacity, pace)?));
    last.replace(Some((capacity, pace, Rc::clone(&limit))));
    Ok(limit)
}
