//! Whether a file is of this boot of the host.
//!
//! Times in a file count from the host's boot, so a file of an earlier boot must be replaced. On a
//! memory file system (`/dev/shm`) no file survives a boot; on a disk one may. A file holds two
//! pieces of evidence:
//!
//! * **The boot id** of the process that made the file. If that process and this one both know their
//!   boot id, the ids decide: equal means this boot, different means an earlier one.
//! * **The time of its last use**, which every process that has the file open notes once a second. If
//!   one of the two ids is unknown (a `chroot` without `/proc`, systemd's `ProcSubset=pid`), the time
//!   decides: a time that the clock since boot has not reached yet means an earlier boot.
//!
//! All processes of a host accept a file of this boot: the ids that are known are equal, and no time
//! in the file is ahead of the clock that they share. So two processes, one with an id and one
//! without, do not replace each other's file.
//!
//! If the earlier boot was shorter than the present uptime, a process without an id accepts its file.
//! That is never in a client's favour: less time seems to have passed than has, so clients wait
//! longer than they have to, but never longer than one refill.
//!
//! Processes that share a file must share the clock: none may be in a time namespace of its own.

use crate::clock::boot_time;
use crate::limit::SECOND;

/// A boot id as text; zeros if it is unknown.
pub type BootId = [u8; 40];

const UNKNOWN: BootId = [0; 40];

/// How far the time of the last use may lie ahead of the clock: the clocks of processors may differ
/// slightly.
const MAX_PROCESSOR_SKEW: u64 = SECOND;

/// The id of this boot; zeros if this process cannot read it.
pub fn read_id() -> BootId {
    let mut id = UNKNOWN;
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for (to, from) in id.iter_mut().zip(text) {
        *to = from;
    }
    id
}

/// Whether a file with this boot id, last used at `used_at`, is of this boot.
pub fn is_this_boot(file_id: &BootId, used_at: u64) -> bool {
    is_same_boot(file_id, &read_id(), used_at, boot_time())
}

fn is_same_boot(file_id: &BootId, own_id: &BootId, used_at: u64, now: u64) -> bool {
    match *file_id == UNKNOWN || *own_id == UNKNOWN {
        true => used_at <= now.saturating_add(MAX_PROCESSOR_SKEW),
        false => file_id == own_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000 * SECOND;

    fn id(text: u8) -> BootId {
        [text; 40]
    }

    #[test]
    fn known_ids_decide_whatever_the_time() {
        for used_at in [0, NOW, NOW * 2] {
            assert!(is_same_boot(&id(b'a'), &id(b'a'), used_at, NOW));
            assert!(!is_same_boot(&id(b'a'), &id(b'b'), used_at, NOW));
        }
    }

    #[test]
    fn file_with_an_unknown_id_is_of_this_boot_unless_used_in_the_future() {
        for (file_id, own_id) in [(UNKNOWN, id(b'a')), (id(b'a'), UNKNOWN), (UNKNOWN, UNKNOWN)] {
            assert!(is_same_boot(&file_id, &own_id, NOW - 1, NOW));
            assert!(is_same_boot(&file_id, &own_id, NOW, NOW));
            assert!(!is_same_boot(&file_id, &own_id, NOW + 2 * SECOND, NOW));
        }
    }
}
