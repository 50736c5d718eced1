//! A history: what was asked of each key, when, and what came back.

use std::collections::{BTreeMap, HashMap};
use token_bucket::limit::{CalendarWindow, FixedWindow, Limit, Op, SlidingWindow, TokenBucket};

/// Nanoseconds after a process's death, or an error, within which a server may decide on a call that was sent.
pub const ON_THE_WAY: u64 = 1_000_000_000;

/// The process of what the store does by itself.
pub const STORE: &str = "store";

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

/// What a call asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Of a bucket or window, or of all limits of a compound.
    Op(Op),
    /// Hits of one member of a compound alone.
    Only { member: usize, cost: u64 },
    /// The same under numbers of a limit that has several, at a time of a test's clock.
    By { numbers: usize, now: u64, op: Op },
    /// Settles the last decision of the process at this time.
    Settle { now: u64, cost: u64 },
    /// A permit, where so many others stay free.
    Acquire { leave: u64 },
    /// Gives the process's latest permit back.
    Release,
    /// Nothing: the server was lost, and its replica took over, which has each state that was `age` nanoseconds old when
    /// that began, or all states if it is 0. It took over after that ended.
    Failover { age: u64 },
    /// The permits of the process of this number are free, for it died.
    Freed { owner: usize },
}

/// What is limited.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A bucket or window whose state ends at a time.
    Ending(Limit),
    /// A sliding window.
    Sliding {
        window: SlidingWindow,
        /// Whether a call takes its hits one by one, and not all at one moment.
        is_one_by_one: bool,
    },
    /// Limits that do not come back during the history: the hits of each. Several are a compound.
    Counted(Vec<u64>),
    /// A limit whose numbers change.
    Numbers(Vec<Limit>),
    /// So many permits.
    Permits(u64),
}

/// One call. Times are nanoseconds since 1970.
#[derive(Clone, Debug)]
pub struct Call {
    pub process: String,
    pub asked: Asked,
    pub begin: u64,
    /// The end of the call, or [`ON_THE_WAY`] after the death of its process.
    pub end: u64,
    /// `None`: the process died, and the call may have been decided or not.
    pub answer: Option<Answer>,
}

impl Call {
    /// When it can have been decided: within the call, or beyond it by the error of a clock.
    pub fn times(&self, clock_error: u64) -> [u64; 2] {
        [self.begin.saturating_sub(clock_error), self.end.saturating_add(clock_error)]
    }
}

/// The calls on one key, in the order of each process.
#[derive(Debug)]
pub struct Key {
    pub kind: Kind,
    /// Tokens that the store may have charged beyond what the answers say, or keep from the calls.
    pub lost: u64,
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
                    let kind = read_kind(algorithm, limit, interval).ok_or_else(|| wrong(line))?;
                    let lost = lost.parse().map_err(|_| wrong(line))?;
                    let clock_error = clock_error.parse().map_err(|_| wrong(line))?;
                    let new = Key { kind, lost, clock_error, processes: Vec::new() };
                    match (history.keys.get_mut(*key).map(|key| &mut key.kind), &new.kind) {
                        (Some(Kind::Counted(limits)), Kind::Counted(more)) => limits.extend(more),
                        (Some(Kind::Numbers(limits)), Kind::Numbers(more)) => limits.extend(more),
                        (Some(_), _) => return Err(wrong(line)),
                        (None, _) => {
                            history.keys.insert((*key).to_owned(), new);
                        }
                    }
                }
                ["died", process, time] => {
                    let time = time.parse::<u64>().map_err(|_| wrong(line))?;
                    // After a failed call the process has another name, and dies later.
                    deaths
                        .entry(*process)
                        .and_modify(|first: &mut u64| *first = time.min(*first))
                        .or_insert(time);
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
                    let asked = read_asked(op).ok_or_else(|| wrong(line))?;
                    let end = deaths.get(process).map_or(u64::MAX / 2, |death| death + ON_THE_WAY);
                    let call =
                        Call { process: (*process).to_owned(), asked, begin, end, answer: None };
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
            if let Kind::Permits(_) = key.kind {
                key.processes.extend(freed_permits(key, &deaths));
            }
        }
        Ok(history)
    }
}

