//! Limits that an operator names in a file, one section each.

use super::compound::MAX_MEMBERS;
use super::settings::Settings;
use crate::dsn::{Dsn, OnError, sanitize};
use crate::limit::{FixedWindow, Limit, LimitError, SlidingWindow, TokenBucket};
use crate::statistics::LONGEST_NAME;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A line of the file that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    /// Its number, from 1.
    pub number: u32,
    /// What it says.
    pub content: LineContent,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineContent {
    /// A section of this name begins.
    Section(String),
    /// A key has this value.
    Entry(String, String),
}

/// A mistake in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// All limits of a file.
#[derive(Debug, Default)]
pub struct NamedLimits {
    /// Sorted by name.
    limits: Vec<NamedLimit>,
}

/// A limit or a set of limits that has a name.
#[derive(Debug)]
pub struct NamedLimit {
    /// The name.
    pub name: String,
    /// What it is.
    pub rule: Rule,
    storage: Option<String>,
    on_error: Option<OnError>,
    enforce: Option<bool>,
}

/// What a name stands for.
#[derive(Debug)]
pub enum Rule {
    /// One limit.
    One {
        /// Its algorithm.
        algorithm: Algorithm,
        /// Tokens or hits.
        count: i64,
        /// The time in which so many are allowed, in seconds.
        interval: f64,
        /// The limit.
        limit: Rc<Limit>,
    },
    /// Several limits, of which a call is charged all or none: their names.
    All(Vec<String>),
}

/// The algorithms by the names they have in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `token_bucket`
    TokenBucket,
    /// `leaky_bucket`
    LeakyBucket,
    /// `fixed_window`
    FixedWindow,
    /// `sliding_window`
    SlidingWindow,
}

/// The longest name, in bytes: a longer one would be cut in the statistics, where `status()` looks for it.
const MAX_NAME: usize = LONGEST_NAME;

/// The most limits and sets in a file: each worker reads all of them.
const MAX_LIMITS: usize = 1_000;

const NO_SECTION: &str = "a section must come first: [the limit's name]";
const KEYS: &str = "algorithm, limit, interval, storage, enforce, on_error or all";

impl Algorithm {
    const VALUES: &'static str = "token_bucket, leaky_bucket, fixed_window or sliding_window";

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "token_bucket" => Some(Self::TokenBucket),
            "leaky_bucket" => Some(Self::LeakyBucket),
            "fixed_window" => Some(Self::FixedWindow),
            "sliding_window" => Some(Self::SlidingWindow),
            _ => None,
        }
    }

    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenBucket => "token_bucket",
            Self::LeakyBucket => "leaky_bucket",
            Self::FixedWindow => "fixed_window",
            Self::SlidingWindow => "sliding_window",
        }
    }

    fn limit(self, count: i64, interval: f64) -> Result<Limit, LimitError> {
        match self {
            Self::TokenBucket | Self::LeakyBucket => {
                TokenBucket::per_period(count, interval).map(Limit::from)
            }
            Self::FixedWindow => FixedWindow::new(count, interval).map(Limit::from),
            Self::SlidingWindow => SlidingWindow::new(count, interval).map(Limit::from),
        }
    }
}

impl NamedLimits {
    /// Reads the limits from the lines of a file.
    ///
    /// # Errors
    ///
    /// The first mistake in the file.
    pub fn from_lines(lines: &[FileLine]) -> Result<Self, FileError> {
        let mut sections: Vec<Section<'_>> = Vec::new();
        for FileLine { number, content } in lines {
            match content {
                LineContent::Section(_) if sections.len() == MAX_LIMITS => {
                    return Err(mistake(*number, format!("must have at most {MAX_LIMITS} limits")));
                }
                LineContent::Section(name) => sections.push(Section::begin(*number, name)?),
                LineContent::Entry(key, value) => match sections.last_mut() {
                    Some(section) => section.set(*number, key, value)?,
                    None => return Err(mistake(*number, NO_SECTION)),
                },
            }
        }
        if sections.is_empty() {
            return Err(mistake(1, NO_SECTION));
        }
        let (mut limits, mut names) = (Vec::new(), HashSet::new());
        for section in sections {
            let (line, name) = (section.line, section.name);
            limits.push((line, section.finish()?));
            if !names.insert(name) {
                return Err(mistake(line, format!("[{name}] must not be there twice")));
            }
        }
        check_sets(&limits)?;
        let mut limits: Vec<NamedLimit> = limits.into_iter().map(|(_, limit)| limit).collect();
        limits.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { limits })
    }

    /// Where the limit of this name is.
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        self.limits.binary_search_by(|limit| limit.name.as_bytes().cmp(name)).ok()
    }

    /// The limit at a position.
    pub fn get(&self, position: usize) -> Option<&NamedLimit> {
        self.limits.get(position)
    }

    /// All limits and sets, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &NamedLimit> {
        self.limits.iter()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.limits.iter().map(|limit| limit.name.as_str())
    }
}

impl NamedLimit {
    /// The DSN of the limit's own storage. None: the default storage.
    pub fn storage(&self) -> Option<&str> {
        self.storage.as_deref()
    }

    /// The settings, with those of the limit in their place.
    #[must_use]
    pub fn override_settings(&self, mut settings: Settings) -> Settings {
        let policy = &mut settings.policy;
        policy.on_error = self.on_error.unwrap_or(policy.on_error);
        policy.enforce = self.enforce.unwrap_or(policy.enforce);
        settings
    }
}

