//! A mistake in a file of limits or of clients.

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

pub(super) fn mistake(line: u32, message: impl Into<String>) -> FileError {
    FileError { line, message: message.into() }
}
