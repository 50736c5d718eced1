//! The statements, and what they are given and return.

use super::template::Statement;
use crate::limit::{FixedWindow, Limit, MAX_NOW, MAX_REFILL, Op, Span, State, TokenBucket};
use crate::store::port::{Order, order};
use mysql_common::value::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What every session begins with: our own clock, no transaction, errors told, whatever the server's
/// defaults; and no lock waited for longer than a moment, whoever has given up on the answer by then.
/// The variables are given their type. From MariaDB 11.6 on a statement fails by default if its row was
/// written since it began, which is what others do all the time (error 1020).
const SESSION: &str = "SET time_zone = '+00:00', autocommit = 1, sql_select_limit = DEFAULT, \
     sql_mode = 'STRICT_ALL_TABLES,NO_UNSIGNED_SUBTRACTION', innodb_lock_wait_timeout = 1, \
     lock_wait_timeout = 1, @n = 0, @k = 0, @t = 0, @p = 0, @x = 0, @l = 0, @u = 0, @v = 0, @c = 0, \
     @f = 0, @e = 0, @g = 0, @h = 0, @i = 0, @r = 0, @o = 0 \
     /*M!110602 , innodb_snapshot_isolation = OFF */";

/// What a session begins with. MariaDB can be told how long a statement may take, so that what nobody
/// waits for any more is not done: a little less than `patience`, to be told of it in time.
pub fn session(is_mariadb: bool, patience: Duration) -> String {
    match is_mariadb {
        true => format!("{SESSION}, max_statement_time = {:.6}", patience.as_secs_f64() * 0.8),
        false => SESSION.to_owned(),
    }
}

/// The server's clock, in nanoseconds.
const CLOCK: &str = "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) * 1000";

/// Which statement: a template, an operation, and whether a test's clock is one of its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Which {
    template: &'static str,
    letter: char,
    frozen: bool,
}

impl Which {
    /// The one that counts the keys by which a table has but one row of a name.
    pub const KEYS: Self = Self { template: include_str!("keys.sql"), letter: 'P', frozen: false };
}

/// A statement, ready to be sent.
pub struct Call {
    /// Which one it is.
    pub which: Which,
    /// Its text and the names of its parameters.
    pub statement: Rc<Statement>,
    /// Their values.
    pub values: Vec<Value>,
}

/// The statements that may decide on a call, and what they are given.
pub struct Calls {
    /// The one that is tried first.
    pub first: Which,
    /// The one that decides where the first leaves it undecided.
    pub second: Option<Which>,
    /// The one for the classic table, if two columns are enough.
    pub classic: Option<Which>,
    /// Parameters by name.
    pub given: Given,
}

/// The statements on one table.
pub struct Statements {
    table: String,
    made: RefCell<Vec<(Which, Rc<Statement>)>>,
}

impl Statements {
    /// The statements on a table.
    pub fn new(table: &str) -> Self {
        Self { table: table.to_owned(), made: RefCell::default() }
    }

    /// The statements that may decide, for the row of `name`.
    pub fn decide(&self, name: &[u8], limit: &Limit, op: Op, now: Option<u64>) -> Calls {
        let mut given: Given = vec![("name", Value::Bytes(name.to_vec()))];
        given.extend(now.map(|now| ("clock", number(now))));
        let order = order(limit, op);
        match limit {
            Limit::TokenBucket(limit) => of_bucket(limit, order, op, &mut given),
            Limit::FixedWindow(window) => of_window(window, order, &mut given),
        }
        let frozen = now.is_some();
        let which = |template, letter| Which { template, letter, frozen };
        let letter = order.letter;
        let template = match (letter, limit) {
            ('P', _) => LOOK,
            (_, Limit::FixedWindow(_)) => WINDOW,
            ('T', _) => TAKE,
            _ => BUCKET,
        };
        let classic = match (letter, limit) {
            (_, Limit::FixedWindow(_)) | ('C' | 'R', _) => None,
            ('P' | 'N' | 'D', _) => Some(which(LOOK_CLASSIC, letter)),
            _ => Some(which(CLASSIC, letter)),
        };
        let second = (template == TAKE).then(|| which(BUCKET, letter));
        Calls { first: which(template, letter), second, classic, given }
    }

    /// A statement with what it is given.
    pub fn call(&self, which: Which, given: &Given) -> Call {
        let statement = self.statement(which);
        let value = |name: &&str| {
            let value = given.iter().find(|(known, _)| known == name);
            value.map_or(Value::NULL, |(_, value)| value.clone())
        };
        let values = statement.parameters.iter().map(value).collect();
        Call { which, statement, values }
    }

