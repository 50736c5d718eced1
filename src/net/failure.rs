//! Why a call on a server failed.
//!
//! A failure concerns the server, this process or the key. Only the first kind opens the breaker.
//!
//! | The server | This process: it alone fails over | The key: the server is up |
//! |---|---|---|
//! | the connection is refused, reset or closed | no descriptor, memory, port or socket of this kind is left | `WRONGTYPE`, `NOPERM`, no room for a new key, `MISCONF` |
//! | no answer in time, to a call or to a connection attempt | no route, no network, a firewall of this host (`EPERM`) | a write that waits although a read was answered |
//! | a unix socket that is not there | a socket path that may not be opened | a table or a right that is missing |
//! | an answer that is not its protocol, or on a new connection belongs to another call | a TLS file that cannot be used, a certificate that is not accepted | a refund that was lost with an idle connection, while a new one can be opened |
//! | a refusal that concerns all keys (`LOADING`, `MASTERDOWN`, a wrong password) | a host name that cannot be looked up | |
//! | a look-up of a name that fails after the time-out | | |
//!
//! If several servers or addresses were tried, a server's failure counts more than a local one.

use rustix::io::Errno;
use std::io::{self, ErrorKind};

/// Why a call on a server failed.
#[derive(Debug)]
pub enum Failure {
    /// The server closed the connection before it answered. The connection may have been idle.
    Lost,
    /// The answer belongs to another call: the connection is out of step.
    ReplyToAnotherCall,
    /// An idle connection gave no answer in time: a firewall may have dropped its flow.
    SilentIdle,
    /// An idle connection was lost with the call, but a new one could be opened: the server is up. It is not
    /// known whether the call was done.
    LostIdle,
    /// This process could not send the call. That says nothing about the server: see [`is_local`].
    Local(String),
    /// The server has not answered in time.
    TimedOut,
    /// The server cannot be connected to, or its answer cannot be parsed.
    Down(String),
    /// The server answered with an error: a code (`NOSCRIPT`, `MOVED`) and the rest of the line.
    Refused {
        /// The first word.
        code: String,
        /// What follows.
        detail: String,
    },
}

impl Failure {
    /// The failure of opening a connection.
    pub fn from_connecting(error: &io::Error) -> Self {
        let reason = format!("cannot connect: {}", describe(error));
        if is_local(error) { Self::Local(reason) } else { Self::Down(reason) }
    }

    /// The failure of sending a call or receiving its answer.
    pub fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted => Self::Lost,
            ErrorKind::TimedOut if error.get_ref().is_some_and(|it| it.is::<SilentIdle>()) => {
                Self::SilentIdle
            }
            ErrorKind::TimedOut => Self::TimedOut,
            _ if is_local(error) => Self::Local(describe(error)),
            _ => Self::Down(describe(error)),
        }
    }

    /// Whether the failure may be that of an idle connection alone.
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Lost | Self::ReplyToAnotherCall | Self::SilentIdle)
    }

    /// Whether the server refused with this code.
    pub fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }

    /// Whether the server refused with one of these codes.
    pub fn is_any(&self, expected: &[&str]) -> bool {
        expected.iter().any(|code| self.is(code))
    }

    /// The failure, if it happened while a connection was opened: a server that is silent then is down, not
    /// slow on one statement.
    pub fn while_opening(self) -> Self {
        match self {
            Self::TimedOut => Self::Down(NO_ANSWER.to_owned()),
            other => other,
        }
    }

    /// The reason, for a message.
    pub fn reason(&self) -> String {
        match self {
            Self::Lost => "the server closed the connection".to_owned(),
            Self::ReplyToAnotherCall => "its answer is not to this call".to_owned(),
            Self::LostIdle => {
                "the idle connection was lost, and maybe the call was done".to_owned()
            }
            Self::TimedOut | Self::SilentIdle => NO_ANSWER.to_owned(),
            Self::Local(reason) | Self::Down(reason) => reason.clone(),
            Self::Refused { code, detail } => format!("{code} {detail}"),
        }
    }
}

/// The end of the message of a server that was silent for too long.
pub const NO_ANSWER: &str = "no answer in time";

/// An error of this process, which says nothing about the server.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LocalError(pub String);

/// A time-out on a connection that had been idle.
#[derive(Debug, thiserror::Error)]
#[error("{}", NO_ANSWER)]
pub struct SilentIdle;

/// The errors of the system that a server causes: it refuses, has removed its unix socket, closes the connection, or
/// is silent.
const REMOTE: [Errno; 7] = [
    Errno::CONNREFUSED,
    Errno::NOENT,
    Errno::CONNRESET,
    Errno::CONNABORTED,
    Errno::PIPE,
    Errno::NOTCONN,
    Errno::TIMEDOUT,
];

/// Whether an error concerns this process alone: no descriptor left, no route, no right to the socket,
/// no memory. Another process of this host may reach the server.
pub fn is_local(error: &io::Error) -> bool {
    match error.get_ref() {
        Some(inner) => inner.is::<LocalError>(),
        None => Errno::from_io_error(error).is_some_and(|errno| !REMOTE.contains(&errno)),
    }
}

/// Ignores the error of a write to a connection that the server has closed: what it said before can still be
/// read.
pub fn unless_closed(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ok(()),
        _ => Err(error),
    }
}

/// Makes a server's text fit for a log: one line of at most 300 characters, without the full stop at its
/// end, for a message goes on after it.
pub fn sanitize_line(words: &str) -> String {
    words
        .trim_end()
        .trim_end_matches('.')
        .chars()
        .take(300)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// Describes an error to an operator.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => NO_ANSWER.to_owned(),
        _ => error.to_string(),
    }
}
