//! A section that limits so many in a unit of the calendar.

use super::limit::Rule;
use crate::limit::{CalendarUnit, CalendarWindow};

/// The algorithm of such a section.
pub const CALENDAR: &str = "calendar";

/// The limit of a section that begins in this line, from the values of its keys; else the line of a mistake, and what is
/// wrong.
pub fn calendar_rule(
    line: u32,
    limit: Option<(u32, i64)>,
    unit: Option<(u32, CalendarUnit)>,
    timezone: Option<(u32, String)>,
    has_other_keys: bool,
) -> Result<Rule, (u32, String)> {
    let (Some((limit_line, count)), Some((_, unit)), false) = (limit, unit, has_other_keys) else {
        let message =
            "a limit of the calendar must have limit and unit, and no interval or lifetime";
        return Err((line, message.to_owned()));
    };
    CalendarWindow::new(count, [0; 3]).map_err(|error| (limit_line, format!("limit {error}")))?;
    let timezone = timezone.map_or_else(|| "UTC".to_owned(), |(_, zone)| zone);
    Ok(Rule::Calendar { count, unit, timezone })
}
