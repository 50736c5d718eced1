//! Where the hours, days, weeks, months and years of a time zone begin, by PHP's own time zones.

use super::calendar_unit::{Calendar, phrases};
use super::engine::exceptions::{Thrown, logic_exception, value_error};
use super::globals::GLOBALS;
use super::time_zone::{NoZone, call, new_object, open_zone, zone_name};
use crate::clock::{coarse_unix_time, frozen};
use crate::error::Error;
use crate::limit::{CalendarUnit, CalendarWindow, SECOND};
use ext_php_rs::types::Zval;
use std::cell::Cell;
use std::rc::Rc;

/// How many calendars a worker keeps, those that it made last. A client may choose the zone, and there are 172,799 offsets.
const MAX_KEPT: usize = 64;

/// The calendar of a time zone; `position` is that of its argument. All objects share it while the worker keeps it, so its
/// boundaries are computed once.
pub fn find(unit: CalendarUnit, zone: &str, position: u32) -> Result<Rc<Calendar>, Thrown> {
    if let Some(kept) = find_kept(unit, zone) {
        return Ok(kept);
    }
    let opened = open_zone(zone).map_err(|why| match why {
        NoZone::Unknown => value_error(
            position,
            "must be \"UTC\", an offset such as \"+01:00\", or a place that PHP knows, such as \"Europe/Berlin\"",
        ),
        NoZone::Unreadable(why) => Error::local(why).into(),
    })?;
    let zone = zone_name(&opened).unwrap_or_else(|| zone.to_owned());
    // Offsets have many spellings.
    if let Some(kept) = find_kept(unit, &zone) {
        return Ok(kept);
    }
    let calendar = Rc::new(Calendar { unit, zone, ends: Cell::default() });
    let mut kept = GLOBALS.get().calendars.borrow_mut();
    if kept.len() >= MAX_KEPT {
        kept.pop_front();
    }
    kept.push_back(Rc::clone(&calendar));
    Ok(calendar)
}

fn find_kept(unit: CalendarUnit, zone: &str) -> Option<Rc<Calendar>> {
    // PHP takes names of zones in any case.
    let is_same = |kept: &&Rc<Calendar>| kept.unit == unit && kept.zone.eq_ignore_ascii_case(zone);
    GLOBALS.get().calendars.borrow().iter().find(is_same).cloned()
}

/// Whether the limit is one of the window that is open now.
pub fn is_current(limit: &CalendarWindow) -> bool {
    is_within(limit.ends())
}

/// The ends of the last window, of the current and of the next one, in nanoseconds since 1970.
pub fn ends(calendar: &Calendar) -> Result<[u64; 3], Thrown> {
    if !is_within(calendar.ends.get()) {
        let seconds = (now() / SECOND) as i64;
        let not_found = || {
            logic_exception("PHP's DateTimeImmutable does not find the boundaries of the calendar")
        };
        let zone = open_zone(&calendar.zone).map_err(|why| match why {
            NoZone::Unknown => not_found(),
            NoZone::Unreadable(why) => Error::local(why).into(),
        })?;
        let ends = compute(calendar.unit, &zone, seconds).ok_or_else(not_found)?;
        calendar.ends.set(ends);
    }
    Ok(calendar.ends.get())
}

fn compute(unit: CalendarUnit, zone: &Zval, now: i64) -> Option<[u64; 3]> {
    let [this, next] = phrases(unit);
    let ends = match unit {
        CalendarUnit::Hour => {
            let begin = now - (now + offset(zone, now)?).rem_euclid(3_600);
            [begin, begin + 3_600, begin + 7_200]
        }
        _ => {
            let end = boundary(zone, now, next)?;
            [boundary(zone, now, this)?, end, boundary(zone, end, next)?]
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
    frozen().unwrap_or_else(coarse_unix_time)
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
