//! What a guard does around the calls on its server: when it asks, what it notes, and what it answers by itself.

mod gate;
mod writes;

use super::*;
use crate::guard::breaker::{Breaker, ServerState};
use crate::guard::store_record::OF_WRITES;
use crate::guard::tests::{
    Folder, Process, TIMEOUTS, host_alone, host_in, limit, settings, with_request,
};

const TAKE: Op = Op::Take { cost: 1 };
const ALL: Op = Op::Take { cost: 100 };
const HOUR: u64 = 3_600 * SECOND;

fn process(on_error: OnError) -> Process {
    Process::new(host_alone(), settings(on_error))
}

fn warnings<T>(report: &Report<T>) -> Vec<&str> {
    report.event.iter().flat_map(|event| event.warnings.iter().map(String::as_str)).collect()
}

/// The seconds that the error of a call names after `words`.
fn seconds_after(report: &Report, words: &str) -> f64 {
    let error = report.answer.as_ref().unwrap_err().to_string();
    let (_, rest) = error.split_once(words).unwrap_or_else(|| panic!("{error}"));
    rest.split_once(" s").unwrap().0.parse().unwrap()
}

impl Process {
    fn breaker<R>(&self, work: impl FnOnce(&Breaker) -> R) -> R {
        self.guard.host.record(|it| work(it.breaker(0))).unwrap()
    }

    fn breaker_of_writes<R>(&self, work: impl FnOnce(&Breaker) -> R) -> R {
        self.guard.host.record(|it| work(it.breaker(OF_WRITES))).unwrap()
    }

    fn access(&self) -> Access {
        self.breaker(|it| it.access(boot_time(), TIMEOUTS.longest()))
    }

    fn state(&self) -> ServerState {
        self.breaker(|it| it.state(boot_time()))
    }

    /// Another process finds the server down an hour from now, so that the test has time.
    fn open_breaker(&self) {
        let later = boot_time() + HOUR;
        self.breaker(|it| it.note_failure(Access::Granted, later, later));
    }

    /// Another process has its last answer an hour from now, so that each failure concerns its call alone.
    fn answer_others(&self) {
        self.breaker(|it| it.note_success(Access::Granted, boot_time() + HOUR));
    }
}

#[test]
fn process_that_waited_for_its_processor_takes_no_server_for_too_far_that_another_one_reached() {
    let folder = Folder::new();
    let process = || Process::new(host_in(&folder.files()), settings(OnError::Closed));
    let [slow, fast] = [process(), process()];
    for process in [&slow, &fast] {
        process.server.round_trip.set(TIMEOUTS.call);
    }
    assert!(
        slow.call(TAKE).is_degraded() || slow.call(TAKE).is_degraded(),
        "one call a second is made"
    );
    fast.guard.host.record(|it| it.note_round_trip(TIMEOUTS.call / 4, boot_time()));
    for _ in 0..3 {
        assert!(!slow.call(TAKE).is_degraded());
    }
}

#[test]
fn denial_is_remembered_until_tokens_are_given_back() {
    let process = process(OnError::Fallback);
    let decided_by = |op| {
        let report = process.call(op);
        (report.answer.unwrap().is_accepted(), report.decided_by)
    };
    assert_eq!(decided_by(ALL), (true, DecidedBy::Store));
    for tokens_come_back in [Op::Refund { cost: 1, expiry: None }, Op::Reset] {
        assert_eq!(decided_by(ALL), (false, DecidedBy::Store));
        assert_eq!(decided_by(ALL), (false, DecidedBy::DenyCache));
        let _ = process.call(tokens_come_back);
        assert_eq!(decided_by(TAKE), (true, DecidedBy::Store));
    }
    let forgetful =
        Process::new(host_alone(), Settings { deny_cache: false, ..settings(OnError::Fallback) });
    let _ = forgetful.call(ALL);
    assert!((0..3).all(|_| forgetful.call(TAKE).decided_by == DecidedBy::Store));
}

