//! Checks recorded histories: is there an order of the calls in which the limit gives these answers?
//!
//! Usage: `check_history FOLDER`, the files of one run. What cannot be explained is drawn. The search is that of Wing and Gong, which
//! remembers what it has tried, as Lowe's. Some keys have too many possible orders: they are counted separately and are not failures.
//!
//! # The format
//!
//! Words are separated by one space, times are nanoseconds since 1970. A line without an end is left out. A process calls one key,
//! and has all its lines in one file.
//!
//! - `limit KEY ALGORITHM LIMIT INTERVAL LOST CLOCK`. ALGORITHM is one of
//!   - `token_bucket`, `fixed_window`, `sliding_window`: LIMIT in INTERVAL seconds;
//!   - `sliding_window_one_by_one`: the same, but a call takes its hits one by one;
//!   - `calendar_hour`: INTERVAL is when the hour began, in seconds since 1970;
//!   - `permits`: LIMIT at once;
//!   - `counted`: LIMIT tokens that do not come back; several such lines on one key are a compound.
//!
//!   LOST: tokens that the store may charge beyond what is answered, 0 if none; of `counted` also those that it may keep from a call,
//!   of `permits` those that it may keep from a call that leaves some. CLOCK: nanoseconds by which a decision's time may lie outside
//!   the call.
//! - `begin PROCESS KEY TIME OPERATION`, written before the call. OPERATION is `attempt COST LEAVE`, `takeUpTo MOST LEAST`,
//!   `peek COST`, `refund COST`, `settle TAKEN COST`, `reset` or `block SECONDS`; `only MEMBER COST` of one limit of a compound; `acquire LEAVE` or
//!   `release` of permits; `failover AGE` of a server that was lost: the state is again one that was there AGE nanoseconds before, or
//!   later, and the last one if AGE is 0. A key has one `failover` at most; its `end` is a time before which the new server decided
//!   nothing.
//! - `end PROCESS TIME yes` or `no`, then `REMAINING RESET_AFTER`: the answer to the process's last call. RESET_AFTER is in seconds,
//!   or `-` if it is not known. Neither is there after operations that tell neither.
//! - `died PROCESS TIME`, or its call failed: a call of it without an `end` may have been decided until a second later, and its
//!   permits may be free.
//!
//! # What is judged
//!
//! The time of a decision is not recorded, for each store has its own clock. An answer tells how far the end of the state is away, so
//! each answer narrows the range of times at which the state can have been written. Nothing else is known of clocks. The range of a
//! sliding window's hit is its call; its hits are compared, and not when all of them are back.

mod counted;
mod ending;
mod failover;
mod history;
mod losing;
mod numbers;
mod permits;
mod picture;
mod search;
mod sliding;
#[cfg(test)]
mod tests;

use counted::Counted;
use ending::Ending;
use failover::{FailOver, FailingOver};
use history::{History, Key, Kind};
use losing::Losing;
use numbers::Numbers;
use permits::Permits;
use search::{Model, Outcome, explain};
use sliding::Sliding;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// Searches an order of the calls on one key.
fn explain_by_kind(key: &Key) -> Outcome {
    let clock_error = key.clock_error;
    match key.kind.clone() {
        Kind::Ending(limit) => explain_losing(key, &Ending { limit, clock_error }),
        Kind::Sliding { window, is_one_by_one } => {
            let one_by_one = is_one_by_one.then_some(key.processes.as_slice());
            explain_losing(key, &Sliding { window, one_by_one, clock_error })
        }
        Kind::Counted(limits) => explain_by(key, Counted { limits, kept: key.lost }),
        Kind::Numbers(limits) => explain_by(key, Numbers::new(&limits, key)),
        Kind::Permits(max) => {
            explain_by(key, Permits { max, kept: key.lost, processes: key.processes.len() })
        }
    }
}

/// Searches an order by a model of which tokens may be lost. Most keys lose few, and the fewer may be lost, the fewer orders there are.
fn explain_losing<M: Model>(key: &Key, model: &M) -> Outcome {
    let budgets = std::iter::successors(Some(0), |budget| Some((budget * 2).max(1)));
    budgets
        .take_while(|budget| *budget < key.lost)
        .map(|budget| explain_by(key, Losing::new(model, key, budget)))
        .find(|outcome| matches!(outcome, Outcome::Explained(_)))
        .unwrap_or_else(|| explain_by(key, Losing::new(model, key, key.lost)))
}

/// Searches an order by a model, with the fail-over if there was one.
fn explain_by<M: Model>(key: &Key, model: M) -> Outcome {
    match FailOver::of(key) {
        Some(fail_over) => explain(key, &FailingOver { model, fail_over }),
        None => explain(key, &model),
    }
}

/// The result for all keys, as text, and whether it is good: no key is unexplained, and many calls have an answer.
fn report(history: &History) -> (String, bool) {
    let (mut answered, mut died, mut unexplained, mut given_up) = (0, 0, 0, 0);
    let mut text = String::new();
    for (name, key) in &history.keys {
        match explain_by_kind(key) {
            Outcome::Explained(calls) => {
                answered += calls.answered;
                died += calls.died;
            }
            Outcome::Unexplained(stuck) => {
                unexplained += 1;
                let _ = writeln!(
                    text,
                    "{name}: no order explains the calls\n{}",
                    picture::draw(&stuck)
                );
            }
            Outcome::GaveUp => given_up += 1,
        }
    }
    let explained = history.keys.len() - unexplained - given_up;
    let _ = writeln!(
        text,
        "{answered} calls on {explained} keys explained, {died} more without an answer; not explained: {unexplained} keys, too many orders: {given_up}"
    );
    (text, unexplained == 0 && 2 * answered > died)
}

/// The texts of all files in a folder.
fn read_folder(path: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(path)?.map(|entry| fs::read_to_string(entry?.path())).collect()
}

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_default();
    let read = read_folder(Path::new(&folder))
        .map_err(|e| format!("{folder}: {e}"))
        .and_then(|texts| History::parse(&texts));
    let (text, good) = match read {
        Ok(history) if !history.keys.is_empty() => report(&history),
        Ok(_) => ("no history in this folder\n".to_owned(), false),
        Err(mistake) => (format!("{mistake}\n"), false),
    };
    let written = io::stdout().write_all(text.as_bytes());
    if good && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