/// The death of each process, which may free its permits.
fn freed_permits(key: &Key, deaths: &HashMap<&str, u64>) -> Vec<Vec<Call>> {
    let free = |(owner, calls): (usize, &Vec<Call>)| {
        let last = calls.last()?;
        let end = deaths.get(last.process.as_str())? + ON_THE_WAY;
        let (process, asked) = (STORE.to_owned(), Asked::Freed { owner });
        Some(vec![Call { process, asked, begin: last.begin, end, answer: None }])
    };
    key.processes.iter().enumerate().filter_map(free).collect()
}

fn wrong(line: &str) -> String {
    format!("not a line of a history: {line}")
}

fn read_kind(algorithm: &str, limit: &str, interval: &str) -> Option<Kind> {
    let max = limit.parse::<i64>().ok()?;
    let hour = |n: u64| Some((interval.parse::<u64>().ok()? + 3_600 * n) * 1_000_000_000);
    let seconds = interval.parse::<f64>().ok()?;
    Some(match algorithm {
        "token_bucket" => Kind::Ending(TokenBucket::per_period(max, seconds).ok()?.into()),
        "fixed_window" => Kind::Ending(FixedWindow::new(max, seconds).ok()?.into()),
        "calendar_hour" | "numbers_calendar_hour" => {
            let ends = [hour(0)?, hour(1)?, hour(2)?];
            let limit = CalendarWindow::new(max, ends).ok()?.into();
            if algorithm == "calendar_hour" {
                Kind::Ending(limit)
            } else {
                Kind::Numbers(vec![limit])
            }
        }
        "sliding_window" | "sliding_window_one_by_one" => Kind::Sliding {
            window: SlidingWindow::new(max, seconds).ok()?,
            is_one_by_one: algorithm == "sliding_window_one_by_one",
        },
        "numbers_token_bucket" => {
            Kind::Numbers(vec![TokenBucket::per_period(max, seconds).ok()?.into()])
        }
        "numbers_fixed_window" => Kind::Numbers(vec![FixedWindow::new(max, seconds).ok()?.into()]),
        "numbers_sliding_window" => {
            Kind::Numbers(vec![SlidingWindow::new(max, seconds).ok()?.into()])
        }
        "counted" => Kind::Counted(vec![max.try_into().ok()?]),
        "permits" => Kind::Permits(max.try_into().ok()?),
        _ => return None,
    })
}

fn read_asked(words: &[&str]) -> Option<Asked> {
    let number = |word: &str| word.parse::<u64>().ok();
    let op = match words {
        ["attempt", cost, leave] => Op::take(number(cost)?, number(leave)?),
        ["takeUpTo", most, least] => {
            Op::TakeUpTo { most: number(most)?, least: number(least)?, leave: 0 }
        }
        ["peek", cost] => Op::Peek { cost: number(cost)? },
        ["refund", cost] => Op::Refund { cost: number(cost)?, expiry: None },
        ["settle", taken, cost] => match number(cost)?.checked_sub(number(taken)?) {
            // The model knows when the window ends.
            Some(more) => Op::Settle { cost: more, expiry: 0 },
            None => Op::Refund { cost: number(taken)? - number(cost)?, expiry: None },
        },
        ["reset"] => Op::Reset,
        ["block", seconds] => Op::Block { duration: number(seconds)?.checked_mul(1_000_000_000)? },
        ["by", numbers, now, op @ ..] => {
            let Asked::Op(op) = read_asked(op)? else { return None };
            return Some(Asked::By { numbers: numbers.parse().ok()?, now: number(now)?, op });
        }
        ["at", now, "settle", cost] => {
            return Some(Asked::Settle { now: number(now)?, cost: number(cost)? });
        }
        ["only", member, cost] => {
            return Some(Asked::Only { member: member.parse().ok()?, cost: number(cost)? });
        }
        ["failover", age] => return Some(Asked::Failover { age: number(age)? }),
        ["acquire", leave] => return Some(Asked::Acquire { leave: number(leave)? }),
        ["release"] => return Some(Asked::Release),
        _ => return None,
    };
    Some(Asked::Op(op))
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
