//! Why a call on a server came to nothing.

use rustix::io::Errno;
use std::io::{self, ErrorKind};

/// Why a call on a server came to nothing.
#[derive(Debug)]
pub enum Failure {
    /// The server hung up before it answered: it may have closed an idle connection.
    Lost,
    /// The answer is not to this call, though it could be to another: the connection is out of step.
    Astray,
    /// An idle connection gave no answer in time: something on the way may have dropped it.
    SilentIdle,
    /// An idle connection was lost with the call, but a new one could be opened: the server is up, and
    /// may have done what it was asked or not.
    LostIdle,
    /// This process could not even ask. That says nothing of the server: see [`is_local`].
    Local(String),
    /// The server has not answered in time.
    TimedOut,
    /// No connection, or no answer that can be read.
    Down(String),
    /// The server's own word: a code (`NOSCRIPT`, `MOVED`) and the rest of the line.
    Refused {
        /// The first word.
        code: String,
        /// What follows.
        detail: String,
    },
}

impl Failure {
    /// Why there is no connection.
    pub fn of_connecting(error: &io::Error) -> Self {
        let reason = format!("cannot connect: {}", describe(error));
        if is_local(error) { Self::Local(reason) } else { Self::Down(reason) }
    }

    /// Why there is no answer.
    pub fn of_io(error: &io::Error) -> Self {
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

    /// Whether nothing but an idle connection may be lost.
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Lost | Self::Astray | Self::SilentIdle)
    }

    /// Whether the server refused with this code.
    pub fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }

    /// Whether the server refused with one of these codes.
    pub fn is_any(&self, expected: &[&str]) -> bool {
        expected.iter().any(|code| self.is(code))
    }

    /// The same, where it kept a connection from being opened: a server that is silent then has not
    /// answered anything.
    pub fn of_opening(self) -> Self {
        match self {
            Self::TimedOut => Self::Down(NO_ANSWER.to_owned()),
            other => other,
        }
    }

    /// What to tell of it.
    pub fn reason(&self) -> String {
        match self {
            Self::Lost => "the server closed the connection".to_owned(),
            Self::Astray => "its answer is not to this call".to_owned(),
            Self::LostIdle => {
                "the idle connection was lost, and maybe the call was done".to_owned()
            }
            Self::TimedOut | Self::SilentIdle => NO_ANSWER.to_owned(),
            Self::Local(reason) | Self::Down(reason) => reason.clone(),
            Self::Refused { code, detail } => format!("{code} {detail}"),
        }
    }
}

const NO_ANSWER: &str = "no answer in time";

/// An error of this process, which says nothing of the server.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LocalError(pub String);

/// A time-out on a connection that had been idle.
#[derive(Debug, thiserror::Error)]
#[error("{}", NO_ANSWER)]
pub struct SilentIdle;

/// The errors of the system that a server causes: it refuses, it hangs up, or it is silent.
const REMOTE: [Errno; 6] = [
    Errno::CONNREFUSED,
    Errno::CONNRESET,
    Errno::CONNABORTED,
    Errno::PIPE,
    Errno::NOTCONN,
    Errno::TIMEDOUT,
];

/// Whether an error is this process's own: it has no descriptor left, no route, no right to open the
/// socket, no such socket, no memory. Another process of this host may well reach the server.
pub fn is_local(error: &io::Error) -> bool {
    match error.get_ref() {
        Some(inner) => inner.is::<LocalError>(),
        None => Errno::from_io_error(error).is_some_and(|errno| !REMOTE.contains(&errno)),
    }
}

/// A server's own words, fit for a log: one line of no more than is worth reading.
pub fn line(words: &str) -> String {
    words.chars().take(300).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// An error as an operator reads it.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => NO_ANSWER.to_owned(),
        _ => error.to_string(),
    }
}
