//! A unit of the calendar in a time zone.

use crate::limit::CalendarUnit;
use std::cell::Cell;

/// The calendar of a unit in a time zone.
pub struct Calendar {
    pub unit: CalendarUnit,
    /// The time zone, by the name that PHP has for it.
    pub zone: String,
    /// The ends of three windows, as they were computed last.
    pub ends: Cell<[u64; 3]>,
}

/// What PHP calls the beginning of the unit, and of the next one.
pub const fn phrases(unit: CalendarUnit) -> [&'static str; 2] {
    match unit {
        CalendarUnit::Hour | CalendarUnit::Day => ["today", "tomorrow"],
        CalendarUnit::Week => ["monday this week 00:00", "monday next week 00:00"],
        CalendarUnit::Month => ["first day of this month 00:00", "first day of next month 00:00"],
        CalendarUnit::Year => {
            ["first day of january this year 00:00", "first day of january next year 00:00"]
        }
    }
}
