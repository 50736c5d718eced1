//! What a worker keeps from one request to the next.

use super::calendar_unit::Calendar;
use super::default_storage::DefaultStorage;
use super::engine::open_basedir;
use super::limits_file::LimitsFile;
use super::permit_registry::PermitRegistry;
use crate::clock::freeze;
use crate::dsn::Dsn;
use crate::error::{Error, Result};
use crate::limit::{Limit, LimitError, TokenBucket};
use crate::limiter::{Limiter, Limiters, NamedLimit, Statistics};
use crate::settings::{Overrides, Setting, Settings};
use ext_php_rs::zend::{ModuleGlobal, ModuleGlobals};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
#[cfg(not(php_zts))]
use std::ffi::c_void;
#[cfg(not(php_zts))]
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The worker's globals; in a thread-safe PHP, the thread's.
pub static GLOBALS: ModuleGlobals<Globals> = ModuleGlobals::new();

/// The limit made last and the numbers it was made of.
type LastLimit = RefCell<Option<(i64, f64, Rc<Limit>)>>;

/// What a worker keeps from one request to the next.
#[derive(Default)]
pub struct Globals {
    /// `token_bucket.storage`.
    pub storage: DefaultStorage,
    /// The values of the other directives.
    settings: RefCell<Rc<Settings>>,
    /// Warnings about values that were set before the request. The next request emits them.
    pub pending_warnings: RefCell<Vec<String>>,
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
    /// All limiters of the worker, none after a directive changes, and the stores that they share.
    limiters: Limiters,
    /// The limits that an operator has named.
    pub limits_file: LimitsFile,
    /// Counts the calls on storages written in PHP. Empty after a directive changes.
    statistics: RefCell<Option<Rc<Statistics>>>,
}

/// Whether a process has made its globals, and not ended them.
static ARE_MADE: AtomicBool = AtomicBool::new(false);

impl ModuleGlobal for Globals {
    fn ginit(&mut self) {
        ARE_MADE.store(true, Ordering::Relaxed);
    }

    fn gshutdown(&mut self) {
        self.forget_limiters();
        self.limiters = Limiters::default();
    }
}

