//! What a call has to report beside its answer.

/// Something that the first process of this host to notice it reports, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A failure, a refusal, or an ignored prefix. An error handler of the application gets it.
    Warning(String),
    /// A server answers again. It goes to the log alone: no handler shall fail a call because of it.
    Recovery(String),
}
