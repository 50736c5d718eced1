//! A limit of a file, and a mistake in one.

use crate::limit::{
    CalendarUnit, FixedWindow, Limit, LimitError, PermitLimit, SlidingWindow, TokenBucket,
};
use crate::settings::Overrides;
use std::rc::Rc;

/// The algorithm of a section that limits so many in a unit of the calendar.
pub const CALENDAR: &str = "calendar";
/// The algorithm of a section that limits how many run at once.
pub const CONCURRENCY: &str = "concurrency";
/// How long a permit is held at most, in seconds, where nothing else is said.
pub const DEFAULT_LIFETIME: f64 = 60.0;

/// A mistake in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A limit or a set of limits that has a name.
#[derive(Clone)]
pub struct NamedLimit {
    /// The name.
    pub name: String,
    /// What it is.
    pub rule: Rule,
    /// Whose buckets it has: its own name, or that of the limit it is like.
    pub key: String,
    /// How many tokens, hits or permits each call leaves.
    pub leave: u64,
    pub(super) storage: Option<String>,
    /// None if the section sets none.
    pub(super) overrides: Option<Box<Overrides>>,
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
    /// So many in a unit of the calendar.
    Calendar {
        /// Hits.
        count: i64,
        /// The unit.
        unit: CalendarUnit,
        /// The time zone.
        timezone: String,
    },
    /// How many run at once.
    Concurrency(PermitLimit),
    /// Several limits, of which a call is charged all or none: their names.
    All(Vec<String>),
    /// Several limits, of which the first one that accepts is charged: their names.
    First(Vec<String>),
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

impl Algorithm {
    pub(super) const VALUES: &'static str =
        "token_bucket, leaky_bucket, fixed_window, sliding_window, calendar or concurrency";

    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::TokenBucket, Self::LeakyBucket, Self::FixedWindow, Self::SlidingWindow]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
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

    pub(super) fn limit(self, count: i64, interval: f64) -> Result<Limit, LimitError> {
        match self {
            Self::TokenBucket | Self::LeakyBucket => {
                TokenBucket::per_period(count, interval).map(Limit::from)
            }
            Self::FixedWindow => FixedWindow::new(count, interval).map(Limit::from),
            Self::SlidingWindow => SlidingWindow::new(count, interval).map(Limit::from),
        }
    }
}

impl NamedLimit {
    /// The DSN of the limit's own storage. None: the default storage.
    pub fn storage(&self) -> Option<&str> {
        self.storage.as_deref()
    }

    /// The same limit and buckets under another name. None if this is a set.
    pub(super) fn like(&self, name: &str, leave: u64) -> Option<Self> {
        let is_set = matches!(self.rule, Rule::All(_) | Rule::First(_));
        (!is_set).then(|| Self { name: name.to_owned(), leave, ..self.clone() })
    }

    /// The settings of the limit's own. None: it has those of the directives.
    pub fn overrides(&self) -> Option<&Overrides> {
        self.overrides.as_deref()
    }
}

pub(super) fn mistake(line: u32, message: impl Into<String>) -> FileError {
    FileError { line, message: message.into() }
}
