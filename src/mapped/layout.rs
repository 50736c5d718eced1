//! What lies where in a file.
//!
//! ```text
//! byte     0  header      by which the file is recognised, and the secret of its hashes
//!        128  statistics  how many buckets the table has evicted, and how many newcomers it has denied
//!        256  watch       in a file of statistics, what is seen of the keys that are watched
//!      4,096  body        the areas of the file's purpose
//! ```
//!
//! | purpose | areas of the body |
//! |---|---|
//! | buckets | sets of buckets |
//! | host | records of stores, 256 if they fit into a quarter; of the rest 13 sixteenths of buckets, 2 of denials, 1 of records of hot keys |
//! | counts | records of counters, the log of denials, blocks |
//! | permits | sets of permits |
//! | leases | sets of leases |
//!
//! The layout says where an area lies, not what it consists of. Each feature has a type for its own
//! area, and asks the mapping for it; nothing in this folder depends on a feature.

use super::boot::{self, Boot, BootId, Evidence};
use crate::clock::boot_time;
use crate::hash::random;
use crate::settings::{MAX_SHM_SIZE, MIN_SHM_SIZE};
use portable_atomic::{AtomicU64, Ordering};

/// The version of everything in a file. It is part of the file's name.
pub const LAYOUT: u32 = 13;

/// The smallest file, in bytes.
pub const MIN_SIZE: u64 = MIN_SHM_SIZE;

/// The largest file, in bytes: the index of a set has 30 bits.
pub const MAX_SIZE: u64 = MAX_SHM_SIZE;

/// The size of a file of permits: room for 65,280.
pub const PERMITS_SIZE: u64 = 1 << 20;

/// The size of a file of leases: room for 32,704 busy buckets.
pub const LEASES_SIZE: u64 = 1 << 21;

/// The bytes of the log of denials: 1,024 sets of eight.
pub const DENIAL_LOG_SIZE: usize = 1_024 * 1_408;

/// The bytes of the blocks that operators see: 128 sets of eight.
pub const BLOCKS_SIZE: usize = 128 * 1_664;

/// Where the counters of a table lie.
pub const STATISTICS_AT: usize = 128;

/// Where the watched keys lie, in a file of counts.
pub const WATCH_AT: usize = 256;

/// The bytes of the record of a store on servers.
pub const STORE_SIZE: usize = 11 * SET_SIZE;

/// The most stores on servers that have a record.
const MOST_STORES: usize = 256;

/// Where the body begins: on a page of its own.
pub const BODY_AT: u64 = 4096;

/// The bytes of a set of slots.
pub const SET_SIZE: usize = 128;

const MAGIC: [u8; 8] = *b"TBUCKETS";

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The buckets of `shm:`.
    Buckets,
    /// What this host knows of servers, and its buckets for when they fail.
    Host,
    /// What the processes of this host count together.
    Statistics,
    /// The permits of a table of buckets.
    Permits,
    /// This host's permits for when a server fails.
    HostPermits,
    /// The tokens that this host has taken ahead from servers.
    Leases,
}

impl Purpose {
    /// Whether memory of this process takes the place of a file that cannot be had: calls on a server must
    /// not fail because this host's shared memory is full.
    pub const fn needs_no_file(self) -> bool {
        matches!(self, Self::Host | Self::HostPermits)
    }
}

/// A part of a file's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Sets of slots that hold buckets.
    Buckets,
    /// Records of stores on servers.
    Stores,
    /// Sets of denials.
    Denials,
    /// Records of hot keys.
    HotKeys,
    /// Records of counters.
    Records,
    /// Sets of the log of denials.
    DenialLog,
    /// Sets of the blocks that operators see.
    Blocks,
    /// Sets of slots that hold permits.
    Permits,
    /// Sets of leases.
    Leases,
}

