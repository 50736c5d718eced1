//! A section of a file of limits, while it is read.

use super::clients::{ClientList, Clients, Terms};
use super::limit::{
    Algorithm, CALENDAR, CONCURRENCY, ClientsFile, DEFAULT_LIFETIME, Exceptions, NamedLimit, Rule,
    WrongNumber,
};
use super::mistake::{FileError, mistake};
use crate::dsn::{parse_in_ini, quote_unless_secret, sanitize};
use crate::limit::{CalendarUnit, CalendarWindow, LimitError, PermitLimit};
use crate::limiter::compound::MAX_MEMBERS;
use crate::settings::{Overrides, Scope, Setting};
use crate::statistics::LONGEST_NAME;
use crate::suggestion::nearest;
use std::rc::Rc;

/// The keys before and after the settings, in the order of the message about an unknown one.
const KEYS: [&str; 7] =
    ["algorithm", "limit", "interval", "unit", "timezone", "lifetime", "storage"];
const LAST_KEYS: [&str; 6] = ["leave", "except", "clients", "like", "all", "first"];
const SECONDS: &str = "a number of seconds";
const TIME_ZONES: &str =
    "UTC, an offset such as +01:00, or a place that PHP knows, such as Europe/Berlin";

/// The longest name, in bytes: a longer one would be cut in the statistics, where `status()` looks for it.
const MAX_NAME: usize = LONGEST_NAME;

/// What a section says.
pub(super) enum Finished {
    /// A limit or a set.
    Limit(NamedLimit),
    /// Another limit of the file under this name.
    Like { line: u32, other: String, leave: u64 },
}

/// What stands for the algorithm.
enum Kind {
    Algorithm(Algorithm),
    Calendar,
    /// How many run at once.
    Concurrency,
}

/// A line `key = value` as it is written.
#[derive(Clone, Copy)]
struct Given<'a> {
    line: u32,
    key: &'a str,
    value: &'a str,
}

impl Given<'_> {
    fn wrong(self, must_be: &str) -> FileError {
        // A DSN under another key may have a password.
        let value = match quote_unless_secret(self.value) {
            shown if shown.is_empty() => shown,
            shown => format!("; it is{shown}"),
        };
        mistake(self.line, format!("{} must be {must_be}{value}", self.key))
    }
}

/// A value and its line.
type At<T> = Option<(u32, T)>;

/// What a file of limits names that is not in it.
pub struct Sources<'a> {
    /// Whether PHP knows a time zone.
    pub is_zone: &'a dyn Fn(&str) -> bool,
    /// Reads a file of clients, or says what is wrong with it.
    pub clients: &'a dyn Fn(&str) -> Result<Rc<ClientsFile>, String>,
}

/// A section while it is read.
#[derive(Default)]
pub(super) struct Section<'a> {
    pub(super) line: u32,
    pub(super) name: &'a str,
    algorithm: At<Kind>,
    limit: At<i64>,
    interval: At<f64>,
    unit: At<CalendarUnit>,
    timezone: At<String>,
    lifetime: At<f64>,
    storage: At<String>,
    overrides: Overrides,
    /// The settings in `overrides`, with their lines.
    settings: Vec<(u32, &'static str)>,
    except: At<Rc<Clients>>,
    clients: At<Rc<ClientsFile>>,
    all: At<Vec<String>>,
    first: At<Vec<String>>,
    like: At<String>,
    leave: At<u32>,
}

