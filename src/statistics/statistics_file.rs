//! The file in which the workers of one system user on a host count together.

use super::records::FILE_SIZE;
use super::watch;
use crate::clock::coarse_time;
use crate::error::Error;
use crate::limit::SECOND;
use crate::mapped::{self, FileSettings, Location, Purpose, Region};
use std::cell::{Cell, Ref, RefCell};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The file's name, which no DSN can name.
const NAME: &str = ".statistics";
/// After this many calls a process checks that its file is the one that other processes open, and opens
/// that one if not.
const CHECK_EVERY: u32 = 1_024;
/// How long a process without a file waits before it looks for one again, in nanoseconds: twice as long each time. Another
/// process may be making it, or what keeps it from being made may be mended.
const FIRST_PAUSE: u64 = SECOND / 100;
const LONGEST_PAUSE: u64 = SECOND;
/// Of the limiters that a process asks for the first time, the key of each third is watched, if that can be. Not of each
/// second: two limits may be asked in turn.
const WATCH_EVERY: u32 = 3;

/// Counts the [`StatisticsFile`]s of this process: each thread has one.
static FILES: AtomicU32 = AtomicU32::new(0);

/// The file in which the workers of a host count together, as one of them uses it.
///
/// Without the file nothing is counted, and decisions are made all the same.
pub struct StatisticsFile {
    location: Location,
    /// Tells the threads of a process apart, which count in different stripes.
    thread: u32,
    stripe: Cell<u32>,
    region: RefCell<Option<Region>>,
    /// Why there is no region.
    error: RefCell<Option<Error>>,
    calls_until_check: Cell<u32>,
    /// While there is no region: how long the present pause is, and when it ends, by the coarse clock.
    pause: Cell<u64>,
    retry_at: Cell<u64>,
    /// How many limiters are asked for the first time before a key is watched.
    limiters_until_watch: Cell<u32>,
    /// From when on this process notes limits for the watch, by the coarse clock.
    watch_from: Cell<u64>,
}

impl StatisticsFile {
    /// The file in the directory of `files`. The first call opens it.
    pub fn new(files: &FileSettings) -> Self {
        Self {
            location: Location::new(
                &FileSettings { size: FILE_SIZE, ..files.clone() },
                NAME,
                Purpose::Statistics,
            ),
            thread: FILES.fetch_add(1, Ordering::Relaxed),
            stripe: Cell::new(0),
            region: RefCell::new(None),
            error: RefCell::new(None),
            calls_until_check: Cell::new(0),
            pause: Cell::new(0),
            retry_at: Cell::new(0),
            limiters_until_watch: Cell::new(0),
            watch_from: Cell::new(0),
        }
    }

    /// The directory that holds the file, as the directive names it.
    pub fn path(&self) -> &Path {
        &self.location.base
    }

    /// The stripe of every record that this thread counts in. A forked child uses its parent's until its next check.
    #[inline(always)]
    pub(super) fn stripe(&self) -> u32 {
        self.stripe.get()
    }

    /// The file, if it could be opened.
    #[inline(always)]
    pub(super) fn region(&self) -> Ref<'_, Option<Region>> {
        self.region.borrow()
    }

    /// Notes a call. Returns whether the file is to be opened again, if other processes use another one by now.
    #[inline(always)]
    pub(super) fn is_check_due(&self) -> bool {
        match self.calls_until_check.get() {
            0 => return true,
            left => self.calls_until_check.set(left - 1),
        }
        false
    }

    /// Notes that a limiter is asked for the first time. Returns whether its key is to be watched.
    #[inline]
    pub(super) fn is_watch_due(&self) -> bool {
        let left = self.limiters_until_watch.get();
        self.limiters_until_watch.set(left.checked_sub(1).unwrap_or(WATCH_EVERY - 1));
        left == 0
    }

    /// Notes that limits have changed: while other processes may still use the old ones, there are not two limits.
    pub fn note_changed_limits(&self) {
        self.watch_from.set(coarse_time() + watch::CHANGE);
    }

    /// Whether limits that were noted at `now` tell of two limits on one identifier.
    pub(super) fn is_watched(&self, now: u64) -> bool {
        now >= self.watch_from.get()
    }

    /// Opens the file that other processes use, unless it is open, or could not be opened a moment ago.
    #[cold]
    #[inline(never)]
    pub(super) fn open(&self) {
        if coarse_time() < self.retry_at.get() {
            return;
        }
        self.calls_until_check.set(CHECK_EVERY);
        self.stripe.set(self.thread.wrapping_add(std::process::id()));
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale) {
            // Unmapped first, so that a process never maps two files.
            region.take();
            match mapped::open(&self.location) {
                Ok(opened) => {
                    *region = Some(opened);
                    self.error.take();
                    self.pause.set(0);
                }
                Err(error) => {
                    self.calls_until_check.set(0);
                    self.pause.set((2 * self.pause.get()).clamp(FIRST_PAUSE, LONGEST_PAUSE));
                    self.retry_at.set(coarse_time() + self.pause.get());
                    self.error.replace(Some(error));
                }
            }
        }
    }

    /// Why there is no file, if that is so.
    pub(super) fn error(&self) -> Option<Error> {
        self.retry_at.set(0);
        self.open();
        self.error.borrow().clone()
    }
}
