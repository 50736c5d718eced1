//! Limits that an operator names in a file, one section each.

mod clients;
mod clients_file;
mod limit;
mod mistake;
mod section;

use crate::dsn::sanitize;
use crate::limit::Limit;
pub use clients::{Clients, Terms};
pub use clients_file::read as read_clients;
pub use limit::{
    Algorithm, CALENDAR, CONCURRENCY, ClientRule, ClientsFile, DEFAULT_LIFETIME, Exception,
    NamedLimit, Rule,
};
pub use mistake::FileError;
use mistake::mistake;
pub use section::Sources;
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

/// All limits of a file.
#[derive(Default)]
pub struct NamedLimits {
    /// Sorted by name.
    limits: Vec<NamedLimit>,
}

/// The most limits and sets in a file: each worker reads all of them.
const MAX_LIMITS: usize = 1_000;

const NO_SECTION: &str = "a section must come first: [the limit's name]";

impl NamedLimits {
    /// Reads the limits from the lines of a file, and what it names from `sources`.
    ///
    /// # Errors
    ///
    /// The first mistake in the file.
    pub fn from_lines(lines: &[FileLine], sources: &Sources<'_>) -> Result<Self, FileError> {
        let mut sections: Vec<Section<'_>> = Vec::new();
        for FileLine { number, content } in lines {
            match content {
                LineContent::Section(_) if sections.len() == MAX_LIMITS => {
                    return Err(mistake(*number, format!("must have at most {MAX_LIMITS} limits")));
                }
                LineContent::Section(name) => sections.push(Section::begin(*number, name)?),
                LineContent::Entry(key, value) => match sections.last_mut() {
                    Some(section) => section.set(*number, key, value, sources)?,
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
                return Err(mistake(line, format!("there are two sections [{name}]")));
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
                        "like must name a limit of this file with numbers of its own; [{other}] is not one"
                    ),
                )
            };
            limits.push((line, like.ok_or_else(wrong)?));
        }
        check_sets(&limits)?;
        limits.iter().try_for_each(|(line, limit)| check_leave(*line, limit))?;
        let mut limits: Vec<NamedLimit> = limits.into_iter().map(|(_, limit)| limit).collect();
        limits.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { limits })
    }

    /// The limit of this name.
    pub fn find(&self, name: &[u8]) -> Option<&NamedLimit> {
        let found = self.limits.binary_search_by(|limit| limit.name.as_bytes().cmp(name));
        self.limits.get(found.ok()?)
    }

    /// The numbers of the limit of this name for an identifier, if that is one of its clients. A calendar's are not known here.
    pub fn limit_on(&self, name: &[u8], identifier: &[u8]) -> Option<Rc<Limit>> {
        let named = self.find(name)?;
        let client = identifier.strip_prefix(named.key.as_bytes())?.strip_prefix(b":")?;
        match named.rule_for(client).rule() {
            Rule::One { limit, .. } => Some(Rc::clone(limit)),
            _ => None,
        }
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

/// A limit must be able to leave as much as it has to, also that of a client with other numbers.
fn check_leave(line: u32, limit: &NamedLimit) -> Result<(), FileError> {
    let (name, leave) = (&limit.name, limit.leave);
    match limit.fewest() {
        Some((count, of_client)) if leave > 0 && count <= leave => {
            let whose = of_client.map_or_else(String::new, |line| {
                let file = limit.exceptions().clients.as_ref().map_or("", |file| &file.path);
                format!("which {file}: line {line} sets to ")
            });
            Err(mistake(
                line,
                format!(
                    "[{name}] must leave less than its limit, {whose}{count}: leave is {leave}"
                ),
            ))
        }
        _ => Ok(()),
    }
}

/// Every limit of a set must be there and must not be a set.
fn check_sets(limits: &[(u32, NamedLimit)]) -> Result<(), FileError> {
    let rules: HashMap<&str, &NamedLimit> =
        limits.iter().map(|(_, limit)| (limit.name.as_str(), limit)).collect();
    let bucket = |name: &String| rules.get(name.as_str()).map(|limit| limit.key.as_str());
    for (line, set) in limits {
        let (key, names) = match &set.rule {
            Rule::All(names) => ("all", names),
            Rule::First(names) => ("first", names),
            Rule::One { .. } | Rule::Calendar { .. } | Rule::Concurrency(_) => continue,
        };
        for name in names {
            let message = match rules.get(name.as_str()) {
                None => format!(
                    "{key} must name limits of this file; there is no limit [{}]",
                    sanitize(name)
                ),
                Some(NamedLimit { rule: Rule::All(_) | Rule::First(_), .. }) => {
                    format!("{key} must name single limits; [{name}] is a set")
                }
                Some(NamedLimit { rule: Rule::Concurrency(_), .. }) => {
                    format!("{key} must name limits of calls; [{name}] limits how many run at once")
                }
                Some(_) if names.iter().filter(|other| *other == name).count() > 1 => {
                    format!("{key} must name each limit once; {name} is there twice")
                }
                Some(_)
                    if names.iter().filter(|other| bucket(other) == bucket(name)).count() > 1 =>
                {
                    format!(
                        "{key} must name limits with buckets of their own; {name} shares those of another one"
                    )
                }
                Some(_) => continue,
            };
            return Err(mistake(*line, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
