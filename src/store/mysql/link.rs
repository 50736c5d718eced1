//! A session with MariaDB or MySQL that runs prepared statements.
//!
//! Packets are read and written by the crate `mysql_common`. The connections of `mysql`, which is made
//! of it, know no time budget and say goodbye when a forked child drops them.

use super::login::log_in;
use super::packets::{Packets, unreadable};
use super::statements::{Schema, Statement, session, time_limit};
use crate::clock::boot_time;
use crate::dsn::Mysql;
use crate::store::net::failure::Failure;
use crate::store::net::kept::Reusable;
use mysql_common::constants::{CapabilityFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder, StmtPacket};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize};
use mysql_common::row::RowDeserializer;
use mysql_common::value::{ServerSide, Value};
use rustls::ClientConfig;
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUERY: u8 = 3;
const PREPARE: u8 = 22;
/// More than any statement of ours returns.
const MAX_COLUMNS: u64 = 64;
/// More than any statement of ours returns.
const MAX_ROWS: usize = 64;
/// The values of a row.
pub type Row = Vec<Value>;

/// What a statement returns.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// The rows of a `SELECT`.
    Rows(Vec<Row>),
    /// The number of rows that were found or made.
    Done(u64),
}

/// A session, logged in.
pub struct Link {
    packets: Packets,
    is_mariadb: bool,
    /// How long the session lets a statement take.
    timeout: Duration,
    /// Until when the table is taken to have the legacy schema, on the clock of this host: another
    /// process may prepare it.
    pub legacy_until: Cell<u64>,
    /// The numbers of the statements that this session has prepared.
    prepared: Vec<(Statement, u32)>,
    /// The columns of the last reply with rows, as they were sent and as they were read.
    columns: (Vec<Vec<u8>>, Arc<[Column]>),
}

impl Link {
    /// Connects, logs in and sets up the session, by `deadline`. `timeout` is how long a statement may
    /// take.
    pub fn open(
        target: &Mysql,
        tls: Option<&Arc<ClientConfig>>,
        timeout: Duration,
        deadline: Instant,
    ) -> Result<Self, Failure> {
        let mut packets = Packets::open(&target.address, deadline)?;
        let is_mariadb = log_in(&mut packets, target, tls, deadline)?;
        let mut link = Self {
            packets,
            is_mariadb,
            timeout,
            legacy_until: Cell::new(0),
            prepared: Vec::new(),
            columns: Default::default(),
        };
        link.query(&session(is_mariadb, timeout), deadline)?;
        Ok(link)
    }

    /// Has the server end a statement that takes longer than `timeout`. MariaDB only: MySQL has no such limit
    /// for `UPDATE` and `INSERT`.
    pub fn limit_statements(&mut self, timeout: Duration, by: Instant) -> Result<(), Failure> {
        if self.is_mariadb && self.timeout != timeout {
            self.query(&format!("SET {}", time_limit(timeout)), by)?;
            self.timeout = timeout;
        }
        Ok(())
    }

    /// The schema that the table is taken to have.
    pub fn schema(&self) -> Schema {
        if boot_time() < self.legacy_until.get() { Schema::Legacy } else { Schema::Full }
    }

    /// Runs a statement that returns no rows. After a failure other than [`Failure::Refused`] the link
    /// must be dropped: its answer may yet come.
    pub fn query(&mut self, statement: &str, deadline: Instant) -> Result<(), Failure> {
        self.packets.command(&[&[QUERY], statement.as_bytes()].concat(), deadline)?;
        self.reply(deadline).map(drop)
    }

    /// Runs a statement on `table`, and prepares it if this session has not done so. After a failure as
    /// [`query`](Self::query).
    pub fn execute(
        &mut self,
        statement: Statement,
        table: &str,
        values: &[Value],
        deadline: Instant,
    ) -> Result<Reply, Failure> {
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

    fn prepare(&mut self, statement: &str, deadline: Instant) -> Result<u32, Failure> {
        self.packets.command(&[&[PREPARE], statement.as_bytes()].concat(), deadline)?;
        let answer = self.packets.receive(deadline)?;
        let prepared = ParseBuf(&answer).parse::<StmtPacket>(()).map_err(|_| unreadable())?;
        // What it says of parameters and columns it says again.
        for described in [prepared.num_params(), prepared.num_columns()] {
            let end = u32::from(described > 0 && self.sends_eof());
            for _ in 0..u32::from(described) + end {
                self.packets.receive(deadline)?;
            }
        }
        Ok(prepared.statement_id())
    }

    /// The reply to a statement. Its rows, if it has any, must be a prepared one's.
    fn reply(&mut self, deadline: Instant) -> Result<Reply, Failure> {
        let first = self.packets.receive(deadline)?;
        let count = match first.split_first() {
            Some((0x00, rest)) => {
                let found = ParseBuf(rest).checked_eat_lenenc_int();
                return found.map(Reply::Done).ok_or_else(unreadable);
            }
            // It wants a file of ours.
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
                return Ok(Reply::Rows(rows));
            }
            if rows.len() == MAX_ROWS {
                return Err(unreadable());
            }
            // Ours are all numbers, and not every other type can be read: such a row is left empty.
            if !columns.iter().all(|column| is_number(column.column_type())) {
                rows.push(Row::new());
                continue;
            }
            let row = RowDeserializer::<ServerSide, Binary>::deserialize(
                Arc::clone(&columns),
                &mut ParseBuf(&packet),
            );
            // Panics only for a value that was taken out before.
            rows.push(row.map_err(|_| unreadable())?.into_inner().unwrap());
        }
    }

    /// The columns that these packets describe: mostly those of the reply before, which need not be
    /// read again.
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

/// Whether a value of this type is a number or `NULL`.
fn is_number(of: ColumnType) -> bool {
    of.is_numeric_type() || of == ColumnType::MYSQL_TYPE_NULL
}

impl Reusable for Link {
    fn is_reusable(&mut self) -> bool {
        self.packets.is_reusable()
    }
}