#[test]
fn denial_is_forgotten_if_a_refund_may_have_been_done() {
    let process = process(OnError::Closed);
    let _ = process.call(ALL);
    let _ = process.call(TAKE);
    process.answer_others();
    process.server.fail(Error::storage("no answer"));
    assert_eq!(process.call(Op::Peek { cost: 1 }).decided_by, DecidedBy::Policy);
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::DenyCache, "a peek gives nothing back");
    let _ = process.call(Op::Refund { cost: 1, expiry: None });
    process.server.failure.take();
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Store);
}

#[test]
fn lack_of_room_on_the_server_is_reported() {
    let process = process(OnError::Fallback);
    assert!(!process.call(TAKE).lacked_room);
    process.server.lacks_room.set(true);
    assert!(process.call(TAKE).lacked_room);
}

#[test]
fn prefix_without_effect_is_warned_of_once_for_a_server() {
    let first = process(OnError::Fallback);
    assert_eq!(warnings(&first.call(TAKE)), [""; 0]);
    first.guard.warn_of_ignored_prefix();
    assert_eq!(warnings(&first.call(TAKE)), [IGNORED_PREFIX]);
    assert_eq!(warnings(&first.call(TAKE)), [""; 0]);
    let second = Process::new(Rc::clone(&first.guard.host), settings(OnError::Fallback));
    second.guard.warn_of_ignored_prefix();
    assert_eq!(warnings(&second.call(TAKE)), [""; 0]);
}

#[test]
fn policy_answers_in_place_of_a_server_that_is_down_and_warns_once() {
    let folder = Folder::new();
    let on_host = "limits are enforced in this host's shared memory";
    let alone = "each process enforces limits by itself, for there is no shared memory: see \
                 token_bucket.shm_path";
    for (host, on_error, decided_by, accepted, consequence) in [
        (host_in(&folder.files()), OnError::Fallback, DecidedBy::Host, Some(true), Some(on_host)),
        (host_alone(), OnError::Fallback, DecidedBy::Host, Some(true), Some(alone)),
        (
            host_alone(),
            OnError::Open,
            DecidedBy::Policy,
            Some(true),
            Some("every call is accepted"),
        ),
        (
            host_alone(),
            OnError::Closed,
            DecidedBy::Policy,
            Some(false),
            Some("every call is denied"),
        ),
        (host_alone(), OnError::Throw, DecidedBy::Policy, None, None),
    ] {
        let process = Process::new(host, settings(on_error));
        process.server.fail(Error::storage("The server: no answer"));
        let report = process.call(TAKE);
        assert_eq!(
            (report.decided_by, report.has_failed, report.is_busy),
            (decided_by, true, false)
        );
        let warning = |it| format!("The server: no answer; until a call succeeds, {it}");
        assert_eq!(warnings(&report), Vec::from_iter(consequence.map(warning)));
        assert_eq!(report.answer.ok().map(|it| it.is_accepted()), accepted);
        assert_eq!(process.state(), ServerState::Down);
        process.open_breaker();
        assert_eq!(process.server.take_asked(), [TAKE]);
        let report = process.call(TAKE);
        assert_eq!((report.decided_by, report.has_failed), (decided_by, false));
        assert_eq!(warnings(&report), [""; 0]);
        assert_eq!(report.answer.ok().map(|it| it.is_accepted()), accepted);
    }
}

#[test]
fn buckets_of_this_host_enforce_the_limit_while_the_server_is_down() {
    let process = process(OnError::Fallback);
    process.open_breaker();
    assert!(process.call(ALL).answer.unwrap().is_accepted());
    let denied = process.call(TAKE);
    assert_eq!((denied.answer.unwrap().is_accepted(), denied.decided_by), (false, DecidedBy::Host));
    assert_eq!(process.server.take_asked(), []);
}

