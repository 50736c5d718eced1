//! A table with a valid header and any words: no word makes a call fail or denies a client for too long.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use token_bucket::clock::{boot_time, freeze};
use token_bucket::error::{ErrorKind, Result as StoreResult};
use token_bucket::limit::{
    Decision, Hits, Limit, MAX_NOW, MAX_REFILL, Op, Place, SECOND, SlidingWindow, State,
    StoredState, apply,
};
use token_bucket::mapped::{MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::{KeyHash, LimitKind, Request, Store};
use token_bucket_fuzz::calls::{is_busy, keeps_promises, limit, may_owe, operation, time};
use token_bucket_fuzz::table_file::{
    HEADER, IDS, SET, WAYS, file, hash, key, locate, locate_place, location, read, read_all, word,
    write,
};

const SETS: u64 = (MIN_SIZE - HEADER) / SET;
/// The places of a sliding window that may have any words: the others are empty.
const PLACES: u64 = 2;
/// The kinds of limits whose state is one slot.
const WORDS: [LimitKind; 3] =
    [LimitKind::TokenBucket, LimitKind::FixedWindow, LimitKind::CalendarWindow];

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Buckets);
    let mut now = 1_000_000 * SECOND;
    let limits = [limit(u)?, limit(u)?];
    let located = |id: usize, kind| locate(hash(IDS[id], kind, 0), 0, SETS);
    let all = [0, 1, 2].map(|id| WORDS.map(|kind| located(id, kind)));
    let tags: Vec<u64> = all.as_flattened().iter().map(|(_, tag)| *tag).collect();
    let is_sliding = |limit: &Limit| matches!(limit, Limit::SlidingWindow(_));
    let mut sets: Vec<(u64, u64)> = Vec::new();
    for id in 0..IDS.len() {
        if !limits.iter().all(is_sliding) {
            sets.extend(WORDS.map(|kind| located(id, kind)));
        }
        if limits.iter().any(is_sliding) {
            sets.extend(places(id, PLACES));
        }
    }
    for (at, tag) in sets {
        // A set of other keys and a tombstone, too: the key is a newcomer there.
        let tags =
            if u.ratio(3, 4)? { [tag, tag, tags[0], tags[3]] } else { [0, 0, tags[0], tags[3]] };
        let mut words = [0; WAYS];
        // Fewer words leave more of the input to the calls.
        let from = u.int_in_range(0..=WAYS)?;
        for to in &mut words[from..] {
            *to = word(u, &tags, now)?;
        }
        write(&file, at, words);
    }
    let shm = SharedMemory::new(location(Purpose::Buckets));
    let key_hashes: [[Cell<KeyHash>; LimitKind::ALL.len()]; 3] = Default::default();
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let (id, limit) = (u.int_in_range(0..=IDS.len() - 1)?, u.choose(&limits)?);
        let op = operation(u)?;
        now = time(u, now)?;
        let kind = LimitKind::from(limit);
        let key_hash = &key_hashes[id][kind as usize];
        let (key, timeouts) = (key(IDS[id], kind, key_hash), Timeouts::default());
        freeze(Some(now));
        let request = Request { key: &key, limit, op: &op, now: boot_time(), timeouts: &timeouts };
        let decide = || Ok(shm.decide(&request)?.decision);
        let decision = match limit {
            Limit::SlidingWindow(window) => judge_window(window, id, &file, now, op, decide),
            _ => Some(judge_slot(limit, located(id, kind), &file, now, op, decide)),
        };
        let Some(decision) = decision else { continue };
        // A denied call is accepted at the time that the answer named: at the end of a block, unless it
        // asks for more than the capacity. Another clock may have written the end of a calendar window, which is a
        // little before this one's.
        if let (false, Op::Take { cost }, true) =
            (decision.is_accepted(), op, decision.retry_at <= MAX_NOW)
            && cost <= limit.capacity()
            && !matches!(limit, Limit::CalendarWindow(_))
            && !(is_sliding(limit) && may_be_denied_again(limit, &decision, id, &file, now))
        {
            now = decision.retry_at;
            freeze(Some(now));
            let again = shm.decide(&request);
            let again = again.expect("the table is open").decision;
            // Any words may be blocks in several places of a window.
            assert!(
                again.is_accepted() || is_sliding(limit) && again.is_blocked(),
                "denied at the time that was named: {op:?} of {limit:?}: {decision:?}"
            );
        }
    }
    std::hint::black_box(shm.describe());
    Ok(())
}