impl<'a> Section<'a> {
    pub(super) fn begin(line: u32, name: &'a str) -> Result<Self, FileError> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(is_valid) {
            return Err(mistake(
                line,
                format!(
                    "the name of a limit must be 1 to {MAX_NAME} letters, digits, \"_\", \"-\" and \".\""
                ),
            ));
        }
        Ok(Self { line, name, ..Self::default() })
    }

    /// Sets a key.
    pub(super) fn set(
        &mut self,
        line: u32,
        key: &str,
        value: &str,
        sources: &Sources<'_>,
    ) -> Result<(), FileError> {
        let given = Given { line, key, value };
        match key {
            "algorithm" => {
                let algorithm = match value {
                    CONCURRENCY => Some(Kind::Concurrency),
                    CALENDAR => Some(Kind::Calendar),
                    _ => Algorithm::from_name(value).map(Kind::Algorithm),
                };
                put(&mut self.algorithm, given, algorithm, Algorithm::VALUES)
            }
            "limit" => put(&mut self.limit, given, value.parse().ok(), "a whole number"),
            "interval" => put(&mut self.interval, given, value.parse().ok(), SECONDS),
            "unit" => {
                let unit = CalendarUnit::from_name(value.as_bytes());
                put(&mut self.unit, given, unit, CalendarUnit::VALUES)
            }
            "timezone" => {
                let zone = (sources.is_zone)(value).then(|| value.to_owned());
                put(&mut self.timezone, given, zone, TIME_ZONES)
            }
            "lifetime" => put(&mut self.lifetime, given, value.parse().ok(), SECONDS),
            "storage" => {
                // A DSN's message shows no password.
                parse_in_ini(value).map_err(|error| mistake(line, format!("storage: {error}")))?;
                put(&mut self.storage, given, Some(value.to_owned()), "")
            }
            "except" => put(&mut self.except, given, Some(Rc::new(except(line, value)?)), ""),
            "clients" if value.contains("://") => Err(given.wrong("the path of a file")),
            "clients" => {
                let file = (sources.clients)(value)
                    .map_err(|what| mistake(line, format!("clients: {what}")))?;
                put(&mut self.clients, given, Some(file), "")
            }
            "all" => put(&mut self.all, given, names(value, 1), &names_of(1)),
            "first" => put(&mut self.first, given, names(value, 2), &names_of(2)),
            "like" => put(&mut self.like, given, Some(value.to_owned()), ""),
            "leave" => put(&mut self.leave, given, value.parse().ok(), "a whole number, 0 or more"),
            _ => match Setting::find(key, Scope::Section) {
                Some(setting) => self.override_setting(given, setting),
                None => Err(unknown(given)),
            },
        }
    }

    fn override_setting(&mut self, given: Given<'_>, setting: &Setting) -> Result<(), FileError> {
        let (name, line) = (setting.name, given.line);
        (setting.set)(&mut self.overrides, given.value.as_bytes())
            .map_err(|must_be| given.wrong(&must_be))?;
        if let Some((first, _)) = self.settings.iter().find(|(_, other)| *other == name) {
            return Err(twice(line, name, *first));
        }
        self.settings.push((line, name));
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Finished, FileError> {
        let leave = self.leave.map_or(0, |(_, leave)| leave.into());
        let has_limit = self.limit.is_some()
            || self.interval.is_some()
            || self.unit.is_some()
            || self.timezone.is_some()
            || self.lifetime.is_some()
            || self.algorithm.is_some();
        let has_overrides = !self.settings.is_empty();
        let has_exceptions = self.except.is_some() || self.clients.is_some();
        let has_settings = self.storage.is_some() || has_overrides || has_exceptions;
        if let Some((line, other)) = self.like.take() {
            return match has_limit || has_settings || self.all.is_some() || self.first.is_some() {
                true => Err(mistake(
                    line,
                    "a limit with like can have no other key but leave: it uses those of the other limit",
                )),
                false => Ok(Finished::Like { line, other, leave }),
            };
        }
        let is_set_alone = !(has_limit || has_settings || self.leave.is_some());
        let rule = match (self.all.take(), self.first.take()) {
            (Some((_, names)), None) if is_set_alone => Rule::All(names),
            (None, Some((_, names))) if is_set_alone => Rule::First(names),
            (Some((line, _)), _) => {
                return Err(mistake(
                    line,
                    "a set with all can have no other key: its limits have them",
                ));
            }
            (None, Some((line, _))) => {
                return Err(mistake(
                    line,
                    "a set with first can have no other key: its limits have them",
                ));
            }
            (None, None) => self.rule()?,
        };
        let exceptions = self.exceptions(&rule)?;
        Ok(Finished::Limit(NamedLimit {
            name: self.name.to_owned(),
            key: self.name.to_owned(),
            leave,
            rule,
            storage: self.storage.map(|(_, it)| it),
            overrides: has_overrides.then(|| Box::new(self.overrides)),
            exceptions,
        }))
    }

    /// The clients that are treated otherwise, whose numbers must be right for the rule.
    fn exceptions(&mut self, rule: &Rule) -> Result<Exceptions, FileError> {
        let except = self.except.take().map(|(_, clients)| clients);
        let Some((line, file)) = self.clients.take() else {
            return Ok(Exceptions { except, clients: None });
        };
        let wrong = file.clients.extremes().iter().filter_map(|said| match said.terms {
            Terms::Exempt => None,
            Terms::Numbers { count, interval } => {
                Some((said.line, rule.with(count, interval).err()?))
            }
        });
        match wrong.min_by_key(|(line, _)| *line) {
            None => Ok(Exceptions { except, clients: Some(file) }),
            Some((number, what)) => {
                let path = &file.path;
                Err(mistake(line, format!("clients: {path}: line {number}: {what}")))
            }
        }
    }

    /// The limit of a section that is neither a set nor like another one.
    fn rule(&mut self) -> Result<Rule, FileError> {
        let of_unit = self.unit.as_ref().map(|(line, _)| *line);
        let of_zone = self.timezone.as_ref().map(|(line, _)| *line);
        match (&self.algorithm, of_unit.or(of_zone)) {
            (Some((_, Kind::Calendar)), _) => self.calendar(),
            (_, Some(line)) => Err(mistake(line, "unit and timezone are for algorithm = calendar")),
            (Some((_, Kind::Concurrency)), None) => self.concurrency(),
            (Some((_, Kind::Algorithm(algorithm))), None) => self.one(*algorithm),
            (None, None) => self.one(Algorithm::TokenBucket),
        }
    }

    fn calendar(&mut self) -> Result<Rule, FileError> {
        let (Some((limit_line, count)), Some((_, unit)), None, None) =
            (self.limit, self.unit, self.interval, self.lifetime)
        else {
            let message =
                "a limit of the calendar must have limit and unit, and no interval or lifetime";
            return Err(mistake(self.line, message));
        };
        CalendarWindow::new(count, [0; 3])
            .map_err(|error| mistake(limit_line, format!("limit {error}")))?;
        let timezone = self.timezone.take().map_or_else(|| "UTC".to_owned(), |(_, zone)| zone);
        Ok(Rule::Calendar { count, unit, timezone })
    }

    fn concurrency(&self) -> Result<Rule, FileError> {
        let (Some((limit_line, max)), None) = (self.limit, self.interval) else {
            let message = "a limit of how many run at once must have limit, and no interval; \
                           lifetime is how long a permit lasts";
            return Err(mistake(self.line, message));
        };
        let (lifetime_line, lifetime) = self.lifetime.unwrap_or((limit_line, DEFAULT_LIFETIME));
        let limit = PermitLimit::new(max, lifetime).map_err(|error| match error {
            LimitError::Permits => mistake(limit_line, format!("limit {error}")),
            _ => mistake(lifetime_line, format!("lifetime {error}")),
        })?;
        Ok(Rule::Concurrency(limit))
    }

    fn one(&self, algorithm: Algorithm) -> Result<Rule, FileError> {
        let (Some((limit_line, count)), Some((interval_line, interval))) =
            (self.limit, self.interval)
        else {
            let missing = match (self.limit, self.interval) {
                (Some(_), _) => "has no interval: it must have limit and interval",
                (_, Some(_)) => "has no limit: it must have limit and interval",
                _ => "must have limit and interval, or all, or first, or like",
            };
            return Err(mistake(self.line, format!("[{}] {missing}", self.name)));
        };
        if let Some((line, _)) = self.lifetime {
            return Err(mistake(line, "lifetime is for algorithm = concurrency"));
        }
        let limit = algorithm.limit(count, interval).map_err(|error| {
            let wrong = WrongNumber::from(error);
            mistake(if wrong.is_count { limit_line } else { interval_line }, wrong.message)
        })?;
        Ok(Rule::One { algorithm, count, interval, limit: Rc::new(limit) })
    }
}