/// Every limit of a set must be there, and be no set itself.
fn check_sets(limits: &[(u32, NamedLimit)]) -> Result<(), FileError> {
    let rules: HashMap<&str, &Rule> =
        limits.iter().map(|(_, limit)| (limit.name.as_str(), &limit.rule)).collect();
    for (line, set) in limits {
        let Rule::All(names) = &set.rule else { continue };
        for name in names {
            let message = match rules.get(name.as_str()) {
                None => format!(
                    "all must name limits of this file, and [{}] is not there",
                    sanitize(name)
                ),
                Some(Rule::All(_)) => {
                    format!("all must name limits, and [{name}] is a set itself")
                }
                Some(_) if names.iter().filter(|other| *other == name).count() > 1 => {
                    format!("all must name each limit once, and {name} is there twice")
                }
                Some(_) => continue,
            };
            return Err(mistake(*line, message));
        }
    }
    Ok(())
}

fn mistake(line: u32, message: impl Into<String>) -> FileError {
    FileError { line, message: message.into() }
}

/// A value and its line.
type At<T> = Option<(u32, T)>;

/// A section while it is read.
struct Section<'a> {
    line: u32,
    name: &'a str,
    algorithm: At<Algorithm>,
    limit: At<i64>,
    interval: At<f64>,
    storage: At<String>,
    enforce: At<bool>,
    on_error: At<OnError>,
    all: At<Vec<String>>,
}

impl<'a> Section<'a> {
    fn begin(line: u32, name: &'a str) -> Result<Self, FileError> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(is_valid) {
            return Err(mistake(
                line,
                format!(
                    "the name of a limit must be 1 to {MAX_NAME} letters, digits, \"_\", \"-\" and \".\""
                ),
            ));
        }
        let (algorithm, limit, interval, storage) = (None, None, None, None);
        let (enforce, on_error, all) = (None, None, None);
        Ok(Self { line, name, algorithm, limit, interval, storage, enforce, on_error, all })
    }

    fn set(&mut self, line: u32, key: &str, value: &str) -> Result<(), FileError> {
        match key {
            "algorithm" => {
                put(&mut self.algorithm, line, key, Algorithm::from_name(value), Algorithm::VALUES)
            }
            "limit" => put(&mut self.limit, line, key, value.parse().ok(), "a whole number"),
            "interval" => put(&mut self.interval, line, key, value.parse().ok(), "a number"),
            "storage" => {
                // A DSN's message shows no password.
                Dsn::parse(value).map_err(|error| mistake(line, format!("storage: {error}")))?;
                put(&mut self.storage, line, key, Some(value.to_owned()), "")
            }
            "enforce" => put(&mut self.enforce, line, key, parse_switch(value), "0 or 1"),
            "on_error" => {
                let policy = OnError::from_name(value.as_bytes());
                put(&mut self.on_error, line, key, policy, OnError::VALUES)
            }
            "all" => {
                let names: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
                let names = (1..=MAX_MEMBERS).contains(&names.len()).then_some(names);
                put(
                    &mut self.all,
                    line,
                    key,
                    names,
                    "the names of 1 to 16 limits, with spaces between",
                )
            }
            _ => Err(mistake(
                line,
                format!("\"{}\" is unknown: a key must be {KEYS}", sanitize(key)),
            )),
        }
    }

    fn finish(self) -> Result<NamedLimit, FileError> {
        let value = |it: At<String>| it.map(|(_, value)| value);
        let rule = match (self.all, self.limit, self.interval) {
            (Some((_, names)), None, None)
                if self.algorithm.is_none()
                    && self.storage.is_none()
                    && self.enforce.is_none()
                    && self.on_error.is_none() =>
            {
                Rule::All(names)
            }
            (Some((line, _)), ..) => {
                return Err(mistake(line, "all must stand alone: its limits have the other keys"));
            }
            (None, Some((limit_line, count)), Some((interval_line, interval))) => {
                let algorithm = self.algorithm.map_or(Algorithm::TokenBucket, |(_, it)| it);
                let limit = algorithm.limit(count, interval).map_err(|error| match error {
                    LimitError::Capacity | LimitError::Hits | LimitError::SlidingHits => {
                        mistake(limit_line, format!("limit {error}"))
                    }
                    LimitError::RateTooHigh => mistake(
                        interval_line,
                        "interval must be at least one nanosecond for each unit of limit",
                    ),
                    _ => mistake(interval_line, format!("interval {}", LimitError::Interval)),
                })?;
                Rule::One { algorithm, count, interval, limit: Rc::new(limit) }
            }
            _ => {
                let name = self.name;
                let message = format!("[{name}] must have limit and interval, or all");
                return Err(mistake(self.line, message));
            }
        };
        Ok(NamedLimit {
            name: self.name.to_owned(),
            rule,
            storage: value(self.storage),
            on_error: self.on_error.map(|(_, it)| it),
            enforce: self.enforce.map(|(_, it)| it),
        })
    }
}

/// Stores the value of a key, which must be valid and the first one.
fn put<T>(
    place: &mut At<T>,
    line: u32,
    key: &str,
    value: Option<T>,
    must_be: &str,
) -> Result<(), FileError> {
    let value = value.ok_or_else(|| mistake(line, format!("{key} must be {must_be}")))?;
    match place.replace((line, value)) {
        None => Ok(()),
        Some((first, _)) => {
            Err(mistake(line, format!("{key} must not be there twice: it is in line {first}, too")))
        }
    }
}

fn parse_switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "on" | "yes" | "true" => Some(true),
        "0" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