/// Ends the globals, if they were made. The engine also asks for the end of a module that it has refused to start, as `dl()` does
/// where functions of the same names are there. A thread-safe PHP does not.
///
/// # Safety
///
/// `globals` must be those of [`GLOBALS`].
#[cfg(not(php_zts))]
pub unsafe extern "C" fn end(globals: *mut c_void) {
    if ARE_MADE.swap(false, Ordering::Relaxed) {
        let globals = globals.cast::<Globals>();
        // SAFETY: they were made, and nothing uses them after this: the engine ends a module after its last request.
        unsafe {
            (*globals).gshutdown();
            ptr::drop_in_place(globals);
        }
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

    /// The settings of the directives. No borrow is left: code of PHP may set a directive.
    pub fn settings(&self) -> Rc<Settings> {
        Rc::clone(&self.settings.borrow())
    }

    /// Sets a directive, or returns what its value must be.
    pub fn set(&self, setting: &Setting, value: &[u8]) -> Result<(), String> {
        let mut change = Overrides::default();
        let result = (setting.set)(&mut change, value);
        // PHP makes an empty value of `off` in php.ini.
        result.or_else(|what| match value {
            b"" => (setting.set)(&mut change, b"off"),
            _ => Err(what),
        })?;
        Rc::make_mut(&mut self.settings.borrow_mut()).override_with(&change);
        Ok(())
    }

    /// The limiter on a storage, a DSN or `None` for `token_bucket.storage`, under what a section of the file of limits
    /// overrides.
    #[inline]
    pub fn limiter(
        &self,
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Result<Rc<Limiter>> {
        match self.find_limiter(storage, overrides) {
            Some(limiter) => Ok(limiter),
            None => self.make_limiter(storage, overrides),
        }
    }

    /// The limiter that was [made](Self::make_limiter) since a directive changed last.
    #[inline(always)]
    pub fn find_limiter(
        &self,
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Option<Rc<Limiter>> {
        self.limiters.find(storage, overrides)
    }

    /// The error is returned, not thrown: a fatal error while it is thrown (the memory limit) skips these frames, and a
    /// `RefCell` that they borrow would stay borrowed.
    #[cold]
    #[inline(never)]
    pub fn make_limiter(
        &self,
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Result<Rc<Limiter>> {
        let dsn = match storage {
            Some(dsn) => parse(dsn)?,
            None if self.storage.is_set_by_request() => {
                parse_of_script(self.storage.dsn()?.as_bytes())?
            }
            None => parse(self.storage.dsn()?.as_bytes())?,
        };
        Ok(self.limiters.make(storage, &dsn, overrides, &self.settings()))
    }

    /// [Makes](Self::make_limiter) the limiter of a DSN that a script gave.
    pub fn make_limiter_of_script(&self, dsn: &[u8]) -> Result<Rc<Limiter>> {
        Ok(self.limiters.make(Some(dsn), &parse_of_script(dsn)?, None, &self.settings()))
    }

    /// The limiter of a DSN that a script gave.
    pub fn limiter_of_script(&self, dsn: &[u8]) -> Result<Rc<Limiter>> {
        self.find_limiter(Some(dsn), None).map_or_else(|| self.make_limiter_of_script(dsn), Ok)
    }

    /// The limiter of a limit that an operator has named.
    pub fn limiter_for(&self, named: &NamedLimit) -> Result<Rc<Limiter>> {
        self.limiter(named.storage().map(str::as_bytes), named.overrides())
    }

    /// The limiters that directives name: on `token_bucket.storage`, and of the limits of a file. One on an invalid
    /// storage is left out.
    pub fn configured_limiters<'a>(
        &self,
        named: impl Iterator<Item = &'a NamedLimit>,
    ) -> Vec<Rc<Limiter>> {
        let default = self.limiter(None, None);
        default.into_iter().chain(named.filter_map(|named| self.limiter_for(named).ok())).collect()
    }

    /// A limiter on the store of a DSN that no other limiter shares.
    pub fn unshared_limiter_on(&self, dsn: &[u8]) -> Result<Limiter> {
        Ok(self.limiters.unshared(&parse(dsn)?, &self.settings()))
    }

    /// Notes that the file of limits was read again, and has others.
    pub fn note_changed_limits(&self) {
        self.limiters.note_changed_limits();
    }

    /// Counts calls below the current `token_bucket.prefix`.
    pub fn statistics(&self) -> Rc<Statistics> {
        let mut statistics = self.statistics.borrow_mut();
        let make = || Rc::new(self.limiters.statistics(&self.settings()));
        Rc::clone(statistics.get_or_insert_with(make))
    }

    /// Gives back the permits of the request.
    pub fn give_back_permits(&self) {
        self.permits.end_request();
    }

    /// Gives back the permits of the request that ends, and resumes the clock.
    pub fn end_request(&self) {
        self.give_back_permits();
        freeze(None);
    }

    /// Ends a request of the engine's, which restores the directives.
    pub fn end_engine_request(&self) {
        self.end_request();
        if self.storage.end_request() {
            self.forget_limiters();
        }
    }

    /// Forgets everything that depends on directives, because one has changed.
    pub fn forget_limiters(&self) {
        self.limiters.forget();
        self.statistics.take();
        self.limits_file.look_again();
    }
}

fn parse(dsn: &[u8]) -> Result<Dsn> {
    Dsn::parse(&String::from_utf8_lossy(dsn))
}

/// Parses a script's DSN. Fails if a file that it names is outside `open_basedir`. An operator, who writes php.ini and the file of
/// limits, may name any. The files are read later, so their paths are kept without the links, which the script could turn.
fn parse_of_script(dsn: &[u8]) -> Result<Dsn> {
    let mut dsn = parse(dsn)?;
    let Some(tls) = dsn.target.tls_mut().filter(|_| open_basedir::is_set()) else { return Ok(dsn) };
    for (name, path) in [("ca", &mut tls.ca), ("cert", &mut tls.cert), ("key", &mut tls.key)] {
        let Some(path) = path else { continue };
        if let Ok(without_links) = path.canonicalize() {
            *path = without_links;
        }
        if !open_basedir::allows(path) {
            let message = format!("DSN parameter \"{name}\" must be a file within open_basedir");
            return Err(Error::configuration(message));
        }
    }
    tls.refuses_links = true;
    Ok(dsn)
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
