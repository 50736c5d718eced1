//! What a call has to report beside its answer.

/// What the first process of this host to notice it reports, once. Boxed where it is passed on: most calls have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// A server answers again. It goes to the log alone.
    pub recovery: Option<String>,
    /// A failure, a refusal, or an ignored prefix.
    pub warning: Option<String>,
}

impl Event {
    /// A warning alone.
    pub fn from_warning(warning: String) -> Box<Self> {
        Box::new(Self { recovery: None, warning: Some(warning) })
    }
}
