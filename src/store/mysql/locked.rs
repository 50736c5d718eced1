//! A row, decided on while a transaction holds its lock.
//!
//! Paid: four trips in the place of two, and a process that is stopped meanwhile keeps the row locked. Got: a decision after at most two lost
//! swaps, where several hosts want one row.

use super::code;
use super::entry::{RowEntry, version_of};
use super::link::{Ending, MysqlLink, StatementReply};
use super::read::ReadRow;
use super::row::{self, Columns};
use super::statements::{Schema, Statement};
use crate::clock::{Reading, boot_time};
use crate::limit::StoredState;
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use crate::store::swap::{Decide, Swap};
use std::cell::RefCell;

/// A row that a transaction has locked.
pub struct LockedRow {
    /// Its columns.
    pub columns: Columns,
    /// The state in them.
    pub state: StoredState,
    /// The server's clock.
    pub clock: Reading,
}

/// What there is to lock.
pub enum Locked {
    /// A row.
    Row(LockedRow),
    /// None: another session has deleted it, or none has inserted it.
    Gone,
    /// A row that cannot be parsed.
    Unreadable,
}

/// Locks and reads a row of this schema.
pub fn lock(
    link: &mut MysqlLink,
    schema: Schema,
    entry: &RowEntry<'_>,
    deadline: Moment,
) -> Result<Locked, Failure> {
    let sent_at = boot_time();
    let table = &entry.database.target.table;
    let statement = Statement::Lock(schema);
    let rows = link.read(statement, &[], table, &[entry.identifier()], deadline)?;
    let Some(row) = rows.into_iter().next() else { return Ok(Locked::Gone) };
    let Some(ReadRow { time, columns: Some(columns), .. }) = ReadRow::parse(row) else {
        return Ok(Locked::Unreadable);
    };
    let clock = Reading::taken_now(time, sent_at);
    Ok(match row::decode(schema, entry.request.limit, &columns) {
        Some(state) => Locked::Row(LockedRow { columns, state, clock }),
        None => Locked::Unreadable,
    })
}

/// Locks a row, and replaces it by what `decide` makes of it. None if the table was read by the legacy schema: if another process
/// has prepared it since, other columns of the row may hold a debt.
pub fn swap(
    entry: &RowEntry<'_>,
    decide: Decide<'_>,
    budget: &mut Budget,
) -> Result<Option<Swap>, Failure> {
    let decide = RefCell::new(decide);
    entry.database.run(budget, entry.request.op.may_repeat(), |link, deadline| {
        link.transaction(deadline, |link| decide_locked(link, entry, &decide, deadline))
    })
}

fn decide_locked(
    link: &mut MysqlLink,
    entry: &RowEntry<'_>,
    decide: &RefCell<Decide<'_>>,
    deadline: Moment,
) -> Result<(Option<Swap>, Ending), Failure> {
    let lost = Ok((Some(Swap::Lost), Ending::Rollback));
    let schema = entry.needed_schema().unwrap_or(link.schema());
    if schema == Schema::Legacy {
        return Ok((None, Ending::Rollback));
    }
    let row = match lock(link, schema, entry, deadline) {
        Ok(Locked::Row(row)) => row,
        // The next reading tells what it is.
        Ok(Locked::Gone | Locked::Unreadable) => return lost,
        Err(failure) if failure.is(code::NO_SUCH_COLUMN) => return lost,
        Err(failure) => return Err(failure),
    };
    let Some(after) = (decide.borrow_mut())(&row.state, &row.clock) else {
        return Ok((Some(Swap::Done(None)), Ending::Rollback));
    };
    let (columns, microtime) = row::encode(schema, entry.request.limit, &after);
    let values = entry.update_values(columns, &row.columns);
    let table = &entry.database.target.table;
    match link.execute(Statement::Update(schema), table, &values, deadline)? {
        StatementReply::Done(1) => {
            Ok((Some(Swap::Done(version_of(schema, microtime))), Ending::Commit))
        }
        _ => lost,
    }
}
