//! A unit of the calendar in a time zone.

use std::cell::Cell;

/// The calendar of a unit in a time zone.
pub struct Calendar {
    pub unit: Unit,
    /// The time zone, by the name that PHP has for it.
    pub zone: String,
    /// The ends of three windows, as they were computed last.
    pub ends: Cell<[u64; 3]>,
}

/// How long a window lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    pub const VALUES: &'static str = "\"hour\", \"day\", \"week\", \"month\" or \"year\"";

    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"hour" => Some(Self::Hour),
            b"day" => Some(Self::Day),
            b"week" => Some(Self::Week),
            b"month" => Some(Self::Month),
            b"year" => Some(Self::Year),
            _ => None,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// What PHP calls the beginning of the unit, and of the next one.
    pub const fn phrases(self) -> [&'static str; 2] {
        match self {
            Self::Hour | Self::Day => ["today", "tomorrow"],
            Self::Week => ["monday this week 00:00", "monday next week 00:00"],
            Self::Month => ["first day of this month 00:00", "first day of next month 00:00"],
            Self::Year => {
                ["first day of january this year 00:00", "first day of january next year 00:00"]
            }
        }
    }
}
