//! A file that is opened at its first use, and opened again once it has lost its path.
//!
//! The first use is in a worker, never in FPM's master, so the user and the directives of each pool apply.

use super::directory::unfinished;
use super::location::Location;
use super::open::{lock_timeout, open_existing, open_within, without_file};
use super::region::Region;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::limit::SECOND;
use std::cell::{Cell, Ref, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

/// The error of a file that was not opened before it is used.
#[cold]
pub fn not_open() -> Error {
    Error::storage("Shared memory is not open")
}

/// Numbers the files that this process opens, from 1.
static OPENED: AtomicU32 = AtomicU32::new(1);

/// A file of shared memory, opened at its first use. All users of it in a worker share one mapping.
pub struct MappedFile {
    location: Location,
    region: RefCell<Option<Region>>,
    /// The number of the file that is open; 0 before the first. Each has a secret of its own.
    number: Cell<u32>,
    /// When to check again whether the path still leads to the file.
    check_at: Cell<u64>,
    /// Since when another process has been making the file; 0 if none has.
    unfinished_since: Cell<u64>,
}

/// How many milliseconds a call waits for another process that makes the file, if an earlier call has waited.
const NEXT_WAIT_MS: u32 = 5;
/// After how many nanoseconds the next call looks whether the file has been made.
const NEXT_LOOK: u64 = 5_000_000;
/// A process that makes the file for so long, in nanoseconds, is stopped.
const STOPPED: u64 = 2 * SECOND;

impl MappedFile {
    /// The file at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            region: RefCell::new(None),
            number: Cell::new(0),
            check_at: Cell::new(0),
            unfinished_since: Cell::new(0),
        }
    }

    /// Which file it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The mapping; none before the file was opened.
    #[inline(always)]
    pub fn region(&self) -> Ref<'_, Option<Region>> {
        self.region.borrow()
    }

    /// The number of the file that is open, which no other file of this process has; 0 before the first.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.number.get()
    }

    /// Opens the file if it was not yet opened, or if the last check is a second old at `now`.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    #[inline(always)]
    pub fn open_if_due(&self, now: u64) -> Result<()> {
        if now >= self.check_at.get() { self.open() } else { Ok(()) }
    }

    /// Opens the file, unless it is open and its path still leads to it.
    ///
    /// If that fails while a file of this user is mapped, that one is used on. What a host keeps for when
    /// servers fail is in memory of this process then, but not while another process makes the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if no file can be had.
    #[cold]
    pub fn open(&self) -> Result<()> {
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale) {
            match self.open_region() {
                Ok(opened) => self.replace(&mut region, opened),
                Err(_) if region.as_ref().is_some_and(Region::is_own) => {}
                Err(_) if self.location.purpose.needs_no_file() && !self.is_unfinished() => {
                    self.replace(&mut region, without_file(self.location.purpose)?);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(region) = &*region {
            region.note_use();
        }
        let pause = if self.is_unfinished() { NEXT_LOOK } else { SECOND };
        self.check_at.set(boot_time() + pause);
        Ok(())
    }

    /// Opens the file if it is there, for information: nothing is made.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if what is there cannot be used, or none could be made.
    #[cold]
    pub fn open_existing(&self) -> Result<()> {
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale)
            && let Some(found) = open_existing(&self.location)?
        {
            self.replace(&mut region, found);
        }
        Ok(())
    }

    fn open_region(&self) -> Result<Region> {
        let has_waited = self.unfinished_since.get() != 0;
        let longest = lock_timeout(self.location.purpose);
        let timeout_ms = if has_waited { longest.min(NEXT_WAIT_MS) } else { longest };
        let opened = open_within(&self.location, timeout_ms);
        match &opened {
            Ok(None) if has_waited => {}
            Ok(None) => self.unfinished_since.set(boot_time()),
            _ => self.unfinished_since.set(0),
        }
        opened?.ok_or_else(|| unfinished(&self.location.path()))
    }

    /// Whether another process is making the file, and is not known to be stopped.
    fn is_unfinished(&self) -> bool {
        let since = self.unfinished_since.get();
        since != 0 && boot_time() < since + STOPPED
    }

    fn replace(&self, region: &mut Option<Region>, opened: Region) {
        *region = Some(opened);
        self.number.set(OPENED.fetch_add(1, Ordering::Relaxed).max(1));
    }
}
