//! The error codes of MariaDB and MySQL.

/// The table lacks a column.
pub const NO_SUCH_COLUMN: &str = "1054";
/// The table has the column already.
pub const COLUMN_EXISTS: &str = "1060";
/// The table has a row of this identifier already.
pub const DUPLICATE_ROW: &str = "1062";
/// The table does not exist.
pub const NO_SUCH_TABLE: &str = "1146";
/// The user lacks a right to the table.
pub const TABLE_ACCESS_DENIED: &str = "1142";
/// The user lacks a right to a column.
pub const COLUMN_ACCESS_DENIED: &str = "1143";
/// The identifier does not fit into its column.
pub const DATA_TOO_LONG: &str = "1406";
/// The identifier has characters that its column does not take.
pub const WRONG_STRING: &str = "1366";
/// Nothing was done because of another session: a lock wait, a deadlock, a snapshot that is too old, a
/// killed statement, a table that was altered.
pub const CONFLICTS: [&str; 5] = [LOCK_WAIT, "1213", "1020", "1317", "1412"];
/// No prepared statement has this number.
pub const UNKNOWN_STATEMENT: &str = "1243";
/// A lock was not released within a second.
pub const LOCK_WAIT: &str = "1205";
/// Nothing was done within `max_statement_time`.
pub const TOO_SLOW: &str = "1969";
/// The server has no room for a new row: a full table, a full disk, the storage engine's error for either.
pub const NO_ROOM: [&str; 3] = ["1114", "1021", "1030"];
/// The server takes no further connection: of all users, of this one, or of this one within an hour.
pub const TOO_MANY_CONNECTIONS: [&str; 3] = ["1040", "1203", "1226"];
/// The server takes no writes: by an option, which the message names (`read_only`, `super_read_only`), in a transaction that is read-only by
/// default, in a mode of its own, or because InnoDB is read-only.
pub const UNWRITABLE: [&str; 4] = ["1290", "1792", "1836", "1036"];
