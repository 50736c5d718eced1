//! `TokenBucket\Permit`: one permit of a `ConcurrencyLimit`.

use super::engine::call::{Call, NO_CONSTRUCTOR, handler};
use super::engine::declare::{Class, Method, Type, optional, public};
use super::engine::exceptions::{Thrown, value_error};
use super::engine::object::{self, Native, own_handlers};
use super::engine::shared_string::SharedString;
use super::events::{deliver, log_event};
use super::globals::GLOBALS;
use super::permit_registry::RegisteredPermit;
use crate::limit::{PermitLimit, SECOND, duration_from_seconds};
use crate::limiter::HeldPermit;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::ZendHashTable;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The value of a `TokenBucket\Permit`.
pub struct PermitObject {
    permit: RegisteredPermit,
    identifier: SharedString,
    /// The lifetime of the limit, in nanoseconds.
    lifetime: u64,
}

/// `TokenBucket\Permit`.
pub static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(c"release", handler!(release_permit), &[], Type::VOID),
    public(
        c"renew",
        handler!(renew),
        &[optional(c"lifetime", Type::FLOAT.or_null(), c"null")],
        Type::BOOL.or_null(),
    ),
    NO_CONSTRUCTOR,
];

pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    object::class::<PermitObject>(&CLASS, "TokenBucket\\Permit", flags, METHODS, &[]);
}

impl PermitObject {
    /// Takes charge of a permit. From here on the end of the request gives it back, whatever happens to the
    /// object.
    #[inline]
    pub fn new(permit: HeldPermit, identifier: SharedString, limit: &PermitLimit) -> Self {
        let permit = GLOBALS.get().permits.add(permit);
        Self { permit, identifier, lifetime: limit.lifetime() }
    }
}

impl Drop for PermitObject {
    #[inline]
    fn drop(&mut self) {
        let Some(permit) = GLOBALS.get().permits.take(self.permit) else { return };
        // The engine frees objects where no exception and no panic can be passed on.
        let _ = catch_unwind(AssertUnwindSafe(|| log_event(permit.release().event)));
    }
}

impl Native for PermitObject {
    own_handlers!();

    fn dump(&self, properties: &mut ZendHashTable) {
        let _ = properties.insert("identifier", self.identifier.to_zval());
        let _ = properties.insert("lifetime", self.lifetime as f64 / SECOND as f64);
    }
}

fn release_permit(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let permit = call.with_this(|this: &PermitObject| this.permit)?;
    let Some(permit) = GLOBALS.get().permits.take(permit) else { return Ok(()) };
    deliver(permit.release())
}

fn renew(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let lifetime = call.float_or_null(1)?;
    let lifetime = lifetime
        .map(|seconds| duration_from_seconds(seconds).map_err(|error| value_error(1, error)));
    let lifetime = lifetime.transpose()?;
    let (permit, own_lifetime) =
        call.with_this(|this: &PermitObject| (this.permit, this.lifetime))?;
    let (globals, lifetime) = (GLOBALS.get(), lifetime.unwrap_or(own_lifetime));
    let renewed = globals.permits.with(permit, |permit| permit.renew(lifetime));
    call.return_value(renewed.map_or(Ok(Some(false)), deliver)?)
}
