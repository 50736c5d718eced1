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
        let first = [asked("acquire", "a", 0.0, 0.5, "yes")];
        let calls = [&first, between, &[asked("acquire", "b", 2.0, 2.5, "yes")]].concat();
        is_explained_by(&["permits 1 60 0 5000"], &of(&calls))
    };
    assert!(second(&[asked("release", "a", 1.0, 1.5, "yes")]));
    assert!(!second(&[asked("acquire", "c", 1.0, 1.5, "no")]));
    let died = [format!("died a {}", at(1.0)), format!("died a {}", at(1.0))];
    assert!(second(&[died]));
}
