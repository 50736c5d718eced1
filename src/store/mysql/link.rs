//! A connection that speaks the protocol of MariaDB and MySQL.
//!
//! Packets are framed, read and written by the crate `mysql_common`; the connections of `mysql`,
//! which is made of it, know no time budget and say goodbye when a forked child drops them.

use super::statements::{Call, Which};
use crate::dsn::Mysql;
use crate::store::net::channel::Channel;
use crate::store::net::failure::{Failure, line};
use mysql_common::constants::{CapabilityFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder, ErrPacket, StmtPacket};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize};
use mysql_common::row::RowDeserializer;
use mysql_common::value::{ServerSide, Value};
use rustls::ClientConfig;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest packet that is read, in bytes: no answer to what is asked here comes near it.
const LONGEST: usize = 1 << 16;
const QUERY: u8 = 3;
const PREPARE: u8 = 22;
/// The types of numbers, which are sent as such or as text.
const NUMBERS: [ColumnType; 8] = [
    ColumnType::MYSQL_TYPE_TINY,
    ColumnType::MYSQL_TYPE_SHORT,
    ColumnType::MYSQL_TYPE_INT24,
    ColumnType::MYSQL_TYPE_LONG,
    ColumnType::MYSQL_TYPE_LONGLONG,
    ColumnType::MYSQL_TYPE_NEWDECIMAL,
    ColumnType::MYSQL_TYPE_VAR_STRING,
    ColumnType::MYSQL_TYPE_NULL,
];

/// A row of an answer.
pub type Row = Vec<Value>;

/// The numbers of a statement, and of one that tells what it has done where it cannot.
type Prepared = (u32, Option<u32>);

/// A connection, logged in.
pub struct Link {
    pub(super) channel: Channel,
    pub(super) capabilities: CapabilityFlags,
    /// The number of the next packet of this exchange.
    pub(super) sequence: u8,
    received: Vec<u8>,
    /// Whether the server knows `INSERT ... RETURNING`: MariaDB does.
    pub(super) returning: bool,
    /// Until when the table is believed to have but the two columns of the classic one, on the
    /// clock of this host: others may prepare it.
    pub classic_until: u64,
    /// The numbers of the statements that this session has prepared.
    prepared: Vec<(Which, Prepared)>,
}

impl Link {
    /// Connects, logs in and sets up the session, by `deadline`. `patience` is how long a statement may
    /// take.
    pub fn open(
        target: &Mysql,
        tls: Option<&Arc<ClientConfig>>,
        patience: Duration,
        deadline: Instant,
    ) -> Result<Self, Failure> {
        let channel = Channel::open(&target.address, None, deadline)
            .map_err(|error| Failure::of_connecting(&error))?;
        let mut link = Self {
            channel,
            capabilities: CapabilityFlags::empty(),
            sequence: 0,
            received: Vec::new(),
            returning: false,
            classic_until: 0,
            prepared: Vec::new(),
        };
        super::login::log_in(&mut link, target, tls, deadline)?;
        let session = super::statements::session(link.returning, patience);
        link.query(&session, deadline)?;
        Ok(link)
    }

    /// The link, if a call may be made on it.
    pub fn if_good(mut self) -> Option<Self> {
        self.channel.is_good().then_some(self)
    }

    /// Has a statement run that returns no rows. After a failure other than [`Failure::Refused`]
    /// the link must be dropped: its answer may yet come.
    pub fn query(&mut self, statement: &str, deadline: Instant) -> Result<(), Failure> {
        self.command(QUERY, statement.as_bytes(), deadline)?;
        self.rows(deadline).map(drop)
    }

    /// Has a prepared statement run, and returns the row that it tells of. As
    /// [`query`](Self::query) else.
    pub fn call(&mut self, call: &Call, deadline: Instant) -> Result<Option<Row>, Failure> {
        let (decides, tells) = self.numbers(call, deadline)?;
        // Both go before the first is answered: one way there and back.
        self.execute(decides, &call.values, deadline)?;
        if let Some(tells) = tells {
            self.execute(tells, &[], deadline)?;
        }
        let decided = self.answer(deadline)?;
        let told = match tells {
            // Answered too where the first was refused.
            Some(_) => decided.and(self.answer(deadline)?),
            None => decided,
        };
        Ok(told?.into_iter().last())
    }

    fn execute(&mut self, number: u32, values: &[Value], deadline: Instant) -> Result<(), Failure> {
        let mut packet = Vec::new();
        ComStmtExecuteRequestBuilder::new(number).build(values).0.serialize(&mut packet);
        self.sequence = 0;
        self.send(&packet, deadline)
    }

    /// The answer to a statement that was sent; within it a refusal, after which others follow.
    fn answer(&mut self, deadline: Instant) -> Result<Result<Vec<Row>, Failure>, Failure> {
        self.sequence = 1;
        match self.rows(deadline) {
            Err(failure @ (Failure::Lost | Failure::Down(_))) => Err(failure),
            answer => Ok(answer),
        }
    }

