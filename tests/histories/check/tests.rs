//! Histories that an order explains, and others that none does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::explain_by_kind;
use crate::history::History;
use crate::search::Outcome;

/// Whether there is an order of calls on limits that these lines describe.
fn is_explained_by(limits: &[&str], lines: &[&str]) -> bool {
    let mut text = String::new();
    limits.iter().for_each(|limit| text += &format!("limit k {limit}\n"));
    lines.iter().for_each(|line| text += &format!("{line}\n"));
    let history = History::parse(&[text]).unwrap();
    matches!(explain_by_kind(history.keys.get("k").unwrap()), Outcome::Explained(_))
}

fn is_explained(lines: &[&str]) -> bool {
    is_explained_by(&["token_bucket 3 3000 0 5000"], lines)
}

/// A time, seconds after the first.
fn at(seconds: f64) -> u64 {
    1_700_000_000_000_000_000 + (seconds * 1e9) as u64
}

fn call(process: &str, begin: f64, end: f64, answer: &str) -> [String; 2] {
    asked("attempt 1 0", process, begin, end, answer)
}

fn asked(op: &str, process: &str, begin: f64, end: f64, answer: &str) -> [String; 2] {
    [format!("begin {process} k {} {op}", at(begin)), format!("end {process} {} {answer}", at(end))]
}

fn of(calls: &[[String; 2]]) -> Vec<&str> {
    calls.iter().flatten().map(String::as_str).collect()
}

#[test]
fn calls_at_the_same_time_may_have_come_in_any_order() {
    let calls = [call("a", 0.0, 1.0, "yes 1 -"), call("b", 0.5, 1.5, "yes 2 -")];
    assert!(is_explained(&of(&calls)));
}

#[test]
fn a_call_that_ended_before_another_began_came_first() {
    let calls = [call("a", 0.0, 1.0, "yes 1 -"), call("b", 1.5, 2.0, "yes 2 -")];
    assert!(!is_explained(&of(&calls)));
}

#[test]
fn one_token_for_two_calls_is_found() {
    let calls = [call("a", 0.0, 1.0, "yes 2 1000"), call("b", 0.5, 1.5, "yes 2 1000")];
    assert!(!is_explained(&of(&calls)));
}

#[test]
fn a_token_that_came_back_too_early_is_found() {
    let four = |retried: f64, answer: &str| {
        let first = [
            call("a", 0.0, 0.1, "yes 2 1000"),
            call("a", 0.2, 0.3, "yes 1 1999.8"),
            call("a", 0.4, 0.5, "yes 0 2999.6"),
        ];
        is_explained(&of(
            &[first.to_vec(), vec![call("a", retried, retried + 0.1, answer)]].concat()
        ))
    };
    assert!(four(1000.0, "yes 0 2999.95"));
    assert!(!four(900.0, "yes 0 2999.95"));
    assert!(four(900.0, "no 0 2100"));
    // No time of the call gives this.
    assert!(!four(900.0, "no 0 2200"));
}

#[test]
fn a_call_of_a_process_that_died_may_have_happened_or_not() {
    for answer in ["yes 2 -", "yes 1 -"] {
        let [begin, end] = call("b", 2.0, 3.0, answer);
        let died = [
            format!("begin a k {} attempt 1 0", at(0.0)),
            format!("died a {}", at(1.0)),
            begin,
            end,
        ];
        assert!(is_explained(&died.each_ref().map(String::as_str)), "{answer}");
    }
}

#[test]
fn a_call_of_a_process_that_died_happened_once() {
    let [begin, end] = call("b", 3.0, 4.0, "yes 0 -");
    let died =
        [format!("begin a k {} attempt 1 0", at(0.0)), format!("died a {}", at(1.0)), begin, end];
    assert!(!is_explained(&died.each_ref().map(String::as_str)));
}

#[test]
fn what_was_refunded_may_be_taken_again() {
    let refund = [format!("begin a k {} refund 1", at(0.4)), format!("end a {} yes", at(0.5))];
    let calls = [
        call("a", 0.0, 0.1, "yes 2 -"),
        call("a", 0.2, 0.3, "yes 1 -"),
        refund,
        call("a", 0.6, 0.7, "yes 1 -"),
    ];
    assert!(is_explained(&of(&calls)));
    let calls = [
        call("a", 0.0, 0.1, "yes 2 -"),
        call("a", 0.2, 0.3, "yes 1 -"),
        call("a", 0.6, 0.7, "yes 1 -"),
    ];
    assert!(!is_explained(&of(&calls)));
}

