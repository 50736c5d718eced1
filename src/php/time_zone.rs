//! Time zones and dates, by PHP's own classes.

use super::engine::exceptions::take_exception;
use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZvalDyn;
use ext_php_rs::types::{ZendObject, Zval};
use ext_php_rs::zend::ClassEntry;

/// A `DateTimeZone`; none if PHP does not know it.
pub fn open_zone(name: &str) -> Option<Zval> {
    let mut zone = new_object("DateTimeZone", vec![&name])?;
    let mut value = Zval::new();
    // Holds the object by its count.
    value.set_object(&mut zone);
    Some(value)
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
    if take_exception() { None } else { answer }
}
