//! `TokenBucket\Decision`: the outcome of one call.

use super::call::{Call, NO_CONSTRUCTOR, handler};
use super::declare::{self, Class, Method, Type, public};
use super::exceptions::Thrown;
use super::object::{self, Handlers, Native};
use crate::limit::{Decision, Limit};
use crate::limiter::FlaggedDecision;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ClassEntry;
use std::ptr;

/// The value of a `TokenBucket\Decision`.
pub struct DecisionObject {
    pub flagged: FlaggedDecision,
    /// The limit that was applied.
    pub limit: Limit,
}

/// `TokenBucket\Decision`.
pub static CLASS: Class = Class::new();

static HANDLERS: Handlers = Handlers::new();

const METHODS: &[Method] = &[
    public(c"isAccepted", handler!(is_accepted), &[], Type::BOOL),
    public(c"getLimit", handler!(get_limit), &[], Type::INT),
    public(c"getRemainingTokens", handler!(get_remaining_tokens), &[], Type::INT),
    public(c"getRetryAfter", handler!(get_retry_after), &[], Type::FLOAT),
    public(c"getResetAfter", handler!(get_reset_after), &[], Type::FLOAT),
    public(c"getWait", handler!(get_wait), &[], Type::FLOAT),
    public(c"isDegraded", handler!(is_degraded), &[], Type::BOOL),
    public(c"wouldDeny", handler!(would_deny), &[], Type::BOOL),
    public(c"jsonSerialize", handler!(json_serialize), &[], Type::ARRAY),
    NO_CONSTRUCTOR,
];

unsafe extern "C" {
    static php_json_serializable_ce: *mut ClassEntry;
}

/// Makes the class known to the engine.
pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    declare::class(&CLASS, "TokenBucket\\Decision", flags, METHODS, ptr::null_mut(), &[]);
    // SAFETY: the JSON extension is part of every PHP from 8.0 on, and registers its interface before the
    // engine loads extensions from files.
    declare::implement(&CLASS, unsafe { php_json_serializable_ce });
    object::install_handlers::<DecisionObject>(&CLASS);
}

impl DecisionObject {
    fn limit(&self) -> i64 {
        // Never wraps: a limit from PHP is below 2^31.
        self.limit.capacity() as i64
    }

    fn remaining(&self) -> i64 {
        self.limit.remaining(self.decided()) as i64
    }

    /// The decision of the limit, whether it is enforced or not.
    fn decided(&self) -> &Decision {
        &self.flagged.decision
    }

    /// How many seconds a reservation has to wait; 0.0 if the limit is not enforced.
    fn wait(&self) -> f64 {
        if self.flagged.flags.is_enforced() { self.decided().wait() } else { 0.0 }
    }

    fn retry_after(&self) -> f64 {
        if self.flagged.is_admitted() { 0.0 } else { self.decided().retry_after() }
    }

    /// Adds what JSON and `var_dump()` show. `never` stands for an infinite `retry_after`, which JSON
    /// cannot express.
    fn fill(&self, table: &mut ZendHashTable, never: Zval) {
        let retry_after = self.retry_after();
        let _ = table.insert("accepted", self.flagged.is_admitted());
        let _ = table.insert("limit", self.limit());
        let _ = table.insert("remaining_tokens", self.remaining());
        let _ = match retry_after.is_finite() {
            true => table.insert("retry_after", retry_after),
            false => table.insert("retry_after", never),
        };
        let _ = table.insert("reset_after", self.decided().reset_after());
        let _ = table.insert("wait", self.wait());
        let _ = table.insert("degraded", self.flagged.flags.is_degraded());
        let _ = table.insert("would_deny", !self.decided().accepted);
    }
}

impl Native for DecisionObject {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let mut never = Zval::new();
        never.set_double(f64::INFINITY);
        self.fill(properties, never);
    }
}

fn is_accepted(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_bool(call.this::<DecisionObject>()?.flagged.is_admitted())
}

fn get_limit(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_int(call.this::<DecisionObject>()?.limit())
}

fn get_remaining_tokens(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_int(call.this::<DecisionObject>()?.remaining())
}

fn get_retry_after(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_float(call.this::<DecisionObject>()?.retry_after())
}

fn get_reset_after(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_float(call.this::<DecisionObject>()?.decided().reset_after())
}

fn get_wait(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_float(call.this::<DecisionObject>()?.wait())
}

fn is_degraded(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_bool(call.this::<DecisionObject>()?.flagged.flags.is_degraded())
}

fn would_deny(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_bool(!call.this::<DecisionObject>()?.decided().accepted)
}

fn json_serialize(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let mut table = ZendHashTable::new();
    call.this::<DecisionObject>()?.fill(&mut table, Zval::null());
    let mut result = Zval::new();
    result.set_hashtable(table);
    call.return_value(result)
}