#[test]
fn refund_without_an_answer_may_have_happened_at_any_time_of_its_call() {
    let refund = [format!("begin a k {} refund 1", at(0.0)), format!("died a {}", at(9.0))];
    let calls = [
        asked("attempt 3 0", "b", 5.0, 5.001, "yes 0 3"),
        refund,
        asked("peek 1", "b", 5.1, 5.101, "yes 1 1.9"),
    ];
    assert!(is_explained_by(&["token_bucket 3 3 0 5000"], &of(&calls)));
    let calls = [calls[0].clone(), calls[2].clone()];
    assert!(!is_explained_by(&["token_bucket 3 3 0 5000"], &of(&calls)));
}

#[test]
fn what_is_settled_is_taken_or_given_back() {
    let settled = |cost: u64, left: &str| {
        is_explained(&of(&[
            asked("attempt 2 0", "a", 0.0, 0.1, "yes 1 -"),
            asked(&format!("settle 2 {cost}"), "a", 0.2, 0.3, "yes"),
            asked("peek 0", "a", 0.4, 0.5, &format!("yes {left} -")),
        ]))
    };
    assert!(settled(1, "2") && settled(2, "1") && settled(3, "0") && settled(5, "0"));
    assert!(!settled(1, "1") && !settled(3, "1"));
}

#[test]
fn call_that_takes_hits_one_by_one_may_deny_another_beside_it() {
    let explained = |window: &str, end: f64| {
        is_explained_by(
            &[window],
            &of(&[
                call("a", 0.0, 0.1, "yes"),
                asked("attempt 2 0", "b", 0.2, end, "no"),
                call("c", 0.5, 0.6, "no"),
                call("d", 0.7, 0.8, "yes"),
            ]),
        )
    };
    assert!(explained("sliding_window_one_by_one 2 10 0 5000", 0.9));
    assert!(!explained("sliding_window_one_by_one 2 10 0 5000", 0.4), "it had ended before");
    assert!(!explained("sliding_window 2 10 0 5000", 0.9), "all at one moment");
}

#[test]
fn call_that_takes_hits_one_by_one_leaves_some_when_it_is_killed() {
    let then = |window: &str, op: &str, answer: &str| {
        let began = format!("begin a k {} attempt 3 0", at(0.0));
        let died = format!("died a {}", at(0.1));
        let [begin, end] = asked(op, "b", 2.0, 2.1, answer);
        is_explained_by(&[window], &[&began, &died, &begin, &end].map(String::as_str))
    };
    let one_by_one = "sliding_window_one_by_one 3 10 0 5000";
    assert!(
        then(one_by_one, "attempt 1 0", "yes 0 -") && then(one_by_one, "attempt 1 0", "no 0 -")
    );
    assert!(!then("sliding_window 3 10 0 5000", "attempt 1 0", "yes 0 -"));
    assert!(!then(one_by_one, "attempt 4 0", "yes 0 -"), "more than the limit");
}

#[test]
fn hit_of_a_sliding_window_leaves_when_its_interval_is_over() {
    let window = ["sliding_window 2 10 0 5000"];
    let third = |begin: f64, answer: &str| {
        let calls = [
            call("a", 0.0, 1.0, "yes 1 10"),
            call("b", 4.0, 5.0, "yes 0 10"),
            call("a", begin, begin + 0.5, answer),
        ];
        is_explained_by(&window, &of(&calls))
    };
    assert!(third(9.0, "no 0 5") && third(12.0, "yes 0 10") && third(16.0, "yes 1 10"));
    assert!(third(10.2, "no 0 5") && third(10.2, "yes 0 10"), "it leaves between 10 and 11");
    assert!(!third(9.0, "yes 0 10") && !third(12.0, "no 0 2") && !third(12.0, "yes 1 10"));
}

