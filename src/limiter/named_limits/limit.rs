//! A limit of a file, and the clients that it treats differently.

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

/// The clients that a limit treats differently.
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
    /// Its lines.
    pub clients: Clients,
}

/// A line about one client, and its file.
#[derive(Clone)]
pub struct Exception {
    /// None: the file of limits itself.
    pub file: Option<Rc<ClientsFile>>,
    /// The line.
    pub said: ClientLine,
}

impl Exceptions {
    /// Finds the line about a client: the more precise one, and of two equal ones that in `except`.
    pub fn find(&self, client: &[u8]) -> Option<Exception> {
        let by_file = self.clients.as_ref().and_then(|file| {
            let (precision, said) = file.clients.find(client)?;
            Some((precision, Exception { file: Some(Rc::clone(file)), said }))
        });
        let by_except = self.except.as_ref().and_then(|clients| {
            let (precision, said) = clients.find(client)?;
            Some((precision, Exception { file: None, said }))
        });
        // The last of two equal ones counts.
        let found = by_file.into_iter().chain(by_except).max_by_key(|(precision, _)| *precision);
        found.map(|(_, exception)| exception)
    }
}

/// The rule for one client.
pub enum ClientRule<'a> {
    /// No limit: the client is exempt from this one.
    Exempt(&'a Rule),
    /// The limit's own or the client's.
    Limited(Cow<'a, Rule>),
}

impl ClientRule<'_> {
    /// The rule that holds, or would hold if the client was not exempt.
    pub fn rule(&self) -> &Rule {
        match self {
            Self::Exempt(rule) => rule,
            Self::Limited(rule) => rule,
        }
    }

    /// Whether the client is exempt.
    pub const fn is_exempt(&self) -> bool {
        matches!(self, Self::Exempt(_))
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
    /// What is wrong with the numbers.
    pub(super) fn with(&self, count: i64, interval: Option<f64>) -> Result<Self, String> {
        let wrong = |error| WrongNumber::from(error).message;
        match (self, interval) {
            (Self::One { algorithm, interval: own, .. }, interval) => {
                let interval = interval.unwrap_or(*own);
                let limit = Rc::new(algorithm.limit(count, interval).map_err(wrong)?);
                Ok(Self::One { algorithm: *algorithm, count, interval, limit })
            }
            (Self::Calendar { unit, timezone, .. }, None) => {
                CalendarWindow::new(count, [0; 3]).map_err(wrong)?;
                Ok(Self::Calendar { count, unit: *unit, timezone: timezone.clone() })
            }
            (Self::Concurrency(limit), None) => {
                limit.with_max(count).map(Self::Concurrency).map_err(wrong)
            }
            (Self::Calendar { .. } | Self::Concurrency(_), Some(_)) => {
                Err("must be client = limit, because this algorithm has no interval".to_owned())
            }
            (Self::All(_) | Self::First(_), _) => Err("a set has no numbers".to_owned()),
        }
    }
}

/// Why `limit` and `interval` make no limit.
pub(super) struct WrongNumber {
    /// Whether it is `limit` that is wrong.
    pub is_count: bool,
    pub message: String,
}

impl From<LimitError> for WrongNumber {
    fn from(error: LimitError) -> Self {
        let (is_count, message) = match error {
            LimitError::Capacity
            | LimitError::Hits
            | LimitError::SlidingHits
            | LimitError::Permits => (true, format!("limit {error}")),
            LimitError::RateTooHigh => {
                let message = "interval must be at least one nanosecond for each unit of limit";
                (false, message.to_owned())
            }
            _ => (false, format!("interval {}", LimitError::Interval)),
        };
        Self { is_count, message }
    }
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

    /// The line about a client. None: it is limited as others are.
    pub fn exception(&self, client: &[u8]) -> Option<Exception> {
        self.exceptions.find(client)
    }

    /// The rule for a client.
    pub fn rule_for(&self, client: &[u8]) -> ClientRule<'_> {
        match self.exception(client).map(|exception| exception.said.terms) {
            None => ClientRule::Limited(Cow::Borrowed(&self.rule)),
            Some(Terms::Exempt) => ClientRule::Exempt(&self.rule),
            Some(Terms::Numbers { count, interval }) => {
                // The file was refused if a line had wrong numbers.
                let own = self.rule.with(count, interval).map(Cow::Owned);
                ClientRule::Limited(own.unwrap_or(Cow::Borrowed(&self.rule)))
            }
        }
    }

    /// The clients that the limit treats differently.
    pub const fn exceptions(&self) -> &Exceptions {
        &self.exceptions
    }

    /// The fewest tokens, hits or permits that one of its clients may have at once, and the line in the file of clients. None of
    /// a set.
    pub(super) fn fewest(&self) -> Option<(u64, Option<u32>)> {
        let own = match &self.rule {
            Rule::One { count, .. } | Rule::Calendar { count, .. } => count.unsigned_abs(),
            Rule::Concurrency(limit) => limit.max().into(),
            Rule::All(_) | Rule::First(_) => return None,
        };
        let lines = self.exceptions.clients.iter().flat_map(|file| file.clients.extremes());
        let counts = lines.filter_map(|said| match said.terms {
            Terms::Exempt => None,
            Terms::Numbers { count, .. } => Some((count.unsigned_abs(), Some(said.line))),
        });
        counts.chain([(own, None)]).min()
    }

    /// The settings of the limit's own. None: it has those of the directives.
    pub fn overrides(&self) -> Option<&Overrides> {
        self.overrides.as_deref()
    }
}
