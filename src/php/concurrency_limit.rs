//! `TokenBucket\ConcurrencyLimit`: how many run at once.

use super::engine::call::{Call, handler};
use super::engine::declare::{
    Class, Method, Parameter, Type, no_discard, optional, public, required,
};
use super::engine::exceptions::{Thrown, value_error};
use super::engine::object::{self, Native, own_handlers};
use super::engine::shared_string::SharedString;
use super::events::deliver;
use super::likely_mistakes::warn_of_milliseconds;
use super::limiter_methods::{self, IDENTIFIER, LIMIT_NAME, STORAGE};
use super::limiter_object::parse_name;
use super::permit::{self, PermitObject};
use super::storage_argument::{Backend, parse_storage_argument};
use crate::error::Error;
use crate::identifier::Identifier;
use crate::limit::{LimitError, PermitLimit, SECOND};
use crate::limiter::{
    self, CallContext, DEFAULT_LIFETIME, KeyHash, Limiter, NO_PERMITS, RecordHandle,
};
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::ZendHashTable;
use std::cell::Cell;
use std::rc::Rc;

/// The value of a `TokenBucket\ConcurrencyLimit`.
pub struct ConcurrencyLimitObject {
    limiter: Rc<Limiter>,
    identifier: SharedString,
    limit: PermitLimit,
    /// How many permits each call leaves at least.
    leave: u64,
    /// Whether the operator's file exempts the client from the limit.
    is_exempt: bool,
    /// The name of the limit in statistics, if the constructor was given one.
    name: Option<SharedString>,
    key_hash: Cell<KeyHash>,
    record: Cell<RecordHandle>,
}

pub static CLASS: Class = Class::new();

const PARAMETERS: &[Parameter] = &[
    STORAGE,
    IDENTIFIER,
    required(c"limit", Type::INT),
    optional(c"lifetime", Type::FLOAT, c"60.0"),
    LIMIT_NAME,
];

const METHODS: &[Method] = &[
    public(c"__construct", handler!(construct), PARAMETERS, Type::NONE),
    no_discard(public(
        c"acquire",
        handler!(acquire),
        &[optional(c"leave", Type::INT, c"0")],
        Type::object(c"TokenBucket\\Permit").or_null(),
    )),
    public(c"getActive", handler!(get_active), &[], Type::INT),
    public(c"reset", handler!(reset), &[], Type::VOID),
];

pub fn register() {
    let name = "TokenBucket\\ConcurrencyLimit";
    object::class::<ConcurrencyLimitObject>(&CLASS, name, ClassFlags::Final, METHODS, &[]);
}

impl Native for ConcurrencyLimitObject {
    own_handlers!();

    fn dump(&self, properties: &mut ZendHashTable) {
        let _ = properties.insert("identifier", self.identifier.to_zval());
        let _ = properties.insert("limit", i64::from(self.limit.max()));
        let _ = properties.insert("lifetime", self.limit.lifetime() as f64 / SECOND as f64);
    }
}

impl ConcurrencyLimitObject {
    /// # Errors
    ///
    /// A `ConfigurationException` if the store holds no permits.
    pub fn new(
        limiter: Rc<Limiter>,
        identifier: SharedString,
        limit: PermitLimit,
        leave: u64,
        name: Option<SharedString>,
        is_exempt: bool,
    ) -> Result<Self, Thrown> {
        if !limiter::has_permits(&limiter) {
            return Err(Error::configuration(NO_PERMITS).into());
        }
        let (key_hash, record) = (Cell::default(), Cell::default());
        Ok(Self { limiter, identifier, limit, leave, is_exempt, name, key_hash, record })
    }

    #[inline(always)]
    fn context(&self) -> CallContext<'_> {
        CallContext {
            identifier: Identifier::Plain(self.identifier.as_bytes()),
            name: self.name.as_ref().map(SharedString::as_bytes),
            key_hash: &self.key_hash,
            record: &self.record,
            is_exempt: self.is_exempt,
        }
    }
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(3, 5)?;
    let backend = parse_storage_argument(call)?;
    call.string(2)?;
    let max = call.int(3, 0)?;
    let lifetime = if call.is_passed(4) { call.float(4)? } else { DEFAULT_LIFETIME };
    let name = parse_name(call)?;
    let identifier = call.identifier(2)?;
    let limit = PermitLimit::new(max, lifetime).map_err(|error| match error {
        LimitError::Permits => value_error(3, error),
        _ => value_error(4, error),
    })?;
    let Backend::Native(limiter) = backend else {
        return Err(Error::configuration(NO_PERMITS).into());
    };
    call.construct(ConcurrencyLimitObject::new(limiter, identifier, limit, 0, name, false)?);
    warn_of_milliseconds("$lifetime", lifetime)
}

fn acquire(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let leave = limiter_methods::leave(call, 1)?;
    let report = call.with_this(|this: &ConcurrencyLimitObject| {
        // From here on the end of the request gives it back, whatever happens in between.
        let registered = |held| PermitObject::new(held, this.identifier.clone(), &this.limit);
        let leave = leave.max(this.leave);
        let held = limiter::acquire(&this.limiter, &this.context(), &this.limit, leave);
        held.map(|held| Ok(held?.map(registered)))
    })?;
    match deliver(report)? {
        Some(permit) => call.return_new(&permit::CLASS, permit),
        None => call.return_value(()),
    }
}

fn get_active(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let active = call.with_this(|this: &ConcurrencyLimitObject| {
        limiter::count_permits(&this.limiter, &this.context(), &this.limit)
    })?;
    call.return_value(i64::from(deliver(active)?))
}

fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    deliver(call.with_this(|this: &ConcurrencyLimitObject| {
        limiter::reset_permits(&this.limiter, &this.context())
    })?)
}
