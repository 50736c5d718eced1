//! Any bytes as the files in shared memory: what is found there is used, or not, but it breaks nothing
//! and nobody is locked out by it.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use portable_atomic::Ordering;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::fs::File;
use std::hash::Hasher;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use token_bucket::clock::boot_time;
use token_bucket::limit::{Limit, MAX_NOW, MAX_REFILL, Op, SECOND, State, apply};
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::shm::counts::{Outcome, weight};
use token_bucket::store::shm::file::{COUNTS_SIZE, Location, MIN_SIZE, Purpose, Region};
use token_bucket::store::shm::host::Host;
use token_bucket::store::shm::slot::{Slot, TAG_BITS};
use token_bucket::store::shm::turns::Left;
use token_bucket::store::{Key, Place, Settings, Store};
use token_bucket_fuzz::calls::{keeps_promises, limit, number, operation, time};
use token_bucket_fuzz::folder::folder;

const HEADER: u64 = 4096;
/// Where a header has its secret, which the files here have in common.
const SECRET_AT: u64 = 64;
const SECRET: [u64; 2] = [0x0706050403020100, 0x0f0e0d0c0b0a0908];
const CIRCUITS_AT: u64 = 256;
const WAYS: usize = 8;
const SET: u64 = 128;
const TAG: u64 = (1 << TAG_BITS) - 1;
const STORE: &str = "a server";
const IDS: [&[u8]; 3] = [b"a", b"b", b"c"];

fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    let _ = match u.int_in_range(0..=9u8) {
        Ok(0) => header(&mut u),
        Ok(1..=5) => table(&mut u),
        Ok(6 | 7) => host(&mut u),
        Ok(_) => counts(&mut u),
        Err(_) => Ok(()),
    };
});

fn location(purpose: Purpose) -> Location {
    let (name, size) = match purpose {
        Purpose::Buckets => ("default", MIN_SIZE),
        Purpose::Host => (".host", MIN_SIZE),
        Purpose::Counts => (".statistics", COUNTS_SIZE),
    };
    Location { base: folder().to_owned(), name: name.to_owned(), size, purpose }
}

/// The file, with a header that is right and nothing behind it. Nobody has it mapped.
fn file(purpose: Purpose) -> File {
    static HEADERS: [OnceLock<Vec<u8>>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];
    let location = location(purpose);
    let header = HEADERS[purpose as usize].get_or_init(|| {
        drop(Region::open(&location).expect("a file in memory"));
        let mut header = std::fs::read(location.path()).expect("it was made");
        header.truncate(HEADER as usize);
        header[SECRET_AT as usize..][..8].copy_from_slice(&SECRET[0].to_ne_bytes());
        header[SECRET_AT as usize + 8..][..8].copy_from_slice(&SECRET[1].to_ne_bytes());
        header
    });
    let file = File::options().read(true).write(true).open(location.path());
    // One of another header was replaced by the store itself.
    let file = file.or_else(|_| {
        drop(Region::open(&location));
        File::options().read(true).write(true).open(location.path())
    });
    let file = file.expect("a file in memory");
    let written = file.set_len(HEADER).and_then(|()| file.set_len(location.size));
    written.and_then(|()| file.write_all_at(header, 0)).expect("room in memory");
    file
}

/// Any header, and a file of any length.
fn header(u: &mut Unstructured<'_>) -> Result<()> {
    let purpose = [Purpose::Buckets, Purpose::Host, Purpose::Counts][u.int_in_range(0..=2usize)?];
    let file = file(purpose);
    let length = location(purpose).size;
    match u.int_in_range(0..=3u8)? {
        0 => file.set_len(number(u, 2 * length)?).expect("room in memory"),
        1 => {
            file.set_len(length.saturating_add_signed(u.arbitrary::<i16>()?.into())).expect("room")
        }
        _ => {}
    }
    let at = u.int_in_range(0..=HEADER - 1)?;
    let bytes = u.bytes(u.len().min(64))?;
    file.write_all_at(bytes, at).expect("room in memory");
    let Ok(region) = Region::open(&location(purpose)) else { return Ok(()) };
    assert!(region.size() >= MIN_SIZE);
    let words = region.sets().iter().chain(region.denials()).chain(region.turns());
    let sum = words.flat_map(|set| &set.0).fold(0, |sum, word| sum ^ word.load(Ordering::Relaxed));
    std::hint::black_box((sum, region.told(), region.circuits().open(boot_time())));
    assert_eq!(region.record_of(b"a", false) < region.records().len().max(1), true);
    Ok(())
}

