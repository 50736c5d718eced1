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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_events_are_reported_in_their_order() {
        let recovery = Event { recoveries: vec!["up".to_owned()], warnings: Vec::new() };
        let [first, second] =
            ["first", "second"].map(|it| Some(Event::from_warning(it.to_owned())));
        let both = Event::both(Event::both(first.clone(), second), Some(Box::new(recovery)));
        let both = both.unwrap();
        assert_eq!(
            (both.warnings, both.recoveries),
            (vec!["first".into(), "second".into()], vec!["up".into()])
        );
        assert_eq!(Event::both(first.clone(), None), first);
        assert_eq!(Event::both(None, first.clone()), first);
    }
}
