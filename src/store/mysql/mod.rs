//! Buckets in a table of MariaDB or MySQL: compare and swap, by the server's clock.
//!
//! A row holds a state, and is replaced only while its columns are those that were read: see
//! [`swap`](super::swap).
//!
//! * [`database`]: the sessions, and what errors of the server mean
//! * [`entry`]: the row of a key, and [`swap_entry`]: swaps it
//! * [`read`]: one row or several, read without a lock
//! * [`locked`]: a row, decided on while it is locked
//! * [`joint`]: several rows, decided on in one transaction
//! * [`row`]: a state as the columns of a row
//! * [`statements`]: the texts of all statements
//! * [`table`]: creates the table, or adds missing columns
//! * [`link`], [`login`], [`packets`]: a session, the login, and the packets of the protocol
//! * [`code`]: the error codes of the server

mod code;
mod database;
mod entry;
mod joint;
mod link;
mod locked;
mod login;
mod packets;
mod read;
mod row;
mod statements;
mod swap_entry;
mod table;

use super::answer::Answer;
use super::name::row_name;
use super::remote::RemoteStore;
use super::request::{JointRequest, Request, Store};
use super::swap::SwapDecider;
use super::writes::Writes;
use crate::dsn::MysqlTarget;
use crate::error::Result;
use crate::limit::{Decision, Op};
use crate::mapped::MappedFile;
use crate::net::Timeouts;
use database::Database;
use entry::RowEntry;
use std::rc::Rc;
use std::time::Duration;

/// The time-out of `prepare()`: a large table may have to be rewritten.
const PREPARATION: Duration = Duration::from_secs(60);

/// Buckets in a table of MariaDB or MySQL.
pub struct Mysql {
    database: Database,
    decider: SwapDecider,
    /// Server, database and table, as records of hot keys know them.
    table: Vec<u8>,
}

impl Mysql {
    /// The store at `target`, whose hot keys have records in `host_file`. Nothing is opened yet.
    pub fn new(target: MysqlTarget, host_file: Rc<MappedFile>) -> Self {
        let decider = SwapDecider::new("MySQL", host_file);
        let table = format!("{}/{}/{}", target.address, target.database, target.table).into_bytes();
        Self { database: Database::new(target), decider, table }
    }
}

impl Store for Mysql {
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        let identifier = row_name(request.key);
        let entry = RowEntry::new(&self.database, identifier, *request);
        let decision = self.decider.decide(&entry, request, &entry.identifier, &self.table)?;
        Ok(decision.into())
    }

    fn can_decide_all(&self, _: &[Request<'_>]) -> bool {
        true
    }

    fn decide_all(&self, requests: &[JointRequest<'_>]) -> Result<Vec<Decision>> {
        joint::decide_all(&self.database, requests)
    }

    fn prepare(&self, _: &[u8], timeouts: &Timeouts) -> Result<()> {
        let prepared = table::prepare(&self.database, Timeouts { call: PREPARATION, ..*timeouts });
        // The kept session has prepared its statements for the table as it was.
        self.database.link.close();
        prepared
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let MysqlTarget { address, database, table, tls, .. } = &self.database.target;
        let connections = u8::from(self.database.link.is_open());
        vec![
            ("MySQL", address.to_string()),
            ("Table", format!("{database}.{table}")),
            ("Connections of this process", connections.to_string()),
            ("Encrypted", if tls.is_some() { "yes" } else { "no" }.to_owned()),
        ]
    }
}

impl RemoteStore for Mysql {
    fn writes(&self) -> Option<&Writes> {
        Some(&self.database.writes)
    }

    fn is_connected(&self) -> bool {
        self.database.link.is_open()
    }

    fn keeps_connection(&self, _: u64) -> bool {
        self.database.link.keep_if_reusable()
    }

    fn rediscover(&self) {
        self.database.link.close();
    }

    fn round_trip(&self, _: u64) -> Duration {
        self.database.link.round_trip.shortest()
    }

    /// All rows are read in one trip. One row is swapped; several are locked and updated, each in a trip, and committed.
    fn trips(&self, ops: &[Op]) -> u32 {
        match ops {
            _ if ops.iter().all(|op| matches!(op, Op::Peek { .. })) => 1,
            [_] => 2,
            _ => 2 + 2 * u32::try_from(ops.len()).unwrap_or(u32::MAX / 2 - 1),
        }
    }

    /// TCP, the greeting, TLS, and the login.
    fn trips_to_connect(&self) -> u32 {
        3 + u32::from(self.database.target.tls.is_some())
    }

    fn name(&self) -> String {
        self.database.name()
    }
}
