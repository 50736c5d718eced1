//! The errors of stores and settings. PHP's own argument checks have theirs.

/// An error that a caller gets. Its message names what is wrong and what is accepted, and holds no secret.
///
/// One word: results with it are passed on in registers (`make bench`, `consume()`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Error(Box<Content>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    kind: ErrorKind,
    message: String,
    /// What it is known by, if the store may say the same in other words.
    known_by: Option<String>,
}

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A DSN or a directive is not valid.
    Configuration,
    /// A store cannot be opened or does not answer. For a store on servers the guard opens the breaker.
    Storage,
    /// This process cannot reach the store. Other processes may.
    Local,
    /// The store is up, but does not decide on this key.
    Refused,
    /// The server is up, but says that it must not be written to. It is not the one to ask, or there is none at the moment.
    Unwritable,
    /// The server must not be written to, and accepts what it may read from an old state.
    Outdated,
    /// This key cannot be decided on at this moment. That says nothing of the store, which may not have been asked.
    Busy,
}

/// A result whose error has a message for the caller.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    #[cold]
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Content { kind, message: message.into(), known_by: None }))
    }

    /// The same error, known by this whatever its words are.
    pub fn as_known_by(mut self, what: String) -> Self {
        self.0.known_by = Some(what);
        self
    }

    /// What the error is known by; none: by its message.
    pub fn known_by(&self) -> Option<&str> {
        self.0.known_by.as_deref()
    }

    /// Whether the store answered that it does not do this.
    pub fn is_refusal(&self) -> bool {
        matches!(self.kind(), ErrorKind::Refused | ErrorKind::Unwritable)
    }

    /// Makes an error of [`ErrorKind::Configuration`].
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// Makes an error of [`ErrorKind::Storage`].
    pub fn storage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Storage, message)
    }

    /// Makes an error of [`ErrorKind::Local`].
    pub fn local(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Local, message)
    }

    /// Makes an error of [`ErrorKind::Busy`].
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Busy, message)
    }

    /// Makes an error of [`ErrorKind::Refused`].
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// Makes an error of [`ErrorKind::Outdated`] of the server `name`.
    pub fn outdated(name: &str) -> Self {
        Self::new(ErrorKind::Outdated, format!("{name} must not be written to"))
    }

    /// Makes an error of [`ErrorKind::Unwritable`] of the server `name`, from what it said.
    pub fn unwritable(name: &str, words: &str) -> Self {
        let message = format!("{name}: it refuses writes: {words}");
        Self::new(ErrorKind::Unwritable, message)
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Its message.
    pub fn into_message(self) -> String {
        self.0.message
    }
}
