//! A session with MariaDB or MySQL that runs prepared statements.
//!
//! The crate `mysql_common` parses and builds packets. The connections of the crate `mysql` have no
//! deadline for a whole call, and a forked child that drops one ends its parent's session.

use super::code;
use super::login::log_in;
use super::packets::{Packets, unreadable};
use super::statements::{Schema, Statement, session, time_limit};
use crate::clock::boot_time;
use crate::dsn::MysqlTarget;
use crate::net::failure::Failure;
use crate::net::kept_connection::Reusable;
use crate::net::pause::Moment;
use crate::net::round_trip::RoundTrip;
use mysql_common::constants::{CapabilityFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder, StmtPacket};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize};
use mysql_common::row::RowDeserializer;
use mysql_common::value::{ServerSide, Value};
use rustls::ClientConfig;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const QUERY: u8 = 3;
const PREPARE: u8 = 22;
/// The number that stands for the statement that a session of MariaDB has prepared last.
const LAST_PREPARED: u32 = u32::MAX;
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

/// What a session has to do before its next statement.
enum Due {
    /// The settings of the session.
    Settings,
    /// The begin of a transaction.
    Begin,
}

/// A session, logged in.
///
/// What a statement needs before it is sent along with it, in one trip: the settings of the session, the begin of a transaction, and
/// its preparation. Its number is known before the server answers: MariaDB has one that stands for the statement prepared last, and
/// MySQL counts the statements of a session. Only a statement that changes nothing is sent like this: if a server does not know the
/// number, the statement is executed again by the number in the server's answer. A statement that changes rows is sent when what it
/// needs is done.
pub struct MysqlLink {
    packets: Packets,
    is_mariadb: bool,
    /// The time limit that the statements of this session shall have.
    timeout: Duration,
    /// The time limit that they have; none before the session is set up.
    timeout_in_force: Option<Duration>,
    /// Whether a transaction begins with the next statement.
    begins_transaction: bool,
    /// Until when the table is assumed to have the legacy schema, by this host's clock. Another process may
    /// prepare the table.
    pub legacy_until: Cell<u64>,
    /// The numbers of the statements that this session has prepared.
    prepared: Vec<(Statement, u32)>,
    /// The number of the statement that is prepared next.
    next_number: u32,
    /// The columns of the last reply with rows: the packets, and what they describe.
    columns: (Vec<Vec<u8>>, Arc<[Column]>),
}

