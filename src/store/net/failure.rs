//! Why a call on a server came to nothing.

use std::io::{self, ErrorKind};

/// Why a call on a server came to nothing.
#[derive(Debug)]
pub enum Failure {
    /// The server hung up before it answered: it may have closed an idle connection.
    Lost,
    /// This host could not even ask.
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
        Self::Down(format!("cannot connect: {}", told(error)))
    }

    /// Why there is no answer.
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted => Self::Lost,
            ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Down(told(error)),
        }
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
            Self::TimedOut => NO_ANSWER.to_owned(),
            Self::Local(reason) | Self::Down(reason) => reason.clone(),
            Self::Refused { code, detail } => format!("{code} {detail}"),
        }
    }
}

const NO_ANSWER: &str = "no answer in time";

/// A server's own words, fit for a log: one line of no more than is worth reading.
pub fn line(words: &str) -> String {
    words.chars().take(300).map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// An error as an operator reads it.
fn told(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => NO_ANSWER.to_owned(),
        _ => error.to_string(),
    }
}
