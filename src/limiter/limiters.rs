//! The limiters of a worker.

use super::limiter::Limiter;
use crate::dsn::Dsn;
use crate::guard::Stores;
use crate::mapped::FileSettings;
use crate::settings::{Overrides, Settings};
use crate::statistics::{Statistics, StatisticsFile};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The most limiters that a worker caches. A worker that has made more drops them all, for a program may make up DSNs
/// without end.
const MAX_LIMITERS: usize = 256;

/// The limiters of a worker, and what they share.
#[derive(Default)]
pub struct Limiters {
    stores: Stores,
    cached: RefCell<Vec<CachedLimiter>>,
    /// The place of the one that was used last, which is tried first: most programs use one or two.
    last: Cell<usize>,
    /// The file that calls are counted in.
    statistics_file: RefCell<Option<Rc<StatisticsFile>>>,
}

/// A limiter, and by what it is found.
struct CachedLimiter {
    /// The DSN. None: the one of the directive.
    storage: Option<Box<[u8]>>,
    overrides: Option<Box<Overrides>>,
    limiter: Rc<Limiter>,
}

impl CachedLimiter {
    #[inline(always)]
    fn is_for(&self, storage: Option<&[u8]>, overrides: Option<&Overrides>) -> bool {
        self.storage.as_deref() == storage && self.overrides.as_deref() == overrides
    }
}

impl Limiters {
    /// Returns the limiter on a storage, the DSN or `None` for that of the directive, under what a section of the file of
    /// limits overrides. None if it has to be [made](Self::make).
    #[inline(always)]
    pub fn find(
        &self,
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Option<Rc<Limiter>> {
        let cached = self.cached.borrow();
        match cached.get(self.last.get()) {
            Some(last) if last.is_for(storage, overrides) => Some(Rc::clone(&last.limiter)),
            _ => self.find_in(&cached, storage, overrides),
        }
    }

    #[inline(never)]
    fn find_in(
        &self,
        cached: &[CachedLimiter],
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Option<Rc<Limiter>> {
        let (place, found) =
            cached.iter().enumerate().find(|(_, cached)| cached.is_for(storage, overrides))?;
        self.last.set(place);
        Some(Rc::clone(&found.limiter))
    }

    /// Makes the limiter that [`find`](Self::find) then finds. `dsn` is the storage's, `settings` are the directives'.
    pub fn make(
        &self,
        storage: Option<&[u8]>,
        dsn: &Dsn,
        overrides: Option<&Overrides>,
        settings: &Settings,
    ) -> Rc<Limiter> {
        let limiter = Rc::new(self.limiter(dsn, overrides, settings, &self.stores));
        let mut cached = self.cached.borrow_mut();
        if cached.len() >= MAX_LIMITERS {
            cached.clear();
        }
        self.last.set(cached.len());
        let (storage, overrides) = (storage.map(Box::from), overrides.cloned().map(Box::new));
        cached.push(CachedLimiter { storage, overrides, limiter: Rc::clone(&limiter) });
        limiter
    }

    /// Makes a limiter on a store of its own, which no other limiter shares.
    pub fn unshared(&self, dsn: &Dsn, settings: &Settings) -> Limiter {
        self.limiter(dsn, None, settings, &Stores::default())
    }

    fn limiter(
        &self,
        dsn: &Dsn,
        overrides: Option<&Overrides>,
        settings: &Settings,
        stores: &Stores,
    ) -> Limiter {
        let statistics = self.statistics(settings);
        let mut settings = settings.clone();
        if let Some(overrides) = overrides {
            settings.override_with(overrides);
        }
        Limiter::new(dsn, settings, stores, statistics)
    }

    /// Forgets all limiters, because a directive has changed. Stores stay open.
    pub fn forget(&self) {
        self.cached.take();
    }

    /// Notes that a file of limits was read again, with other limits than those that other workers may still use.
    pub fn note_changed_limits(&self) {
        if let Some(file) = &*self.statistics_file.borrow() {
            file.note_changed_limits();
        }
    }

    /// The counters of the limits below a prefix.
    pub fn statistics(&self, settings: &Settings) -> Statistics {
        let files = FileSettings::from(settings);
        let mut shared = self.statistics_file.borrow_mut();
        let file = match shared.take() {
            Some(file) if *file.path() == files.path => file,
            _ => Rc::new(StatisticsFile::new(&files)),
        };
        *shared = Some(Rc::clone(&file));
        Statistics::new(file, &settings.prefix, settings.warn_of_mistakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limiter on a storage, found or made.
    fn get(
        limiters: &Limiters,
        storage: Option<&[u8]>,
        overrides: Option<&Overrides>,
    ) -> Rc<Limiter> {
        limiters.find(storage, overrides).unwrap_or_else(|| {
            let dsn = str::from_utf8(storage.unwrap_or(b"array:")).unwrap();
            let (dsn, settings) = (Dsn::parse(dsn).unwrap(), Settings::default());
            limiters.make(storage, &dsn, overrides, &settings)
        })
    }

    #[test]
    fn limiter_is_found_by_its_storage_and_what_overrides_the_directives() {
        let limiters = Limiters::default();
        let dry_run = Overrides { enforce: Some(false), ..Overrides::default() };
        let keys = [
            (None, None),
            (Some(&b"array:"[..]), None),
            (None, Some(&dry_run)),
            (Some(b"array:?prefix=x"), Some(&dry_run)),
            (Some(b"array:?enforce=1"), Some(&dry_run)),
        ];
        let made = keys.map(|(storage, overrides)| get(&limiters, storage, overrides));
        for ((storage, overrides), limiter) in
            keys.into_iter().zip(&made).chain(keys.into_iter().zip(&made).rev())
        {
            assert!(Rc::ptr_eq(&get(&limiters, storage, overrides), limiter));
            assert!(Rc::ptr_eq(&limiters.cached.borrow()[limiters.last.get()].limiter, limiter));
        }
        assert_eq!(made.map(|it| it.settings().enforce), [true, true, false, false, true]);
        limiters.forget();
        assert!(
            keys.iter().all(|(storage, overrides)| limiters.find(*storage, *overrides).is_none())
        );
    }

    #[test]
    fn worker_that_has_made_too_many_limiters_drops_them_all() {
        let limiters = Limiters::default();
        let dsn = |nth: usize| format!("array:?prefix={nth}").into_bytes();
        for nth in 0..MAX_LIMITERS {
            get(&limiters, Some(&dsn(nth)), None);
        }
        assert!(limiters.find(Some(&dsn(0)), None).is_some());
        get(&limiters, Some(&dsn(MAX_LIMITERS)), None);
        assert!(limiters.find(Some(&dsn(0)), None).is_none());
        assert_eq!(limiters.cached.borrow().len(), 1);
    }
}
