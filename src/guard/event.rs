//! What a call has to report beside its answer.

/// What the first process of this host to notice it reports, once. Boxed, for most calls have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Servers that answer again. They go to the log alone.
    pub recoveries: Vec<String>,
    /// Failures, refusals and likely mistakes.
    pub warnings: Vec<String>,
}

impl Event {
    /// A warning alone.
    pub fn from_warning(warning: String) -> Box<Self> {
        Box::new(Self { warnings: vec![warning], ..Self::default() })
    }

    /// Both events.
    pub fn both(first: Option<Box<Self>>, second: Option<Box<Self>>) -> Option<Box<Self>> {
        match (first, second) {
            (Some(mut first), Some(second)) => {
                first.recoveries.extend(second.recoveries);
                first.warnings.extend(second.warnings);
                Some(first)
            }
            (first, second) => first.or(second),
        }
    }
}
