//! What operators ask: what was counted, how full the tables are, which servers answer.

use super::limiter::Limiter;
use super::statistics::Statistics;
use crate::clock::boot_time;
use crate::limit::SECOND;
use crate::mapped::FileSettings;
use crate::store::counters::{LimitName, LimitStatistics};
use crate::store::{ServerStatus, TableStatus};
use std::rc::Rc;
use std::time::SystemTime;

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
    /// Collects all of it. `configured` are the limiters that the directives name.
    pub fn collect(
        statistics: &Statistics,
        files: &FileSettings,
        configured: &[Rc<Limiter>],
        is_limits_file_valid: Option<bool>,
    ) -> Self {
        let (tables, unusable) = TableStatus::list(files);
        let checked = configured.iter().filter_map(|limiter| limiter.check_memory().err());
        // One directory that cannot be used is the error of all files in it.
        let errors = checked.chain(unusable).chain(statistics.error());
        let mut memory_errors = Vec::new();
        for error in errors.map(|error| error.to_string()) {
            if !memory_errors.contains(&error) {
                memory_errors.push(error);
            }
        }
        Self {
            memory_errors,
            limits: statistics.snapshot(),
            tables,
            servers: ServerStatus::list(
                files,
                configured.iter().filter_map(|limiter| limiter.host()),
            ),
            is_limits_file_valid,
        }
    }
}

/// The wall clock's time, in seconds since 1970, at a time since boot. To a millisecond, so that a second reading is the same.
pub fn unix_time(at: u64) -> f64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64();
    let time = now - boot_time().saturating_sub(at) as f64 / SECOND as f64;
    (time * 1e3).round() / 1e3
}
