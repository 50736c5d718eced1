//! The texts of all statements.
//!
//! A decision is a `SELECT` by primary key, which locks nothing. If the row has to change, an `UPDATE` or
//! `INSERT` follows, which takes effect only while the row is unchanged. Each statement is a transaction of
//! its own (autocommit), except in [`joint`](super::joint) and [`locked`](super::locked). No statement uses a variable or depends on the order of
//! evaluation, so the server's settings do not matter.
//!
//! A denied call other than `check()` changes no row, so it waits for no disk. An `UPDATE` sees the latest row and
//! waits for its lock; if another session was faster it finds nothing, and the caller reads the row again.

use std::time::Duration;

/// Sets what statements depend on, whatever the server's defaults: bytes that are not converted, UTC, no open transaction, strict errors, all rows of
/// any statement (`DEFAULT` would be the server's setting).
/// A second is the shortest lock wait that a server knows; the caller has given up by then.
const SESSION: &str = "SET NAMES utf8mb4, time_zone = '+00:00', autocommit = 1, sql_select_limit = 18446744073709551615, \
     sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = 1, lock_wait_timeout = 1";

/// The first statement of a session. `REPEATABLE-READ` is allowed with every format of the binary log.
pub fn session(is_mariadb: bool, timeout: Duration) -> String {
    const LEVEL: &str = "'REPEATABLE-READ'";
    match is_mariadb {
        // A process that is suspended in a transaction would keep its locks: MariaDB ends its session after a second. MySQL has no such limit.
        true => format!(
            "{SESSION}, tx_isolation = {LEVEL}, idle_transaction_timeout = 1, {}",
            time_limit(timeout)
        ),
        false => format!("{SESSION}, transaction_isolation = {LEVEL}"),
    }
}

/// Limits the time of a statement on MariaDB to a little less than `timeout`: the server ends the statement
/// and reports it before the caller gives up.
pub fn time_limit(timeout: Duration) -> String {
    format!("max_statement_time = {:.6}", timeout.as_secs_f64() * 0.8)
}

/// The server's clock in nanoseconds. `SYSDATE` tells the time when the row is read, `NOW` would tell the
/// time when the statement began.
const CLOCK: &str = "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) * 1000";

/// The columns of a row besides `identifier`. Each schema adds columns to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Schema {
    /// The column of the published PDO class.
    Legacy,
    /// All columns, as `prepare()` creates them.
    Full,
}

impl Schema {
    /// The names of the columns.
    pub const fn columns(self) -> &'static [&'static str] {
        const ALL: &[&str] = &["microtime", "seen", "kind", "due", "part", "more", "hits"];
        let count = match self {
            Self::Legacy => 1,
            Self::Full => 7,
        };
        ALL.split_at(count).0
    }
}

/// A statement on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statement {
    /// Reads as many rows, as they are at one moment. Parameters: their identifiers. Returns a row for each, also where the table has
    /// none: which of them it is for, the clock, whether the table has it, and its columns.
    Read(Schema, usize),
    /// Reads one row, and locks it for this transaction. Parameter: the identifier. Returns nothing if the table has none.
    Lock(Schema),
    /// Inserts a row. Parameters: the identifier, the columns.
    Insert(Schema),
    /// Updates a row that is unchanged. Parameters: the new columns, the identifier, the old columns. `<=>`
    /// compares `NULL`s as equal.
    Update(Schema),
    /// Counts the unique keys on `identifier` alone; 0 if `microtime` is not exact to the microsecond.
    /// Parameter: the table's name.
    CountUsableKeys,
}

impl Statement {
    /// Whether the statement changes no row.
    pub const fn is_read(self) -> bool {
        !matches!(self, Self::Insert(_) | Self::Update(_))
    }

    /// The text of the statement for `table`, with a question mark for each parameter.
    pub fn text(self, table: &str) -> String {
        match self {
            Self::Read(schema, rows) => {
                let columns = schema.columns().join(", ");
                let read = |number| {
                    format!(
                        "SELECT {number} AS number, {CLOCK} AS clock, identifier IS NOT NULL AS found, {columns} \
                         FROM (SELECT 1) AS one LEFT JOIN `{table}` ON identifier = ?"
                    )
                };
                (0..rows).map(read).collect::<Vec<_>>().join(" UNION ALL ")
            }
            Self::Lock(schema) => format!(
                "SELECT 0 AS number, {CLOCK} AS clock, 1 AS found, {} FROM `{table}` \
                 WHERE identifier = ? FOR UPDATE",
                schema.columns().join(", ")
            ),
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
