//! Several rows, decided on in one transaction.
//!
//! One statement reads all rows first, without a lock: peeks and denied calls end there, unless a row has a time from the future
//! to correct. Otherwise missing rows are inserted, each by itself, and a transaction locks all rows in the order of their
//! identifiers, decides, and updates them. Since every transaction takes its locks in that order, and none of them waits to insert a row, no two
//! wait for each other.

use super::code;
use super::database::Database;
use super::entry::RowEntry;
use super::link::{Ending, MysqlLink, StatementReply};
use super::locked::{Locked, LockedRow, lock};
use super::read::read_all;
use super::row;
use super::statements::{Schema, Statement};
use crate::clock::frozen;
use crate::error::{Error, Result};
use crate::limit::{Decision, Op, StoredState, take_all};
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use crate::store::name::row_name;
use crate::store::request::{JointRequest, charges, peek_all};
use crate::store::swap::{Found, latest_clock};
use crate::store::writes::WriteOutcome;
use std::cell::RefCell;

/// The most tries while other sessions delete rows or break the order of locks.
const MAX_TRIES: u32 = 5;

/// What a transaction came to.
enum JointOutcome {
    /// It is done, or has nothing to do.
    Decided(Vec<Decision>),
    /// Another session has deleted a row.
    RowIsGone,
    /// Two identifiers have one row.
    SharedRow,
    /// A row cannot be parsed.
    Unreadable,
}

/// Changes what each request asks for if all enforced ones accept, else nothing. Peeks change nothing.
pub fn decide_all(database: &Database, requests: &[JointRequest<'_>]) -> Result<Vec<Decision>> {
    let Some(JointRequest { request: first, .. }) = requests.first() else {
        return Ok(Vec::new());
    };
    let mut budget = Budget::start(*first.timeouts);
    let entries: Vec<RowEntry<'_>> = requests
        .iter()
        .map(|JointRequest { request, .. }| {
            RowEntry::new(database, row_name(request.key), *request)
        })
        .collect();
    for _ in 0..MAX_TRIES {
        let found = read_all(&entries, &mut budget)?;
        let (states, times): (Vec<StoredState>, Vec<u64>) =
            found.iter().map(|Found { state, now: [now, _], .. }| (state.clone(), *now)).unzip();
        let now = time(requests, &states, times.into_iter().max().unwrap_or_default());
        if let Op::Peek { .. } = first.op {
            return Ok(peek_all(requests, &states, now));
        }
        let expected = take_all(&charges(requests, &states), now);
        let changes = expected.each.iter().zip(&states).any(|((_, after), before)| after != before);
        if !changes {
            return Ok(expected.decisions());
        }
        // A denial stands, also if the time that it would correct cannot be written.
        let denial = (!expected.is_accepted).then(|| expected.decisions());
        if !database.writes.may_write() {
            return denial.ok_or_else(|| database.withheld_write());
        }
        for (entry, found) in entries.iter().zip(&found) {
            if let Err(error) = entry.insert_missing(&found.version, &mut budget) {
                let has_waited = matches!(database.writes.outcome(), WriteOutcome::Waited(_));
                return denial.filter(|_| has_waited || error.is_refusal()).ok_or(error);
            }
        }
        let schemas = found.iter().map(|found| found.version.schema);
        let rows: Vec<_> = entries.iter().zip(schemas).collect();
        // The row that the last statement was about: another session may have locked it.
        let current = RefCell::new(Vec::new());
        let may_repeat = requests.iter().all(|joint| joint.request.op.may_repeat());
        let outcome = database.run(&mut budget, may_repeat, |link, deadline| {
            link.transaction(deadline, |link| decide(link, &rows, requests, &current, deadline))
        });
        match outcome {
            Ok(JointOutcome::Decided(decisions)) => {
                database.writes.note(WriteOutcome::Answered);
                return Ok(decisions);
            }
            Ok(JointOutcome::Unreadable) => return Err(database.unreadable()),
            Ok(JointOutcome::SharedRow) => {
                return Err(database.refused(
                    "two limits of one call share a row: the column `identifier` does not tell upper case \
                     from lower case",
                ));
            }
            Ok(JointOutcome::RowIsGone) => {}
            Err(failure) if failure.is_any(&code::CONFLICTS) && !failure.is(code::LOCK_WAIT) => {}
            Err(failure)
                if matches!(failure, Failure::TimedOut)
                    || failure.is_any(&[code::LOCK_WAIT, code::TOO_SLOW]) =>
            {
                let waiting = database.waiting_write();
                return denial.ok_or(waiting);
            }
            Err(failure) => {
                let error = database.error(&failure, &current.borrow());
                return denial.filter(|_| error.is_refusal()).ok_or(error);
            }
        }
        if !budget.is_left() {
            break;
        }
    }
    Err(Error::refused(format!("{}: the buckets are too busy", database.name())))
}

/// Locks all rows, decides and updates them. Each is of its schema.
fn decide(
    link: &mut MysqlLink,
    entries: &[(&RowEntry<'_>, Schema)],
    requests: &[JointRequest<'_>],
    current: &RefCell<Vec<u8>>,
    deadline: Moment,
) -> Result<(JointOutcome, Ending), Failure> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|i| entries.get(*i).map(|(entry, _)| &entry.identifier));
    let mut rows: Vec<Option<LockedRow>> = entries.iter().map(|_| None).collect();
    for i in order {
        let (Some((entry, schema)), Some(locked)) = (entries.get(i), rows.get_mut(i)) else {
            continue;
        };
        current.borrow_mut().clone_from(&entry.identifier);
        let outcome = match lock(link, *schema, entry, deadline)? {
            Locked::Row(row) => {
                *locked = Some(row);
                continue;
            }
            Locked::Gone => JointOutcome::RowIsGone,
            Locked::Unreadable => JointOutcome::Unreadable,
        };
        return Ok((outcome, Ending::Rollback));
    }
    let rows: Vec<LockedRow> = rows.into_iter().flatten().collect();
    let states: Vec<StoredState> = rows.iter().map(|row| row.state.clone()).collect();
    let now = rows.iter().map(|row| row.clock.time).max().unwrap_or_default();
    let decided = take_all(&charges(requests, &states), time(requests, &states, now));
    for (((entry, schema), row), (_, after)) in entries.iter().zip(&rows).zip(&decided.each) {
        if *after == row.state {
            continue;
        }
        let (columns, _) = row::encode(*schema, entry.request.limit, after);
        let values = entry.update_values(columns, &row.columns);
        let table = &entry.database.target.table;
        let reply = link.execute(Statement::Update(*schema), table, &values, deadline)?;
        if reply != StatementReply::Done(1) {
            // The row is locked, so another request of this call has changed it.
            return Ok((JointOutcome::SharedRow, Ending::Rollback));
        }
    }
    Ok((JointOutcome::Decided(decided.decisions()), Ending::Commit))
}

/// The time to decide at: that of a test's clock, or the server's. A state from slightly in the future was
/// written before the server's clock was set back; then the latest of these clocks counts for all rows.
fn time(requests: &[JointRequest<'_>], states: &[StoredState], now: u64) -> u64 {
    if let Some(frozen) = frozen() {
        return frozen;
    }
    let each = requests.iter().zip(states);
    each.map(|(joint, state)| latest_clock(joint.request.limit, state, now)).max().unwrap_or(now)
}
