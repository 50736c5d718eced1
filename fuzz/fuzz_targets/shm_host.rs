//! What a host knows of its servers, in a file with a valid header, any breakers and any words.

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
use token_bucket::guard::{Host, HostFiles};
use token_bucket::mapped::{FileSettings, MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::store::{LimitKind, Request, Time};
use token_bucket_fuzz::calls::{is_busy, keeps_promises, limit, operation, time};
use token_bucket_fuzz::folder::folder;
use token_bucket_fuzz::table_file::{
    HEADER, IDS, SET, WAYS, file, hash, key, locate, locate_place, word, write,
};

const BREAKERS_AT: u64 = 256;
const BREAKERS: u64 = 256;
/// The size of one.
const BREAKER: u64 = 32;
const STORE: &str = "a server";

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Host);
    let now = boot_time();
    let mut hasher = SipHasher13::new();
    hasher.write(STORE.as_bytes());
    let domain = hasher.finish().max(1);
    let sixteenth = (MIN_SIZE - HEADER) / SET / 16;
    let limit = limit(u)?;
    let kind = LimitKind::from(&limit);
    for id in IDS {
        let hash = hash(id, kind, domain);
        // The bucket, or some places of a sliding window; and what is known of a denial.
        let places = if kind == LimitKind::SlidingWindow { 3 } else { 1 };
        let own = (0..places).map(|place| locate_place(hash, place, 0, 13 * sixteenth));
        for (at, tag) in own.chain([locate(hash, 13 * sixteenth, 15 * sixteenth)]) {
            let mut words = [0; WAYS];
            for to in &mut words {
                *to = word(u, &[tag], now)?;
            }
            write(&file, at, words);
        }
    }
    let breakers: [[u64; 3]; 4] = u.arbitrary()?;
    for (i, [until, answered_at, failed_at]) in breakers.into_iter().enumerate() {
        let id = domain.wrapping_add((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1);
        let offset = BREAKERS_AT + (id % BREAKERS) * BREAKER;
        let state = u128::from(id) << 64 | u128::from(until);
        let times = u128::from(failed_at) << 64 | u128::from(answered_at);
        for (at, word) in [(offset, state), (offset + 16, times)] {
            file.write_all_at(&word.to_ne_bytes(), at).expect("within the file");
        }
    }
    let files = FileSettings { path: folder().to_owned(), size: MIN_SIZE };
    let files = HostFiles::new(&files);
    let host = Host::new(STORE.as_bytes(), STORE.to_owned(), 1, Secret(String::new()), &files);
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let key_hash = Cell::default();
        let key = key(u.choose(&IDS)?, kind, &key_hash);
        let breaker = u.int_in_range(0..=4)?;
        match u.int_in_range(0..=6u8)? {
            0 => drop(host.access(breaker, Timeouts::default())),
            1 => {
                let access = host.access(breaker, Timeouts::default());
                host.note_failure(breaker, access, "no answer", time(u, now)?);
            }
            2 => {
                let (access, sent) = (host.access(breaker, Timeouts::default()), boot_time());
                host.note_success(breaker, access, sent, Timeouts::default());
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
                    time: Time::Now,
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
