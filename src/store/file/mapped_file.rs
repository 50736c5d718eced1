//! A file that is opened at its first use, and opened again once it has lost its path.

use super::location::Location;
use super::region::Region;
use crate::clock::boot_time;
use crate::error::{Error, Result};
use crate::limit::SECOND;
use std::cell::{Cell, Ref, RefCell};

/// The error of a file that was not opened before it is used.
#[cold]
pub fn not_open() -> Error {
    Error::storage("Shared memory is not open")
}

/// A file of shared memory, opened at its first use. All users of it in a worker share one mapping.
pub struct MappedFile {
    location: Location,
    region: RefCell<Option<Region>>,
    /// How many files were opened here, the current one included. Each has a secret of its own.
    generation: Cell<u32>,
    /// When to check again whether the path still leads to the file.
    check_at: Cell<u64>,
}

impl MappedFile {
    /// The file at `location`. Nothing is opened yet.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            region: RefCell::new(None),
            generation: Cell::new(0),
            check_at: Cell::new(0),
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

    /// Counts the files opened here, from 1; 0 before the first.
    #[inline(always)]
    pub fn generation(&self) -> u32 {
        self.generation.get()
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
    /// servers fail is in memory of this process then.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if no file can be had.
    #[cold]
    pub fn open(&self) -> Result<()> {
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale) {
            match Region::open(&self.location) {
                Ok(opened) => self.replace(&mut region, opened),
                Err(_) if region.as_ref().is_some_and(Region::is_own) => {}
                Err(_) if self.location.purpose.needs_no_file() => {
                    self.replace(&mut region, Region::without_file(self.location.purpose)?);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(region) = &*region {
            region.note_use();
        }
        self.check_at.set(boot_time() + SECOND);
        Ok(())
    }

    fn replace(&self, region: &mut Option<Region>, opened: Region) {
        *region = Some(opened);
        self.generation.set(self.generation.get().wrapping_add(1).max(1));
    }
}
