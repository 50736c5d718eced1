//! What a host knows of its servers, in a file with a valid header, any record of the store and any words.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;
use std::os::unix::fs::FileExt;
use token_bucket::clock::boot_time;
use token_bucket::dsn::Secret;
use token_bucket::guard::denials::KnownDenial;
use token_bucket::guard::gate::GateEntry;
use token_bucket::guard::{Host, HostFiles};
use token_bucket::mapped::claimed;
use token_bucket::mapped::{FileSettings, MIN_SIZE, Purpose, STORE_SIZE};
use token_bucket::net::Timeouts;
use token_bucket::store::{LimitKind, Request};
use token_bucket_fuzz::calls::{is_busy, keeps_promises, limit, operation, time};
use token_bucket_fuzz::folder::folder;
use token_bucket_fuzz::table_file::{
    HEADER, IDS, SECRET, SET, WAYS, file, hash, key, locate, locate_place, word, write,
};

const STORE: &str = "a server";
const SECOND: u64 = 1_000_000_000;

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Host);
    let now = boot_time();
    let mut hasher = SipHasher13::new();
    hasher.write(STORE.as_bytes());
    let domain = hasher.finish().max(1);
    let (sets, of_store) = ((MIN_SIZE - HEADER) / SET, STORE_SIZE as u64 / SET);
    let stores = sets / 4 / of_store * of_store;
    let sixteenth = (sets - stores) / 16;
    let [buckets, denials, end] = [0, 13, 15].map(|nth| stores + nth * sixteenth);
    let limit = limit(u)?;
    let kind = LimitKind::from(&limit);
    for id in IDS {
        let hash = hash(id, kind, domain);
        // The bucket, or some places of a sliding window; and what is known of a denial.
        let places = if kind == LimitKind::SlidingWindow { 3 } else { 1 };
        let own = (0..places).map(|place| locate_place(hash, place, buckets, denials));
        for (at, tag) in own.chain([locate(hash, denials, end)]) {
            let mut words = [0; WAYS];
            for to in &mut words {
                *to = word(u, &[tag], now)?;
            }
            write(&file, at, words);
        }
    }
    // The record of the store, with any words in it.
    let mut hasher = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
    hasher.write_u64(domain);
    let words: [(u8, u64); 16] = u.arbitrary()?;
    let words = words.map(|(at, word)| (u64::from(at) % (STORE_SIZE as u64 / 8), word));
    for (at, word) in words.into_iter().chain([(0, claimed::id(hasher.finish()))]) {
        file.write_all_at(&word.to_ne_bytes(), HEADER + at * 8).expect("within the file");
    }
    let files = FileSettings { path: folder().to_owned(), size: MIN_SIZE };
    let files = HostFiles::new(&files);
    let host = Host::new(STORE.as_bytes(), STORE.to_owned(), Secret(String::new()), &files);
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let key_hash = Cell::default();
        let key = key(u.choose(&IDS)?, kind, &key_hash);
        let breaker = u.int_in_range(0..=4)?;
        match u.int_in_range(0..=6u8)? {
            0 => drop(host.record(|it| it.breaker(breaker).access(now, SECOND))),
            1 => {
                let (failed_at, answered_at) = (time(u, now)?, time(u, now)?);
                host.record(|it| {
                    let access = it.breaker(breaker).access(now, SECOND);
                    it.note_failure(breaker, access, "no answer", failed_at, now);
                    it.note_answer(answered_at)
                });
            }
            2 => {
                let entry = host.record(|it| it.gate.enter(now, SECOND));
                if let Some(GateEntry::Lane(lane)) = entry {
                    host.record(|it| it.gate.leave(lane, breaker == 0));
                }
            }
            3 => {
                let (at, sent) = (time(u, now)?, boot_time());
                let denial = match u.arbitrary()? {
                    true => KnownDenial::BlockedUntil(at),
                    false => KnownDenial::FullAt(at),
                };
                host.note_denial(&key, denial, sent);
            }
            4 => {
                let at = boot_time();
                let known = host.known_denial(&key, at);
                if let Some(KnownDenial::FullAt(time) | KnownDenial::BlockedUntil(time)) = known {
                    assert!(time > at, "a denial that has ended");
                }
            }
            5 => {
                host.clear_denials(&key);
                let at = boot_time();
                assert_eq!(host.known_denial(&key, at), None, "denied after a refund");
            }
            _ => {
                let op = operation(u)?;
                let timeouts = Timeouts::default();
                let request = Request {
                    key: &key,
                    limit: &limit,
                    op: &op,
                    now: boot_time(),
                    timeouts: &timeouts,
                };
                let decision = host.decide(&request).expect("the file is open").decision;
                // The ends of a calendar window are not by this clock.
                if !is_busy(&limit, &decision) && kind != LimitKind::CalendarWindow {
                    keeps_promises(&limit, op, &decision, true);
                }
            }
        }
    }
    std::hint::black_box(host.describe());
    Ok(())
}
