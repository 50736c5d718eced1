//! Sleeping until a word of a mapped file changes (futex, Linux).
//!
//! Sleepers are in groups, so that a process wakes those alone whom its change concerns. Elsewhere a sleeper looks again
//! after a short time.

use portable_atomic::AtomicU128;
use std::time::Duration;

#[cfg(target_os = "linux")]
mod linux {
    use super::{AtomicU128, Duration};
    use crate::clock::monotonic_time;
    use rustix::thread::futex::{self, Flags, Timespec};
    use std::num::NonZeroU32;
    use std::sync::atomic::AtomicU32;

    /// The lower 32 bits of a word, which the kernel compares.
    fn lower_bits(word: &AtomicU128) -> &AtomicU32 {
        let offset = if cfg!(target_endian = "little") { 0 } else { 12 };
        // SAFETY: within the word and aligned, and lives as long. This process does not access it: it passes the address
        // to the kernel.
        unsafe { &*word.as_ptr().byte_add(offset).cast::<AtomicU32>() }
    }

    /// Sleeps as one of `groups`, a bit each, while the lower 32 bits of the word are `seen`, and `at_most` this long. May return early.
    pub fn sleep_while(word: &AtomicU128, seen: u32, groups: u32, at_most: Duration) {
        let end = Timespec::try_from(monotonic_time().saturating_add(at_most));
        let (Ok(end), Some(groups)) = (end, NonZeroU32::new(groups)) else { return };
        // However it ends, the caller looks at the word again.
        let _ = futex::wait_bitset(lower_bits(word), Flags::empty(), seen, Some(&end), groups);
    }

    /// Wakes so many of those that sleep as one of `groups` at the word, those first that sleep longest. Returns how many it woke.
    pub fn wake(word: &AtomicU128, groups: u32, count: u32) -> u32 {
        let Some(groups) = NonZeroU32::new(groups) else { return 0 };
        let woken = futex::wake_bitset(lower_bits(word), Flags::empty(), count, groups);
        woken.map_or(0, |woken| woken as u32)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{AtomicU128, Duration};

    /// How long a sleeper does not look.
    const LOOK: Duration = Duration::from_micros(100);

    /// Sleeps for a short time, `at_most` this long.
    pub fn sleep_while(_: &AtomicU128, _: u32, _: u32, at_most: Duration) {
        crate::clock::sleep(at_most.min(LOOK));
    }

    /// Sleepers wake by themselves.
    pub fn wake(_: &AtomicU128, _: u32, _: u32) -> u32 {
        0
    }
}

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{sleep_while, wake};
#[cfg(target_os = "linux")]
pub use linux::{sleep_while, wake};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{boot_time, since};
    use portable_atomic::Ordering;

    const GROUP: u32 = 2;
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn sleeper_wakes_when_the_word_changes() {
        let word = AtomicU128::new(7 << 32 | 5);
        let begin = boot_time();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::SeqCst) as u32 == 5 {
                    sleep_while(&word, 5, GROUP, LONG);
                }
            });
            word.store(6, Ordering::SeqCst);
            wake(&word, GROUP, u32::MAX);
        });
        sleep_while(&word, 5, GROUP, LONG);
        assert!(since(begin) < LONG, "it has changed already");
    }

    #[test]
    fn sleep_ends_in_time() {
        let word = AtomicU128::new(5);
        sleep_while(&word, 5, GROUP, Duration::from_millis(1));
        assert_eq!(word.load(Ordering::SeqCst), 5);
    }
}
