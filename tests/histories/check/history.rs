//! A history: what was asked of each key, when, and what came back.

use std::collections::{BTreeMap, HashMap};
use token_bucket::limit::{FixedWindow, Limit, Op, TokenBucket};

/// Nanoseconds after a process's death within which a server may decide on a call that it had sent.
const ON_THE_WAY: u64 = 1_000_000_000;

/// The process of what the store has charged beyond what the answers say.
pub const LOST: &str = "lost";

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub accepted: bool,
    /// `None` where the call does not tell.
    pub left: Option<Left>,
}

/// What a decision tells beside yes or no.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    pub remaining: u64,
    /// Nanoseconds until the bucket is full or the window ends; `None` where it was not recorded.
    pub reset_after: Option<u64>,
}

/// One call. Times are nanoseconds since 1970.
#[derive(Clone, Debug)]
pub struct Call {
    pub process: String,
    pub op: Op,
    pub begin: u64,
    /// The end of the call, or [`ON_THE_WAY`] after the death of its process.
    pub end: u64,
    /// `None`: the process died, and the call may have been decided or not.
    pub answer: Option<Answer>,
}

/// The calls on one key, in the order of each process.
#[derive(Debug)]
pub struct Key {
    pub limit: Limit,
    /// Tokens that the store may have charged beyond what the answers say.
    pub lost: usize,
    /// Nanoseconds by which the time of a decision may lie outside the call.
    pub clock_error: u64,
    pub processes: Vec<Vec<Call>>,
}

/// All that was recorded in one run.
#[derive(Debug, Default)]
pub struct History {
    pub keys: BTreeMap<String, Key>,
}

impl History {
    /// Reads files of one run.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        // A process that was killed may have left half of a line.
        let lines = || {
            texts.iter().flat_map(|text| {
                text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
            })
        };
        let mut history = Self::default();
        let mut deaths = HashMap::new();
        for line in lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["limit", key, algorithm, limit, interval, lost, clock_error] => {
                    let limit =
                        read_limit(algorithm, limit, interval).ok_or_else(|| wrong(line))?;
                    let lost = lost.parse().map_err(|_| wrong(line))?;
                    let clock_error = clock_error.parse().map_err(|_| wrong(line))?;
                    let new = Key { limit, lost, clock_error, processes: Vec::new() };
                    history.keys.insert((*key).to_owned(), new);
                }
                ["died", process, time] => {
                    deaths.insert(*process, time.parse::<u64>().map_err(|_| wrong(line))?);
                }
                ["begin" | "end", ..] => {}
                _ => return Err(wrong(line)),
            }
        }
        // The calls of each key and process, as they were begun.
        let mut calls: BTreeMap<(&str, &str), Vec<Call>> = BTreeMap::new();
        let mut keys: HashMap<&str, &str> = HashMap::new();
        for line in lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["begin", process, key, time, op @ ..] => {
                    keys.insert(process, key);
                    let begin = time.parse().map_err(|_| wrong(line))?;
                    let op = read_op(op).ok_or_else(|| wrong(line))?;
                    let end = deaths.get(process).map_or(u64::MAX / 2, |death| death + ON_THE_WAY);
                    let call =
                        Call { process: (*process).to_owned(), op, begin, end, answer: None };
                    calls.entry((key, process)).or_default().push(call);
                }
                ["end", process, time, answer @ ..] => {
                    let call = keys
                        .get(process)
                        .and_then(|key| calls.get_mut(&(*key, *process)))
                        .and_then(|calls| calls.last_mut())
                        .ok_or_else(|| wrong(line))?;
                    call.end = time.parse().map_err(|_| wrong(line))?;
                    call.answer = Some(read_answer(answer).ok_or_else(|| wrong(line))?);
                }
                _ => {}
            }
        }
        for ((key, process), calls) in calls {
            let key = history
                .keys
                .get_mut(key)
                .ok_or_else(|| format!("{process} calls {key}, which has no limit"))?;
            key.processes.push(calls);
        }
        for key in history.keys.values_mut() {
            key.processes.extend(lost_calls(key));
        }
        Ok(history)
    }
}

/// What the store may have charged beyond what the answers say, as calls of a process that knows of none.
fn lost_calls(key: &Key) -> Option<Vec<Call>> {
    let calls = || key.processes.iter().flatten();
    let call = Call {
        process: LOST.to_owned(),
        op: Op::Take { cost: 1 },
        begin: calls().map(|call| call.begin).min()?,
        end: calls().map(|call| call.end).max()?,
        answer: None,
    };
    (key.lost > 0).then(|| vec![call; key.lost])
}

fn wrong(line: &str) -> String {
    format!("not a line of a history: {line}")
}

fn read_limit(algorithm: &str, limit: &str, interval: &str) -> Option<Limit> {
    let (limit, interval) = (limit.parse::<i64>().ok()?, interval.parse::<f64>().ok()?);
    match algorithm {
        "token_bucket" => Some(TokenBucket::per_period(limit, interval).ok()?.into()),
        "fixed_window" => Some(FixedWindow::new(limit, interval).ok()?.into()),
        _ => None,
    }
}

fn read_op(words: &[&str]) -> Option<Op> {
    let number = |word: &str| word.parse::<u64>().ok();
    match words {
        ["attempt", cost, leave] => Some(Op::take(number(cost)?, number(leave)?)),
        ["takeUpTo", most, least] => {
            Some(Op::TakeUpTo { most: number(most)?, least: number(least)?, leave: 0 })
        }
        ["peek", cost] => Some(Op::Peek { cost: number(cost)? }),
        ["refund", cost] => Some(Op::Refund { cost: number(cost)?, expiry: None }),
        ["reset"] => Some(Op::Reset),
        _ => None,
    }
}

fn read_answer(words: &[&str]) -> Option<Answer> {
    let accepted = |word: &str| match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    match words {
        [yes] => Some(Answer { accepted: accepted(yes)?, left: None }),
        [yes, remaining, reset_after] => {
            let reset_after = match *reset_after {
                "-" => None,
                seconds => Some((seconds.parse::<f64>().ok()? * 1e9).round() as u64),
            };
            let left = Left { remaining: remaining.parse().ok()?, reset_after };
            Some(Answer { accepted: accepted(yes)?, left: Some(left) })
        }
        _ => None,
    }
}
