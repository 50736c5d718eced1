//! What can go wrong outside of PHP's own argument checks.

/// An error a caller has to hear of. Its message names what is wrong and what would be
/// right, and holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A DSN or a directive that cannot be used as it is.
    #[error("{0}")]
    Configuration(String),
    /// A store that cannot be opened or does not answer.
    #[error("{0}")]
    Storage(String),
    /// A store that this process cannot ask, though others may.
    #[error("{0}")]
    Local(String),
    /// A store that is up, but does not decide on this key.
    #[error("{0}")]
    Refused(String),
}

/// A result whose error has a message for the caller.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A configuration error.
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::Configuration(message.into())
    }

    /// A storage error.
    pub fn storage(message: impl Into<String>) -> Self {
        Self::Storage(message.into())
    }

    /// An error that concerns this process alone.
    pub fn local(message: impl Into<String>) -> Self {
        Self::Local(message.into())
    }

    /// A refusal that concerns one key.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}
