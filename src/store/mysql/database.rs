//! The database: its sessions, and what its errors mean.

use super::code;
use super::link::MysqlLink;
use crate::dsn::{MysqlTarget, sanitize};
use crate::error::{Error, Result};
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::kept_connection::KeptConnection;
use crate::net::pause::Moment;
use crate::net::tls::Encryption;
use crate::store::writes::{WriteOutcome, Writes};
use std::cell::RefCell;
use std::time::Duration;

/// The message of a read that the server ended because it took too long.
const SLOW_READ: &str =
    "the server did not read the row in time: it is slow, or the table is locked";
/// The message of a write that had no answer in a call whose read had one. The server does not say what it waited for.
const WAITING_WRITE: &str = "reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk";
/// The message of a write that had no answer in a call without a read.
const SLOW_WRITE: &str =
    "the write was not done in time: the server is silent or slow, or the bucket's row is locked";
/// The message of a call that must write while writes are withheld.
const WITHHELD: &str =
    "reads are answered, but a write had to wait a moment ago, and the next is not tried yet";

/// A database of MariaDB or MySQL, and the session that this process keeps with it.
pub struct Database {
    /// The server, the login and the table.
    pub target: MysqlTarget,
    /// The kept session.
    pub link: KeptConnection<MysqlLink>,
    encryption: Encryption,
    /// Whether the current call may write, and what became of that.
    pub writes: Writes,
    /// The identifier of the row that the server did not read in time, until it has read one.
    slow: RefCell<Option<Vec<u8>>>,
}

impl Database {
    /// The database at `target`. Nothing is opened yet.
    pub fn new(target: MysqlTarget) -> Self {
        let (link, encryption) = (KeptConnection::default(), Encryption::default());
        Self { target, link, encryption, writes: Writes::default(), slow: RefCell::default() }
    }

    /// Names the server in a message.
    pub fn name(&self) -> String {
        format!("MySQL at {}", self.target.address)
    }

    /// Notes that the server has read rows in time.
    pub fn note_read(&self) {
        self.writes.note_read();
        self.slow.take();
    }

    /// Calls `work` with a session. `may_repeat`: the work may be done again if it is not known whether it
    /// was done.
    pub fn run<R>(
        &self,
        budget: &mut Budget,
        may_repeat: bool,
        work: impl Fn(&mut MysqlLink, Moment) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let timeout = budget.timeouts().call;
        self.with_opener(timeout, |open| {
            self.link.call(budget, may_repeat, open, |link, deadline| {
                link.limit_statements(timeout);
                work(link, deadline)
            })
        })
    }

    /// Opens a session if there is none.
    pub fn open_if_none(&self, budget: &mut Budget) -> Result<(), Failure> {
        let timeout = budget.timeouts().call;
        self.with_opener(timeout, |open| self.link.open_if_none(budget, open))
    }

