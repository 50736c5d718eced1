//! Time zones and dates, by PHP's own classes.

use crate::dsn::sanitize;
use crate::regular_file::reason;
use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZvalDyn;
use ext_php_rs::types::{ZendObject, Zval};
use ext_php_rs::zend::{ClassEntry, ExecutorGlobals};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Why there is no time zone of a name.
pub enum NoZone {
    /// PHP does not know it.
    Unknown,
    /// This process can open no file at the moment; the text has the zone and the system's reason.
    Unreadable(String),
}

impl NoZone {
    /// Debian's PHP reads its time zones from files, and takes one that it cannot open for unknown. So this looks whether a
    /// file can be opened.
    #[cold]
    fn explain(name: &str) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open("/", flags, Mode::empty()) {
            Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                let (name, reason) = (sanitize(name), reason(&error.into()));
                Self::Unreadable(format!("The time zone {name} cannot be read: {reason}"))
            }
            _ => Self::Unknown,
        }
    }
}

/// A `DateTimeZone`.
pub fn open_zone(name: &str) -> Result<Zval, NoZone> {
    let mut zone = new_object("DateTimeZone", vec![&name]).ok_or_else(|| NoZone::explain(name))?;
    let mut value = Zval::new();
    // Holds the object by its count.
    value.set_object(&mut zone);
    if is_abbreviation(&zone, name) { Err(NoZone::Unknown) } else { Ok(value) }
}

/// Whether the name is the abbreviation of an offset. PHP gives such a zone one offset in summer and winter, so in summer a
/// day of `CET` begins at 1 o'clock in Berlin.
fn is_abbreviation(zone: &ZendObject, name: &str) -> bool {
    let is_place = || call(zone, "getLocation", vec![]).is_some_and(|place| place.is_array());
    let is_offset = name.starts_with(['+', '-']);
    let is_utc = ["UTC", "GMT", "Z"].iter().any(|utc| utc.eq_ignore_ascii_case(name));
    !is_offset && !is_utc && !is_place()
}

/// PHP's own name for a zone: `+01:00` for `+1`. Debian's PHP leaves the case of a name as it was written.
pub fn zone_name(zone: &Zval) -> Option<String> {
    call(zone.object()?, "getName", vec![])?.string()
}

/// An object of a class of PHP's own.
pub fn new_object(class: &str, arguments: Vec<&dyn IntoZvalDyn>) -> Option<ZBox<ZendObject>> {
    let object = ClassEntry::try_find(class)?.new();
    call(&object, "__construct", arguments)?;
    Some(object)
}

/// Calls a method of an object of PHP's own. None if it throws, or is not there.
pub fn call(object: &ZendObject, method: &str, arguments: Vec<&dyn IntoZvalDyn>) -> Option<Zval> {
    let answer = object.try_call_method(method, arguments).ok();
    if ExecutorGlobals::take_exception().is_some() { None } else { answer }
}