/// Stores the value of a key, which must be valid and the first one.
fn put<T>(
    place: &mut At<T>,
    given: Given<'_>,
    value: Option<T>,
    must_be: &str,
) -> Result<(), FileError> {
    let value = value.ok_or_else(|| given.wrong(must_be))?;
    match place.replace((given.line, value)) {
        None => Ok(()),
        Some((first, _)) => Err(twice(given.line, given.key, first)),
    }
}

fn twice(line: u32, key: &str, first: u32) -> FileError {
    mistake(line, format!("{key} is set twice: the first time in line {first}"))
}

fn unknown(given: Given<'_>) -> FileError {
    let key = sanitize(given.key);
    let first = key.split([' ', ':', '\t']).next().unwrap_or_default();
    let may_be_dsn = given.key.contains(['@', '/']);
    if may_be_dsn || given.value.is_empty() && first != key {
        // The rest may be a password.
        let begin = if first.contains('@') { "..." } else { first };
        let message = format!("must be [name] or key = value; it begins with \"{begin}\"");
        return mistake(given.line, message);
    }
    let settings = Setting::in_scope(Scope::Section).map(|it| it.name);
    let mut known: Vec<&str> = KEYS.into_iter().chain(settings).chain(LAST_KEYS).collect();
    let plain = given.key.replace([' ', '-'], "").to_lowercase();
    let near = nearest(&plain, known.iter().copied(), (plain.len() / 3).min(2));
    let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
    let last = known.pop().unwrap_or_default();
    let known = known.join(", ");
    mistake(given.line, format!("\"{key}\" is unknown: a key must be {known} or {last}{near}"))
}

/// The clients that no limit holds.
fn except(line: u32, value: &str) -> Result<Clients, FileError> {
    let in_except = |error: FileError| mistake(error.line, format!("except: {}", error.message));
    let mut list = ClientList::default();
    for client in words(value) {
        if client.starts_with('#') {
            return Err(mistake(line, "except: a comment begins with a semicolon"));
        }
        if client.contains('"') {
            let message = "except: quotes must be around the whole value, or nowhere; name a client with spaces in a file of clients";
            return Err(mistake(line, message));
        }
        list.add(line, client, false, Terms::Exempt).map_err(in_except)?;
    }
    list.finish().map_err(in_except)
}

/// The words of a value, with spaces or commas between.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(|char: char| char.is_whitespace() || char == ',').filter(|word| !word.is_empty())
}

/// The names of limits in a value, if they are as many as a set may have.
fn names(value: &str, least: usize) -> Option<Vec<String>> {
    let names: Vec<String> = words(value).map(str::to_owned).collect();
    (least..=MAX_MEMBERS).contains(&names.len()).then_some(names)
}

fn names_of(least: usize) -> String {
    format!("the names of {least} to {MAX_MEMBERS} limits, with spaces or commas between")
}
