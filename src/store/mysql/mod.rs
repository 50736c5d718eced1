//! Buckets in a table of MariaDB or MySQL: one upsert a decision, by the server's clock.
//!
//! * [`link`]: a connection that speaks their protocol
//! * [`login`]: how it begins
//! * [`template`]: reads the files of statements: `take.sql` and `bucket.sql`, `window.sql`,
//!   `look.sql`; and `classic.sql` and `look_classic.sql` for a table that `prepare()` has not seen
//! * [`statements`]: which of them an operation needs, and what it is given
//! * [`table`]: makes the table, or adds what it lacks

mod link;
mod login;
mod statements;
mod table;
mod template;

use super::net::{Timeouts, budget::Budget, failure::Failure, tls::Encryption};
use super::{Key, Store, name};
use crate::clock::boot_time;
use crate::dsn::Mysql as Target;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, Span, State, TokenBucket, apply};
use link::{Link, Row};
use statements::{Calls, Statements, Told, Which};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How often a statement is tried that others keep from being run.
const MAX_TRIES: u32 = 5;
/// What is said then.
const BUSY: &str = "the bucket's row is locked by others";
/// The same of a statement that was ended by the server, which does not say what it waited for.
const TOO_SLOW: &str = "the statement was not done in time: the bucket's row may be locked";
/// How long it may take to prepare a table: a large one may have to be written anew.
const PREPARATION: Duration = Duration::from_secs(60);

/// The server's numbers of what can go wrong.
mod code {
    pub const NO_SUCH_COLUMN: &str = "1054";
    pub const COLUMN_EXISTS: &str = "1060";
    pub const NO_SUCH_TABLE: &str = "1146";
    pub const TABLE_ACCESS_DENIED: &str = "1142";
    pub const COLUMN_ACCESS_DENIED: &str = "1143";
    pub const DATA_TOO_LONG: &str = "1406";
    pub const WRONG_STRING: &str = "1366";
    /// Nothing was done, for others were in the way: lock wait, deadlock, a snapshot too old, a
    /// statement killed.
    pub const IN_THE_WAY: [&str; 4] = ["1205", "1213", "1020", "1317"];
    /// Nothing was done within the time we have given it.
    pub const TOO_SLOW: &str = "1969";
    pub const OUT_OF_RANGE: &str = "1690";
    pub const READ_ONLY: [&str; 3] = ["1290", "1792", "1836"];
}

/// Buckets in a table of MariaDB or MySQL.
pub struct Mysql {
    target: Target,
    timeouts: Timeouts,
    statements: Statements,
    encryption: Encryption,
    link: RefCell<Option<Link>>,
    /// The row that the call before was about, if that took too long.
    slow: RefCell<Option<Vec<u8>>>,
}

impl Mysql {
    /// The store at `target`. Nothing is opened yet.
    pub fn new(target: Target, timeouts: Timeouts) -> Self {
        let statements = Statements::new(&target.table);
        let (link, slow) = (RefCell::new(None), RefCell::new(None));
        Self { target, timeouts, statements, encryption: Encryption::default(), link, slow }
    }

    /// Does something on a connection. `may_repeat` tells whether that may be done again when it is
    /// not known if it was done, `row` what it is about.
    fn run<R>(
        &self,
        budget: &mut Budget,
        row: &[u8],
        may_repeat: bool,
        what: impl Fn(&mut Link, Instant) -> Result<R, Failure>,
    ) -> Result<R> {
        let tls = self.encryption.of(self.target.tls.as_ref())?;
        let mut place = self.link.borrow_mut();
        let (mut tries, patience) = (0, self.timeouts.call);
        loop {
            let (mut link, reused) = match place.take().and_then(Link::if_good) {
                Some(link) => (link, true),
                None => match Link::open(&self.target, tls, patience, budget.connect_by()) {
                    Ok(link) => (link, false),
                    Err(failure) => return Err(self.down(&failure)),
                },
            };
            let failure = match what(&mut link, budget.answer_by()) {
                Ok(result) => {
                    *place = Some(link);
                    self.slow.take();
                    return Ok(result);
                }
                Err(failure) => failure,
            };
            tries += 1;
            let again = tries < MAX_TRIES && budget.is_left();
            match &failure {
                // A connection that had been idle: nothing but the call itself was lost with it.
                Failure::Lost if reused && may_repeat && again => {}
                Failure::Refused { code, .. } if code::IN_THE_WAY.contains(&code.as_str()) => {
                    *place = Some(link);
                    if !again {
                        return Err(self.refused(BUSY));
                    }
                }
                Failure::Refused { code, .. } if code == code::TOO_SLOW => {
                    *place = Some(link);
                    return Err(self.too_slow(row));
                }
                Failure::Refused { code, detail } => match self.hint(code) {
                    // On another connection next time: a session may not learn of new rights.
                    Some(hint) => return Err(self.refused(&format!("{detail}; {hint}"))),
                    None => return Err(self.down(&failure)),
                },
                _ => return Err(self.down(&failure)),
            }
        }
    }