fn key<'a>(id: &'a [u8], window: bool, place: &'a Cell<Place>) -> Key<'a> {
    Key { parts: [b"tb:", id, b"", b""], place, window, evicted: Cell::new(false) }
}

/// Where a key belongs, as a store that is `domain` has it.
fn hash(id: &[u8], window: bool, domain: u64) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
    if domain != 0 || window {
        hasher.write_u64(domain);
        hasher.write_u8(window.into());
    }
    hasher.write(b"tb:");
    hasher.write(id);
    hasher.finish()
}

/// The offset of a key's set, among those from one set of the file to another, and its tag.
fn locate(hash: u64, from: u64, to: u64) -> (u64, u64) {
    let index = ((hash >> TAG_BITS) * (to - from)) >> (64 - TAG_BITS);
    (HEADER + (from + index) * SET, (hash & TAG).max(1))
}

/// A word with one of these tags: any, or one near what a store would write.
fn word(u: &mut Unstructured<'_>, tags: &[u64], now: u64) -> Result<u128> {
    let tag = match u.int_in_range(0..=5u8)? {
        0 => 0,
        1 => u.arbitrary::<u64>()? & TAG,
        _ => *u.choose(tags)?,
    };
    let full_at = time(u, now)?;
    let state = match u.int_in_range(0..=6u8)? {
        0 => return Ok(0),
        1 => {
            let body: u128 = u.arbitrary()?;
            return Ok(u128::from(tag) << (128 - TAG_BITS) | body >> TAG_BITS);
        }
        2 => return Ok(Slot::claim(tag, full_at).0),
        3 => State::Reserved {
            full_at,
            fraction: u.arbitrary::<u32>()? >> 8,
            ahead: u.int_in_range(0..=62)?,
        },
        4 => State::Overdrawn { forgiven_at: full_at, debt: number(u, MAX_REFILL)? },
        5 => State::Window { ends_at: full_at, hits: u.arbitrary::<u32>()? >> 8 },
        _ => {
            let part = u64::from(u.arbitrary::<u32>()? >> 2);
            let full_at = token_bucket::limit::Span { ns: full_at, part };
            State::Filling { full_at }
        }
    };
    Ok(Slot::settled(tag, state).0)
}

fn read(file: &File, at: u64) -> [u128; WAYS] {
    let mut bytes = [0u8; SET as usize];
    file.read_exact_at(&mut bytes, at).expect("within the file");
    std::array::from_fn(|i| {
        u128::from_ne_bytes(bytes[i * 16..][..16].try_into().expect("16 bytes"))
    })
}

fn write(file: &File, at: u64, words: [u128; WAYS]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    file.write_all_at(&bytes, at).expect("within the file");
}

