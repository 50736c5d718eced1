//! Tells a process from a child that it forks.
//!
//! Permits, decisions and connections carry the generation of their process, and do nothing in another.

use once_cell::sync::Lazy;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The latest generation of this process, and of the processes that it was forked from.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// Made once, also if that fails: a process must not have two generations.
static CURRENT: Lazy<Option<Current>> = Lazy::new(Current::map);

/// The generation of this process, in memory that the kernel clears in a child; 0 if it is not known yet.
struct Current(NonNull<AtomicU64>);

// SAFETY: an atomic, in memory that is never unmapped. The kernel clears it in a new child, before any thread runs there.
unsafe impl Sync for Current {}
// SAFETY: the memory belongs to no thread.
unsafe impl Send for Current {}

impl Current {
    /// Maps the memory. None if the kernel cannot clear it in a child (Linux before 4.14).
    #[cfg(all(target_os = "linux", not(miri)))]
    fn map() -> Option<Self> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
        let size = size_of::<AtomicU64>();
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no memory in use.
        let start =
            unsafe { mmap_anonymous(std::ptr::null_mut(), size, protection, flags) }.ok()?;
        // SAFETY: the mapping was just made, and holds zeros, which a child may find there, too.
        unsafe { madvise(start, size, Advice::LinuxWipeOnFork) }.ok()?;
        NonNull::new(start.cast()).map(Self)
    }

    // Miri does not know the advice.
    #[cfg(any(not(target_os = "linux"), miri))]
    fn map() -> Option<Self> {
        None
    }

    fn get(&self) -> u64 {
        // SAFETY: the memory is as large as an atomic, aligned to a page, and never unmapped.
        let current = unsafe { self.0.as_ref() };
        match current.load(Ordering::Relaxed) {
            0 => {
                let next = LATEST.fetch_add(1, Ordering::Relaxed) + 1;
                // Another thread may have been faster.
                current
                    .compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed)
                    .map_or_else(|known| known, |_| next)
            }
            known => known,
        }
    }
}

/// The generation of this process: a number that differs from those of the processes that it was forked from.
/// What a process has inherited and must not give back carries another one.
///
/// A system call would take as long as a call on a limit (`make bench`, `acquire()`), so this reads memory that
/// the kernel clears in a child.
#[inline]
pub fn generation() -> u64 {
    match &*CURRENT {
        Some(current) => current.get(),
        None => std::process::id().into(),
    }
}
