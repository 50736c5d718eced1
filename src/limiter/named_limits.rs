//! Limits that an operator names in a file, one section each.

mod section;

use super::settings::Settings;
use crate::dsn::{OnError, sanitize};
use crate::limit::{FixedWindow, Limit, LimitError, SlidingWindow, TokenBucket};
use section::{Finished, Section};
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
#[derive(Debug, Clone)]
pub struct NamedLimit {
    /// The name.
    pub name: String,
    /// What it is.
    pub rule: Rule,
    /// Whose buckets it has: its own name, or that of the limit it is like.
    pub key: String,
    /// How many tokens or hits each call leaves.
    pub leave: u64,
    storage: Option<String>,
    on_error: Option<OnError>,
    enforce: Option<bool>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
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

/// The most limits and sets in a file: each worker reads all of them.
const MAX_LIMITS: usize = 1_000;

const NO_SECTION: &str = "a section must come first: [the limit's name]";

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
        let mut likes = Vec::new();
        for section in sections {
            let (line, name) = (section.line, section.name);
            match section.finish()? {
                Finished::Limit(limit) => limits.push((line, limit)),
                Finished::Like { line: like_line, other, leave } => {
                    likes.push((line, like_line, name, other, leave));
                }
            }
            if !names.insert(name) {
                return Err(mistake(line, format!("[{name}] must not be there twice")));
            }
        }
        let others = limits.len();
        for (line, like_line, name, other, leave) in likes {
            let found = limits.iter().take(others).find(|(_, limit)| limit.name == other);
            let like = found.and_then(|(_, limit)| limit.like(name, leave));
            let wrong = || {
                let other = sanitize(&other);
                mistake(
                    like_line,
                    format!(
                        "like must name a limit with limit and interval, and [{other}] is none"
                    ),
                )
            };
            limits.push((line, like.ok_or_else(wrong)?));
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

    /// The same limit and buckets under another name. None if this is a set.
    fn like(&self, name: &str, leave: u64) -> Option<Self> {
        let Rule::One { .. } = &self.rule else { return None };
        Some(Self { name: name.to_owned(), leave, ..self.clone() })
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
    let rules: HashMap<&str, &NamedLimit> =
        limits.iter().map(|(_, limit)| (limit.name.as_str(), limit)).collect();
    let key = |name: &String| rules.get(name.as_str()).map(|limit| limit.key.as_str());
    for (line, set) in limits {
        let Rule::All(names) = &set.rule else { continue };
        for name in names {
            let message = match rules.get(name.as_str()) {
                None => format!(
                    "all must name limits of this file, and [{}] is not there",
                    sanitize(name)
                ),
                Some(NamedLimit { rule: Rule::All(_), .. }) => {
                    format!("all must name limits, and [{name}] is a set itself")
                }
                Some(_) if names.iter().filter(|other| *other == name).count() > 1 => {
                    format!("all must name each limit once, and {name} is there twice")
                }
                Some(_) if names.iter().filter(|other| key(other) == key(name)).count() > 1 => {
                    format!(
                        "all must not name two limits of the same buckets, and {name} is like another one"
                    )
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

#[cfg(test)]
mod tests;
