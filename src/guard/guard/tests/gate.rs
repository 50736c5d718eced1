//! Calls of processes that have no connection, which pass the gate.

use super::*;

/// How many processes may connect at once now.
fn free_lanes(host: &Host) -> usize {
    let enter = || {
        Some(host.record(|it| it.gate.enter(boot_time(), TIMEOUTS.longest())).unwrap())
            .filter(|it| matches!(it, GateEntry::Lane(_)))
    };
    std::iter::from_fn(enter).take(20).count()
}

/// Other processes begin to connect that take so long.
fn fill_gate(host: &Host, timeouts: Timeouts) {
    assert!(
        (0..20).any(|_| host.record(|it| it.gate.enter(boot_time(), timeouts.longest())).unwrap()
            == GateEntry::Full)
    );
}

#[test]
fn connections_that_fail_make_the_gate_narrower() {
    for (error, lanes) in [
        (None, 5),
        (Some(Error::storage("no answer")), 2),
        (Some(Error::local("no route")), 2),
        (Some(Error::refused("no such bucket")), 5),
        (Some(Error::busy("too many calls")), 5),
    ] {
        let process = process(OnError::Closed);
        process.server.is_connected.set(false);
        process.server.failure.replace(error);
        let _ = process.call(TAKE);
        assert_eq!(free_lanes(&process.guard.host), lanes);
    }
    let process = process(OnError::Closed);
    let _ = process.call(TAKE);
    assert_eq!(free_lanes(&process.guard.host), 4, "a process that is connected passes no gate");
}

/// A call on an open connection may take so long; no time is left to wait for others that connect.
fn without_waiting() -> Timeouts {
    Timeouts { call: Duration::from_secs(1), connect: Duration::ZERO }
}

#[test]
fn process_that_cannot_pass_the_gate_gives_its_probe_to_another() {
    let process = process(OnError::Throw);
    process.breaker(|it| it.note_failure(Access::Granted, 5, 5));
    process.breaker(|it| it.give_back(Access::Probe, 6));
    process.server.is_connected.set(false);
    let host = &process.guard.host;
    fill_gate(host, without_waiting());
    let before = boot_time();
    let report = with_request(&limit(), TAKE, |request| {
        let request = Request { timeouts: &without_waiting(), ..*request };
        process.guard.decide_without_lease(&request, before)
    });
    let error = report.answer.unwrap_err().to_string();
    assert_eq!(error, "other processes of this host are connecting to The server at this moment");
    assert_eq!(process.server.take_asked(), []);
    assert!(host.local.pause(0, before).is_some_and(|pause| pause.is_waiting));
    assert_eq!(process.access(), Access::Probe);
}

#[test]
fn process_that_has_waited_in_vain_connects_as_soon_as_it_need_not_wait() {
    let process = process(OnError::Closed);
    process.server.is_connected.set(false);
    let host = &process.guard.host;
    host.local.note_waiting(0, boot_time() + HOUR);
    let GateEntry::Lane(lane) =
        host.record(|it| it.gate.enter(boot_time(), TIMEOUTS.longest())).unwrap()
    else {
        panic!("the gate is free")
    };
    fill_gate(host, Timeouts { call: Duration::from_secs(60), ..TIMEOUTS });
    let began = boot_time();
    let patient = Timeouts { connect: Duration::from_secs(60), ..TIMEOUTS };
    let report = with_request(&limit(), TAKE, |request| {
        let request = Request { timeouts: &patient, ..*request };
        process.guard.decide_without_lease(&request, began)
    });
    assert_eq!(report.decided_by, DecidedBy::Policy);
    assert!(boot_time() - began < 15 * SECOND, "it would wait for a quarter of a minute");
    host.record(|it| it.gate.leave(lane, true));
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Store);
}

#[test]
fn process_waits_at_the_gate_until_others_have_connected() {
    let process = process(OnError::Throw);
    process.server.is_connected.set(false);
    let brief = Timeouts { call: Duration::from_millis(20), connect: Duration::ZERO };
    fill_gate(&process.guard.host, brief);
    let report = with_request(&limit(), TAKE, |request| {
        let patient = Timeouts { connect: Duration::from_secs(60), ..TIMEOUTS };
        process.guard.decide_without_lease(&Request { timeouts: &patient, ..*request }, boot_time())
    });
    assert_eq!(report.decided_by, DecidedBy::Store);
    assert!(report.answer.is_ok());
}

#[test]
fn only_a_process_that_has_reached_the_server_finds_it_down_at_the_second_failure() {
    for has_reached in [false, true] {
        let process = process(OnError::Closed);
        process.server.is_connected.set(false);
        process.server.fail(Error::storage("no answer"));
        let ago = |ms: u64| boot_time() - ms * 1_000_000;
        process.breaker(|it| it.note_success(Access::Granted, ago(100)));
        process.breaker(|it| it.note_failure(Access::Granted, ago(90), ago(90)));
        if has_reached {
            process.guard.host.local.note_reached(0);
        }
        let _ = process.call(TAKE);
        let access = process.access();
        assert_eq!(access == Access::Probe, has_reached);
        assert!(matches!(process.state(), ServerState::Up { .. }), "until the probe fails");
    }
}

#[test]
fn wait_at_the_gate_is_no_silence_of_the_server() {
    // Were the test paused for 40 ms between both failures, they would be an outage.
    let is_up_after_two_failures = |_| {
        let process = process(OnError::Closed);
        process.server.is_connected.set(false);
        process.server.fail(Error::storage("no answer"));
        process.guard.host.local.note_reached(0);
        let now = boot_time();
        let began_to_wait = now - 100_000_000;
        process.breaker(|it| it.note_success(Access::Granted, began_to_wait));
        (0..2).for_each(|_| _ = process.call_at(TAKE, began_to_wait));
        process.access() == Access::Granted
    };
    assert!((0..20).any(is_up_after_two_failures));
}