/// Makes a call on a bucket or a window of one slot, whose set and tag these are, and judges it.
fn judge_slot(
    limit: &Limit,
    (at, tag): (u64, u64),
    file: &File,
    now: u64,
    op: Op,
    decide: impl Fn() -> StoreResult<Decision>,
) -> Decision {
    let before = read(file, at).map(Slot);
    let decision = decide().expect("the table is open");
    let after = read(file, at).map(Slot);
    let told = format!("{op:?} of {limit:?} at {now}: {decision:?}, {before:x?} {after:x?}");

    let mine = |slot: &Slot| slot.tag() == tag && !slot.is_claim();
    let owes = before.iter().any(|slot| may_owe(slot.state(), now));
    keeps_promises(limit, op, &decision, owes);
    // A call changes the key's own slot, and at most one other.
    let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    match before.iter().position(mine) {
        Some(found) => {
            let (expected, state) = apply(limit, &before[found].state().into(), now, op);
            let state = state.word();
            assert_eq!(decision, expected, "{told}");
            let kept = if state == before[found].state() {
                before[found]
            } else {
                Slot::committed(tag, state)
            };
            assert!(after[found] == kept || after[found] == Slot::committed(tag, state), "{told}");
            assert!(changed <= 1, "{told}");
        }
        None => {
            assert!(after.iter().filter(|slot| mine(slot)).count() <= 1, "{told}");
            let claims = before.iter().filter(|slot| slot.tag() == tag).count();
            // The newcomer's slot, the tombstone, and the claims that were withdrawn.
            assert!(changed <= 2 + claims, "{told}");
            let is_remembered = after.iter().any(mine);
            if decision.is_accepted() && decision.taken > 0 {
                assert!(is_remembered, "a call that took tokens was forgotten: {told}");
            }
            if let Op::Block { .. } = op
                && decision.retry_at > now
            {
                assert!(is_remembered, "a block was forgotten: {told}");
            }
        }
    }
    decision
}

/// The sets and tags of the first places of a sliding window.
fn places(id: usize, places: u64) -> Vec<(u64, u64)> {
    let hash = hash(IDS[id], LimitKind::SlidingWindow, 0);
    (0..places).map(|place| locate_place(hash, place, 0, SETS)).collect()
}

/// Whether a denied call on a sliding window may be denied again at the time that the answer named: if the window has more
/// places than the table has sets, so that one evicts another; if a set has a slot that outlives the block, or without one
/// a slot from a future so far that it is not in use yet; or if a place is claimed, which only a call that takes it finds.
fn may_be_denied_again(
    limit: &Limit,
    decision: &Decision,
    id: usize,
    file: &File,
    now: u64,
) -> bool {
    let known_until = if decision.is_blocked() { decision.retry_at } else { now + 2 * MAX_REFILL };
    let is_unsure = |(at, tag): (u64, u64)| {
        let mut slots = read(file, at).into_iter().map(Slot);
        slots.any(|slot| slot.expires_at() > known_until || slot.is_claim() && slot.tag() == tag)
    };
    let mut places = places(id, limit.capacity()).into_iter();
    limit.capacity() > SETS || places.any(is_unsure)
}

