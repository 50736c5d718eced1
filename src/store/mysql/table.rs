//! Creates the table, or adds the columns that it lacks.

use super::code;
use super::database::Database;
use super::link::{MysqlLink, StatementReply};
use super::statements::Statement;
use crate::clock::sleep;
use crate::error::Result;
use crate::net::Timeouts;
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::pause::Moment;
use mysql_common::value::Value;
use std::time::Duration;

/// The columns that the legacy schema lacks. All may be `NULL`, so code that does not know them can still
/// insert rows.
const COLUMNS: [&str; 6] =
    ["kind TINYINT", "due BIGINT", "part INT", "more BIGINT", "seen DOUBLE", "hits BLOB"];

/// How long after its columns a server shows the keys of a table.
const SHOWN_WITHIN: Duration = Duration::from_millis(50);

/// Creates the table of a database, or adds the columns that it lacks.
pub fn prepare(database: &Database, timeouts: Timeouts) -> Result<()> {
    let table = &database.target.table;
    let budget = &mut Budget::start(timeouts);
    match database.run(budget, true, |link, deadline| create_or_alter(link, table, deadline)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(database.refused(&format!(
            "the column `identifier` of `{table}` must be its primary key, and `microtime` a DOUBLE"
        ))),
        Err(Failure::Refused { detail, .. }) => Err(database.refused(&detail)),
        Err(failure) => Err(database.failed(&failure.reason())),
    }
}

/// Returns whether the table can be used. A table that cannot is not altered.
fn create_or_alter(link: &mut MysqlLink, table: &str, deadline: Moment) -> Result<bool, Failure> {
    let probe = format!(
        "SELECT identifier, microtime, kind, due, part, more, seen, hits FROM `{table}` LIMIT 0"
    );
    let probed = link.query(&probe, deadline);
    if matches!(&probed, Err(failure) if failure.is(code::NO_SUCH_TABLE)) {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS `{table}` (\
             identifier VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, \
             microtime DOUBLE NOT NULL, {}) ENGINE=InnoDB",
            COLUMNS.join(", ")
        );
        link.query(&create, deadline)?;
    } else if !has_usable_key(link, table, deadline)? {
        // Another process may be making the table: MySQL shows its columns a moment before its keys.
        sleep(SHOWN_WITHIN);
        if !has_usable_key(link, table, deadline)? {
            return Ok(false);
        }
    }
    match probed {
        Err(failure) if failure.is(code::NO_SUCH_COLUMN) => {
            // One statement for each column: the table may have some of them, and another process may add
            // them at the same time.
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

/// Whether the identifier is the primary key, and the time a number.
fn has_usable_key(link: &mut MysqlLink, table: &str, deadline: Moment) -> Result<bool, Failure> {
    let name = Value::Bytes(table.as_bytes().to_vec());
    let keys = link.execute(Statement::CountUsableKeys, table, &[name], deadline)?;
    Ok(keys != StatementReply::Rows(vec![vec![Value::Int(0)]]))
}