/// Where an area lies: its first byte, and its length in blocks of [`SET_SIZE`] bytes, so that the hot
/// path finds the number of sets without a division.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) start: usize,
    pub(super) blocks: usize,
}

/// The extent of each area, by its number. An area that the file does not have is empty.
#[derive(Default)]
pub(super) struct Areas([Extent; 9]);

impl Areas {
    /// The areas of a file of this purpose and size, one after the other.
    pub(super) fn new(purpose: Purpose, size: u64) -> Self {
        let blocks = (size - BODY_AT) as usize / SET_SIZE;
        let lengths = match purpose {
            Purpose::Buckets => vec![(Area::Buckets, blocks)],
            Purpose::Host => {
                let of_store = STORE_SIZE / SET_SIZE;
                let stores = (blocks / 4 / of_store).min(MOST_STORES) * of_store;
                let sixteenth = (blocks - stores) / 16;
                vec![
                    (Area::Stores, stores),
                    (Area::Buckets, 13 * sixteenth),
                    (Area::Denials, 2 * sixteenth),
                    (Area::HotKeys, sixteenth),
                ]
            }
            Purpose::Statistics => {
                let [log, blocked] = [DENIAL_LOG_SIZE, BLOCKS_SIZE].map(|size| size / SET_SIZE);
                // The smallest file has no room for them.
                let has_room = blocks >= log + blocked;
                let [log, blocked] = [log, blocked].map(|length| if has_room { length } else { 0 });
                let records = blocks - log - blocked;
                vec![(Area::Records, records), (Area::DenialLog, log), (Area::Blocks, blocked)]
            }
            Purpose::Permits | Purpose::HostPermits => vec![(Area::Permits, blocks)],
            Purpose::Leases => vec![(Area::Leases, blocks)],
        };
        let (mut areas, mut start) = (Self::default(), BODY_AT as usize);
        for (area, blocks) in lengths {
            debug_assert!((area as usize) < areas.0.len(), "there are more areas than extents");
            if let Some(extent) = areas.0.get_mut(area as usize) {
                *extent = Extent { start, blocks };
            }
            start += blocks * SET_SIZE;
        }
        areas
    }

    /// Where an area lies.
    #[inline(always)]
    pub(super) fn extent(&self, area: Area) -> Extent {
        self.0.get(area as usize).copied().unwrap_or_default()
    }
}

/// The start of a file. Only `used_at` changes once the file has its name.
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 8],
    layout: u32,
    reserved: u32,
    /// The size of the file, in bytes.
    size: u64,
    /// The boot in which the file's times count, as far as the process that made the file knew it.
    boot: BootId,
    /// The key of the hashes that place keys.
    pub(super) secret: [u64; 2],
    /// When a process last noted that it uses the file, in nanoseconds since boot.
    used_at: AtomicU64,
}

const _: () = assert!(size_of::<Header>() <= STATISTICS_AT);

impl Header {
    /// The header of a file of this size, with a secret of its own.
    pub(super) fn new(size: u64) -> rustix::io::Result<Self> {
        let secret = [u64::from_ne_bytes(random()?), u64::from_ne_bytes(random()?)];
        Ok(Self {
            magic: MAGIC,
            layout: LAYOUT,
            reserved: 0,
            size,
            boot: boot::read_id(),
            secret,
            used_at: AtomicU64::new(boot_time()),
        })
    }

    /// Whether this is the header of a file of this layout, of `size` bytes.
    pub(super) fn is_valid(&self, size: u64) -> bool {
        self.magic == MAGIC && self.layout == LAYOUT && self.size == size
    }

    /// The boot that the file is of.
    pub(super) fn boot(&self, evidence: Evidence) -> Boot {
        boot::find(&self.boot, self.used_at.load(Ordering::Relaxed), evidence)
    }

    /// Notes that the file is used now (see [`boot`]).
    pub(super) fn note_use(&self) {
        self.used_at.fetch_max(boot_time(), Ordering::Relaxed);
    }
}