#[test]
fn bucket_of_this_host_that_cannot_be_had_denies() {
    let process = process(OnError::Fallback);
    let decide = |error: Error| {
        let on_host = |_: &Host| Err(error);
        let answers = PolicyAnswers { on_host, open: true, closed: false };
        let report =
            process.guard.answer_by_policy(&NoAnswer::without_asking(String::new()), answers);
        (report.answer, report.decided_by)
    };
    assert_eq!(decide(Error::storage("is being made")), (Ok(false), DecidedBy::Policy));
    let refused = Error::refused("no such bucket");
    assert_eq!(decide(refused.clone()), (Err(refused), DecidedBy::Host));
}

#[test]
fn error_of_a_call_that_cannot_be_made_is_no_failure_of_the_server() {
    let process = process(OnError::Open);
    process.server.fail(Error::configuration("a wrong password"));
    let report = process.call(TAKE);
    assert_eq!(
        (report.answer.unwrap_err().kind(), report.has_failed),
        (ErrorKind::Configuration, false)
    );
    assert_eq!(process.state(), ServerState::Up { since: 0 });
}

#[test]
fn server_that_must_not_be_written_to_is_asked_on_but_looked_for_anew() {
    let process = process(OnError::Open);
    assert!(process.call(TAKE).answer.unwrap().is_accepted());
    process.server.fail(Error::unwritable("The server", "a replica"));
    for _ in 0..2 {
        let report = process.call(TAKE);
        assert_eq!((report.decided_by, report.has_failed), (DecidedBy::Policy, true));
        assert_eq!(warnings(&report), [""; 0], "another server may be found");
    }
    assert_eq!((process.server.take_asked().len(), process.server.rediscoveries.get()), (3, 1));
    assert!(matches!(process.state(), ServerState::Up { .. }), "denied clients stay denied");
}

#[test]
fn process_that_begins_at_a_server_that_must_not_be_written_to_says_so_once() {
    let process = process(OnError::Open);
    process.server.fail(Error::unwritable("The server", "a replica"));
    let warning = "The server: it refuses writes: a replica; until a server accepts writes, \
                   every call is accepted";
    assert_eq!(warnings(&process.call(TAKE)), [warning]);
    assert_eq!(warnings(&process.call(TAKE)), [""; 0]);
}

#[test]
fn closed_policy_denies_for_a_second() {
    let process = process(OnError::Closed);
    process.open_breaker();
    let denial = process.call(TAKE).answer.unwrap();
    assert_eq!((denial.retry_after(), limit().remaining(&denial)), (1.0, 0));
}

#[test]
fn error_says_when_the_server_is_asked_again() {
    let process = process(OnError::Throw);
    let soon = 3_500.0..=3_602.0;
    process.guard.host.local.note_unable(0, boot_time() + HOUR);
    let words = "this process could not ask The server a moment ago; it tries again in ";
    assert!(soon.contains(&seconds_after(&process.call(TAKE), words)));
    process.guard.host.local.note_reached(0);
    process.open_breaker();
    let words = "The server failed a moment ago; it will be asked again in ";
    assert!(soon.contains(&seconds_after(&process.call(TAKE), words)));
    assert_eq!(process.server.take_asked(), []);
}

#[test]
fn failure_of_one_node_says_nothing_of_another() {
    let process = process(OnError::Closed);
    process.open_breaker();
    let parts = [&b"second"[..], b"", b"", b""];
    with_request(&limit(), TAKE, |request| {
        let key = Key { parts, key_hash: &Cell::default(), ..*request.key };
        let on_second = Request { key: &key, ..*request };
        assert_eq!([request, &on_second].map(|it| process.guard.breaker(it.key)), [0, 1]);
        let report = process.guard.decide_without_lease(&on_second, boot_time());
        assert_eq!(report.decided_by, DecidedBy::Store);
    });
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Policy);
}