/// Makes a call on a sliding window and judges it. None if the table has too little room for it.
fn judge_window(
    window: &SlidingWindow,
    id: usize,
    file: &File,
    now: u64,
    op: Op,
    decide: impl Fn() -> StoreResult<Decision>,
) -> Option<Decision> {
    let places = places(id, window.max_hits().into());
    let before = read_all(file);
    let seen = Seen::new(&before, &places, now);
    // Places that share a set take each other's room.
    let has_little_room = !seen.is_clear || u64::from(window.max_hits()) > SETS;
    let decision = match decide() {
        Ok(decision) => decision,
        Err(error) if error.kind() == ErrorKind::Refused && has_little_room => return None,
        Err(error) => panic!("{error}: {op:?} of {window:?} at {now}, {seen:?}"),
    };
    let after = read_all(file);
    let now_seen = Seen::new(&after, &places, now);
    let told = format!("{op:?} of {window:?} at {now}: {decision:?}, {seen:?} {now_seen:?}");

    let limit = (*window).into();
    let is_busy = is_busy(&limit, &decision) && has_little_room;
    if !is_busy {
        keeps_promises(&limit, op, &decision, false);
    }
    // A call changes nothing but the sets of its places; a block, a reset or a refund frees those of larger limits, too.
    let own: HashSet<usize> = places.iter().map(|(at, _)| index(*at)).collect();
    let mut others = (0..before.len()).filter(|set| !own.contains(set));
    let is_refund = matches!(op, Op::Refund { .. });
    if !is_refund && !matches!(op, Op::Block { .. } | Op::Reset) {
        assert!(others.all(|set| before[set] == after[set]), "{told}");
    }
    // It corrects a hit from the future, and may commit another process's claim.
    let is_future = |leaves_at: &u64| *leaves_at > now + window.interval();
    if matches!(op, Op::Peek { .. }) && !seen.is_claimed && !seen.hits.iter().any(is_future) {
        assert!(before == after, "a peek changed the table: {told}");
    }
    // Each hit that is taken has a place of its own.
    let latest = now + window.interval();
    let taken = now_seen.hits.iter().filter(|leaves_at| **leaves_at == latest).count();
    assert!(taken as u64 >= decision.taken, "a hit was forgotten: {told}");
    // A refund also sees what stands in the places of larger limits.
    if seen.is_clear && !is_refund && window.max_hits() as u64 <= SETS {
        let (expected, state) = window.apply(&seen.state(), now, op);
        assert_eq!(decision, expected, "{told}");
        // What has expired need not be stored, and a hit from the future is corrected by a call that meets it.
        let [expected, stored] = [&state, &now_seen.state()].map(|state| match state {
            StoredState::Word(State::Blocked { until, .. }) => vec![*until],
            StoredState::Hits(hits) => hits.as_slice().to_vec(),
            StoredState::Word(_) | StoredState::Leased(..) => Vec::new(),
        });
        let live = |times: Vec<u64>| {
            let live = times.into_iter().filter(|time| *time > now);
            live.map(|time| time.min(latest)).collect::<Vec<_>>()
        };
        assert_eq!(live(expected), live(stored), "{told}");
    }
    Some(decision)
}

/// What is in the places of a window.
#[derive(Debug)]
struct Seen {
    /// When the hits leave.
    hits: Vec<u64>,
    block: Option<State>,
    /// Whether a place is claimed.
    is_claimed: bool,
    /// Whether the places say all: each is there, or is missing from a set that has room.
    is_clear: bool,
}

impl Seen {
    fn new(sets: &[[u128; WAYS]], places: &[(u64, u64)], now: u64) -> Self {
        let mut seen = Self { hits: Vec::new(), block: None, is_claimed: false, is_clear: true };
        for (number, (at, tag)) in places.iter().enumerate() {
            let slots = sets[index(*at)].map(Slot);
            let is_in_use =
                |slot: &Slot| slot.expires_at() > now && slot.expires_at() <= now + 2 * MAX_REFILL;
            let committed = slots.iter().find(|slot| slot.tag() == *tag && !slot.is_claim());
            let state = committed.map(|slot| slot.state());
            match state {
                Some(block @ State::Blocked { until, .. }) if until > now => match number {
                    0 => seen.block = Some(block),
                    // A block stands in the first place alone.
                    _ => seen.is_clear = false,
                },
                Some(state) => seen.hits.push(Place::leaves_at(state)),
                None => {
                    let is_claimed = slots.iter().any(|slot| slot.tag() == *tag);
                    seen.is_claimed |= is_claimed;
                    let has_tombstone = slots.iter().any(|slot| slot.tag() == 0 && is_in_use(slot));
                    let is_full = slots.iter().all(is_in_use);
                    seen.is_clear &= !is_claimed && !has_tombstone && !is_full;
                }
            }
        }
        seen
    }

    fn state(&self) -> StoredState {
        match self.block {
            Some(block) => block.into(),
            None => StoredState::Hits(Hits::new(self.hits.clone())),
        }
    }
}

/// The number of the set at this offset.
fn index(at: u64) -> usize {
    ((at - HEADER) / SET) as usize
}
