//! Where the names of limits come from, and which records each source has.

use std::ops::Range;

/// Where the name of a limit comes from. Those of each source have records of their own: names that clients can make
/// up leave the others their room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// The code or an operator gave it.
    Given,
    /// It stands before the first colon of an identifier, which may be a client's.
    BeforeColon,
    /// It is a whole identifier, which may be a client's.
    WholeIdentifier,
}

impl NameSource {
    /// The indices of its records, of `count` in all.
    pub(super) fn records(self, count: usize) -> Range<usize> {
        let shared = count.saturating_sub(1);
        let (from, to) = match self {
            Self::WholeIdentifier => (0, 32),
            Self::BeforeColon => (32, 96),
            Self::Given => (96, shared),
        };
        from.min(shared)..to.min(shared)
    }

    /// Whether the record of this index, of `count` in all, has a name that is inferred from an identifier.
    pub(super) fn is_inferred(index: usize, count: usize) -> bool {
        index < Self::Given.records(count).start
    }
}