impl MysqlLink {
    /// Connects and logs in by `deadline`. The session is set up with its first statement. `timeout` limits the time of statements.
    pub fn open(
        target: &MysqlTarget,
        tls: Option<&Arc<ClientConfig>>,
        timeout: Duration,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> Result<Self, Failure> {
        let mut packets = Packets::open(&target.address, deadline, round_trip)?;
        let is_mariadb = log_in(&mut packets, target, tls, deadline)?;
        Ok(Self {
            packets,
            is_mariadb,
            timeout,
            timeout_in_force: None,
            begins_transaction: false,
            legacy_until: Cell::new(0),
            prepared: Vec::new(),
            next_number: 1,
            columns: Default::default(),
        })
    }

    /// Makes the server end statements that take longer than `timeout`. MariaDB only: MySQL has no such limit
    /// for `UPDATE` and `INSERT`.
    pub fn limit_statements(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Does `work` in a transaction, which begins with its first statement. If it fails, or the connection is lost, nothing is done.
    pub fn transaction<R>(
        &mut self,
        deadline: Moment,
        work: impl FnOnce(&mut Self) -> Result<(R, Ending), Failure>,
    ) -> Result<R, Failure> {
        self.begins_transaction = true;
        let result = work(self);
        let has_begun = !std::mem::take(&mut self.begins_transaction);
        let mut end = |statement| if has_begun { self.query(statement, deadline) } else { Ok(()) };
        match result {
            Ok((done, Ending::Commit)) => end("COMMIT").map(|()| done),
            Ok((done, Ending::Rollback)) => end("ROLLBACK").map(|()| done),
            Err(failure @ Failure::Refused { .. }) => {
                end("ROLLBACK")?;
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
        self.catch_up(deadline)?;
        self.packets.send_commands(&[text_command(QUERY, statement)], deadline)?;
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
        if statement.is_read() {
            return self.execute_and_prepare(statement, &[], table, values, deadline);
        }
        self.catch_up(deadline)?;
        let number = match self.number(statement) {
            Some(number) => number,
            None => {
                let command = text_command(PREPARE, &statement.text(table));
                self.packets.send_commands(&[command], deadline)?;
                self.note_prepared(statement, deadline)?
            }
        };
        self.packets.send_commands(&[execution(number, values)], deadline)?;
        self.reply(deadline)
    }

    /// Runs a statement that changes nothing. When it is prepared, those that may `follow` are prepared in the same trip; if the server
    /// refuses one of them, its own call finds out why.
    fn execute_and_prepare(
        &mut self,
        statement: Statement,
        follow: &[Statement],
        table: &str,
        values: &[Value],
        deadline: Moment,
    ) -> Result<StatementReply, Failure> {
        let known = self.number(statement);
        let expected = if self.is_mariadb { LAST_PREPARED } else { self.next_number };
        let number = known.unwrap_or(expected);
        let (due, mut commands) = self.due();
        if known.is_none() {
            commands.push(text_command(PREPARE, &statement.text(table)));
        }
        commands.push(execution(number, values));
        let follow: Vec<Statement> = match known {
            None => follow.iter().copied().filter(|it| self.number(*it).is_none()).collect(),
            Some(_) => Vec::new(),
        };
        commands.extend(follow.iter().map(|it| text_command(PREPARE, &it.text(table))));
        self.packets.send_commands(&commands, deadline)?;
        // All answers are read before one of them counts, or the next call would read the rest.
        let caught_up = self.note_done(&due, deadline)?;
        let prepared = match known {
            Some(number) => Ok(number),
            None => unless_lost(self.note_prepared(statement, deadline))?,
        };
        let reply = unless_lost(self.reply(deadline))?;
        for statement in follow {
            let _ = unless_lost(self.note_prepared(statement, deadline))?;
        }
        caught_up?;
        let prepared = prepared?;
        let is_of_another = number != prepared && number != LAST_PREPARED;
        match reply {
            Err(failure) if known.is_none() && failure.is(code::UNKNOWN_STATEMENT) => {
                self.execute(statement, table, values, deadline)
            }
            _ if is_of_another => self.execute(statement, table, values, deadline),
            reply => reply,
        }
    }

    /// What is due before the next statement, and the commands for it.
    fn due(&self) -> (Vec<Due>, Vec<Vec<u8>>) {
        let settings = match self.timeout_in_force {
            None => Some(session(self.is_mariadb, self.timeout)),
            Some(in_force) if self.is_mariadb && in_force != self.timeout => {
                Some(format!("SET {}", time_limit(self.timeout)))
            }
            Some(_) => None,
        };
        let begin = self.begins_transaction.then(|| "START TRANSACTION".to_owned());
        let due = [settings.map(|it| (Due::Settings, it)), begin.map(|it| (Due::Begin, it))];
        due.into_iter().flatten().map(|(due, it)| (due, text_command(QUERY, &it))).unzip()
    }

    /// Receives the answers to the commands for what was due. What was refused is due again.
    fn note_done(&mut self, due: &[Due], deadline: Moment) -> Result<Result<(), Failure>, Failure> {
        let mut result = Ok(());
        for due in due {
            let done = unless_lost(self.reply(deadline))?.map(drop);
            match due {
                _ if done.is_err() => {}
                Due::Settings => self.timeout_in_force = Some(self.timeout),
                Due::Begin => self.begins_transaction = false,
            }
            result = result.and(done);
        }
        Ok(result)
    }

    /// Does what is due before the next statement.
    fn catch_up(&mut self, deadline: Moment) -> Result<(), Failure> {
        let (due, commands) = self.due();
        if !commands.is_empty() {
            self.packets.send_commands(&commands, deadline)?;
        }
        self.note_done(&due, deadline)?
    }

    /// Runs a statement on `table` that returns rows, after which these may `follow`, as [`execute`](Self::execute) does.
    pub fn read(
        &mut self,
        statement: Statement,
        follow: &[Statement],
        table: &str,
        values: &[Value],
        deadline: Moment,
    ) -> Result<Vec<Row>, Failure> {
        match self.execute_and_prepare(statement, follow, table, values, deadline)? {
            StatementReply::Rows(rows) => Ok(rows),
            StatementReply::Done(_) => Err(unreadable()),
        }
    }

    /// The number of a statement that this session has prepared.
    fn number(&self, statement: Statement) -> Option<u32> {
        self.prepared.iter().find(|(known, _)| *known == statement).map(|(_, number)| *number)
    }

    /// Receives the answer to the preparation of a statement: its number.
    fn note_prepared(&mut self, statement: Statement, deadline: Moment) -> Result<u32, Failure> {
        let answer = self.packets.receive_first(deadline)?;
        let prepared = ParseBuf(&answer).parse::<StmtPacket>(()).map_err(|_| unreadable())?;
        // Skips the descriptions of parameters and columns: each reply describes its columns again.
        for described in [prepared.num_params(), prepared.num_columns()] {
            let end = u32::from(described > 0 && self.sends_eof());
            for _ in 0..u32::from(described) + end {
                self.packets.receive(deadline)?;
            }
        }
        let number = prepared.statement_id();
        self.prepared.push((statement, number));
        self.next_number = number.wrapping_add(1);
        Ok(number)
    }

    /// Receives the reply to a statement. Rows must be those of a prepared statement (binary).
    fn reply(&mut self, deadline: Moment) -> Result<StatementReply, Failure> {
        let first = self.packets.receive_first(deadline)?;
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

/// A command with a text.
fn text_command(command: u8, text: &str) -> Vec<u8> {
    [&[command], text.as_bytes()].concat()
}

/// The command that executes the prepared statement of this number.
fn execution(number: u32, values: &[Value]) -> Vec<u8> {
    let mut packet = Vec::new();
    ComStmtExecuteRequestBuilder::new(number).build(values).0.serialize(&mut packet);
    packet
}

/// A refusal is an answer, after which the next one can be read.
fn unless_lost<T>(answer: Result<T, Failure>) -> Result<Result<T, Failure>, Failure> {
    match answer {
        Err(failure) if !matches!(failure, Failure::Refused { .. }) => Err(failure),
        answer => Ok(answer),
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