#[test]
fn compound_takes_of_all_its_limits_or_of_none() {
    let limits = ["counted 9 0 0 5000", "counted 3 0 0 5000"];
    let then = |op: &str, answer: &str| {
        let calls = [call("a", 0.0, 0.1, "yes 2 -"), asked(op, "b", 0.2, 0.3, answer)];
        is_explained_by(&limits, &of(&calls))
    };
    assert!(
        then("attempt 3 0", "no 2 -")
            && then("only 0 8", "yes 0 -")
            && then("attempt 2 0", "yes 0 -")
    );
    assert!(
        !then("attempt 3 0", "yes 0 -")
            && !then("only 0 8", "no 8 -")
            && !then("only 0 9", "yes 0 -")
    );
    assert!(!then("attempt 2 1", "yes 0 -") && then("attempt 2 1", "no 2 -"), "one has to be left");
}

/// A fail-over between 2.0 and 2.1 s whose replica lacks so many seconds at most.
fn fail_over(seconds: f64) -> [String; 2] {
    asked(&format!("failover {}", (seconds * 1e9) as u64), "server", 2.0, 2.1, "yes")
}

#[test]
fn fail_over_forgets_what_was_taken_within_its_bound() {
    let then = |lacks: f64, answer: &str| {
        is_explained(&of(&[
            call("a", 0.0, 0.1, "yes 2 -"),
            call("a", 1.0, 1.1, "yes 1 -"),
            call("a", 1.2, 1.3, "yes 0 -"),
            fail_over(lacks),
            call("a", 3.0, 3.1, answer),
        ]))
    };
    assert!(then(0.8, "no 0 -"), "the replica may have all");
    assert!(then(0.8, "yes 0 -") && !then(0.6, "yes 0 -"), "one token of the last 0.8 s");
    assert!(then(0.95, "yes 1 -") && !then(0.8, "yes 1 -"), "two of the last second");
    assert!(then(2.0, "yes 2 -") && !then(0.95, "yes 2 -"), "three of all");
}

#[test]
fn fail_over_brings_back_a_state_that_was_there() {
    let then = |answer: &str| {
        is_explained(&of(&[
            call("a", 0.0, 0.1, "yes 2 -"),
            asked("attempt 2 0", "a", 1.0, 1.1, "yes 0 -"),
            fail_over(1.5),
            call("a", 3.0, 3.1, answer),
        ]))
    };
    // All of a call or nothing.
    assert!(then("no 0 -") && then("yes 1 -") && !then("yes 0 -"));
}

#[test]
fn fail_over_in_order_forgets_nothing() {
    let then = |answer: &str| {
        is_explained(&of(&[
            call("a", 0.0, 0.1, "yes 2 -"),
            call("b", 2.01, 2.05, "yes 1 -"),
            fail_over(0.0),
            call("a", 3.0, 3.1, answer),
        ]))
    };
    assert!(then("yes 0 -") && !then("yes 1 -"));
}

#[test]
fn call_that_failed_before_a_fail_over_is_decided_before_it_or_never() {
    let then = |failed: f64, answer: &str| {
        let [begin, end] = fail_over(0.0);
        let [left, right] = call("b", 2.5, 2.6, "yes 2 -");
        let [peek, peeked] = asked("peek 0", "b", 2.7, 2.8, answer);
        let began = format!("begin a k {} attempt 1 0", at(2.03));
        let died = format!("died a {}", at(failed));
        is_explained(
            &[&began, &died, &begin, &end, &left, &right, &peek, &peeked].map(String::as_str),
        )
    };
    assert!(then(2.05, "yes 2 -") && !then(2.05, "yes 1 -"), "by a server that is lost");
    assert!(then(2.2, "yes 1 -"), "by the new one, which was there");
}

#[test]
fn fail_over_forgets_nothing_of_what_follows() {
    let twice = |second: f64| {
        is_explained(&of(&[
            call("a", 0.0, 0.1, "yes 2 -"),
            fail_over(0.3),
            call("a", second, second + 0.05, "yes 1 -"),
            call("a", 5.0, 5.1, "yes 1 -"),
        ]))
    };
    assert!(twice(1.8) && twice(2.04), "before it, or beside it");
    assert!(!twice(1.5), "too early for it");
    assert!(!twice(2.2), "after it");
}