    /// Calls `work` with what opens a session, whose statements take as long as `timeout` at most.
    fn with_opener<R>(
        &self,
        timeout: Duration,
        work: impl FnOnce(&dyn Fn(Moment) -> Result<MysqlLink, Failure>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let tls = self.encryption.config_for(self.target.tls.as_ref())?;
        let result = work(&|deadline| {
            let (tls, trips) = (tls.as_ref(), &self.link.round_trip);
            let link = MysqlLink::open(&self.target, tls, timeout, deadline, trips);
            link.map_err(Failure::while_opening)
        });
        if let Err(failure) = &result {
            self.encryption.note_failure(failure);
        }
        result
    }

    /// The error of a failed call on the row of `identifier`.
    pub fn error(&self, failure: &Failure, identifier: &[u8]) -> Error {
        let (code, detail) = match failure {
            Failure::Refused { code, detail } => (code, detail),
            Failure::LostIdle => return self.refused(&failure.reason()),
            Failure::Local(reason) => return Error::local(format!("{}: {reason}", self.name())),
            _ => return self.failed(&failure.reason()),
        };
        if code == code::TOO_SLOW || code == code::LOCK_WAIT {
            return self.slow_read(identifier);
        }
        if failure.is_any(&code::CONFLICTS) {
            return self.refused(detail);
        }
        if failure.is_any(&code::TOO_MANY_CONNECTIONS) {
            return Error::local(format!("{}: {detail}", self.name()));
        }
        if failure.is_any(&code::UNWRITABLE) {
            return Error::unwritable(&self.name(), detail);
        }
        // The next call opens a new session, for this one may not learn of new rights.
        self.link.close();
        match self.hint(code) {
            // One refusal has several texts ("for column", "for table").
            Some(hint) => self
                .refused(&format!("{detail}; {hint}"))
                .as_known_by(format!("{}: {hint}", self.target.table)),
            None => self.failed(&format!("{detail} (error {code})")),
        }
    }

    /// The error of a read that ran out of time. One row says nothing about others; if a second row cannot be read next, the server
    /// counts as down.
    fn slow_read(&self, identifier: &[u8]) -> Error {
        match self.slow.replace(Some(identifier.to_vec())) {
            Some(before) if before != identifier => self.failed(SLOW_READ),
            _ => Error::busy(format!("{}: {SLOW_READ}", self.name())),
        }
    }

    /// The error of a write that ran out of time. A call without a read does not know whether the server is up; the next one
    /// finds out, for it reads.
    pub fn waiting_write(&self) -> Error {
        let error = match self.writes.has_read() {
            true => self.refused(WAITING_WRITE),
            false => Error::busy(format!("{}: {SLOW_WRITE}", self.name())),
        };
        self.writes.note(WriteOutcome::Waited(error.to_string()));
        error
    }

    /// The error of a call that would have to write, but must not.
    pub fn withheld_write(&self) -> Error {
        self.writes.note(WriteOutcome::Withheld);
        self.refused(WITHHELD)
    }

    /// An error of the whole server.
    pub fn failed(&self, reason: &str) -> Error {
        Error::storage(format!("{}: {reason}", self.name()))
    }

    /// An error of this call alone: the server is up.
    pub fn refused(&self, reason: &str) -> Error {
        Error::refused(format!("{}: {reason}", self.name()))
    }

    /// The error of a row that cannot be parsed.
    pub fn unreadable(&self) -> Error {
        self.refused("the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them")
    }

    /// How to repair an error of the table, its rights or the server's options.
    fn hint(&self, code: &str) -> Option<String> {
        let MysqlTarget { user, table, .. } = &self.target;
        Some(match code {
            code::NO_SUCH_TABLE => format!(
                "prepare() makes `{table}`, as a user with the right to create it; its statement is in docs/stores.md, \
                 \"MariaDB and MySQL\""
            ),
            code::NO_SUCH_COLUMN => format!(
                "prepare() adds the columns to `{table}`, as a user with the right to alter it; their statement is \
                 in docs/stores.md, \"MariaDB and MySQL\""
            ),
            code::TABLE_ACCESS_DENIED | code::COLUMN_ACCESS_DENIED => format!(
                "the user \"{}\" needs SELECT, INSERT and UPDATE on `{table}`",
                sanitize(user)
            ),
            code::DATA_TOO_LONG | code::WRONG_STRING => {
                "the column `identifier` must take 255 characters of ASCII".to_owned()
            }
            code if code::NO_ROOM.contains(&code) => {
                "the server needs room for new rows".to_owned()
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsn::{Dsn, Target};

    #[test]
    fn refusal_is_known_by_what_repairs_it_and_its_table_whatever_the_server_says() {
        let database = |table| {
            let dsn = format!("mysql://reader:secret@127.0.0.1:1/db?table={table}");
            let Target::Mysql(target) = Dsn::parse(&dsn).unwrap().target else { panic!("{dsn}") };
            Database::new(target)
        };
        let known_by = |table, code: &str, detail: &str| {
            let failure = Failure::Refused { code: code.to_owned(), detail: detail.to_owned() };
            let error = database(table).error(&failure, b"x");
            error.known_by().unwrap().to_owned()
        };
        let column = known_by("a", "1143", "SELECT command denied to 'reader' for column 'x'");
        assert_eq!(column, known_by("a", "1142", "SELECT command denied to 'reader' for table"));
        assert_ne!(column, known_by("b", "1142", "SELECT command denied to 'reader' for table"));
        assert_ne!(column, known_by("a", "1146", "Table 'db.a' doesn't exist"));
    }
}
