//! One row: read, and swapped while it is as it was read.

use super::link::{Link, Reply, Row};
use super::row::{self, Columns};
use super::statements::{Schema, Statement};
use super::{Mysql, code};
use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{Limit, MAX_NOW, Op, SECOND, State};
use crate::store::net::{budget::Budget, failure::Failure};
use crate::store::shm::queue::Handoff;
use crate::store::swap::{Entry, Found, Request, Swap};
use mysql_common::value::Value;
use std::time::Instant;

/// The row of one key.
pub struct RowEntry<'a> {
    /// Its store.
    pub store: &'a Mysql,
    /// Its primary key.
    pub identifier: Vec<u8>,
    /// What is asked of it.
    pub request: Request<'a>,
}

/// A row as it was read.
pub struct Version {
    schema: Schema,
    /// None where there is no row.
    columns: Option<Columns>,
}

impl Entry for RowEntry<'_> {
    type Version = Version;

    fn read(&self, budget: &mut Budget) -> Result<Found<Version>> {
        let row = self.store.run(budget, true, |link, deadline| self.read_row(link, deadline));
        let (schema, row) = row.map_err(|failure| self.store.error(&failure, &self.identifier))?;
        let Some(row) = row else {
            let version = Version { schema, columns: None };
            return Ok(Found { state: State::FULL, version, now: None });
        };
        self.found(schema, &row).ok_or_else(|| self.store.unreadable())
    }

    fn clock(&self, budget: &mut Budget) -> Result<u64> {
        let row = self.store.run(budget, true, |link, deadline| {
            self.first_row(link, Statement::Clock, &[], deadline)
        });
        let row = row.map_err(|failure| self.store.error(&failure, &self.identifier))?;
        row.and_then(|row| time(row.first()?)).ok_or_else(|| self.store.unreadable())
    }

    fn handed_off(&self, handoff: &Handoff) -> Option<Version> {
        // A row of the legacy schema does not hold the whole state.
        let schema = self.store.link.with(Link::schema).filter(|it| *it == Schema::Full)?;
        let columns = row::columns(handoff.state, f64::from_bits(handoff.version));
        Some(Version { schema, columns: Some(columns) })
    }

    fn swap(&self, version: &Version, state: State, _: u64, budget: &mut Budget) -> Result<Swap> {
        let (schema, identifier) = (version.schema, self.identifier());
        let (new, microtime) = row::encode(schema, self.request.limit, state);
        let (statement, values): (_, Vec<Value>) = match &version.columns {
            None => (Statement::Insert(schema), [identifier].into_iter().chain(new).collect()),
            Some(old) => {
                let values = new.into_iter().chain([identifier]).chain(old.iter().cloned());
                (Statement::Update(schema), values.collect())
            }
        };
        let table = &self.store.target.table;
        let lost = |failure: &Failure| {
            failure.is(code::DUPLICATE_ROW) || code::IN_THE_WAY.iter().any(|it| failure.is(it))
        };
        let may_repeat = self.request.op.may_repeat();
        let swapped = self.store.run(budget, may_repeat, |link, deadline| {
            match link.execute(statement, table, &values, deadline) {
                Ok(Reply::Done(1)) => Ok(Swap::Done(Some(microtime.to_bits()))),
                Ok(_) => Ok(Swap::Lost),
                Err(failure) if lost(&failure) => Ok(Swap::Lost),
                Err(failure) => Err(failure),
            }
        });
        match swapped {
            Ok(swap) => {
                self.store.slow.take();
                Ok(swap)
            }
            // The server has just answered: it is not down.
            Err(Failure::TimedOut) => Err(self.store.too_slow(&self.identifier)),
            Err(failure) => Err(self.store.error(&failure, &self.identifier)),
        }
    }

    fn server(&self) -> String {
        crate::store::Store::name(self.store)
    }
}

impl RowEntry<'_> {
    fn identifier(&self) -> Value {
        Value::Bytes(self.identifier.clone())
    }

    /// Reads the row, by the legacy schema where the table has no other.
    fn read_row(
        &self,
        link: &mut Link,
        deadline: Instant,
    ) -> Result<(Schema, Option<Row>), Failure> {
        let values = [self.identifier()];
        let read = |link: &mut Link, schema| {
            self.first_row(link, Statement::Read(schema), &values, deadline)
        };
        // The legacy schema cannot hold what these may leave.
        let needs_all = matches!(self.request.limit, Limit::FixedWindow(_))
            || matches!(self.request.op, Op::Check | Op::Reserve { .. });
        if link.schema() == Schema::Full || needs_all {
            match read(link, Schema::Full) {
                Err(failure) if failure.is(code::NO_SUCH_COLUMN) && !needs_all => {
                    link.legacy_until = boot_time() + SECOND;
                }
                row => {
                    link.legacy_until = 0;
                    return Ok((Schema::Full, row?));
                }
            }
        }
        Ok((Schema::Legacy, read(link, Schema::Legacy)?))
    }

    fn first_row(
        &self,
        link: &mut Link,
        statement: Statement,
        values: &[Value],
        deadline: Instant,
    ) -> Result<Option<Row>, Failure> {
        match link.execute(statement, &self.store.target.table, values, deadline)? {
            Reply::Rows(rows) => Ok(rows.into_iter().next()),
            Reply::Done(_) => Ok(Some(Row::new())),
        }
    }

    /// What a row says.
    fn found(&self, schema: Schema, row: &[Value]) -> Option<Found<Version>> {
        let (clock, columns) = row.split_first()?;
        let state = row::decode(schema, self.request.limit, columns)?;
        let version = Version { schema, columns: Some(columns.to_vec()) };
        Some(Found { state, version, now: Some(time(clock)?) })
    }
}

fn time(clock: &Value) -> Option<u64> {
    u64::try_from(row::whole(clock)??).ok().filter(|now| *now <= MAX_NOW)
}