#[test]
fn limit_of_which_leases_hold_some_may_deny_early_but_never_late() {
    let fourth = |limit: &str, answer: &str| {
        let three = (0..3).map(|i| call("a", f64::from(i), f64::from(i) + 0.5, "yes"));
        let calls: Vec<_> = three.chain([call("a", 5.0, 5.5, answer)]).collect();
        is_explained_by(&[limit], &of(&calls))
    };
    assert!(fourth("counted 3 0 0 5000", "no") && !fourth("counted 3 0 5 5000", "yes"));
    assert!(fourth("counted 8 0 5 5000", "no") && !fourth("counted 9 0 5 5000", "no"));
}

#[test]
fn permit_is_free_when_it_is_given_back_or_its_holder_has_died() {
    let second = |between: &[[String; 2]]| {
        let first = [asked("acquire 0", "a", 0.0, 0.5, "yes")];
        let calls = [&first, between, &[asked("acquire 0", "b", 2.0, 2.5, "yes")]].concat();
        is_explained_by(&["permits 1 60 0 5000"], &of(&calls))
    };
    assert!(second(&[asked("release", "a", 1.0, 1.5, "yes")]));
    assert!(!second(&[asked("acquire 0", "c", 1.0, 1.5, "no")]));
    let died = [format!("died a {}", at(1.0)), format!("died a {}", at(1.0))];
    assert!(second(&[died]));
}

#[test]
fn permit_is_had_if_as_many_as_are_left_stay_free() {
    let second = |leave: u64, lost: u64, answer: &str| {
        let first = asked("acquire 0", "a", 0.0, 0.5, "yes");
        let second = asked(&format!("acquire {leave}"), "b", 1.0, 1.5, answer);
        is_explained_by(&[&format!("permits 3 60 {lost} 5000")], &of(&[first, second]))
    };
    assert!(second(1, 0, "yes") && !second(1, 0, "no"));
    assert!(second(2, 0, "no") && !second(2, 0, "yes"));
    assert!(second(1, 1, "no") && !second(0, 1, "no"), "kept from calls that leave some");
}

#[test]
fn tokens_that_the_store_may_lose_are_missing_at_any_time() {
    let left = |lost: u64, left: u64| {
        let limit = format!("token_bucket 9 9000 {lost} 5000");
        let calls =
            [call("a", 0.0, 0.1, "yes 8 1000"), call("a", 0.2, 0.3, &format!("yes {left} -"))];
        is_explained_by(&[&limit], &of(&calls))
    };
    assert!(left(0, 7) && !left(0, 6));
    assert!(left(3, 7) && left(3, 5) && left(3, 4) && !left(3, 3));
    assert!(!left(3, 8), "none is given away");
}

#[test]
fn a_clock_that_is_behind_decides_by_the_one_that_wrote_the_state() {
    let by = |clock_error: u64| {
        let limit = format!("fixed_window 10 20 0 {clock_error}");
        let calls = [call("a", 0.0, 0.1, "yes 9 20"), call("b", 0.2, 0.3, "yes 8 20.002")];
        is_explained_by(&[&limit], &of(&calls))
    };
    assert!(by(400_000_000));
    assert!(!by(1_000_000), "further than a clock may be");
}

/// Calls of one process, each a tenth of a second long: its operation, when it began and the answer.
fn one_by_one(limit: &str, calls: &[(&str, f64, &str)]) -> bool {
    let calls: Vec<_> = calls
        .iter()
        .map(|(op, begin, answer)| asked(op, "a", *begin, begin + 0.1, answer))
        .collect();
    is_explained_by(&[limit], &of(&calls))
}

#[test]
fn what_may_be_lost_gives_nothing_back() {
    let peek = "peek 1";
    let two_windows = [
        (peek, 0.0, "yes 1 0"),
        ("attempt 1 0", 30.0, "yes 0 20"),
        ("attempt 1 0", 31.0, "yes 0 20"),
    ];
    assert!(!one_by_one("fixed_window 1 20 32 5000", &two_windows));
    let refilled = [("attempt 3 0", 0.0, "yes 0 3000"), ("attempt 3 0", 10.0, "yes 0 3000")];
    assert!(!one_by_one("token_bucket 3 3000 32 5000", &refilled));
    let hits = [("attempt 2 0", 0.0, "yes 0 10"), ("attempt 2 0", 1.0, "yes 0 10")];
    assert!(!one_by_one("sliding_window 2 10 32 5000", &hits));
    let one_as_three = [(peek, 0.0, "yes 3 0"), (peek, 1.0, "no 0 3000")];
    assert!(!one_by_one("token_bucket 3 3000 1 5000", &one_as_three));
}

