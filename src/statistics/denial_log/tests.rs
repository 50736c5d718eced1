//! The log of denials: what is kept, in which order, and what a torn entry shows.

use super::*;
use crate::limit::TokenBucket;
use crate::mapped::Purpose;
use crate::statistics::name_source::NameSource;
use std::sync::atomic::AtomicBool;

/// A log of so many sets, and the records of its limits.
struct TestLog {
    sets: Vec<DenialSet>,
    region: Region,
}

impl TestLog {
    fn new(sets: usize) -> Self {
        let sets = (0..sets).map(|_| DenialSet::default()).collect();
        Self { sets, region: crate::mapped::without_file(Purpose::Statistics).unwrap() }
    }

    fn log(&self) -> DenialLog<'_> {
        let (records, secret) = (Records::new(&self.region), self.region.secret());
        DenialLog { sets: &self.sets, records, secret }
    }

    fn limit(&self, name: &str) -> RecordHandle {
        // The smallest file has records of this source only.
        let source = NameSource::WholeIdentifier;
        Records::new(&self.region).find_or_claim(b"tb:", name.as_bytes(), source)
    }

    fn deny(&self, name: &str, client: &str, now: u64) {
        self.log().note(self.limit(name), client.as_bytes(), &cause(5), 1, now);
    }

    /// The clients, how often each was denied, and when first and last; in the order of the clients.
    fn denials(&self) -> Vec<(String, u64, u64, u64)> {
        let row = |denial: LoggedDenial| {
            let client = String::from_utf8(denial.identifier).unwrap();
            (client, denial.count, denial.first_at, denial.last_at)
        };
        let mut rows: Vec<_> = self.log().snapshot().into_iter().map(row).collect();
        rows.sort();
        rows
    }

    fn count_of(&self, name: &str) -> usize {
        let limit = LimitName::Known(b"tb:".to_vec(), name.as_bytes().to_vec());
        self.log().snapshot().iter().filter(|denial| denial.limit == limit).count()
    }
}

fn cause(capacity: u64) -> DenialCause {
    let limit = TokenBucket::per_period(5, 60.0).unwrap().into();
    DenialCause { capacity, ..DenialCause::new(&limit, DeniedBy::Store, false, true) }
}

fn row(client: &str, count: u64, first_at: u64, last_at: u64) -> (String, u64, u64, u64) {
    (client.to_owned(), count, first_at, last_at)
}

#[test]
fn denials_of_a_client_are_one_entry_until_ten_minutes_pass_without_one() {
    let log = TestLog::new(4);
    log.deny("login", "a", 5);
    log.deny("login", "a", 5 + EPISODE - 1);
    log.deny("login", "b", 7);
    let again = 3 + 2 * EPISODE;
    log.deny("login", "a", again);
    let later = again + EPISODE;
    log.deny("login", "a", later);
    assert_eq!(
        log.denials(),
        [row("a", 1, later, later), row("a", 3, 5, again), row("b", 1, 7, 7)]
    );
    let latest = log.log().snapshot().remove(0);
    assert_eq!((latest.last_at, latest.cause), (later, cause(5)), "the latest comes first");
}

#[test]
fn other_cause_or_limit_is_another_entry() {
    let log = TestLog::new(4);
    let limit = log.limit("login");
    let blocked = DenialCause { reason: DenialReason::Blocked, ..cause(5) };
    for cause in [cause(5), cause(6), blocked] {
        log.log().note(limit, b"a", &cause, 2, 5);
    }
    log.deny("api", "a", 5);
    assert_eq!((log.count_of("login"), log.count_of("api")), (3, 1));
}

#[test]
fn flood_of_one_client_leaves_the_entries_of_others() {
    let log = TestLog::new(32);
    let clients: Vec<_> = (0..50).map(|n| format!("client {n}")).collect();
    clients.iter().for_each(|client| log.deny("login", client, 5));
    let before = log.denials();
    (0..100_000).for_each(|n| log.deny("login", "flood", n * SECOND / 100));
    let kept = log.denials().into_iter().filter(|row| row.0 != "flood");
    assert!(kept.eq(before));
}

#[test]
fn flood_on_one_limit_leaves_the_entries_of_another() {
    let log = TestLog::new(4);
    log.deny("api", "a", 5);
    log.deny("api", "b", 5);
    (0..10_000).for_each(|n| log.deny("login", &format!("{n}"), 2 * KEPT + n));
    assert_eq!((log.count_of("api"), log.count_of("login")), (2, 30));
}

#[test]
fn flood_on_one_limit_leaves_room_for_new_entries_of_another() {
    let log = TestLog::new(1);
    (0..8).for_each(|n| log.deny("login", &format!("{n}"), 5));
    (0..4).for_each(|n| log.deny("api", &format!("{n}"), 6));
    assert_eq!((log.count_of("api"), log.count_of("login")), (4, 4));
}