    /// The numbers of a statement, which is prepared if this session has not done so: two where
    /// a second has to tell what the first has done.
    fn numbers(&mut self, call: &Call, deadline: Instant) -> Result<Prepared, Failure> {
        if let Some((_, numbers)) = self.prepared.iter().find(|(known, _)| *known == call.which) {
            return Ok(*numbers);
        }
        let numbers = match (self.returning, call.statement.in_two()) {
            (false, (first, Some(second))) => {
                (self.prepare(first, deadline)?, Some(self.prepare(&second, deadline)?))
            }
            _ => (self.prepare(&call.statement.text, deadline)?, None),
        };
        self.prepared.push((call.which, numbers));
        Ok(numbers)
    }

    fn prepare(&mut self, statement: &str, deadline: Instant) -> Result<u32, Failure> {
        self.command(PREPARE, statement.as_bytes(), deadline)?;
        let answer = self.receive(deadline)?;
        let prepared = ParseBuf(&answer).parse::<StmtPacket>(()).map_err(|_| garbled())?;
        // What it says of parameters and columns it says again.
        for described in [prepared.num_params(), prepared.num_columns()] {
            let end = u32::from(described > 0 && !self.deprecates_eof());
            for _ in 0..u32::from(described) + end {
                self.receive(deadline)?;
            }
        }
        Ok(prepared.statement_id())
    }

    fn command(&mut self, command: u8, text: &[u8], deadline: Instant) -> Result<(), Failure> {
        self.sequence = 0;
        let mut packet = Vec::with_capacity(1 + text.len());
        packet.push(command);
        packet.extend(text);
        self.send(&packet, deadline)
    }

    /// The rows of a prepared statement's result; none where a statement has none.
    fn rows(&mut self, deadline: Instant) -> Result<Vec<Row>, Failure> {
        let first = self.receive(deadline)?;
        let count = match first.first() {
            Some(0x00) => return Ok(Vec::new()),
            // It wants a file of ours.
            Some(0xFB) => return Err(garbled()),
            _ => ParseBuf(&first).checked_eat_lenenc_int().ok_or_else(garbled)?,
        };
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.receive(deadline)?;
            columns.push(ParseBuf(&packet).parse::<Column>(()).map_err(|_| garbled())?);
        }
        if !self.deprecates_eof() {
            self.receive(deadline)?;
        }
        let columns: Arc<[Column]> = columns.into();
        let mut rows = Vec::new();
        loop {
            let packet = self.receive(deadline)?;
            // A row of a prepared statement begins with 0.
            if packet.first() == Some(&0xFE) {
                return Ok(rows);
            }
            // What no statement of ours tells need not be read, and not all can be.
            if !columns.iter().all(|column| NUMBERS.contains(&column.column_type())) {
                return Err(garbled());
            }
            let row = RowDeserializer::<ServerSide, Binary>::deserialize(
                Arc::clone(&columns),
                &mut ParseBuf(&packet),
            );
            // Its values, none of which has been taken out before.
            rows.push(row.map_err(|_| garbled())?.into_inner().unwrap());
        }
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    /// Whether more has come than was read.
    pub(super) fn has_more(&self) -> bool {
        !self.received.is_empty()
    }

    /// Sends a packet.
    pub(super) fn send(&mut self, payload: &[u8], deadline: Instant) -> Result<(), Failure> {
        let mut packet = Vec::with_capacity(4 + payload.len());
        // Three bytes: no statement of ours is as long as 2^24.
        packet.extend((payload.len() as u32).to_le_bytes().into_iter().take(3));
        packet.push(self.sequence);
        packet.extend(payload);
        self.sequence = self.sequence.wrapping_add(1);
        let mut exchange = self.channel.until(deadline);
        let sent = exchange.write_all(&packet).and_then(|()| exchange.flush());
        sent.map_err(|error| Failure::of_io(&error))
    }

    /// Receives a packet; one that tells of an error is a failure.
    pub(super) fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, Failure> {
        loop {
            if let Some(&[a, b, c, sequence]) = self.received.first_chunk() {
                let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
                if sequence != self.sequence || length > LONGEST {
                    return Err(garbled());
                }
                if self.received.len() >= 4 + length {
                    let payload = self.received.drain(..4 + length).skip(4).collect();
                    self.sequence = self.sequence.wrapping_add(1);
                    return self.unless_error(payload);
                }
            }
            let mut chunk = [0u8; 2048];
            let mut exchange = self.channel.until(deadline);
            let read = exchange.read(&mut chunk).map_err(|error| Failure::of_io(&error))?;
            if read == 0 {
                return Err(Failure::Lost);
            }
            self.received.extend(chunk.iter().take(read));
        }
    }

    fn unless_error(&self, payload: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if payload.first() != Some(&0xFF) {
            return Ok(payload);
        }
        match ParseBuf(&payload).parse::<ErrPacket<'_>>(self.capabilities) {
            Ok(ErrPacket::Error(error)) => Err(Failure::Refused {
                code: error.error_code().to_string(),
                detail: line(&error.message_str()),
            }),
            _ => Err(garbled()),
        }
    }
}

/// What it says when an answer cannot be read.
pub(super) fn garbled() -> Failure {
    Failure::Down("its answer is not the protocol of MariaDB or MySQL".to_owned())
}
