//! Leases, in a set with any words.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use portable_atomic::AtomicU128;
use token_bucket::guard::leases::{Fetch, LeaseKey, Level, Step};
use token_bucket::mapped::set::Set;

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn level(u: &mut Unstructured<'_>) -> Result<Level> {
    let [expires_at, window, hits] = u.arbitrary()?;
    Ok(Level { expires_at, window, hits, name: u.arbitrary()?, counted: u.arbitrary()? })
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut words = [0u128; 8];
    for word in &mut words {
        *word = u.arbitrary()?;
    }
    let set = Set(words.map(AtomicU128::new));
    let max = u.int_in_range(1..=4_095)?;
    let tags = [words[0] >> 94, words[4] >> 94, 5].map(|tag| (tag as u64).max(1));
    let mut now: u64 = u.int_in_range(0..=1 << 60)?;
    let mut fetches: Vec<Fetch> = Vec::new();
    for _ in 0..64 {
        if u.is_empty() {
            break;
        }
        let key =
            LeaseKey { set: &set, tag: *u.choose(&tags)?, limit: u.int_in_range(0..=511)?, max };
        now += u64::from(u.arbitrary::<u32>()?);
        let tokens = u.int_in_range(1..=4_095)?;
        match u.int_in_range(0..=6u8)? {
            0 | 1 => match key.take(tokens.min(max), now, 1 << 28) {
                Step::Fetch(fetch) => {
                    assert!(fetch.batch <= max);
                    fetches.push(fetch);
                }
                Step::Taken(_) | Step::Ask | Step::Await(_) => {}
            },
            2 => {
                if let Some(fetch) = fetches.pop() {
                    key.put(&fetch, tokens, level(u)?, u.arbitrary()?, now - now % 7, now);
                }
            }
            3 => {
                let (missing, window) = (u.arbitrary()?, u.arbitrary()?);
                let given_back = key.give_back(tokens.into(), window, now, |_| missing);
                assert!(
                    given_back.is_none_or(|(held, put)| u64::from(held.rest) <= missing && put > 0)
                );
            }
            4 => key.end(now),
            5 => key.note_refund(&level(u)?),
            _ => {
                if let Some(fetch) = fetches.pop() {
                    key.give_up(&fetch, u.arbitrary()?, u.arbitrary()?);
                }
            }
        }
        let available = key.available(now).map_or(0, |held| held.rest);
        assert!(available <= 4_095);
    }
    Ok(())
}
