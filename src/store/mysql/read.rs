//! Rows, read without a lock as they are at one moment.

use super::code;
use super::entry::{RowEntry, RowVersion};
use super::link::{MysqlLink, Row};
use super::row::{self, Columns};
use super::statements::{Schema, Statement};
use crate::clock::{Reading, boot_time, frozen};
use crate::error::Result;
use crate::limit::{Op, SECOND, StoredState};
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use crate::store::swap::Found;
use mysql_common::value::Value;

/// The most reads while another session's statements conflict with them.
const MAX_TRIES: u32 = 5;

/// A row as [`Statement::Read`] and [`Statement::Lock`] return it.
pub struct ReadRow {
    /// The number of the identifier that it is for.
    number: usize,
    /// The server's clock, in nanoseconds.
    pub time: u64,
    /// Its columns; none if the table has no such row.
    pub columns: Option<Columns>,
}

impl ReadRow {
    /// Parses a row. None if it is not one.
    pub fn parse(row: Row) -> Option<Self> {
        let mut values = row.into_iter();
        let number = usize::try_from(row::whole(&values.next()?)??).ok()?;
        let time = row::clock(&values.next()?)?;
        let is_found = row::whole(&values.next()?)? == Some(1);
        Some(Self { number, time, columns: is_found.then(|| values.collect()) })
    }
}

/// What a statement has read.
struct ReadRows {
    schema: Schema,
    /// The columns of each identifier's row, if it has one.
    rows: Vec<Option<Columns>>,
    clock: Reading,
}

/// Reads the rows of all entries, which are of one database.
pub fn read_all(entries: &[RowEntry<'_>], budget: &mut Budget) -> Result<Vec<Found<RowVersion>>> {
    let found = read_once(entries, budget)?;
    let is_unsure = |(entry, found): (&RowEntry<'_>, &Found<RowVersion>)| {
        let [now, _] = found.now;
        let is_from_future = entry.request.limit.earliest_write(&found.state) > now;
        found.version.schema == Schema::Legacy && is_from_future
    };
    match entries.first() {
        Some(first) if entries.iter().zip(&found).any(is_unsure) => {
            // Another process may have prepared the table, so its other columns may hold a debt.
            first.database.link.with(|link| link.legacy_until.set(0));
            read_once(entries, budget)
        }
        _ => Ok(found),
    }
}

fn read_once(entries: &[RowEntry<'_>], budget: &mut Budget) -> Result<Vec<Found<RowVersion>>> {
    let Some(RowEntry { database, identifier, .. }) = entries.first() else {
        return Ok(Vec::new());
    };
    let table = &database.target.table;
    let read = wait_for_alteration(|| {
        database.run(budget, true, |link, deadline| read_rows(entries, table, link, deadline))
    });
    let read = read.map_err(|failure| database.error(&failure, identifier))?;
    database.note_read();
    let ReadRows { schema, rows, clock } = read.ok_or_else(|| database.unreadable())?;
    let each = entries.iter().zip(rows);
    let found = each.map(|(entry, columns)| find_state(entry, columns, schema, clock));
    found.collect::<Option<_>>().ok_or_else(|| database.unreadable())
}

/// The state of an entry in the columns that were read by this schema. None if they cannot be parsed.
fn find_state(
    entry: &RowEntry<'_>,
    columns: Option<Columns>,
    schema: Schema,
    clock: Reading,
) -> Option<Found<RowVersion>> {
    entry.has_row.set(columns.is_some());
    let state = match &columns {
        Some(columns) => row::decode(schema, entry.request.limit, columns)?,
        None => StoredState::FULL,
    };
    let now = frozen().unwrap_or(clock.time);
    Some(Found { state, version: RowVersion { schema, columns }, now: [now; 2], clock })
}

/// Reads the rows and the clock. None if they cannot be parsed.
fn read_rows(
    entries: &[RowEntry<'_>],
    table: &str,
    link: &mut MysqlLink,
    deadline: Moment,
) -> Result<Option<ReadRows>, Failure> {
    let sent_at = boot_time();
    let (schema, found) = find_rows(entries, table, link, deadline)?;
    let mut rows: Vec<Option<Columns>> = vec![None; entries.len()];
    let mut latest = None;
    for row in found {
        let Some(ReadRow { number, time, columns }) = ReadRow::parse(row) else { return Ok(None) };
        let Some(row) = rows.get_mut(number) else { return Ok(None) };
        // Of two rows with one identifier, which no prepared table has, the first one counts here as where it is locked.
        *row = row.take().or(columns);
        latest = latest.max(Some(time));
    }
    let clock = latest.map(|time| Reading::taken_now(time, sent_at));
    Ok(clock.map(|clock| ReadRows { schema, rows, clock }))
}

/// Finds the rows, by the legacy schema if the table has no other.
fn find_rows(
    entries: &[RowEntry<'_>],
    table: &str,
    link: &mut MysqlLink,
    deadline: Moment,
) -> Result<(Schema, Vec<Row>), Failure> {
    let needed = entries.iter().filter_map(RowEntry::needed_schema).max();
    let schema = needed.unwrap_or(link.schema());
    let mut found = read_by(schema, entries, table, link, deadline);
    if schema == Schema::Legacy {
        return Ok((schema, found?));
    }
    let lacks_columns = |failure: &Failure| failure.is(code::NO_SUCH_COLUMN);
    if needed.is_none() && found.as_ref().is_err_and(lacks_columns) {
        link.legacy_until.set(boot_time() + SECOND);
        found = read_by(Schema::Legacy, entries, table, link, deadline);
        return Ok((Schema::Legacy, found?));
    }
    link.legacy_until.set(0);
    Ok((schema, found?))
}

/// Reads the rows by a schema. The statements that may follow are prepared in the same trip.
fn read_by(
    schema: Schema,
    entries: &[RowEntry<'_>],
    table: &str,
    link: &mut MysqlLink,
    deadline: Moment,
) -> Result<Vec<Row>, Failure> {
    let identifiers: Vec<Value> = entries.iter().map(RowEntry::identifier).collect();
    let is_peek = entries.iter().all(|it| matches!(it.request.op, Op::Peek { .. }));
    let change = [Statement::Update(schema), Statement::Insert(schema)];
    let follow = if is_peek { &[][..] } else { &change };
    link.read(Statement::Read(schema, entries.len()), follow, table, &identifiers, deadline)
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
