//! What operators ask: what was counted, how full the tables are, which servers answer.

use super::limit_statistics::{LimitName, LimitStatistics};
use super::statistics::Statistics;
use super::tables::TableStatus;
use crate::clock::{boot_time, unix_seconds};
use crate::error::Error;
use crate::guard::{Host, ServerStatus, list_servers};
use crate::limit::SECOND;
use crate::mapped::FileSettings;

/// What the processes of one user on this host have counted and share.
pub struct Status {
    /// What keeps shared memory from being used, in the words of the exceptions.
    pub memory_errors: Vec<String>,
    /// What was counted, by prefix and name.
    pub limits: Vec<(LimitName, LimitStatistics)>,
    /// The tables in shared memory.
    pub tables: Vec<TableStatus>,
    /// The stores on servers.
    pub servers: Vec<ServerStatus>,
    /// Whether the file of `token_bucket.limits` has no mistake. None if no file is named.
    pub is_limits_file_valid: Option<bool>,
}

impl Status {
    /// Collects all of it. `configured` is what this host knows of the servers that the directives name, and
    /// `memory_errors` what keeps the memory of their limiters from being used.
    pub fn collect<'a>(
        statistics: &Statistics,
        files: &FileSettings,
        configured: impl Iterator<Item = &'a Host>,
        memory_errors: impl Iterator<Item = Error>,
        is_limits_file_valid: Option<bool>,
    ) -> Self {
        let (tables, unusable) = TableStatus::list(files);
        // One directory that cannot be used is the error of all files in it.
        let errors = memory_errors.chain(unusable).chain(statistics.error());
        let mut messages = Vec::new();
        for message in errors.map(|error| error.to_string()) {
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        Self {
            memory_errors: messages,
            limits: statistics.snapshot(),
            tables,
            servers: list_servers(files, configured),
            is_limits_file_valid,
        }
    }
}

/// The wall clock's time, in seconds since 1970, at a time since boot. To a millisecond, so that a second reading is the same.
pub fn unix_time(at: u64) -> f64 {
    let time = unix_seconds() - boot_time().saturating_sub(at) as f64 / SECOND as f64;
    (time * 1e3).round() / 1e3
}
