//! A limit of a file, and what is said of some of its clients.

use super::clients::{ClientLine, Clients, Terms};
use crate::limit::{
    CalendarUnit, CalendarWindow, FixedWindow, Limit, LimitError, PermitLimit, SlidingWindow,
    TokenBucket,
};
use crate::settings::Overrides;
use std::borrow::Cow;
use std::rc::Rc;

/// The algorithm of a section that limits so many in a unit of the calendar.
pub const CALENDAR: &str = "calendar";
/// The algorithm of a section that limits how many run at once.
pub const CONCURRENCY: &str = "concurrency";
/// How long a permit is held at most, in seconds, where nothing else is said.
pub const DEFAULT_LIFETIME: f64 = 60.0;

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
    pub(super) exceptions: Exceptions,
}

/// The clients that a limit treats otherwise.
#[derive(Clone, Default)]
pub struct Exceptions {
    /// Those of `except`.
    pub except: Option<Rc<Clients>>,
    /// Those of `clients`.
    pub clients: Option<Rc<ClientsFile>>,
}

/// A file of clients.
pub struct ClientsFile {
    /// Its path, as messages show it.
    pub path: String,
    /// What it says.
    pub clients: Clients,
}

/// What is said of one client, and where.
#[derive(Clone)]
pub struct Exception {
    /// None: the file of limits itself.
    pub file: Option<Rc<ClientsFile>>,
    /// The line.
    pub said: ClientLine,
}

impl Exceptions {
    /// What is said of a client: of its name before any network, of a smaller network before a larger one, in `except` before
    /// `clients`.
    pub fn find(&self, client: &[u8]) -> Option<Exception> {
        let except = self.except.as_ref().and_then(|clients| clients.find(client));
        let own = self.clients.as_ref().and_then(|file| Some((file.clients.find(client)?, file)));
        match (except, own) {
            (Some((exact, said)), None) => Some((exact, Exception { file: None, said })),
            (Some((exact, said)), Some(((other, _), _))) if exact >= other => {
                Some((exact, Exception { file: None, said }))
            }
            (_, own) => own.map(|((exact, said), file)| {
                (exact, Exception { file: Some(Rc::clone(file)), said })
            }),
        }
        .map(|(_, exception)| exception)
    }
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

impl Rule {
    /// The rule with the numbers of one client.
    ///
    /// # Errors
    ///
    /// What is wrong with the numbers: a text that follows the name of the line's mistake.
    pub(super) fn with(&self, count: i64, interval: Option<f64>) -> Result<Self, String> {
        let of = |what: &str, error: LimitError| format!("{what} {error}");
        match (self, interval) {
            (Self::One { algorithm, interval: own, .. }, interval) => {
                let interval = interval.unwrap_or(*own);
                let limit = algorithm.limit(count, interval).map_err(|error| match error {
                    LimitError::Capacity | LimitError::Hits | LimitError::SlidingHits => {
                        of("limit", error)
                    }
                    LimitError::RateTooHigh => RATE_TOO_HIGH.to_owned(),
                    _ => of("interval", LimitError::Interval),
                })?;
                Ok(Self::One { algorithm: *algorithm, count, interval, limit: Rc::new(limit) })
            }
            (Self::Calendar { unit, timezone, .. }, None) => {
                CalendarWindow::new(count, [0; 3]).map_err(|error| of("limit", error))?;
                Ok(Self::Calendar { count, unit: *unit, timezone: timezone.clone() })
            }
            (Self::Concurrency(limit), None) => {
                limit.with_max(count).map(Self::Concurrency).map_err(|error| of("limit", error))
            }
            (Self::Calendar { .. } | Self::Concurrency(_), Some(_)) => {
                Err("must be client = limit: this algorithm has no interval".to_owned())
            }
            (Self::All(_) | Self::First(_), _) => Err("a set has no numbers".to_owned()),
        }
    }
}

pub(super) const RATE_TOO_HIGH: &str =
    "interval must be at least one nanosecond for each unit of limit";

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

    /// What is said of a client alone. None: it is limited as the others are.
    pub fn exception(&self, client: &[u8]) -> Option<Exception> {
        self.exceptions.find(client)
    }

    /// The rule for a client, and whether the client is exempt from it.
    pub fn rule_for(&self, client: &[u8]) -> (Cow<'_, Rule>, bool) {
        match self.exception(client).map(|exception| exception.said.terms) {
            None => (Cow::Borrowed(&self.rule), false),
            Some(Terms::Exempt) => (Cow::Borrowed(&self.rule), true),
            // Checked when the file was read.
            Some(Terms::Numbers { count, interval }) => match self.rule.with(count, interval) {
                Ok(rule) => (Cow::Owned(rule), false),
                Err(_) => (Cow::Borrowed(&self.rule), false),
            },
        }
    }

    /// The clients that the limit treats otherwise.
    pub const fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    /// The settings of the limit's own. None: it has those of the directives.
    pub fn overrides(&self) -> Option<&Overrides> {
        self.overrides.as_deref()
    }
}