/// A table whose header is right and whose words are any.
fn table(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Buckets);
    let mut now = 1_000_000 * SECOND;
    let sets = (MIN_SIZE - HEADER) / SET;
    let located = |id: usize, window| locate(hash(IDS[id], window, 0), 0, sets);
    let all = [0, 1, 2].map(|id| [false, true].map(|window| located(id, window)));
    let tags: Vec<u64> = all.as_flattened().iter().map(|(_, tag)| *tag).collect();
    for id in 0..IDS.len() {
        for window in [false, true] {
            let (at, tag) = located(id, window);
            let mut words = [0; WAYS];
            for to in &mut words {
                *to = word(u, &[tag, tag, tags[0], tags[3]], now)?;
            }
            write(&file, at, words);
        }
    }
    let limits = [limit(u)?, limit(u)?];
    let shm = SharedMemory::new(location(Purpose::Buckets));
    let places: [[Cell<Place>; 2]; 3] = Default::default();
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let (id, limit) = (u.int_in_range(0..=IDS.len() - 1)?, u.choose(&limits)?);
        let op = operation(u)?;
        now = time(u, now)?;
        let window = matches!(limit, Limit::FixedWindow(_));
        let (at, tag) = located(id, window);
        let before = read(&file, at).map(Slot);
        let place = &places[id][usize::from(window)];
        let decided = shm.decide(&key(IDS[id], window, place), limit, op, Some(now));
        let decision = decided.expect("the table is open");
        let after = read(&file, at).map(Slot);
        let told = format!("{op:?} of {limit:?} at {now}: {decision:?}, {before:x?} {after:x?}");

        let mine = |slot: &Slot| slot.tag() == tag && !slot.is_claim();
        let reserved = before.iter().any(|slot| matches!(slot.state(), State::Reserved { .. }));
        keeps_promises(limit, op, &decision, reserved);
        // None of all the others is touched but for the one that has to go.
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        match before.iter().position(mine) {
            Some(found) => {
                let (expected, state) = apply(limit, before[found].state(), now, op);
                assert_eq!(decision, expected, "{told}");
                let kept = if state == before[found].state() {
                    before[found]
                } else {
                    Slot::settled(tag, state)
                };
                assert!(
                    after[found] == kept || after[found] == Slot::settled(tag, state),
                    "{told}"
                );
                assert!(changed <= 1, "{told}");
            }
            None => {
                assert!(after.iter().filter(|slot| mine(slot)).count() <= 1, "{told}");
                let claims = before.iter().filter(|slot| slot.tag() == tag).count();
                // His place, and that of what was pushed out and stays owed.
                assert!(changed <= 2 + claims, "{told}");
                if decision.accepted
                    && limit.takes(op)
                    && matches!(op, Op::Take { cost: 1.. } | Op::Check)
                {
                    assert!(after.iter().any(mine), "what was taken is forgotten: {told}");
                }
            }
        }
        // What is denied is given when it was said to be.
        if let (false, Op::Take { .. }, true) =
            (decision.accepted, op, decision.retry_at <= MAX_NOW)
        {
            now = decision.retry_at;
            let again = shm.decide(&key(IDS[id], window, place), limit, op, Some(now));
            assert!(
                again.expect("the table is open").accepted,
                "not given when it was said: {told}"
            );
        }
    }
    std::hint::black_box(shm.describe());
    Ok(())
}

