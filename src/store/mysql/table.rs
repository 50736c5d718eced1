//! The table: made, or given the columns that it has not.

use super::statements::Which;
use super::{Link, Mysql, code};
use crate::error::Result;
use crate::store::net::{budget::Budget, failure::Failure};
use mysql_common::value::Value;
use std::time::Instant;

/// The columns that the classic table has not. None needs a value, so that code that knows
/// nothing of them can go on writing.
const COLUMNS: [&str; 5] = ["kind TINYINT", "due BIGINT", "part INT", "more BIGINT", "seen DOUBLE"];

/// Makes the table of a store, or adds what it lacks.
pub fn prepare(store: &Mysql) -> Result<()> {
    let table = &store.target.table;
    let probe =
        format!("SELECT identifier, microtime, kind, due, part, more, seen FROM `{table}` LIMIT 0");
    match query(store, &probe)? {
        None => {}
        Some((code, _)) if code == code::NO_SUCH_TABLE => {
            let create = format!(
                "CREATE TABLE IF NOT EXISTS `{table}` (\
                 identifier VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, \
                 microtime DOUBLE NOT NULL, {}) ENGINE=InnoDB",
                COLUMNS.join(", ")
            );
            query_or_fail(store, &create, "")?;
        }
        Some((code, _)) if code == code::NO_SUCH_COLUMN => {
            // One by one: it may have some, or whoever was faster has done the same.
            for column in COLUMNS {
                let add = format!("ALTER TABLE `{table}` ADD {column}");
                query_or_fail(store, &add, code::COLUMN_EXISTS)?;
            }
        }
        Some((_, detail)) => return Err(store.refused(&detail)),
    }
    query_or_fail(store, &probe, "")?;
    match has_one_row_a_name(store)? {
        true => Ok(()),
        false => {
            Err(store
                .refused(&format!("the column `identifier` of `{table}` must be its primary key")))
        }
    }
}

fn has_one_row_a_name(store: &Mysql) -> Result<bool> {
    let table_name = Value::Bytes(store.target.table.clone().into_bytes());
    let keys = store.statements.call(Which::KEYS, &vec![("table_name", table_name)]);
    let row = run(store, |link, by| link.call(&keys, by))?;
    Ok(!matches!(row.as_deref(), Some([Value::Int(0)])))
}

/// Has a statement run; the server's number and words if it does not.
fn query(store: &Mysql, text: &str) -> Result<Option<(String, String)>> {
    run(store, |link, by| match link.query(text, by) {
        Err(Failure::Refused { code, detail }) => Ok(Some((code, detail))),
        other => other.map(|()| None),
    })
}

/// As [`query`], where nothing but what is `allowed` may go wrong.
fn query_or_fail(store: &Mysql, text: &str, allowed: &str) -> Result<()> {
    match query(store, text)? {
        Some((code, detail)) if code != allowed => Err(store.refused(&detail)),
        _ => Ok(()),
    }
}

/// All of it may be done twice.
fn run<R>(store: &Mysql, what: impl Fn(&mut Link, Instant) -> Result<R, Failure>) -> Result<R> {
    store.run(&mut Budget::start(store.timeouts), b"", true, what)
}
