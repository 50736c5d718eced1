//! The files in shared memory as raw bytes: where a store looks for a key's words, and words to put there.

use crate::calls::{number, time};
use crate::folder::folder;
use arbitrary::{Result, Unstructured};
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::fs::File;
use std::hash::Hasher;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use token_bucket::limit::{MAX_REFILL, Span, State};
use token_bucket::mapped::set::TAG_BITS;
use token_bucket::mapped::{self, Location, MIN_SIZE, Purpose};
use token_bucket::statistics::FILE_SIZE;
use token_bucket::store::shm::slot::{HeldSlot, Slot};
use token_bucket::store::{Key, KeyHash, LimitKind};

/// The length of a header.
pub const HEADER: u64 = 4096;
/// Where a header has its secret.
const SECRET_AT: u64 = 64;
/// The secret of all files here.
pub const SECRET: [u64; 2] = [0x0706050403020100, 0x0f0e0d0c0b0a0908];
/// The words of a set.
pub const WAYS: usize = 8;
/// The length of a set.
pub const SET: u64 = 128;
const TAG: u64 = (1 << TAG_BITS) - 1;
/// The identifiers that have buckets.
pub const IDS: [&[u8]; 3] = [b"a", b"b", b"c"];

/// The location of the file for this purpose.
pub fn location(purpose: Purpose) -> Location {
    let (name, size) = match purpose {
        Purpose::Buckets => ("default", MIN_SIZE),
        Purpose::Host => (".host", MIN_SIZE),
        Purpose::Statistics => (".statistics", FILE_SIZE),
        Purpose::Permits => ("default.permits", MIN_SIZE),
        Purpose::HostPermits => (".host.permits", MIN_SIZE),
        Purpose::Leases => (".leases", MIN_SIZE),
    };
    Location { base: folder().to_owned(), name: name.to_owned(), size, purpose }
}

/// The file, with a valid header and zeros behind it. No process has it mapped.
pub fn file(purpose: Purpose) -> File {
    static HEADERS: [OnceLock<Vec<u8>>; 6] = [const { OnceLock::new() }; 6];
    let location = location(purpose);
    let header = HEADERS[purpose as usize].get_or_init(|| {
        drop(mapped::open(&location).expect("a file in memory"));
        let mut header = std::fs::read(location.path()).expect("it was made");
        header.truncate(HEADER as usize);
        header[SECRET_AT as usize..][..8].copy_from_slice(&SECRET[0].to_ne_bytes());
        header[SECRET_AT as usize + 8..][..8].copy_from_slice(&SECRET[1].to_ne_bytes());
        header
    });
    let file = File::options().read(true).write(true).open(location.path());
    // The store removed the file that the last input left.
    let file = file.or_else(|_| {
        drop(mapped::open(&location));
        File::options().read(true).write(true).open(location.path())
    });
    let file = file.expect("a file in memory");
    let written = file.set_len(HEADER).and_then(|()| file.set_len(location.size));
    written.and_then(|()| file.write_all_at(header, 0)).expect("room in memory");
    file
}

/// The key of an identifier.
pub fn key<'a>(id: &'a [u8], kind: LimitKind, key_hash: &'a Cell<KeyHash>) -> Key<'a> {
    Key { parts: [b"tb:", id, b"", b""], key_hash, kind }
}

/// The hash of a key, as the store of this domain computes it.
pub fn hash(id: &[u8], kind: LimitKind, domain: u64) -> u64 {
    let [low, high] = [0u8, 1].map(|half| {
        let mut hasher = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
        hasher.write_u64(domain);
        hasher.write_u8(kind as u8);
        hasher.write_u8(half);
        hasher.finish()
    });
    let mut hasher = SipHasher13::new_with_keys(low, high);
    hasher.write(b"tb:");
    hasher.write(id);
    hasher.finish()
}

/// The offset of a key's set, among the sets `from..to` of the file, and the key's tag.
pub fn locate(hash: u64, from: u64, to: u64) -> (u64, u64) {
    locate_place(hash, 0, from, to)
}

/// The same for a place of a sliding window.
pub fn locate_place(hash: u64, place: u64, from: u64, to: u64) -> (u64, u64) {
    let first = ((hash >> TAG_BITS) * (to - from)) >> (64 - TAG_BITS);
    let index = (first + place) % (to - from);
    let tag = hash.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & TAG;
    (HEADER + (from + index) * SET, tag.max(1))
}

/// A word with one of these tags: any bits, or much like one that a store writes.
pub fn word(u: &mut Unstructured<'_>, tags: &[u64], now: u64) -> Result<u128> {
    let tag = match u.int_in_range(0..=5u8)? {
        0 => 0,
        1 => u.arbitrary::<u64>()? & TAG,
        _ => *u.choose(tags)?,
    };
    let full_at = time(u, now)?;
    let state = match u.int_in_range(0..=7u8)? {
        0 => return Ok(0),
        1 => {
            let body: u128 = u.arbitrary()?;
            return Ok(u128::from(tag) << (128 - TAG_BITS) | body >> TAG_BITS);
        }
        2 => return Ok(Slot::claim(tag, full_at, u.arbitrary()?).0),
        3 => State::Reserved {
            full_at,
            fraction: u.arbitrary::<u32>()? >> 8,
            ahead: u.int_in_range(0..=62)?,
        },
        4 => State::Overdrawn { forgiven_at: full_at, debt: number(u, MAX_REFILL)? },
        5 => State::Window { ends_at: full_at, hits: u.arbitrary::<u32>()? >> 8 },
        6 if u.arbitrary()? => {
            let holder = (u.arbitrary::<u32>()? >> 8).max(1);
            return Ok(Slot::held(tag, HeldSlot { ends_at: full_at, holder }).0);
        }
        6 => State::Blocked { until: full_at, asked: u.arbitrary()?, number: u.arbitrary()? },
        _ => {
            let part = u64::from(u.arbitrary::<u32>()? >> 2);
            let full_at = Span { ns: full_at, part };
            State::Filling { full_at }
        }
    };
    Ok(Slot::committed(tag, state).0)
}

/// The words of the set at this offset.
pub fn read(file: &File, at: u64) -> [u128; WAYS] {
    let mut bytes = [0u8; SET as usize];
    file.read_exact_at(&mut bytes, at).expect("within the file");
    std::array::from_fn(|i| {
        u128::from_ne_bytes(bytes[i * 16..][..16].try_into().expect("16 bytes"))
    })
}

/// The words of all sets.
pub fn read_all(file: &File) -> Vec<[u128; WAYS]> {
    let mut bytes = vec![0u8; (MIN_SIZE - HEADER) as usize];
    file.read_exact_at(&mut bytes, HEADER).expect("within the file");
    let (words, _) = bytes.as_chunks();
    let words: Vec<u128> = words.iter().map(|word| u128::from_ne_bytes(*word)).collect();
    words.as_chunks().0.to_vec()
}

/// Writes the words of the set at this offset.
pub fn write(file: &File, at: u64, words: [u128; WAYS]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write_all_at(&bytes, at).expect("within the file");
}
