//! Batches, step by step. `../decider/tests.rs` decides in batches, `tests/swap_protocol.rs` lets processes interleave.

use super::*;
use crate::limit::{SECOND, StoredState};
use crate::mapped::word::Word;
use crate::store::swap::basis::BasisState;
use crate::store::swap::key_record::KeyRecord;
use crate::store::swap::results::{publish, reserve};
use std::cell::{Cell, RefCell};

const NOW: u64 = 100 * SECOND;
/// Until when those are waited for that ask.
const UNTIL: u64 = NOW + SECOND;
/// They are waited for no longer.
const LATE: u64 = UNTIL + 1;
const ALL: u32 = u32::MAX;
/// Three kinds of calls.
const K: u64 = 7;
const L: u64 = 8;
const M: u64 = 9;

/// A word of one thread, which notes what groups are woken, and how many of them.
#[derive(Default)]
struct Noted {
    word: Cell<u128>,
    /// The next replacement comes too late: another process has changed the word, and changed it back.
    is_late: Cell<bool>,
    woken: RefCell<Vec<(u32, u32)>>,
}

impl Word for Noted {
    fn load(&self) -> u128 {
        self.word.get()
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        let is_same = self.word.get() == old && !self.is_late.take();
        if is_same {
            self.word.set(new);
        }
        is_same
    }

    fn store(&self, word: u128) {
        self.word.set(word);
    }
}

impl Bell for Noted {
    fn ring(&self, groups: u32, count: u32) {
        self.woken.borrow_mut().push((groups, count));
    }
}

/// The record of a key.
struct Host(KeyRecord<Noted, 2>);

impl Host {
    fn new() -> Self {
        Self(KeyRecord::new(Noted::default))
    }

    /// One on which a call of kind K asks for a batch of its own.
    fn asked() -> (Self, Batch) {
        let host = Self::new();
        let batch = ask(host.call(K).step(NOW, UNTIL, true));
        (host, batch)
    }

    fn batches(&self) -> Batches<'_, Noted, 2> {
        Batches { record: &self.0, secret: [2, 3] }
    }

    fn call(&self, kind: u64) -> Caller<'_, Noted, 2> {
        Caller::new(self.batches(), kind)
    }

    /// A call that has joined the open batch, and sleeps.
    fn member(&self, kind: u64) -> Caller<'_, Noted, 2> {
        let mut member = self.call(kind);
        let number = self.open().number;
        assert_eq!(sleep_of(member.step(NOW, UNTIL, true)).groups, members_of(number));
        member
    }

    fn open(&self) -> Control {
        Control::from_word(self.0.control.load())
    }

    fn release(&self, batch: &Batch) {
        release(self.batches(), batch);
    }

    fn woken(&self) -> Vec<(u32, u32)> {
        self.0.control.woken.take()
    }
}

fn ask(step: Step) -> Batch {
    match step {
        Step::Ask(batch) => batch,
        other => panic!("{other:?}"),
    }
}

fn sleep_of(step: Step) -> Sleep {
    match step {
        Step::Sleep(sleep) => sleep,
        other => panic!("{other:?}"),
    }
}

#[test]
fn groups_of_sixteen_batches_in_a_row_differ_and_none_is_the_others() {
    let groups: Vec<u32> = (0..16).map(members_of).collect();
    assert_eq!(groups.iter().fold(OTHERS, |all, group| all ^ group).count_ones(), 17);
    assert_eq!(members_of(18), members_of(2));
}

#[test]
fn one_member_asks_for_all() {
    let (host, first) = Host::asked();
    assert_eq!(first, Batch { number: 0, kind: K, share: Share::ALONE });
    let (mut one, mut two) = (host.member(K), host.member(K));
    assert_eq!(host.woken(), []);
    host.release(&first);
    assert_eq!(host.woken(), [(members_of(1), 1)], "one of them, which asks next");
    let second = ask(one.step(NOW, UNTIL, true));
    assert_eq!(second, Batch { number: 1, kind: K, share: Share { index: 0, count: 2 } });
    assert_eq!(host.woken(), [], "none waits to join");
    assert_eq!(sleep_of(two.step(NOW, UNTIL, true)).groups, members_of(1));

    let basis = Basis { state: BasisState::whole(&StoredState::FULL).unwrap(), now: NOW };
    let room = reserve(host.batches(), &second, NOW).unwrap();
    publish(host.batches(), &room, K, &basis);
    host.release(&second);
    assert_eq!(host.woken(), [(members_of(1), ALL)], "the other one has its answer");
    assert!(matches!(two.step(NOW, UNTIL, true), Step::Decided(found, 1) if found == basis));
}

#[test]
fn call_sleeps_until_the_one_that_asks_is_waited_for_no_longer_and_five_milliseconds_at_most() {
    let (host, _) = Host::asked();
    let mut member = host.member(K);
    let at_most = |step| sleep_of(step).at_most;
    assert_eq!(at_most(member.step(NOW, UNTIL, true)), Duration::from_millis(5));
    assert_eq!(at_most(member.step(UNTIL - 2_000, UNTIL, true)), Duration::from_micros(2));
    let sleep = sleep_of(member.step(NOW, UNTIL, true));
    assert_eq!(sleep.seen, host.0.control.load() as u32);
}

