//! Where the hours, days, weeks, months and years of a time zone begin, by PHP's own time zones.

use super::calendar_unit::{Calendar, phrases};
use super::engine::exceptions::{Thrown, logic_exception, value_error};
use super::globals::GLOBALS;
use super::time_zone::{call, new_object, open_zone};
use crate::clock::coarse_unix_time;
use crate::limit::{CalendarUnit, CalendarWindow, SECOND};
use ext_php_rs::types::Zval;
use std::cell::Cell;

/// The calendar of a time zone; `position` is that of its argument. The worker keeps each calendar: there are as many as
/// time zones, and five of each.
pub fn find(unit: CalendarUnit, zone: &str, position: u32) -> Result<&'static Calendar, Thrown> {
    let is_known = |known: &&&Calendar| known.unit == unit && known.zone == zone;
    if let Some(known) = GLOBALS.get().calendars.borrow().iter().find(is_known) {
        return Ok(known);
    }
    if open_zone(zone).is_none() {
        return Err(value_error(
            position,
            "must be a time zone that PHP knows, such as \"UTC\" or \"Europe/Berlin\"",
        ));
    }
    let (zone, ends) = (zone.to_owned(), Cell::default());
    let calendar: &'static Calendar = Box::leak(Box::new(Calendar { unit, zone, ends }));
    GLOBALS.get().calendars.borrow_mut().push(calendar);
    Ok(calendar)
}

/// Whether the limit is one of the window that is open now.
pub fn is_current(limit: &CalendarWindow) -> bool {
    is_within(limit.ends())
}

/// The ends of the last window, of the current and of the next one, in nanoseconds since 1970.
pub fn ends(calendar: &Calendar) -> Result<[u64; 3], Thrown> {
    if !is_within(calendar.ends.get()) {
        let seconds = (now() / SECOND) as i64;
        let ends = compute(calendar, seconds).ok_or_else(|| {
            logic_exception("PHP's DateTimeImmutable does not find the boundaries of the calendar")
        })?;
        calendar.ends.set(ends);
    }
    Ok(calendar.ends.get())
}

fn compute(calendar: &Calendar, now: i64) -> Option<[u64; 3]> {
    let zone = open_zone(&calendar.zone)?;
    let [this, next] = phrases(calendar.unit);
    let ends = match calendar.unit {
        CalendarUnit::Hour => {
            let begin = now - (now + offset(&zone, now)?).rem_euclid(3_600);
            [begin, begin + 3_600, begin + 7_200]
        }
        _ => {
            let end = boundary(&zone, now, next)?;
            [boundary(&zone, now, this)?, end, boundary(&zone, end, next)?]
        }
    };
    // A window that began before 1970 begins then: a test's clock may be in it.
    Some(ends.map(|seconds: i64| seconds.max(0) as u64 * SECOND))
}

fn is_within([first, second, _]: [u64; 3]) -> bool {
    (first..second).contains(&now())
}

/// The time of a test's clock, or of day; up to some milliseconds old, which the store's clock corrects.
fn now() -> u64 {
    GLOBALS.get().frozen_time.get().unwrap_or_else(coarse_unix_time)
}

/// What `phrase` means at a time in a zone, in seconds since 1970.
fn boundary(zone: &Zval, time: i64, phrase: &str) -> Option<i64> {
    let moment = moment(zone, time)?;
    let moment = call(moment.object()?, "modify", vec![&phrase])?;
    call(moment.object()?, "getTimestamp", vec![])?.long()
}

/// How far the zone is ahead of UTC at a time, in seconds.
fn offset(zone: &Zval, time: i64) -> Option<i64> {
    call(moment(zone, time)?.object()?, "getOffset", vec![])?.long()
}

fn moment(zone: &Zval, time: i64) -> Option<Zval> {
    let utc = new_object("DateTimeImmutable", vec![&format!("@{time}")])?;
    call(&utc, "setTimezone", vec![zone])
}
