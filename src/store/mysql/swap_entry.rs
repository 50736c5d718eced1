//! A row as a value that is compared and swapped.

use super::entry::{RowEntry, RowVersion, version_of};
use super::link::{MysqlLink, StatementReply};
use super::locked;
use super::read::read_all;
use super::row;
use super::statements::{Schema, Statement};
use crate::error::{Error, Result};
use crate::limit::StoredState;
use crate::net::budget::Budget;
use crate::store::swap::handoff::Handoff;
use crate::store::swap::{Decide, Found, Swap, SwapEntry};
use crate::store::writes::WriteOutcome;
use mysql_common::value::Value;
use std::slice;
use std::time::Duration;

impl SwapEntry for RowEntry<'_> {
    type Version = RowVersion;

    fn read(&self, budget: &mut Budget) -> Result<Found<RowVersion>> {
        read_all(slice::from_ref(self), budget)?.pop().ok_or_else(|| self.database.unreadable())
    }

    fn handed_off(&self, handoff: &Handoff) -> Option<RowVersion> {
        let known = self.database.link.with(MysqlLink::schema)?;
        let schema = self.needed_schema().unwrap_or(known);
        if schema == Schema::Legacy {
            // Such a row does not hold the whole state.
            return None;
        }
        let (limit, microtime) = (self.request.limit, f64::from_bits(handoff.version));
        let columns = row::columns(schema, limit, &handoff.state, microtime);
        Some(RowVersion { schema, columns: Some(columns) })
    }

    fn swap(
        &self,
        version: &RowVersion,
        state: &StoredState,
        _: u64,
        budget: &mut Budget,
    ) -> Result<Swap> {
        let (schema, identifier) = (version.schema, self.identifier());
        let (new, microtime) = row::encode(schema, self.request.limit, state);
        let (statement, values): (_, Vec<Value>) = match &version.columns {
            None => (Statement::Insert(schema), [identifier].into_iter().chain(new).collect()),
            Some(old) => (Statement::Update(schema), self.update_values(new, old)),
        };
        let table = &self.database.target.table;
        let may_repeat = self.request.op.may_repeat();
        let has_half = has_half(budget);
        let reply = self.database.run(budget, may_repeat, |link, deadline| {
            link.execute(statement, table, &values, deadline)
        });
        if reply.is_ok() {
            self.database.writes.note(WriteOutcome::Answered);
        }
        match reply {
            Ok(StatementReply::Done(1)) => Ok(Swap::Done(version_of(schema, microtime))),
            Ok(_) => Ok(Swap::Lost),
            Err(failure) => self.lost_by(&failure, has_half),
        }
    }

    fn swap_locked(&self, decide: Decide<'_>, budget: &mut Budget) -> Result<Option<Swap>> {
        if !self.has_row.get() {
            return Ok(None);
        }
        let has_half = has_half(budget);
        match locked::swap(self, decide, budget) {
            Ok(swap) => {
                self.database.writes.note(WriteOutcome::Answered);
                Ok(swap)
            }
            Err(failure) => self.lost_by(&failure, has_half).map(Some),
        }
    }

    fn connect(&self, budget: &mut Budget) -> Result<()> {
        let opened = self.database.open_if_none(budget);
        opened.map_err(|failure| self.database.error(&failure, &self.identifier))
    }

    fn round_trip(&self) -> Duration {
        self.database.link.round_trip.expected()
    }

    fn may_write(&self) -> bool {
        self.database.writes.may_write()
    }

    fn locked(&self) -> Error {
        self.database.waiting_write()
    }

    fn withheld(&self) -> Error {
        self.database.withheld_write()
    }

    fn server(&self) -> String {
        self.database.name()
    }
}

/// Whether half of the call's time is left.
fn has_half(budget: &Budget) -> bool {
    budget.left() >= budget.timeouts().call / 2
}
