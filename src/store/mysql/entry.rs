//! One row: read, and swapped while it is unchanged.

use super::code;
use super::database::Database;
use super::link::{MysqlLink, Row, StatementReply};
use super::row::{self, Columns};
use super::statements::{Schema, Statement};
use crate::clock::{Reading, boot_time};
use crate::error::Result;
use crate::limit::{SECOND, StoredState};
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use crate::store::request::Request;
use crate::store::swap::{Found, Swap, SwapEntry};
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

/// The most reads of a row while another session's statements conflict with them.
const MAX_TRIES: u32 = 5;

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
            Swap::Locked | Swap::Blocked => Err(self.locked()),
        }
    }

    /// What a swap came to that failed. `had_most`: most of the call's time was left before it.
    pub(super) fn lost_by(&self, failure: &Failure, had_most: bool) -> Result<Swap> {
        match failure {
            failure if failure.is(code::DUPLICATE_ROW) => Ok(Swap::Lost),
            failure if failure.is(code::LOCK_WAIT) => Ok(Swap::Locked),
            failure if failure.is_any(&code::CONFLICTS) => Ok(Swap::Lost),
            // MySQL has no limit for a statement's time, so a locked row looks like a server that is
            // down. The next call finds out which it is.
            Failure::TimedOut if had_most => Ok(Swap::Blocked),
            // Other calls took the rest of the time.
            Failure::TimedOut => Err(self.busy()),
            failure => Err(self.database.error(failure, &self.identifier)),
        }
    }

    /// The schema of the row, in a table of this schema.
    pub fn schema(&self, of_table: Schema) -> Schema {
        match row::needed_schema(self.request.limit, *self.request.op) {
            Some(Schema::Hits) => Schema::Hits,
            _ => of_table,
        }
    }

    /// The parameters of [`Statement::Update`].
    pub fn update_values(&self, new: Columns, old: &Columns) -> Vec<Value> {
        new.into_iter().chain([self.identifier()]).chain(old.iter().cloned()).collect()
    }

    pub(super) fn identifier(&self) -> Value {
        Value::Bytes(self.identifier.clone())
    }

    pub(super) fn read_once(&self, budget: &mut Budget) -> Result<Found<RowVersion>> {
        let read = wait_for_alteration(|| {
            self.database.run(budget, true, |link, deadline| self.read_row(link, deadline))
        });
        let (schema, row, clock) =
            read.map_err(|failure| self.database.error(&failure, &self.identifier))?;
        let clock = clock.ok_or_else(|| self.database.unreadable())?;
        self.has_row.set(row.is_some());
        let state = match &row {
            Some(columns) => row::decode(schema, self.request.limit, columns),
            None => Some(StoredState::FULL),
        };
        let state = state.ok_or_else(|| self.database.unreadable())?;
        let version = RowVersion { schema, columns: row };
        Ok(Found { state, version, now: [clock.time; 2], clock })
    }

    /// Reads a row and the clock. The clock is None if it cannot be parsed.
    fn read_row(
        &self,
        link: &mut MysqlLink,
        deadline: Moment,
    ) -> Result<(Schema, Option<Columns>, Option<Reading>), Failure> {
        let sent_at = boot_time();
        let (schema, row) = self.find_row(link, deadline)?;
        let (time, columns) = match row {
            Some(row) => {
                let mut values = row.into_iter();
                (values.next(), Some(values.collect()))
            }
            None => {
                let row = self.first_row(link, Statement::Clock, &[], deadline)?;
                (row.and_then(|row| row.into_iter().next()), None)
            }
        };
        let time = time.and_then(|time| row::clock(&time));
        Ok((schema, columns, time.map(|time| Reading::taken_now(time, sent_at))))
    }

    /// Finds the row, by the legacy schema if the table has no other.
    fn find_row(
        &self,
        link: &mut MysqlLink,
        deadline: Moment,
    ) -> Result<(Schema, Option<Row>), Failure> {
        let values = [self.identifier()];
        let read = |link: &mut MysqlLink, schema| {
            self.first_row(link, Statement::Read(schema), &values, deadline)
        };
        let needed = row::needed_schema(self.request.limit, *self.request.op);
        let schema = needed.unwrap_or(link.schema());
        if schema != Schema::Legacy {
            match read(link, schema) {
                Err(failure) if failure.is(code::NO_SUCH_COLUMN) && needed.is_none() => {
                    link.legacy_until.set(boot_time() + SECOND);
                }
                row => {
                    link.legacy_until.set(0);
                    return Ok((schema, row?));
                }
            }
        }
        Ok((Schema::Legacy, read(link, Schema::Legacy)?))
    }

    /// The first row that a statement returns, if it returns one; empty for a statement without rows.
    pub(super) fn first_row(
        &self,
        link: &mut MysqlLink,
        statement: Statement,
        values: &[Value],
        deadline: Moment,
    ) -> Result<Option<Row>, Failure> {
        match link.execute(statement, &self.database.target.table, values, deadline)? {
            StatementReply::Rows(rows) => Ok(rows.into_iter().next()),
            StatementReply::Done(_) => Ok(Some(Row::new())),
        }
    }
}

/// Reads again while the table is being altered.
fn wait_for_alteration<T>(mut read: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let mut result = read();
    for _ in 1..MAX_TRIES {
        let Err(conflict) = &result else { break };
        if !conflict.is_any(&code::CONFLICTS) {
            break;
        }
        match read() {
            // The server has answered before, so the lock took the time.
            Err(Failure::TimedOut) => break,
            again => result = again,
        }
    }
    result
}
