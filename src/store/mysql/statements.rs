//! The statements that are sent, and what a session begins with.
//!
//! A decision is a `SELECT` by primary key, which locks nothing, and if the row has to change an
//! `UPDATE` or `INSERT` that does so only while the row is as it was read. No statement holds an
//! algorithm, a variable, or an expression whose result depends on the order of evaluation.

use std::time::Duration;

/// What every session begins with, whatever the server's defaults: UTC, no transaction, errors reported,
/// the level that every binary log allows. No lock is waited for longer than a second, the shortest a
/// server knows: by then the caller has given up.
const SESSION: &str = "SET time_zone = '+00:00', autocommit = 1, sql_select_limit = DEFAULT, \
     sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = 1, lock_wait_timeout = 1";

/// What a session begins with.
pub fn session(is_mariadb: bool, timeout: Duration) -> String {
    const LEVEL: &str = "'REPEATABLE-READ'";
    match is_mariadb {
        true => format!("{SESSION}, tx_isolation = {LEVEL}, {}", time_limit(timeout)),
        false => format!("{SESSION}, transaction_isolation = {LEVEL}"),
    }
}

/// Limits the time of MariaDB's statements, so that none runs on after the caller has given up: to a
/// little less than `timeout`, so that the caller learns of it in time.
pub fn time_limit(timeout: Duration) -> String {
    format!("max_statement_time = {:.6}", timeout.as_secs_f64() * 0.8)
}

/// The server's clock in nanoseconds. `SYSDATE` and not `NOW`: the time when the row is read, not when
/// the statement began.
const CLOCK: &str = "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) * 1000";

/// The columns a table has besides `identifier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// All that `prepare()` makes.
    Full,
    /// The one of the published PDO class.
    Legacy,
}

impl Schema {
    /// Their names.
    pub const fn columns(self) -> &'static [&'static str] {
        const FULL: &[&str] = &["microtime", "seen", "kind", "due", "part", "more"];
        match self {
            Self::Full => FULL,
            Self::Legacy => FULL.split_at(1).0,
        }
    }
}

/// A statement on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// Reads the clock and the columns of a row. Takes the identifier.
    Read(Schema),
    /// Reads the clock.
    Clock,
    /// Makes a row. Takes the identifier and the columns.
    Insert(Schema),
    /// Replaces a row that has not changed. Takes the new columns, the identifier, the old columns.
    Update(Schema),
    /// Counts the keys of a table by which it has one row for each identifier; 0 if its `microtime` is not
    /// exact. Takes the table's name.
    CountUsableKeys,
}

impl Statement {
    /// Its text for `table`, with a question mark for each parameter.
    pub fn text(self, table: &str) -> String {
        match self {
            Self::Read(schema) => {
                let columns = schema.columns().join(", ");
                format!("SELECT {CLOCK} AS clock, {columns} FROM `{table}` WHERE identifier = ?")
            }
            Self::Clock => format!("SELECT {CLOCK} AS clock"),
            Self::Insert(schema) => {
                let columns = schema.columns().join(", ");
                let values = ", ?".repeat(schema.columns().len());
                format!("INSERT INTO `{table}` (identifier, {columns}) VALUES (?{values})")
            }
            Self::Update(schema) => {
                let set = schema.columns().join(" = ?, ");
                let unchanged = schema.columns().join(" <=> ? AND ");
                format!("UPDATE `{table}` SET {set} = ? WHERE identifier = ? AND {unchanged} <=> ?")
            }
            Self::CountUsableKeys => "SELECT COUNT(*) FROM information_schema.columns AS c \
                 JOIN information_schema.statistics AS k USING (table_schema, table_name) \
                 WHERE c.table_schema = DATABASE() AND c.table_name = ? \
                 AND c.column_name = 'microtime' AND (c.data_type = 'double' OR c.numeric_scale >= 6) \
                 AND k.column_name = 'identifier' AND k.non_unique = 0 AND k.sub_part IS NULL \
                 AND (SELECT COUNT(*) FROM information_schema.statistics AS part \
                 WHERE part.table_schema = k.table_schema AND part.table_name = k.table_name \
                 AND part.index_name = k.index_name) = 1"
                .to_owned(),
        }
    }
}
