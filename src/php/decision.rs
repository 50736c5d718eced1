//! `TokenBucket\Decision`: the answer to one call.

use super::call::{Call, handler};
use super::declare::{self, Class, Method, Type, public};
use super::exceptions::Thrown;
use super::object::{self, Handlers, Native};
use crate::limit::{self, Limit};
use crate::limiter::FlaggedDecision;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ClassEntry;
use std::ptr;

/// A decision, and the limit that made it.
pub struct Decision {
    pub answer: FlaggedDecision,
    pub limit: Limit,
}

/// The class.
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
    declare::private(c"__construct", handler!(construct), &[], Type::NONE),
];

unsafe extern "C" {
    static php_json_serializable_ce: *mut ClassEntry;
}

/// Makes the class known to the engine.
pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    declare::class(&CLASS, "TokenBucket\\Decision", flags, METHODS, ptr::null_mut(), &[]);
    // SAFETY: the JSON extension is part of every PHP from 8.0 on, and registers its
    // interface before any extension that is loaded from a file.
    declare::implement(&CLASS, unsafe { php_json_serializable_ce });
    object::install_handlers::<Decision>(&CLASS);
}

impl Decision {
    fn limit(&self) -> i64 {
        // Never wraps: a capacity that PHP gave is below 2^31.
        self.limit.capacity() as i64
    }

    fn remaining(&self) -> i64 {
        self.limit.remaining(self.decided()) as i64
    }

    /// What the limit has decided, whether it is enforced or not.
    fn decided(&self) -> &limit::Decision {
        &self.answer.decision
    }

    /// How long a reservation has to wait; who is let in anyway need not.
    fn wait(&self) -> f64 {
        if self.answer.flags.is_enforced() { self.decided().wait() } else { 0.0 }
    }

    fn retry_after(&self) -> f64 {
        if self.answer.is_admitted() { 0.0 } else { self.decided().retry_after() }
    }

    /// What JSON and `var_dump` show. JSON knows no infinity: there it is null.
    fn fill(&self, table: &mut ZendHashTable, never: Zval) {
        let retry_after = self.retry_after();
        let _ = table.insert("accepted", self.answer.is_admitted());
        let _ = table.insert("limit", self.limit());
        let _ = table.insert("remaining_tokens", self.remaining());
        let _ = match retry_after.is_finite() {
            true => table.insert("retry_after", retry_after),
            false => table.insert("retry_after", never),
        };
        let _ = table.insert("reset_after", self.decided().reset_after());
        let _ = table.insert("wait", self.wait());
        let _ = table.insert("degraded", self.answer.flags.is_degraded());
        let _ = table.insert("would_deny", !self.decided().accepted);
    }
}

impl Native for Decision {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let mut never = Zval::new();
        never.set_double(f64::INFINITY);
        self.fill(properties, never);
    }
}

fn construct(_: &Call) -> Result<(), Thrown> {
    // Private: only a class that cannot exist, for ours is final, gets here.
    Ok(())
}

fn is_accepted(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_bool(call.this::<Decision>()?.answer.is_admitted())
}

fn get_limit(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_int(call.this::<Decision>()?.limit())
}

fn get_remaining_tokens(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_int(call.this::<Decision>()?.remaining())
}

fn get_retry_after(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_float(call.this::<Decision>()?.retry_after())
}

fn get_reset_after(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_float(call.this::<Decision>()?.decided().reset_after())
}

fn get_wait(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_float(call.this::<Decision>()?.wait())
}

fn is_degraded(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_bool(call.this::<Decision>()?.answer.flags.is_degraded())
}

fn would_deny(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    call.return_bool(!call.this::<Decision>()?.decided().accepted)
}

fn json_serialize(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    let mut table = ZendHashTable::new();
    call.this::<Decision>()?.fill(&mut table, Zval::null());
    let mut result = Zval::new();
    result.set_hashtable(table);
    call.return_value(result)
}
