//! Writes that wait for a lock while reads are answered.

use super::*;

#[test]
fn calls_that_must_write_are_answered_by_the_policy_and_reads_by_the_store() {
    let process = process(OnError::Open);
    process.server.writes_wait.set(true);
    let waiting = |report: &Report| (report.decided_by, report.has_failed);
    // Each call began 50 ms ago, as one that has waited.
    let take = || process.call_at(TAKE, boot_time() - 50_000_000);
    let first = take();
    assert_eq!(waiting(&first), (DecidedBy::Policy, true));
    assert_eq!(warnings(&first), ["the write waits; every call is accepted"]);
    assert_eq!(warnings(&take()), [""; 0], "the next call finds out");
    let probe = take();
    assert_eq!(
        warnings(&probe),
        ["the write waits; until a write succeeds, every call is accepted"]
    );
    process.breaker_of_writes(|it| it.note_waiting_write(Access::Probe, 0, boot_time() + HOUR));
    let withheld = take();
    assert_eq!(waiting(&withheld), (DecidedBy::Policy, false), "it was not tried");
    assert_eq!(warnings(&withheld), [""; 0]);
    assert_eq!(process.call(Op::Peek { cost: 1 }).decided_by, DecidedBy::Store);
    assert!(matches!(process.state(), ServerState::Up { .. }), "the server is up");
    let writes = process.breaker_of_writes(|it| it.state(boot_time()));
    assert_eq!(writes, ServerState::Down);
}

#[test]
fn answer_to_a_write_lets_all_write_again_and_that_to_a_read_does_not() {
    let process = process(OnError::Closed);
    process.breaker_of_writes(|it| it.note_failure(Access::Granted, 5, 5));
    process.breaker_of_writes(|it| it.give_back(Access::Probe, 6));
    let access = || process.breaker_of_writes(|it| it.access(boot_time(), TIMEOUTS.longest()));
    process.server.fail(Error::storage("no answer"));
    process.answer_others();
    let _ = process.call(TAKE);
    assert_eq!(access(), Access::Probe, "a call that has not written gives the probe back");
    process.breaker_of_writes(|it| it.give_back(Access::Probe, 6));
    process.server.failure.take();
    assert_eq!(process.call(TAKE).decided_by, DecidedBy::Store);
    assert_eq!(access(), Access::Granted);
}
