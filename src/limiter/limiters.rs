//! The limiters of a worker.

use super::{Limiter, Settings, Statistics, StatisticsFile};
use crate::dsn::Dsn;
use crate::error::Result;
use crate::store::Stores;
use std::cell::RefCell;
use std::rc::Rc;

/// The most limiters that a worker keeps. One that has made more forgets them all: a program may make
/// up DSNs and prefixes without end.
const MAX_LIMITERS: usize = 256;

/// The limiters of a worker, by DSN, prefix and settings, and what they share.
#[derive(Default)]
pub struct Limiters {
    stores: Stores,
    made: RefCell<Vec<CachedLimiter>>,
    /// The file that calls are counted in.
    counts: RefCell<Option<Rc<StatisticsFile>>>,
}

struct CachedLimiter {
    dsn: Vec<u8>,
    prefix: Vec<u8>,
    settings: Settings,
    limiter: Rc<Limiter>,
}

impl Limiters {
    /// The limiter on the store of a DSN. What the DSN says goes before `prefix` and `settings`.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`](crate::error::Error::Configuration) if the DSN cannot be read.
    pub fn get(&self, dsn: &[u8], prefix: &[u8], settings: &Settings) -> Result<Rc<Limiter>> {
        let is_same = |made: &&CachedLimiter| {
            made.dsn == dsn && made.prefix == prefix && made.settings == *settings
        };
        if let Some(found) = self.made.borrow().iter().find(is_same) {
            return Ok(Rc::clone(&found.limiter));
        }
        let limiter = Rc::new(self.make(dsn, prefix, settings, &self.stores)?);
        let mut made = self.made.borrow_mut();
        if made.len() >= MAX_LIMITERS {
            made.clear();
        }
        let (dsn, prefix, settings) = (dsn.to_vec(), prefix.to_vec(), settings.clone());
        made.push(CachedLimiter { dsn, prefix, settings, limiter: Rc::clone(&limiter) });
        Ok(limiter)
    }

    /// A limiter on a store of its own, which no other limiter shares.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn alone(&self, dsn: &[u8], prefix: &[u8], settings: &Settings) -> Result<Limiter> {
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

    /// What counts the calls of the limits below a prefix.
    pub fn statistics(&self, prefix: &[u8], settings: &Settings) -> Statistics {
        let mut counts = self.counts.borrow_mut();
        let file = match counts.take() {
            Some(file) if *file.path() == settings.files.path => file,
            _ => Rc::new(StatisticsFile::new(&settings.files)),
        };
        *counts = Some(Rc::clone(&file));
        Statistics::new(file, prefix)
    }
}
