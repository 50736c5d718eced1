//! The limiters of a worker.

use super::limiter::Limiter;
use super::settings::Settings;
use crate::dsn::Dsn;
use crate::error::Result;
use crate::guard::Stores;
use crate::statistics::{Statistics, StatisticsFile};
use std::cell::RefCell;
use std::rc::Rc;

/// The most limiters that a worker caches. A worker that has made more drops them all, for a program may
/// make up DSNs and prefixes without end.
const MAX_LIMITERS: usize = 256;

/// The limiters of a worker, by DSN, prefix and settings, and what they share.
#[derive(Default)]
pub struct Limiters {
    stores: Stores,
    cached: RefCell<Vec<CachedLimiter>>,
    /// The file that calls are counted in.
    statistics_file: RefCell<Option<Rc<StatisticsFile>>>,
}

struct CachedLimiter {
    dsn: Vec<u8>,
    prefix: Vec<u8>,
    settings: Settings,
    limiter: Rc<Limiter>,
}

impl Limiters {
    /// Returns the limiter on the store of a DSN, and makes it if this worker has none. The DSN overrides
    /// `prefix` and `settings`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if the DSN is not valid.
    pub fn get(&self, dsn: &[u8], prefix: &[u8], settings: &Settings) -> Result<Rc<Limiter>> {
        let is_same = |cached: &&CachedLimiter| {
            cached.dsn == dsn && cached.prefix == prefix && cached.settings == *settings
        };
        if let Some(found) = self.cached.borrow().iter().find(is_same) {
            return Ok(Rc::clone(&found.limiter));
        }
        let limiter = Rc::new(self.make(dsn, prefix, settings, &self.stores)?);
        let mut cached = self.cached.borrow_mut();
        if cached.len() >= MAX_LIMITERS {
            cached.clear();
        }
        let (dsn, prefix, settings) = (dsn.to_vec(), prefix.to_vec(), settings.clone());
        cached.push(CachedLimiter { dsn, prefix, settings, limiter: Rc::clone(&limiter) });
        Ok(limiter)
    }

    /// Makes a limiter on a store of its own, which no other limiter shares.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if the DSN is not valid.
    pub fn unshared(&self, dsn: &[u8], prefix: &[u8], settings: &Settings) -> Result<Limiter> {
        self.make(dsn, prefix, settings, &Stores::default())
    }

    fn make(
        &self,
        dsn: &[u8],
        prefix: &[u8],
        settings: &Settings,
        stores: &Stores,
    ) -> Result<Limiter> {
        let dsn = Dsn::parse(&String::from_utf8_lossy(dsn))?;
        let statistics = self.statistics(prefix, settings);
        Ok(Limiter::new(&dsn, prefix, settings, stores, statistics))
    }

    /// Notes that a file of limits was read again, with other limits than those that other workers may still use.
    pub fn note_changed_limits(&self) {
        if let Some(file) = &*self.statistics_file.borrow() {
            file.note_changed_limits();
        }
    }

    /// The counters of the limits below a prefix.
    pub fn statistics(&self, prefix: &[u8], settings: &Settings) -> Statistics {
        let files = &settings.store.files;
        let mut shared = self.statistics_file.borrow_mut();
        let file = match shared.take() {
            Some(file) if *file.path() == files.path => file,
            _ => Rc::new(StatisticsFile::new(files)),
        };
        *shared = Some(Rc::clone(&file));
        Statistics::new(file, prefix, settings.policy.warn_of_mistakes)
    }
}
