//! Whether a file is of this boot of the host.
//!
//! Times in a file count from the host's boot, so a file of an earlier boot must be replaced. A file of this
//! boot must never be: two processes that replace each other's file would admit a limit once a second.
//!
//! | the file is | evidence | it is |
//! |---|---|---|
//! | anywhere | it has this process's boot id | of this boot |
//! | anywhere | it was last used at a time that the clock since boot has not reached | of an earlier one |
//! | on a memory file system | no such file survives a boot | of this boot, whatever the ids |
//! | on a disk | one of the two ids is unknown (a `chroot` without `/proc`, systemd's `ProcSubset=pid`) | of this boot |
//! | on a disk | another boot id, and unchanged since before this boot, by the time of day | of an earlier one |
//! | on a disk | another boot id, and changed since | unknown, so it is refused |
//!
//! In one boot ids differ if a container's manager or a unit mounts one of its own. Every process that has
//! a file open notes the time of its use in it, once a second.
//!
//! If the earlier boot was shorter than the present uptime, a process without an id accepts its file.
//! That is never in a client's favour: less time seems to have passed than has, so clients wait
//! longer than they have to, but never longer than one refill.
//!
//! Processes that share a file must share the clock: none may be in a time namespace of its own.

use crate::clock::{boot_time, unix_time_at_boot};
use crate::limit::SECOND;
use rustix::fs::{self, Stat};
use std::os::fd::OwnedFd;

/// A boot id as text; zeros if it is unknown.
pub type BootId = [u8; 40];

const UNKNOWN: BootId = [0; 40];

/// How far the time of the last use may lie ahead of the clock: the clocks of processors may differ
/// slightly.
const MAX_PROCESSOR_SKEW: u64 = SECOND;

/// The boot that a file is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boot {
    /// This one.
    This,
    /// An earlier one.
    Earlier,
    /// It cannot be known.
    Unknown,
}

/// What tells the boot of a file, but for its id and the time of its last use.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Whether the file is memory.
    pub is_memory: bool,
    /// Whether it was changed since this boot began, by the time of day.
    pub is_changed_since: bool,
}

impl Evidence {
    /// That of an open file.
    pub fn of(file: &OwnedFd, stat: &Stat) -> Self {
        let began = unix_time_at_boot(boot_time()) / SECOND;
        let changed = u64::try_from(stat.st_mtime).unwrap_or(0);
        Self { is_memory: is_memory(file), is_changed_since: changed >= began }
    }
}

/// Whether what is open lies on a memory file system, of which no file survives a boot.
pub fn is_memory(file: &OwnedFd) -> bool {
    /// `TMPFS_MAGIC`, `RAMFS_MAGIC`
    const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    fs::fstatfs(file).is_ok_and(|found| MEMORY.contains(&(found.f_type as u64)))
}

/// The id of this boot; zeros if this process cannot read it.
pub fn read_id() -> BootId {
    let mut id = UNKNOWN;
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for (to, from) in id.iter_mut().zip(text) {
        *to = from;
    }
    id
}

/// The boot of a file with this boot id, last used at `used_at`.
pub fn find(file_id: &BootId, used_at: u64, evidence: Evidence) -> Boot {
    decide(file_id, &read_id(), used_at, boot_time(), evidence)
}

fn decide(file_id: &BootId, own_id: &BootId, used_at: u64, now: u64, evidence: Evidence) -> Boot {
    let is_any_unknown = *file_id == UNKNOWN || *own_id == UNKNOWN;
    if file_id == own_id && !is_any_unknown {
        Boot::This
    } else if used_at > now.saturating_add(MAX_PROCESSOR_SKEW) {
        Boot::Earlier
    } else if evidence.is_memory || is_any_unknown {
        Boot::This
    } else if evidence.is_changed_since {
        Boot::Unknown
    } else {
        Boot::Earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000 * SECOND;
    const A: BootId = [b'a'; 40];
    const B: BootId = [b'b'; 40];

    fn boot(ids: (BootId, BootId), used_at: u64, is_memory: bool, is_changed_since: bool) -> Boot {
        decide(&ids.0, &ids.1, used_at, NOW, Evidence { is_memory, is_changed_since })
    }

    fn on_each(case: impl Fn(bool, bool)) {
        for (memory, changed) in [(false, false), (false, true), (true, false), (true, true)] {
            case(memory, changed);
        }
    }

    #[test]
    fn file_of_this_boot_id_is_of_this_boot_whatever_the_time() {
        for used_at in [0, NOW, NOW * 2] {
            on_each(|memory, changed| {
                assert_eq!(boot((A, A), used_at, memory, changed), Boot::This);
            });
        }
    }

    #[test]
    fn file_used_in_the_future_is_of_an_earlier_boot_unless_it_has_this_boot_id() {
        for ids in [(A, B), (UNKNOWN, A), (A, UNKNOWN), (UNKNOWN, UNKNOWN)] {
            on_each(|memory, changed| {
                assert_eq!(boot(ids, NOW + 2 * SECOND, memory, changed), Boot::Earlier);
            });
        }
    }

    #[test]
    fn file_in_memory_or_with_an_unknown_id_is_of_this_boot() {
        for ids in [(UNKNOWN, A), (A, UNKNOWN), (UNKNOWN, UNKNOWN)] {
            on_each(|memory, changed| {
                assert_eq!(boot(ids, NOW, memory, changed), Boot::This);
            });
        }
        for used_at in [0, NOW] {
            assert_eq!(boot((A, B), used_at, true, false), Boot::This);
            assert_eq!(boot((A, B), used_at, true, true), Boot::This);
        }
    }

    #[test]
    fn file_of_another_id_on_a_disk_is_refused_unless_it_is_older_than_this_boot() {
        assert_eq!(boot((A, B), NOW - 1, false, false), Boot::Earlier);
        assert_eq!(boot((A, B), NOW - 1, false, true), Boot::Unknown);
    }
}
