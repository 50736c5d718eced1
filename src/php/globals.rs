//! What a worker keeps from one request to the next.

use super::exceptions::Thrown;
use super::ini::Directives;
use crate::dsn::Dsn;
use crate::error::Result;
use crate::limit::{Limit, LimitError, TokenBucket};
use crate::limiter::{Limiter, Statistics};
use crate::store::Settings;
use ext_php_rs::zend::{ModuleGlobal, ModuleGlobals};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The worker's globals; in a thread-safe PHP, the thread's.
pub static GLOBALS: ModuleGlobals<Globals> = ModuleGlobals::new();

/// A worker that has used this many DSNs forgets them all, and starts afresh: a program
/// that makes DSNs up as it goes must not grow without end.
const MAX_STORES: usize = 256;

/// A limiter that was made: a prefix that comes back finds the buckets it had.
struct Made {
    dsn: Vec<u8>,
    /// `token_bucket.prefix` at the time.
    prefix: Vec<u8>,
    /// The other directives.
    settings: Settings,
    limiter: Rc<Limiter>,
}

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
    last_per_second: RefCell<Option<(i64, f64, Limit)>>,
    last_per_window: RefCell<Option<(i64, i64, Limit)>>,
    /// The limiter on `token_bucket.storage`, once it is used.
    default: RefCell<Option<Rc<Limiter>>>,
    /// The limiters by DSN. A list, for there are one or two.
    made: RefCell<Vec<Made>>,
    /// What is counted, once something is.
    statistics: RefCell<Option<Rc<Statistics>>>,
}

impl ModuleGlobal for Globals {
    fn gshutdown(&mut self) {
        self.default.borrow_mut().take();
        self.made.borrow_mut().clear();
        self.statistics.borrow_mut().take();
    }
}

impl Globals {
    /// [`TokenBucket::per_second`], which has divisions in it, remembered.
    #[inline]
    pub fn per_second(&self, capacity: i64, rate: f64) -> Result<Limit, LimitError> {
        remembered(&self.last_per_second, capacity, rate, TokenBucket::per_second)
    }

    /// [`TokenBucket::per_window`], likewise.
    #[inline]
    pub fn per_window(&self, limit: i64, window: i64) -> Result<Limit, LimitError> {
        remembered(&self.last_per_window, limit, window, TokenBucket::per_window)
    }

    /// The limiter on `token_bucket.storage`.
    #[inline]
    pub fn default_limiter(&self) -> Result<Rc<Limiter>, Thrown> {
        if let Some(limiter) = &*self.default.borrow() {
            return Ok(Rc::clone(limiter));
        }
        let dsn = self.directives.storage.borrow().clone();
        let limiter = self.limiter_on(dsn.as_bytes())?;
        *self.default.borrow_mut() = Some(Rc::clone(&limiter));
        Ok(limiter)
    }

    /// The limiter on the store of a DSN: one for each DSN and worker.
    pub fn limiter_on(&self, dsn: &[u8]) -> Result<Rc<Limiter>, Thrown> {
        // The error becomes an exception here, where nothing is borrowed: a fatal error while it is made
        // (the memory limit) jumps over these frames, and what they borrow would stay so.
        Ok(self.find_or_make(dsn)?)
    }

    fn find_or_make(&self, dsn: &[u8]) -> Result<Rc<Limiter>> {
        let prefix = self.directives.prefix.borrow();
        let mut made = self.made.borrow_mut();
        let is_same = |made: &&Made| {
            made.dsn == dsn && made.prefix == *prefix && self.directives.are(&made.settings)
        };
        if let Some(found) = made.iter().find(is_same) {
            return Ok(Rc::clone(&found.limiter));
        }
        let limiter = Rc::new(self.new_limiter(dsn)?);
        if made.len() >= MAX_STORES {
            made.clear();
        }
        let (prefix, settings) = (prefix.clone(), self.directives.settings());
        made.push(Made { dsn: dsn.to_vec(), prefix, settings, limiter: Rc::clone(&limiter) });
        Ok(limiter)
    }

    /// A limiter of its own on the store of a DSN.
    pub fn new_limiter(&self, dsn: &[u8]) -> Result<Limiter> {
        let dsn = Dsn::parse(&String::from_utf8_lossy(dsn))?;
        let prefix = self.directives.prefix.borrow();
        Ok(Limiter::new(&dsn, &prefix, &self.directives.settings(), self.statistics()))
    }

    /// What is counted below the `shm_path` as it stands.
    pub fn statistics(&self) -> Rc<Statistics> {
        let mut statistics = self.statistics.borrow_mut();
        let make = || Rc::new(Statistics::new(&self.directives.settings()));
        Rc::clone(statistics.get_or_insert_with(make))
    }

    /// Has what depends on directives be looked up anew: one has changed.
    pub fn directive_changed(&self) {
        self.default.borrow_mut().take();
        let path = self.directives.shm_path.borrow();
        self.statistics.borrow_mut().take_if(|statistics| statistics.base() != *path);
    }
}

#[inline]
fn remembered<T: Copy + PartialEq>(
    last: &RefCell<Option<(i64, T, Limit)>>,
    capacity: i64,
    pace: T,
    make: fn(i64, T) -> Result<TokenBucket, LimitError>,
) -> Result<Limit, LimitError> {
    if let Some((of, at, limit)) = &*last.borrow()
        && *of == capacity
        && *at == pace
    {
        return Ok(*limit);
    }
    let limit = make(capacity, pace)?.into();
    last.replace(Some((capacity, pace, limit)));
    Ok(limit)
}
