//! A table with a valid header and any words: no word makes a call fail or denies a client for too long.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use token_bucket::limit::{Limit, MAX_NOW, Op, SECOND, State, apply};
use token_bucket::store::file::{MIN_SIZE, Purpose};
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::{KeyHash, Request, Store, Time, Timeouts};
use token_bucket_fuzz::calls::{keeps_promises, limit, operation, time};
use token_bucket_fuzz::table_file::{
    HEADER, IDS, SET, WAYS, file, hash, key, locate, location, read, word, write,
};

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
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
    let key_hashes: [[Cell<KeyHash>; 2]; 3] = Default::default();
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
        let key_hash = &key_hashes[id][usize::from(window)];
        let (key, timeouts) = (key(IDS[id], window, key_hash), Timeouts::default());
        let evicted = &Cell::new(false);
        let request = Request {
            key: &key,
            limit,
            op: &op,
            time: Time::Frozen(now),
            timeouts: &timeouts,
            evicted,
        };
        let decision = shm.decide(&request).expect("the table is open");
        let after = read(&file, at).map(Slot);
        let told = format!("{op:?} of {limit:?} at {now}: {decision:?}, {before:x?} {after:x?}");

        let mine = |slot: &Slot| slot.tag() == tag && !slot.is_claim();
        let reserved = before.iter().any(|slot| matches!(slot.state(), State::Reserved { .. }));
        keeps_promises(limit, op, &decision, reserved);
        // A call changes the key's own slot, and at most one other.
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        match before.iter().position(mine) {
            Some(found) => {
                let (expected, state) = apply(limit, before[found].state(), now, op);
                assert_eq!(decision, expected, "{told}");
                let kept = if state == before[found].state() {
                    before[found]
                } else {
                    Slot::committed(tag, state)
                };
                assert!(
                    after[found] == kept || after[found] == Slot::committed(tag, state),
                    "{told}"
                );
                assert!(changed <= 1, "{told}");
            }
            None => {
                assert!(after.iter().filter(|slot| mine(slot)).count() <= 1, "{told}");
                let claims = before.iter().filter(|slot| slot.tag() == tag).count();
                // The newcomer's slot, the tombstone, and the claims that were withdrawn.
                assert!(changed <= 2 + claims, "{told}");
                let is_remembered = after.iter().any(mine);
                if decision.accepted && decision.taken > 0 {
                    assert!(is_remembered, "a call that took tokens was forgotten: {told}");
                }
                if let Op::Block { .. } = op
                    && decision.retry_at > now
                {
                    assert!(is_remembered, "a block was forgotten: {told}");
                }
            }
        }
        // A denied call is accepted at the time that the answer named: at the end of a block, unless it
        // asks for more than the capacity.
        if let (false, Op::Take { cost }, true) =
            (decision.accepted, op, decision.retry_at <= MAX_NOW)
            && cost <= limit.capacity()
        {
            now = decision.retry_at;
            let again = shm.decide(&Request { time: Time::Frozen(now), ..request });
            assert!(
                again.expect("the table is open").accepted,
                "denied at the time that was named: {told}"
            );
        }
    }
    std::hint::black_box(shm.describe());
    Ok(())
}