#[test]
fn kind_that_waits_seals_the_batch_and_has_the_next_one() {
    let (host, first) = Host::asked();
    let mut one = host.member(L);
    assert!(!host.open().is_sealed);
    let (mut other, mut late) = (host.call(K), host.call(L));
    assert_eq!(sleep_of(other.step(NOW, UNTIL, true)).groups, OTHERS);
    assert!(host.open().is_sealed);
    assert_eq!(sleep_of(late.step(NOW, UNTIL, true)).groups, OTHERS, "it is sealed");
    host.release(&first);
    assert_eq!(host.woken(), [(members_of(1), 1)]);
    let second = ask(one.step(NOW, UNTIL, true));
    assert_eq!(second.share, Share::ALONE);
    assert_eq!(host.woken(), [(OTHERS, ALL)], "they may join the next one");

    assert_eq!(sleep_of(late.step(NOW, UNTIL, true)).groups, OTHERS, "the other kind is first");
    assert_eq!(host.open().members, 0);
    assert_eq!(sleep_of(other.step(NOW, UNTIL, true)).groups, members_of(2));
    assert_eq!(host.woken(), [(OTHERS, ALL)], "those of the kind before may seal it");
    assert!(!host.open().is_sealed && host.open().members == 1);
    assert_eq!(sleep_of(late.step(NOW, UNTIL, true)).groups, OTHERS);
    assert!(host.open().is_sealed);
    host.release(&second);
    assert_eq!(host.woken(), [(members_of(2), 1)]);
}

#[test]
fn batch_is_sealed_though_another_process_was_faster() {
    let (host, _) = Host::asked();
    host.member(L);
    host.0.control.is_late.set(true);
    assert_eq!(sleep_of(host.call(K).step(NOW, UNTIL, true)).groups, OTHERS);
    assert!(host.open().is_sealed);
}

#[test]
fn end_of_a_sealed_batch_wakes_all_that_wait_if_none_has_joined_the_next_one() {
    let (host, first) = Host::asked();
    let mut one = host.member(L);
    let mut other = host.call(K);
    other.step(NOW, UNTIL, true);
    host.release(&first);
    let second = ask(one.step(NOW, UNTIL, true));
    host.woken();
    host.release(&second);
    assert_eq!(host.woken(), [(OTHERS, ALL)]);
    assert_eq!(ask(host.call(L).step(NOW, UNTIL, true)).number, 2, "none is asking: any may");
}

#[test]
fn full_batch_takes_no_member_and_its_end_wakes_those_that_wait() {
    let (host, first) = Host::asked();
    let mut members: Vec<_> = (0..MAX_MEMBERS).map(|_| host.member(K)).collect();
    let mut more = host.call(K);
    assert_eq!(sleep_of(more.step(NOW, UNTIL, true)).groups, OTHERS);
    assert!(!host.open().is_sealed);
    host.release(&first);
    host.woken();
    let second = ask(members[4].step(NOW, UNTIL, true));
    assert_eq!(second.share, Share { index: 4, count: MAX_MEMBERS });
    assert_eq!(host.woken(), [(OTHERS, ALL)]);
    assert_eq!(sleep_of(more.step(NOW, UNTIL, true)).groups, members_of(2));
}

#[test]
fn call_without_the_time_to_ask_is_too_late_where_none_asks() {
    let host = Host::new();
    assert!(matches!(host.call(K).step(NOW, UNTIL, false), Step::TooLate));
    let (host, _) = Host::asked();
    let mut member = host.call(K);
    assert!(matches!(member.step(NOW, UNTIL, false), Step::Sleep(_)));
    assert!(matches!(member.step(LATE, LATE + SECOND, false), Step::TooLate));
    assert_eq!(ask(member.step(LATE, LATE + SECOND, true)).number, 1);
}

#[test]
fn batch_that_its_members_do_not_close_is_passed_after_five_milliseconds() {
    let (host, first) = Host::asked();
    let mut killed = host.member(K);
    host.release(&first);
    host.woken();
    let mut other = host.call(L);
    let later = NOW + LONGEST_SLEEP;
    for (now, may_ask) in [(NOW, true), (later - 1, true), (later, false)] {
        let sleep = sleep_of(other.step(now, UNTIL, may_ask));
        assert_eq!((sleep.groups, sleep.at_most), (OTHERS, Duration::from_millis(5)));
        assert!(host.open().is_sealed);
    }
    let own = ask(other.step(later, UNTIL, true));
    assert_eq!(own, Batch { number: 2, kind: L, share: Share::ALONE });
    assert_eq!(host.woken(), [(OTHERS | members_of(1), ALL)]);
    let open = host.open();
    assert_eq!((open.number, open.kind, open.members, open.is_sealed), (3, L, 0, false));
    assert!(open.is_asking(UNTIL - 1_000) && !open.is_asking(UNTIL));
    // The member was only paused: it joins again.
    assert_eq!(sleep_of(killed.step(later, UNTIL, true)).groups, members_of(3));
}

