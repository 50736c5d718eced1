//! `TokenBucket\LimitExceededException`, which only `Decision::ensureAccepted()` throws.

use super::engine::call::{Call, NO_CONSTRUCTOR, handler};
use super::engine::declare::{self, Class, Method, public};
use super::engine::exceptions::{self, Thrown};
use super::engine::object;
use super::interfaces::DECISION;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::Zval;

static CLASS: Class = Class::new();

/// The property that holds the decision, where PHP's garbage collector and `var_dump()` find it.
const PROPERTY: &str = "decision";

const METHODS: &[Method] =
    &[public(c"getDecision", handler!(get_decision), &[], DECISION), NO_CONSTRUCTOR];

pub fn register() {
    let (parent, flags) = (exceptions::spl_ce_RuntimeException, ClassFlags::Final);
    let name = "TokenBucket\\LimitExceededException";
    declare::class(&CLASS, name, flags, METHODS, parent, &[&exceptions::MARKER]);
    declare::private_property(&CLASS, PROPERTY);
}

/// Throws the exception for a denied decision.
#[cold]
pub fn throw(decision: Zval, message: &str) -> Thrown {
    exceptions::throw_with_property(&CLASS, message, PROPERTY, decision)
}

fn get_decision(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_value(object::own_property(call.this_object(), &CLASS, PROPERTY))
}
