//! `TokenBucket\CalendarWindow`.

use super::calendar;
use super::calendar_unit::Calendar;
use super::engine::call::{Call, handler};
use super::engine::declare::{Class, Method, Parameter, Type, optional, public, required};
use super::engine::exceptions::{Thrown, value_error};
use super::engine::object;
use super::interfaces;
use super::limiter_methods::{
    self, ATTEMPT, BLOCK, CONSUME, IDENTIFIER, LIMIT_NAME, PEEK, REFUND, RESET, STORAGE,
};
use super::limiter_object::{LimitArguments, LimiterObject, parse_name_at};
use super::storage_argument::{expect_own_storage, parse_storage_argument};
use crate::limit::{CalendarUnit, CalendarWindow, Limit};
use ext_php_rs::flags::ClassFlags;
use std::rc::Rc;

pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &[
    STORAGE,
    IDENTIFIER,
    required(c"limit", Type::INT),
    required(c"unit", Type::STRING),
    optional(c"timezone", Type::STRING, c"'UTC'"),
    LIMIT_NAME,
];

/// The positions of the arguments.
const LIMIT_POSITION: u32 = 3;
const UNIT_POSITION: u32 = 4;
const TIMEZONE_POSITION: u32 = 5;
const NAME_POSITION: u32 = 6;

/// A method of all limiters that first looks whether the window has ended.
macro_rules! in_open_window {
    ($method:expr, $run:path) => {{
        let handler = handler!(|call: &Call| {
            look_at_calendar(call)?;
            $run(call)
        });
        Method { handler: Some(handler), ..$method }
    }};
}

const METHODS: &[Method] = &[
    public(c"__construct", handler!(construct), PARAMETERS, Type::NONE),
    in_open_window!(CONSUME, limiter_methods::consume),
    in_open_window!(ATTEMPT, limiter_methods::attempt),
    in_open_window!(PEEK, limiter_methods::peek),
    in_open_window!(REFUND, limiter_methods::refund),
    in_open_window!(RESET, limiter_methods::reset),
    in_open_window!(BLOCK, limiter_methods::block),
];

pub fn register() {
    let interfaces = [&interfaces::LIMITER];
    let name = "TokenBucket\\CalendarWindow";
    object::class::<LimiterObject>(&CLASS, name, ClassFlags::Final, METHODS, &interfaces);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(4, 6)?;
    let backend = parse_storage_argument(call)?;
    call.string(2)?;
    let hits = call.int(LIMIT_POSITION, 0)?;
    let unit = CalendarUnit::from_name(call.string(UNIT_POSITION)?.as_bytes());
    let zone = match call.is_passed(TIMEZONE_POSITION) {
        true => call.string(TIMEZONE_POSITION)?.as_str().unwrap_or_default(),
        false => "UTC",
    };
    expect_own_storage(&backend)?;
    let unit = unit
        .ok_or_else(|| value_error(UNIT_POSITION, format!("must be {}", CalendarUnit::VALUES)))?;
    CalendarWindow::new(hits, [0; 3]).map_err(|error| value_error(LIMIT_POSITION, error))?;
    let calendar = calendar::find(unit, zone, TIMEZONE_POSITION)?;
    let limit = Rc::new(limit(hits, &calendar)?);
    let name = parse_name_at(call, NAME_POSITION)?;
    let arguments = LimitArguments::Calendar { limit: hits, calendar };
    let identifier = call.identifier(2)?;
    call.construct(LimiterObject::new(backend, identifier, limit, arguments, name));
    Ok(())
}

/// The limit of the window that is open now.
pub fn limit(hits: i64, calendar: &Calendar) -> Result<Limit, Thrown> {
    let limit = CalendarWindow::new(hits, calendar::ends(calendar)?);
    limit.map(Limit::from).map_err(|error| value_error(LIMIT_POSITION, error))
}

/// The limit in the place of one whose window has ended; none if it is not over.
pub fn next_limit(limit: &Limit, arguments: &LimitArguments) -> Result<Option<Rc<Limit>>, Thrown> {
    match (limit, arguments) {
        (Limit::CalendarWindow(window), LimitArguments::Calendar { limit: hits, calendar })
            if !calendar::is_current(window) =>
        {
            self::limit(*hits, calendar).map(|limit| Some(Rc::new(limit)))
        }
        _ => Ok(None),
    }
}

/// Gives the object the ends of the window that is open now, once the last one has passed.
#[inline(always)]
fn look_at_calendar(call: &Call) -> Result<(), Thrown> {
    let is_current = call.with_this(|this: &LimiterObject| {
        matches!(this.limit.as_deref(), Some(Limit::CalendarWindow(window)) if calendar::is_current(window))
    })?;
    if is_current { Ok(()) } else { open_next_window(call) }
}

#[cold]
fn open_next_window(call: &Call) -> Result<(), Thrown> {
    let ended = call.with_this(|this: &LimiterObject| {
        Some((*this.limit.as_deref()?, this.arguments.clone()))
    })?;
    let Some((limit, arguments)) = ended else { return Ok(()) };
    // PHP's classes run here, so no reference into the object is held.
    if let Some(limit) = next_limit(&limit, &arguments)? {
        call.with_this_mut(|this: &mut LimiterObject| this.limit = Some(limit))?;
    }
    Ok(())
}
