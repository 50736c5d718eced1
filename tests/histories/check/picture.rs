//! Draws the calls around the place where no order goes on.

use crate::history::{Answer, Call};
use crate::search::Stuck;
use std::fmt::Write as _;

/// Columns of the time line.
const WIDTH: u64 = 48;

/// The calls, one a line, each with its stretch of time and its answer.
pub fn draw(stuck: &Stuck) -> String {
    let calls = || stuck.last.iter().chain(&stuck.next);
    let begin = calls().map(|call| call.begin).min().unwrap_or(0);
    let end =
        calls().filter(|call| call.answer.is_some()).map(|call| call.end).max().unwrap_or(begin);
    let length = (end.saturating_sub(begin)).max(1);
    let column = |time: u64| (time.clamp(begin, end) - begin).saturating_mul(WIDTH - 1) / length;
    let mut text = format!("  {} µs; the state then: {}\n", length / 1_000, stuck.known);
    for (marks, calls) in [("in order", &stuck.last), ("cannot be next", &stuck.next)] {
        for call in calls {
            let (first, last) = (column(call.begin), column(call.end));
            let line: String =
                (0..WIDTH).map(|at| if at >= first && at <= last { '─' } else { ' ' }).collect();
            let _ = writeln!(
                text,
                "  {line}  {:8} {:?}: {} ({marks})",
                call.process,
                call.asked,
                answer(call)
            );
        }
    }
    text
}

fn answer(call: &Call) -> String {
    match &call.answer {
        None => "died".to_owned(),
        Some(Answer { accepted, left }) => {
            let said = if *accepted { "yes" } else { "no" };
            let Some(left) = left else { return said.to_owned() };
            let full =
                left.reset_after.map_or(String::new(), |ns| format!(", full in {} µs", ns / 1_000));
            format!("{said}, {} left{full}", left.remaining)
        }
    }
}