#[test]
fn five_milliseconds_begin_anew_with_each_batch() {
    let (host, first) = Host::asked();
    let mut member = host.member(K);
    host.release(&first);
    let mut other = host.call(L);
    other.step(NOW, UNTIL, true);
    let second = ask(member.step(NOW, UNTIL, true));
    let mut killed = host.member(M);
    host.release(&second);
    let later = NOW + LONGEST_SLEEP;
    assert!(matches!(other.step(later, UNTIL, true), Step::Sleep(_)));
    assert_eq!(ask(other.step(later + LONGEST_SLEEP, UNTIL, true)).number, 3);
    assert!(matches!(killed.step(later, UNTIL, true), Step::Sleep(_)), "it joins again");
}

#[test]
fn member_joins_again_if_its_batch_came_to_nothing() {
    // The one that asked was given up.
    let (host, first) = Host::asked();
    let (mut one, mut two) = (host.member(K), host.member(K));
    host.release(&first);
    let second = ask(one.step(NOW, UNTIL, true));
    assert_eq!(ask(two.step(LATE, LATE + SECOND, true)).number, 2);
    assert_eq!(extend(host.batches(), &second, LATE + SECOND), Share::ALONE);

    // It ended without a result, and another one asks for the next batch.
    let (host, first) = Host::asked();
    let (mut one, mut two) = (host.member(K), host.member(K));
    host.release(&first);
    let second = ask(one.step(NOW, UNTIL, true));
    host.release(&second);
    assert_eq!(ask(host.call(K).step(NOW, UNTIL, true)).number, 2);
    assert_eq!(sleep_of(two.step(NOW, UNTIL, true)).groups, members_of(3));
}

#[test]
fn member_of_a_batch_that_the_file_no_longer_holds_joins_again() {
    let (host, under_way) = Host::asked();
    let mut member = host.member(K);
    host.release(&under_way);
    // The batch is open, and has lost its member.
    host.0.control.store(Control { members: 0, ..host.open() }.to_word());
    assert_eq!(ask(member.step(NOW, UNTIL, true)).share, Share::ALONE);
}

#[test]
fn call_that_gives_up_leaves_if_it_joined_last() {
    let (host, first) = Host::asked();
    let (one, two) = (host.member(K), host.member(K));
    host.call(L).leave(NOW);
    one.leave(NOW);
    assert_eq!(host.open().members, 2, "another one has joined since");
    two.leave(NOW);
    assert_eq!(host.open().members, 1);
    assert_eq!(host.woken(), [], "one is asking");
    host.release(&first);
    host.woken();
    one.leave(NOW);
    assert_eq!((host.open().members, host.woken()), (0, vec![(members_of(1), 1)]));

    // One that was woken to ask has others that can.
    let (host, first) = Host::asked();
    let (one, mut two) = (host.member(K), host.member(K));
    host.release(&first);
    host.woken();
    one.leave(NOW);
    assert_eq!((host.open().members, host.woken()), (2, vec![(members_of(1), 1)]));
    // Its batch is closed.
    ask(two.step(NOW, UNTIL, true));
    let three = host.member(K);
    one.leave(LATE);
    assert_eq!((host.open().members, host.woken()), (1, vec![]));
    three.leave(LATE);
    assert_eq!(host.open().members, 0);
}

#[test]
fn one_that_asks_is_waited_for_longer_unless_calls_of_another_kind_wait() {
    let extended = |prepare: fn(&Host)| {
        let (host, batch) = Host::asked();
        prepare(&host);
        assert_eq!(extend(host.batches(), &batch, UNTIL + SECOND), batch.share);
        host.open().is_asking(UNTIL)
    };
    assert!(extended(|_| {}));
    assert!(extended(|host| _ = host.member(K)));
    assert!(!extended(|host| _ = host.member(L)));
    assert!(!extended(|host| {
        host.member(K);
        assert_eq!(sleep_of(host.call(L).step(NOW, UNTIL, true)).groups, OTHERS);
    }));
    let (host, batch) = Host::asked();
    host.release(&batch);
    assert_eq!(extend(host.batches(), &batch, UNTIL), Share::ALONE, "it asks no longer");
    // The word still says of what kind the batch before was.
    assert!(extended(|host| {
        host.0.control.store(Control { kind: L, ..host.open() }.to_word());
    }));
}

#[test]
fn call_of_another_key_waits_for_a_process_once_only() {
    let (host, under_way) = Host::asked();
    let mut other = host.member(L);
    // Its key's value is locked on the server.
    assert_eq!(extend(host.batches(), &under_way, LATE + SECOND), under_way.share);
    assert_eq!(ask(other.step(LATE, LATE + SECOND, true)).number, 1);
    assert_eq!(extend(host.batches(), &under_way, LATE + SECOND), Share::ALONE);
    host.release(&under_way);
    assert_eq!(host.woken(), []);
    assert!(host.open().is_asking(LATE), "it was given up, so it ends no asking of another");
}
