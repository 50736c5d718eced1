//! A session with MariaDB or MySQL that runs prepared statements.
//!
//! The crate `mysql_common` parses and builds packets. The connections of the crate `mysql` have no
//! deadline for a whole call, and a forked child that drops one ends its parent's session.

use super::login::log_in;
use super::packets::{Packets, unreadable};
use super::statements::{Schema, Statement, session, time_limit};
use crate::clock::boot_time;
use crate::dsn::MysqlTarget;
use crate::net::failure::Failure;
use crate::net::kept_connection::Reusable;
use crate::net::pause::Moment;
use mysql_common::constants::{CapabilityFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder, StmtPacket};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize};
use mysql_common::row::RowDeserializer;
use mysql_common::value::{ServerSide, Value};
use rustls::ClientConfig;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

const QUERY: u8 = 3;
const PREPARE: u8 = 22;
/// The most columns of a reply: more than any statement returns.
const MAX_COLUMNS: u64 = 64;
/// The most rows of a reply: more than any statement returns.
const MAX_ROWS: usize = 64;
/// The values of a row.
pub type Row = Vec<Value>;

/// What a statement returns.
#[derive(Debug, PartialEq)]
pub enum StatementReply {
    /// The rows of a `SELECT`.
    Rows(Vec<Row>),
    /// The number of rows that an `UPDATE` found or an `INSERT` made.
    Done(u64),
}

/// How a transaction ends.
pub enum Ending {
    /// Its changes are kept.
    Commit,
    /// Nothing is changed.
    Rollback,
}

/// A session, logged in.
pub struct MysqlLink {
    packets: Packets,
    is_mariadb: bool,
    /// The time limit of statements in this session.
    timeout: Duration,
    /// Whether the server ends a transaction of this session in which nothing happens, if it can.
    ends_idle_transactions: bool,
    /// Until when the table is assumed to have the legacy schema, by this host's clock. Another process may
    /// prepare the table.
    pub legacy_until: Cell<u64>,
    /// The numbers of the statements that this session has prepared.
    prepared: Vec<(Statement, u32)>,
    /// The columns of the last reply with rows: the packets, and what they describe.
    columns: (Vec<Vec<u8>>, Arc<[Column]>),
}

impl MysqlLink {
    /// Connects, logs in and sets up the session, by `deadline`. `timeout` limits the time of statements.
    pub fn open(
        target: &MysqlTarget,
        tls: Option<&Arc<ClientConfig>>,
        timeout: Duration,
        deadline: Moment,
    ) -> Result<Self, Failure> {
        let mut packets = Packets::open(&target.address, deadline)?;
        let is_mariadb = log_in(&mut packets, target, tls, deadline)?;
        let mut link = Self {
            packets,
            is_mariadb,
            timeout,
            ends_idle_transactions: false,
            legacy_until: Cell::new(0),
            prepared: Vec::new(),
            columns: Default::default(),
        };
        link.query(&session(is_mariadb, timeout), deadline)?;
        Ok(link)
    }

    /// Makes the server end statements that take longer than `timeout`. MariaDB only: MySQL has no such limit
    /// for `UPDATE` and `INSERT`.
    pub fn limit_statements(&mut self, timeout: Duration, by: Moment) -> Result<(), Failure> {
        if self.is_mariadb && self.timeout != timeout {
            self.query(&format!("SET {}", time_limit(timeout)), by)?;
            self.timeout = timeout;
        }
        Ok(())
    }

