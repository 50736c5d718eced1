//! The errors of stores and settings. PHP's own argument checks have theirs.

/// An error that a caller gets. Its message names what is wrong and what is accepted, and holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A DSN or a directive is not valid.
    #[error("{0}")]
    Configuration(String),
    /// A store cannot be opened or does not answer. For a store on servers the guard opens the breaker.
    #[error("{0}")]
    Storage(String),
    /// This process cannot reach the store. Other processes may.
    #[error("{0}")]
    Local(String),
    /// The store is up, but does not decide on this key.
    #[error("{0}")]
    Refused(String),
    /// This key cannot be decided on at this moment. That says nothing of the store, which may not have been asked.
    #[error("{0}")]
    Busy(String),
}

/// A result whose error has a message for the caller.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an [`Error::Configuration`].
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::Configuration(message.into())
    }

    /// Makes an [`Error::Storage`].
    pub fn storage(message: impl Into<String>) -> Self {
        Self::Storage(message.into())
    }

    /// Makes an [`Error::Local`].
    pub fn local(message: impl Into<String>) -> Self {
        Self::Local(message.into())
    }

    /// Makes an [`Error::Busy`].
    pub fn busy(message: impl Into<String>) -> Self {
        Self::Busy(message.into())
    }

    /// Makes an [`Error::Refused`].
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}