    /// Has a statement decide, or the one for the classic table where that is what there is: the
    /// row it tells, and whether it was that one.
    fn ask(
        &self,
        budget: &mut Budget,
        row: &[u8],
        op: Op,
        calls: &Calls,
        which: Which,
    ) -> Result<(Option<Row>, bool)> {
        let call =
            |link: &mut Link, which, by| link.call(&self.statements.call(which, &calls.given), by);
        self.run(budget, row, op.may_repeat(), |link, by| {
            if boot_time() >= link.classic_until {
                match call(link, which, by) {
                    Err(failure) if failure.is(code::NO_SUCH_COLUMN) => {
                        link.classic_until = boot_time() + SECOND;
                    }
                    other => return Ok((other?, false)),
                }
            }
            // Where the first has decided nothing, there are all columns.
            match calls.classic.filter(|_| which == calls.first) {
                Some(classic) => Ok((call(link, classic, by)?, true)),
                // It says which column it is that is not there; or there are all by now.
                None => {
                    let row = call(link, which, by)?;
                    link.classic_until = 0;
                    Ok((row, false))
                }
            }
        })
    }

    fn down(&self, failure: &Failure) -> Error {
        let reason = match failure {
            Failure::Refused { code, detail } => format!("{detail} (error {code})"),
            other => other.reason(),
        };
        Error::storage(format!("{}: {reason}", self.name()))
    }

    /// A row that is locked says nothing of the others: but two in a row do.
    fn too_slow(&self, row: &[u8]) -> Error {
        match self.slow.replace(Some(row.to_vec())) {
            Some(before) if before != row => Error::storage(format!("{}: {TOO_SLOW}", self.name())),
            _ => self.refused(TOO_SLOW),
        }
    }

    fn garbled(&self) -> Error {
        self.refused("the statement gave an answer that cannot be read")
    }

    fn refused(&self, reason: &str) -> Error {
        Error::refused(format!("{}: {reason}", self.name()))
    }

    /// What would help, where the server is up but the table is not as it should be.
    fn hint(&self, code: &str) -> Option<String> {
        let Target { user, table, .. } = &self.target;
        match code {
            code::NO_SUCH_TABLE => Some(format!(
                "prepare() makes the table, as a user who may create it; the README has the \
                 statement for `{table}`"
            )),
            code::NO_SUCH_COLUMN => Some(format!(
                "prepare() adds the columns to `{table}`, as a user who may alter it; the README \
                 has the statement"
            )),
            code::TABLE_ACCESS_DENIED | code::COLUMN_ACCESS_DENIED => Some(format!(
                "the user \"{}\" needs SELECT, INSERT and UPDATE on `{table}`",
                crate::dsn::printable(user)
            )),
            code::OUT_OF_RANGE => Some("the row holds no times; remove it".to_owned()),
            code if code::READ_ONLY.contains(&code) => {
                Some("the storage DSN must name a server that can be written to".to_owned())
            }
            code::DATA_TOO_LONG | code::WRONG_STRING => {
                Some("the column `identifier` must take 255 characters of ASCII".to_owned())
            }
            _ => None,
        }
    }
}

/// When a bucket is full that can just be taken from, or just not: what a row of the classic table
/// stands for whose double has been rounded to the other side of that.
fn brim(limit: &TokenBucket, cost: u64, now: u64, accepted: bool) -> Span {
    let room = limit.less(limit.refill_time(), limit.worth(cost));
    match accepted {
        true => Span { ns: now + room.ns, part: room.part },
        false => Span::from_ns(now + room.ns + 1),
    }
}

impl Store for Mysql {
    fn decide(&self, key: &Key<'_>, limit: &Limit, op: Op, now: Option<u64>) -> Result<Decision> {
        let name = name::of_row(key);
        let calls = self.statements.decide(&name, limit, op, now);
        let mut budget = Budget::start(self.timeouts);
        let (mut row, classic) = self.ask(&mut budget, &name, op, &calls, calls.first)?;
        let mut told = Told::read(calls.first, row.as_deref());
        if let (Some(Told::Undecided), Some(second)) = (&told, calls.second) {
            (row, _) = self.ask(&mut budget, &name, op, &calls, second)?;
            told = Told::read(second, row.as_deref());
        }
        let Some(Told::Decided(reply)) = told else { return Err(self.garbled()) };
        let now = now.unwrap_or(reply.now);
        let (decision, _) = apply(limit, reply.before, now, op);
        if decision.accepted == reply.accepted || !limit.takes(op) {
            return Ok(decision);
        }
        match (op, limit) {
            (Op::Take { cost }, Limit::TokenBucket(bucket)) if classic => {
                let brim = brim(bucket, cost, now, reply.accepted);
                Ok(apply(limit, State::Filling { full_at: brim }, now, op).0)
            }
            _ => Err(self.garbled()),
        }
    }

    fn prepare(&self) -> Result<()> {
        // On a connection of its own, for it may take longer than a decision.
        let own = Self::new(
            self.target.clone(),
            Timeouts { call: PREPARATION, connect: self.timeouts.connect },
        );
        let prepared = table::prepare(&own);
        // Which may be another table for the connection that stands.
        self.link.borrow_mut().take();
        prepared
    }

    fn name(&self) -> String {
        format!("MySQL at {}", self.target.address)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let Target { address, database, table, tls, .. } = &self.target;
        vec![
            ("MySQL", address.to_string()),
            ("Table", format!("{database}.{table}")),
            ("Encrypted", if tls.is_some() { "yes" } else { "no" }.to_owned()),
        ]
    }
}