#[test]
fn few_new_entries_take_the_place_of_young_ones_and_any_that_of_old_ones() {
    let log = TestLog::new(1);
    (0..8).for_each(|n| log.deny("login", &format!("first {n}"), 5));
    let is_kept = |client: &str| log.denials().iter().any(|row| row.0 == client);
    let noted = (0..16_000).filter(|n| {
        let client = format!("{n}");
        log.deny("login", &client, 6 + n * 1_001);
        is_kept(&client)
    });
    assert!((500..2_000).contains(&noted.count()), "about one in sixteen");
    log.deny("login", "an hour later", 16_100_000 + KEPT);
    assert!(is_kept("an hour later"));
}

#[test]
fn entry_that_is_being_written_is_left_out_until_it_is_whole() {
    let log = TestLog::new(1);
    log.deny("login", "a", 5);
    log.deny("login", "b", 5);
    let entry = |nth| log.sets[0].positions().nth(nth).unwrap().entry;
    entry(0).identifier.write(b"of another");
    assert_eq!(log.denials(), [row("b", 1, 5, 5)]);
    log.deny("login", "a", 6);
    assert_eq!(log.denials(), [row("a", 2, 5, 6), row("b", 1, 5, 5)]);
    entry(1).facts[1].store(u64::MAX, Ordering::Relaxed);
    assert_eq!(log.denials(), [row("a", 2, 5, 6)]);
}

#[test]
fn processes_that_write_at_once_leave_no_mixture() {
    let log = TestLog::new(1);
    let (limit, is_over) = (log.limit("login"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3u64)
            .map(|writer| {
                let log = &log;
                scope.spawn(move || {
                    for n in 0..30_000 {
                        let client = writer * 100_000 + n;
                        let text = client.to_string().repeat(10);
                        let now = n * KEPT;
                        log.log().note(limit, text.as_bytes(), &cause(client), 1, now);
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut seen = 0;
            // At least once after the last note.
            let mut is_last = false;
            while !is_last {
                is_last = is_over.load(Ordering::Relaxed);
                for denial in log.log().snapshot() {
                    let text = denial.cause.capacity.to_string().repeat(10);
                    assert_eq!(denial.identifier, text.get(..96).unwrap_or(&text).as_bytes());
                    seen += 1;
                }
            }
            seen
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn denials_of_limits_that_are_reset_are_forgotten() {
    let log = TestLog::new(4);
    log.deny("login", "a", 5);
    log.deny("api", "a", 5);
    log.log().forget(|name| name.name() == Some(b"login"));
    assert_eq!((log.count_of("login"), log.count_of("api")), (0, 1));
    Records::new(&log.region).reset(|_| true);
    assert_eq!(log.denials(), [], "the limit has lost its record");
    log.deny("login", "b", 6);
    assert_eq!(log.denials(), [row("b", 1, 6, 6)]);
}

#[test]
fn most_denied_are_the_clients_of_all_entries_and_an_entry_counts_half_after_each_hour_without_a_denial()
 {
    let log = TestLog::new(64);
    let most_denied = |now| {
        let all = log.log().most_denied(now).into_values().flatten();
        all.map(|(client, count)| (String::from_utf8(client).unwrap(), count)).collect::<Vec<_>>()
    };
    let row = |client: &str, count| (client.to_owned(), count);
    let (limit, began) = (log.limit("login"), 70 * HALF_LIFE);
    let blocked = DenialCause { reason: DenialReason::Blocked, ..cause(5) };
    for (client, cause, weight) in
        [("old", cause(5), 60), ("old", blocked, 20), ("", cause(5), 900), ("other", cause(5), 70)]
    {
        log.log().note(limit, client.as_bytes(), &cause, weight, began);
    }
    assert_eq!(most_denied(began + HALF_LIFE - 1), [row("old", 80), row("other", 70)]);
    assert_eq!(most_denied(began + HALF_LIFE), [row("old", 40), row("other", 35)]);
    let later = began + 2 * HALF_LIFE;
    log.log().note(limit, b"new", &cause(5), 41, later);
    assert_eq!(most_denied(later), [row("new", 41), row("old", 20), row("other", 17)]);
    assert_eq!(most_denied(began), [row("old", 80), row("other", 70), row("new", 41)], "early");
    assert_eq!(most_denied(u64::MAX), []);
    (0..100).for_each(|n| log.deny("api", &format!("{n}"), later));
    assert_eq!(most_denied(later).len(), MOST_DENIED + 3, "some clients of each limit");
}