#[test]
fn process_that_is_still_connected_asks_although_the_breaker_is_open() {
    let process = process(OnError::Closed);
    process.open_breaker();
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Policy);
    process.server.keeps_connection.set(true);
    process.server.fail(Error::storage("no answer"));
    assert!(process.call(TAKE).has_failed);
    assert!(!process.call(TAKE).has_failed, "it has tried a moment ago");
    assert_eq!(process.server.take_asked().len(), 1);
    process.breaker(|it| it.note_failure(Access::Connected, 5, 5));
    process.server.failure.take();
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Store);
    assert!(matches!(process.state(), ServerState::Up { .. }), "its answer ends the outage");
}

#[test]
fn failures_beside_answers_to_others_are_warned_of_when_there_are_many() {
    let process = process(OnError::Open);
    process.answer_others();
    process.server.fail(Error::storage("no answer"));
    assert_eq!(warnings(&process.call(TAKE)), [""; 0]);
    // Two more, the pauses after which are over.
    (0..2).for_each(|_| _ = process.guard.host.local.note_failed_alone(0, 5));
    let warning =
        "no answer, while others are answered; until this process is, every call is accepted";
    assert_eq!(warnings(&process.call(TAKE)), [warning]);
    assert!(matches!(process.state(), ServerState::Up { .. }));
}

#[test]
fn process_that_cannot_ask_leaves_the_server_to_others() {
    let process = process(OnError::Open);
    process.breaker(|it| it.note_failure(Access::Granted, 5, 5));
    process.breaker(|it| it.give_back(Access::Probe, 6));
    process.server.fail(Error::local("no right"));
    let report = process.call(TAKE);
    assert_eq!(
        warnings(&report),
        ["no right; until this process can ask it, every call is accepted"]
    );
    assert!(report.has_failed && !report.is_busy);
    assert_eq!(process.access(), Access::Probe, "others may probe");
}

#[test]
fn refusals_and_busy_keys_are_warned_of_once_and_concern_no_other_key() {
    for (error, is_busy) in [(Error::refused("locked"), false), (Error::busy("locked"), true)] {
        let process = process(OnError::Open);
        process.server.fail(error);
        for warned in [&["locked; every call is accepted"][..], &[]] {
            let report = process.call(TAKE);
            assert_eq!(warnings(&report), warned);
            assert_eq!((report.has_failed, report.is_busy), (true, is_busy));
        }
        assert_eq!(process.server.take_asked().len(), 2);
        assert!(matches!(process.state(), ServerState::Up { .. }));
    }
}

#[test]
fn end_of_an_outage_is_reported_to_one_process_with_its_length() {
    let process = process(OnError::Open);
    process.server.fail(Error::storage("no answer"));
    let _ = process.call(TAKE);
    process.server.failure.take();
    let answered_at = boot_time() + HOUR;
    process.breaker(|it| it.note_success(Access::Probe, answered_at));
    let recoveries = |sent| {
        let report = process.call_at(TAKE, sent);
        report.event.map(|event| event.recoveries).unwrap_or_default()
    };
    let reported = recoveries(answered_at + 2 * SECOND);
    let [text] = reported.as_slice() else { panic!("{reported:?}") };
    let seconds = text.strip_prefix("The server answers again; it did not for ").unwrap();
    let seconds: f64 = seconds.strip_suffix(" s").unwrap().parse().unwrap();
    assert!((3_600.0..=3_700.0).contains(&seconds));
    assert_eq!(recoveries(answered_at + 4 * SECOND), [""; 0]);
}

#[test]
fn servers_that_do_not_answer_are_counted() {
    let process = process(OnError::Open);
    let counts =
        || process.guard.describe().into_iter().map(|(_, count)| count).collect::<Vec<_>>();
    assert_eq!(counts(), ["0", "0"]);
    process.open_breaker();
    process.guard.host.local.note_unable(0, boot_time() + HOUR);
    process.guard.host.local.note_unable(1, boot_time() + HOUR);
    assert_eq!(counts(), ["1", "2"]);
}
