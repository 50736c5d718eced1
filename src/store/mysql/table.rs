//! The table: made, or given the columns that it lacks.

use super::link::{Link, Reply};
use super::statements::Statement;
use super::{Mysql, code};
use crate::error::Result;
use crate::store::net::{Timeouts, budget::Budget, failure::Failure};
use mysql_common::value::Value;
use std::time::Instant;

/// The columns that the legacy schema lacks. None needs a value, so that code that does not know them
/// can go on writing.
const COLUMNS: [&str; 5] = ["kind TINYINT", "due BIGINT", "part INT", "more BIGINT", "seen DOUBLE"];

/// Makes the table of a store, or adds what it lacks.
pub fn prepare(store: &Mysql, timeouts: Timeouts) -> Result<()> {
    let table = &store.target.table;
    let budget = &mut Budget::start(timeouts);
    match store.run(budget, true, |link, deadline| make(link, table, deadline)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(store.refused(&format!(
            "the column `identifier` of `{table}` must be its primary key, and `microtime` a DOUBLE"
        ))),
        Err(Failure::Refused { detail, .. }) => Err(store.refused(&detail)),
        Err(failure) => Err(store.failed(&failure.reason())),
    }
}

/// Returns whether the table can be used; one that cannot is left as it is.
fn make(link: &mut Link, table: &str, deadline: Instant) -> Result<bool, Failure> {
    let probe =
        format!("SELECT identifier, microtime, kind, due, part, more, seen FROM `{table}` LIMIT 0");
    let probed = link.query(&probe, deadline);
    if matches!(&probed, Err(failure) if failure.is(code::NO_SUCH_TABLE)) {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS `{table}` (\
             identifier VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, \
             microtime DOUBLE NOT NULL, {}) ENGINE=InnoDB",
            COLUMNS.join(", ")
        );
        link.query(&create, deadline)?;
    }
    let name = Value::Bytes(table.as_bytes().to_vec());
    let keys = link.execute(Statement::CountUsableKeys, table, &[name], deadline)?;
    if keys == Reply::Rows(vec![vec![Value::Int(0)]]) {
        return Ok(false);
    }
    match probed {
        Err(failure) if failure.is(code::NO_SUCH_COLUMN) => {
            // One by one: the table may have some, or another process may add them too.
            for column in COLUMNS {
                match link.query(&format!("ALTER TABLE `{table}` ADD {column}"), deadline) {
                    Err(failure) if !failure.is(code::COLUMN_EXISTS) => return Err(failure),
                    _ => {}
                }
            }
        }
        Err(failure) if !failure.is(code::NO_SUCH_TABLE) => return Err(failure),
        _ => {}
    }
    link.query(&probe, deadline).map(|()| true)
}
