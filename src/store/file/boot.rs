//! Whether a file is of this boot of the host.
//!
//! Times in a file count from the host's boot, so a file of an earlier boot must be replaced. On a
//! memory file system (`/dev/shm`) none survives; on a disk one may. A file has two witnesses:
//!
//! * **The boot id** of the process that made the file. Where that process and this one both know
//!   their boot id, the ids decide: equal is this boot, different is an earlier one.
//! * **The time of its last use**, which every process that has the file open notes once a second.
//!   Where one of the two ids is unknown (a `chroot` without `/proc`, systemd's
//!   `ProcSubset=pid`), the time decides: a time that this boot's clock has not reached yet is of an
//!   earlier boot.
//!
//! All processes of a host agree on a file of this boot: their ids are equal where they are known, and
//! no time in the file is ahead of the clock they share. So an unknown id condemns no such file,
//! and two kinds of processes do not replace each other's.
//!
//! If the earlier boot was shorter than this one is by now, a process without an id cannot tell its file
//! from one of this boot. That costs the caller: the times in the file lie within one refill of the
//! clock, and less time seems to have gone by than has, so clients wait longer than they have to, and
//! never longer than one refill.

use crate::clock::boot_time;
use crate::limit::SECOND;

/// A boot id as text. Zeros: unknown.
pub type BootId = [u8; 40];

const UNKNOWN: BootId = [0; 40];

/// How far the time of the last use may lie ahead of the clock: processors' clocks may differ by a little.
const MAX_CLOCK_SKEW: u64 = SECOND;

/// The id of this boot, as far as this process can read it.
pub fn read_id() -> BootId {
    let mut id = UNKNOWN;
    let text = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    for (to, from) in id.iter_mut().zip(text) {
        *to = from;
    }
    id
}

/// Whether a file with this id, used at `used_at` for the last time, is of this boot.
pub fn is_this_boot(id: &BootId, used_at: u64) -> bool {
    is_same_boot(id, &read_id(), used_at, boot_time())
}

fn is_same_boot(of_file: &BootId, own: &BootId, used_at: u64, now: u64) -> bool {
    match *of_file == UNKNOWN || *own == UNKNOWN {
        true => used_at <= now.saturating_add(MAX_CLOCK_SKEW),
        false => of_file == own,
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
    fn two_known_ids_decide() {
        for used_at in [0, NOW, NOW * 2] {
            assert!(is_same_boot(&id(b'a'), &id(b'a'), used_at, NOW));
            assert!(!is_same_boot(&id(b'a'), &id(b'b'), used_at, NOW));
        }
    }

    #[test]
    fn an_unknown_id_condemns_only_a_file_from_the_future() {
        for (of_file, own) in [(UNKNOWN, id(b'a')), (id(b'a'), UNKNOWN), (UNKNOWN, UNKNOWN)] {
            assert!(is_same_boot(&of_file, &own, NOW - 1, NOW));
            assert!(is_same_boot(&of_file, &own, NOW, NOW));
            assert!(!is_same_boot(&of_file, &own, NOW + 2 * SECOND, NOW));
        }
    }
}