#[test]
fn what_is_lost_may_be_so_before_a_call_that_tells_nothing() {
    let overdrawn =
        [("peek 1", 0.0, "yes 3 0"), ("settle 0 3", 0.2, "yes"), ("peek 1", 0.4, "no 0 5999.9")];
    assert!(one_by_one("token_bucket 3 3000 3 5000", &overdrawn));
    let opened =
        [("peek 1", 0.0, "yes 10 0"), ("refund 1", 10.0, "yes"), ("attempt 1 0", 11.0, "yes 9 15")];
    assert!(one_by_one("fixed_window 10 20 1 5000", &opened));
    assert!(one_by_one("token_bucket 3 3000 3 5000", &[("attempt 1 0", 0.0, "no")]));
}

#[test]
fn call_comes_at_no_earlier_time_than_one_that_comes_before_it() {
    // A window that a long or killed call would have found over cannot open anew before.
    let first = call("a", 0.0, 0.1, "yes 0 20");
    let again = call("a", 10.0, 10.1, "yes 0 20");
    let late = asked("peek 1", "p", 1.0, 30.0, "yes 1 0");
    let window = ["fixed_window 1 20 0 5000"];
    assert!(!is_explained_by(&window, &of(&[first, late, again.clone()])));
    let [begin, _] = call("p", 0.0, 0.0, "");
    let killed = [begin, format!("died p {}", at(10.2))];
    let next = call("c", 20.5, 20.6, "yes 0 20");
    assert!(!is_explained_by(&window, &of(&[killed, again, next])), "no clock is so far behind");
    // The first hit came before the second call had ended, so it has left.
    let hits = [
        call("a", 0.0, 9.0, "yes 1 10"),
        call("b", 0.0, 0.1, "yes 0 10"),
        call("c", 11.0, 11.1, "no 0 5"),
    ];
    assert!(!is_explained_by(&["sliding_window 2 10 0 5000"], &of(&hits)));
}

#[test]
fn call_under_changed_numbers_is_decided_by_its_own() {
    let by_both = |lines: &[&str]| {
        let limits = ["numbers_token_bucket 3 3 0 5000", "numbers_token_bucket 3 3000 0 5000"];
        is_explained_by(&limits, lines)
    };
    let taken = asked("by 1 5000000000 attempt 3 0", "a", 0.0, 0.1, "yes 0 3000.0");
    // The shorter one finds it empty now, and both remember that.
    let short = asked("by 0 5000000000 attempt 1 0", "b", 0.2, 0.3, "no 0 3.0");
    let long = |answer: &str| {
        of(&[
            taken.clone(),
            short.clone(),
            asked("by 1 5000000000 attempt 1 0", "b", 0.4, 0.5, answer),
        ])
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>()
    };
    let explained =
        |answer: &str| by_both(&long(answer).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!explained("yes 2 1003.0"), "the shorter limit gave it back");
    assert!(explained("no 0 3000.0"));
    let settled = |answer: &str| {
        by_both(&of(&[taken.clone(), asked("at 5000000000 settle 1", "a", 0.2, 0.3, answer)]))
    };
    assert!(settled("yes") && !settled("no"));
}

#[test]
fn bucket_that_is_claimed_is_full_at_the_time_of_the_process_that_claims_it() {
    let by_clock_ahead = |reset_after: &str| {
        let answer = format!("yes 18 {reset_after}");
        let calls = [
            asked("by 0 1016486859375000 attempt 2 0", "a", 0.0, 0.1, "yes 17 1.5"),
            asked("by 0 1016486843750000 attempt 1 0", "b", 0.0, 0.1, &answer),
        ];
        is_explained_by(&["numbers_token_bucket 20 10 0 5000"], &of(&calls))
    };
    assert!(by_clock_ahead("0.515625") && !by_clock_ahead("0.53125"));
}