/// What a host knows of its servers, with a header that is right but for its circuits.
fn host(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Host);
    let now = boot_time();
    let mut hasher = SipHasher13::new();
    hasher.write(STORE.as_bytes());
    let domain = hasher.finish().max(1);
    let sixteenth = (MIN_SIZE - HEADER) / SET / 16;
    for id in IDS {
        let hash = hash(id, false, domain);
        for (from, to) in [(0, 13), (13, 15)] {
            let (at, tag) = locate(hash, from * sixteenth, to * sixteenth);
            let mut words = [0; WAYS];
            for to in &mut words {
                *to = word(u, &[tag], now)?;
            }
            write(&file, at, words);
        }
        let (at, _) = locate(hash, 15 * sixteenth, 16 * sixteenth);
        // What was handed on adds up, or does not.
        let mut words: [u128; WAYS] = u.arbitrary()?;
        if u.arbitrary()? {
            words[1] = u128::from(hash) << 64 | words[1] & u128::from(u64::MAX);
            words[3] = (words[3] & 7 << 64) | words[3] & 0xff;
            let handed = now - u.int_in_range(0..=SECOND / 10)?;
            let mut sum = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
            words[1..4].iter().for_each(|word| sum.write_u128(*word));
            sum.write_u64(handed);
            words[4] = u128::from(handed) << 64 | u128::from(sum.finish());
        }
        if u.arbitrary()? {
            words[0] = 0;
        }
        write(&file, at, words);
    }
    let circuits: [u64; 4] = u.arbitrary()?;
    for (i, until) in circuits.iter().enumerate() {
        let id = domain.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1);
        let place = CIRCUITS_AT + (id % 64) * 16;
        let word = u128::from(id) << 64 | u128::from(*until);
        file.write_all_at(&word.to_ne_bytes(), place).expect("within the file");
    }
    let settings =
        Settings { shm_path: folder().to_owned(), shm_size: MIN_SIZE, ..Settings::default() };
    let host = Host::new(STORE, &settings);
    let limit = limit(u)?;
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let place = Cell::default();
        let key = key(u.choose(&IDS)?, false, &place);
        let circuit = u.int_in_range(0..=4)?;
        match u.int_in_range(0..=7u8)? {
            0 => drop(host.permit(circuit)),
            1 => drop(host.failed(circuit)),
            2 => host.succeeded(circuit, host.permit(circuit)),
            3 => {
                let (full_at, sent) = (time(u, now)?, boot_time());
                host.note_denial(&key, full_at, sent);
            }
            4 => {
                let at = boot_time();
                assert!(host.denied(&key, at).is_none_or(|full_at| full_at > at));
            }
            5 => {
                host.clear_denials(&key);
                let at = boot_time();
                assert_eq!(host.denied(&key, at), None, "given back, and yet denied");
            }
            6 => host.in_turn(&key, 0, |turn| {
                let Some(turn) = turn else { return };
                let left = turn.left(0);
                if let Some(Left { state, .. }) = left {
                    // As memcached's store does.
                    std::hint::black_box((limit.written_at(state), state.new_again_at()));
                    let (decision, after) = apply(&limit, state, now, Op::Take { cost: 1 });
                    keeps_promises(&limit, Op::Take { cost: 1 }, &decision, true);
                    turn.leave(Left { state: after, cas: 1 });
                    assert!(turn.left(0).is_none_or(|left| left.state == after));
                }
            }),
            _ => {
                let op = operation(u)?;
                let decision = host.decide(&key, &limit, op, None).expect("it is open");
                keeps_promises(&limit, op, &decision, true);
            }
        }
    }
    std::hint::black_box(host.describe());
    Ok(())
}

/// What is counted, with a header that is right.
fn counts(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Counts);
    let records = COUNTS_SIZE - HEADER;
    for _ in 0..u.int_in_range(0..=8u8)? {
        // Near the beginning of a record, where its name is, or anywhere.
        let record = records / 64 * u.int_in_range(0..=63u64)?;
        let within = u.int_in_range(0..=records / 64 - 1)?;
        let at = HEADER + record + if u.arbitrary()? { within } else { within % 72 };
        let length = u.int_in_range(1..=64usize)?.min((COUNTS_SIZE - at) as usize);
        file.write_all_at(u.bytes(length.min(u.len()))?, at).expect("within the file");
    }
    let region = Region::open(&location(Purpose::Counts)).expect("its header is right");
    let names: [&[u8]; 4] = [b"login", b"", &[b'n'; 80], b"a"];
    for _ in 0..16 {
        if u.is_empty() {
            break;
        }
        let name = *u.choose(&names)?;
        let at = region.record_of(name, u.arbitrary()?);
        let record = region.records().get(at).expect("there is such a record");
        let stripe = record.stripe(u.arbitrary()?).expect("there is such a stripe");
        let before =
            stripe.count(*u.choose(&[Outcome::Accepted, Outcome::Denied, Outcome::Evicted])?);
        let length = usize::from(u.arbitrary::<u8>()?).min(u.len());
        let id = u.bytes(length)?;
        region.note_denied(record, weight(before).max(1), [b"login", b":", id]);
    }
    for (name, told) in region.told() {
        assert!(name.is_none_or(|name| name.len() <= 56));
        assert!(told.denied.len() <= 16 && told.denied.iter().all(|(id, _)| id.len() <= 96));
        assert!(told.denied.is_sorted_by(|(_, a), (_, b)| a >= b));
    }
    Ok(())
}
