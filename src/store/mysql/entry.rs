//! The row of one key.

use super::code;
use super::database::Database;
use super::row::{self, Columns};
use super::statements::Schema;
use crate::error::Result;
use crate::limit::StoredState;
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::store::request::Request;
use crate::store::swap::{Swap, SwapEntry};
use crate::store::writes::WriteOutcome;
use mysql_common::value::Value;
use std::cell::Cell;

/// The row of one key.
pub struct RowEntry<'a> {
    /// The database that holds it.
    pub database: &'a Database,
    /// Its primary key.
    pub identifier: Vec<u8>,
    /// The call that is about it.
    pub request: Request<'a>,
    /// Whether there was a row when it was read last. One that is not there cannot be locked.
    pub(super) has_row: Cell<bool>,
}

/// A row as it was read or handed off.
pub struct RowVersion {
    pub(super) schema: Schema,
    /// None if there is no row.
    pub(super) columns: Option<Columns>,
}

/// The version of a row in a hand-off. One of the legacy schema has none, for it does not hold the whole state.
pub fn version_of(schema: Schema, microtime: f64) -> Option<u64> {
    (schema != Schema::Legacy).then(|| microtime.to_bits())
}

impl<'a> RowEntry<'a> {
    /// The row of a key, for a call that is about it.
    pub fn new(database: &'a Database, identifier: Vec<u8>, request: Request<'a>) -> Self {
        Self { database, identifier, request, has_row: Cell::default() }
    }

    /// Inserts the row of a full bucket if there was none when `version` was read. Another session may have
    /// inserted it meanwhile.
    pub fn insert_missing(&self, version: &RowVersion, budget: &mut Budget) -> Result<()> {
        if version.columns.is_some() {
            return Ok(());
        }
        match self.swap(version, &StoredState::FULL, 0, budget)? {
            Swap::Done(_) | Swap::Lost => Ok(()),
            Swap::Locked | Swap::Blocked => Err(self.database.waiting_write()),
        }
    }

    /// What a swap came to that failed. `had_half`: half of the call's time was left before it.
    pub(super) fn lost_by(&self, failure: &Failure, had_half: bool) -> Result<Swap> {
        match failure {
            failure if failure.is(code::LOCK_WAIT) => Ok(Swap::Locked),
            failure if failure.is(code::DUPLICATE_ROW) || failure.is_any(&code::CONFLICTS) => {
                self.database.writes.note(WriteOutcome::Answered);
                Ok(Swap::Lost)
            }
            failure if failure.is(code::TOO_SLOW) => Ok(Swap::Blocked),
            // MySQL has no limit for a statement's time, so a locked row looks like a server that is
            // down. The next call finds out which it is.
            Failure::TimedOut if had_half => Ok(Swap::Blocked),
            // Other calls took the rest of the time.
            Failure::TimedOut => Err(self.busy()),
            failure => Err(self.database.error(failure, &self.identifier)),
        }
    }

    /// The schema that the row must have, if what the call stores does not fit into every one.
    pub fn needed_schema(&self) -> Option<Schema> {
        row::needed_schema(self.request.limit, *self.request.op)
    }

    /// The parameters of [`Statement::Update`].
    pub fn update_values(&self, new: Columns, old: &Columns) -> Vec<Value> {
        new.into_iter().chain([self.identifier()]).chain(old.iter().cloned()).collect()
    }

    pub(super) fn identifier(&self) -> Value {
        Value::Bytes(self.identifier.clone())
    }
}