    /// Does `work` in a transaction. If it fails, or the connection is lost, nothing is done.
    pub fn transaction<R>(
        &mut self,
        deadline: Moment,
        work: impl FnOnce(&mut Self) -> Result<(R, Ending), Failure>,
    ) -> Result<R, Failure> {
        if self.is_mariadb && !self.ends_idle_transactions {
            // A process that is suspended in a transaction would keep its locks: the server ends its session
            // after a second. MySQL has no such limit, nor has a MariaDB before 10.3.
            match self.query("SET idle_transaction_timeout = 1", deadline) {
                Ok(()) | Err(Failure::Refused { .. }) => self.ends_idle_transactions = true,
                Err(failure) => return Err(failure),
            }
        }
        self.query("START TRANSACTION", deadline)?;
        match work(self) {
            Ok((done, Ending::Commit)) => self.query("COMMIT", deadline).map(|()| done),
            Ok((done, Ending::Rollback)) => self.query("ROLLBACK", deadline).map(|()| done),
            Err(failure @ Failure::Refused { .. }) => {
                self.query("ROLLBACK", deadline)?;
                Err(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    /// The schema that the table is assumed to have.
    pub fn schema(&self) -> Schema {
        if boot_time() < self.legacy_until.get() { Schema::Legacy } else { Schema::Full }
    }

    /// Runs a statement that returns no rows. After a failure other than [`Failure::Refused`] the link
    /// must be dropped: its answer may yet come.
    pub fn query(&mut self, statement: &str, deadline: Moment) -> Result<(), Failure> {
        self.packets.command(&[&[QUERY], statement.as_bytes()].concat(), deadline)?;
        self.reply(deadline).map(drop)
    }

    /// Runs a statement on `table`, and prepares it if this session has not done so. After a failure other
    /// than [`Failure::Refused`] the link must be dropped: its answer may yet come.
    pub fn execute(
        &mut self,
        statement: Statement,
        table: &str,
        values: &[Value],
        deadline: Moment,
    ) -> Result<StatementReply, Failure> {
        let number = match self.prepared.iter().find(|(known, _)| *known == statement) {
            Some((_, number)) => *number,
            None => {
                let number = self.prepare(&statement.text(table), deadline)?;
                self.prepared.push((statement, number));
                number
            }
        };
        let mut packet = Vec::new();
        ComStmtExecuteRequestBuilder::new(number).build(values).0.serialize(&mut packet);
        self.packets.command(&packet, deadline)?;
        self.reply(deadline)
    }

    /// Runs a statement on `table` that returns rows, as [`execute`](Self::execute) does.
    pub fn read(
        &mut self,
        statement: Statement,
        table: &str,
        values: &[Value],
        deadline: Moment,
    ) -> Result<Vec<Row>, Failure> {
        match self.execute(statement, table, values, deadline)? {
            StatementReply::Rows(rows) => Ok(rows),
            StatementReply::Done(_) => Err(unreadable()),
        }
    }

    fn prepare(&mut self, statement: &str, deadline: Moment) -> Result<u32, Failure> {
        self.packets.command(&[&[PREPARE], statement.as_bytes()].concat(), deadline)?;
        let answer = self.packets.receive(deadline)?;
        let prepared = ParseBuf(&answer).parse::<StmtPacket>(()).map_err(|_| unreadable())?;
        // Skips the descriptions of parameters and columns: each reply describes its columns again.
        for described in [prepared.num_params(), prepared.num_columns()] {
            let end = u32::from(described > 0 && self.sends_eof());
            for _ in 0..u32::from(described) + end {
                self.packets.receive(deadline)?;
            }
        }
        Ok(prepared.statement_id())
    }

    /// Receives the reply to a statement. Rows must be those of a prepared statement (binary).
    fn reply(&mut self, deadline: Moment) -> Result<StatementReply, Failure> {
        let first = self.packets.receive(deadline)?;
        let count = match first.split_first() {
            Some((0x00, rest)) => {
                let found = ParseBuf(rest).checked_eat_lenenc_int();
                return found.map(StatementReply::Done).ok_or_else(unreadable);
            }
            // LOAD DATA LOCAL: the server asks for a file of this host.
            Some((0xFB, _)) => return Err(unreadable()),
            _ => ParseBuf(&first).checked_eat_lenenc_int().ok_or_else(unreadable)?,
        };
        if count > MAX_COLUMNS {
            return Err(unreadable());
        }
        let mut described = Vec::new();
        for _ in 0..count {
            described.push(self.packets.receive(deadline)?);
        }
        if self.sends_eof() {
            self.packets.receive(deadline)?;
        }
        let columns = self.columns(described)?;
        let mut rows = Vec::new();
        loop {
            let packet = self.packets.receive(deadline)?;
            // A row of a prepared statement begins with 0.
            if packet.first() == Some(&0xFE) {
                return Ok(StatementReply::Rows(rows));
            }
            if rows.len() == MAX_ROWS {
                return Err(unreadable());
            }
            // All statements return numbers and a BLOB. mysql_common cannot parse every other type, so a row
            // with one becomes an empty row.
            if !columns.iter().all(|column| can_parse(column.column_type())) {
                rows.push(Row::new());
                continue;
            }
            let row = RowDeserializer::<ServerSide, Binary>::deserialize(
                Arc::clone(&columns),
                &mut ParseBuf(&packet),
            );
            // `unwrap` of a row is None only if a value was taken out before.
            rows.push(row.map_err(|_| unreadable())?.into_inner().unwrap());
        }
    }

    /// Parses the descriptions of columns, unless they are those of the previous reply.
    fn columns(&mut self, described: Vec<Vec<u8>>) -> Result<Arc<[Column]>, Failure> {
        if self.columns.0 != described {
            let read = |packet: &Vec<u8>| ParseBuf(packet).parse::<Column>(());
            let columns: Result<Arc<[Column]>, _> = described.iter().map(read).collect();
            self.columns = (described, columns.map_err(|_| unreadable())?);
        }
        Ok(Arc::clone(&self.columns.1))
    }

    fn sends_eof(&self) -> bool {
        !self.packets.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }
}

/// Whether a value of this type is a number, a BLOB or `NULL`.
fn can_parse(kind: ColumnType) -> bool {
    kind.is_numeric_type()
        || matches!(kind, ColumnType::MYSQL_TYPE_BLOB | ColumnType::MYSQL_TYPE_NULL)
}

impl Reusable for MysqlLink {
    fn is_own(&self) -> bool {
        self.packets.is_own()
    }

    fn is_reusable(&mut self) -> bool {
        self.packets.is_reusable()
    }
}