    fn statement(&self, which: Which) -> Rc<Statement> {
        let mut made = self.made.borrow_mut();
        if let Some((_, statement)) = made.iter().find(|(known, _)| *known == which) {
            return Rc::clone(statement);
        }
        let texts = [("table", self.table.as_str()), ("clock", CLOCK)];
        let texts = if which.frozen { texts.get(..1) } else { texts.get(..) }.unwrap_or_default();
        let statement = Rc::new(Statement::new(which.template, which.letter, texts));
        made.push((which, Rc::clone(&statement)));
        statement
    }
}

const TAKE: &str = include_str!("take.sql");
const BUCKET: &str = include_str!("bucket.sql");
const WINDOW: &str = include_str!("window.sql");
const LOOK: &str = include_str!("look.sql");
const CLASSIC: &str = include_str!("classic.sql");
const LOOK_CLASSIC: &str = include_str!("look_classic.sql");
/// What a take in the classic table may be short of, in nanoseconds: what many roundings come to.
/// Less than half a token in any case.
const SLACK: u64 = 10_000;

/// Parameters by name.
pub type Given = Vec<(&'static str, Value)>;

/// What the statements on a bucket are given.
fn of_bucket(limit: &TokenBucket, order: Order, op: Op, given: &mut Given) {
    let full = limit.refill_time();
    let (span, max_wait) = match op {
        Op::Start { missing } => (Span::from_ns(missing).min(full), 0),
        Op::Reserve { max_wait, .. } => (limit.worth(order.cost), max_wait.min(MAX_REFILL)),
        _ => (limit.worth(order.cost), 0),
    };
    let room = limit.less(full, span);
    given.extend([
        ("span", number(span.ns)),
        ("span_part", number(span.part)),
        ("full", number(full.ns)),
        ("full_part", number(full.part)),
        ("full_up", number((full.part > 0).into())),
        ("room", number(room.ns)),
        ("room_part", number(room.part)),
        ("parts", number(limit.parts())),
        ("max_wait", number(max_wait)),
        ("slack", number((limit.worth(1).ns / 2).min(SLACK))),
    ]);
}

/// What the statements on a window are given.
fn of_window(window: &FixedWindow, order: Order, given: &mut Given) {
    given.extend([
        ("cost", number(order.cost)),
        ("limit", number(window.limit().into())),
        ("interval", number(window.interval())),
        ("full", number(0)),
        ("full_part", number(0)),
    ]);
}

/// Every time and count is below 2⁶³.
fn number(value: u64) -> Value {
    Value::Int(value as i64)
}

/// What a statement that decides returns.
pub struct Reply {
    /// Whether the call was accepted.
    pub accepted: bool,
    /// The server's clock, in nanoseconds.
    pub now: u64,
    /// The state before the call.
    pub before: State,
}

/// What there is to read in a row.
pub enum Told {
    /// A decision.
    Decided(Reply),
    /// That the statement was not made for this row.
    Undecided,
}

impl Told {
    /// Reads a row, if it is that of a statement. Where one that only looks finds none, there is no
    /// bucket.
    pub fn read(which: Which, row: Option<&[Value]>) -> Option<Self> {
        let Some(row) = row else {
            if ![LOOK, LOOK_CLASSIC].contains(&which.template) {
                return None;
            }
            // Nothing that is told of a full bucket depends on the time.
            let now = crate::clock::boot_time();
            return Some(Self::Decided(Reply { accepted: true, now, before: State::FULL }));
        };
        let number = |i: usize| -> Option<i64> {
            match row.get(i)? {
                Value::Int(number) => Some(*number),
                Value::UInt(number) => i64::try_from(*number).ok(),
                // What the server has made a decimal of.
                Value::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
                _ => None,
            }
        };
        if number(5)? < 0 {
            return Some(Self::Undecided);
        }
        let now = u64::try_from(number(0)?).ok().filter(|now| *now <= MAX_NOW)?;
        let kind = number(1)?;
        let before = match kind {
            -1 => State::FULL,
            _ => {
                let due = u64::try_from(number(2)?.max(0)).ok()?.min(1 << 62);
                let (part, more) = (u32::try_from(number(3)?).ok()?, number(4)?);
                match kind {
                    0 => State::Filling { full_at: Span { ns: due, part: part.into() } },
                    1 => State::Reserved {
                        full_at: due,
                        fraction: part,
                        ahead: u8::try_from(more).ok()?,
                    },
                    2 => State::Overdrawn { forgiven_at: due, debt: u64::try_from(more).ok()? },
                    3 => State::Window { ends_at: due, hits: part },
                    _ => return None,
                }
            }
        };
        Some(Self::Decided(Reply { accepted: number(5)? == 1, now, before }))
    }
}
