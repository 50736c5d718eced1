//! `TokenBucket\Decision`: the outcome of one call, on one limit or several.

use super::decision_limits::DecisionLimits;
use super::engine::call::{Call, NO_CONSTRUCTOR, handler, string};
use super::engine::declare::{self, Class, Method, Type, public};
use super::engine::exceptions::{Thrown, logic_exception};
use super::engine::object::{self, Native, own_handlers};
use super::engine::php_array::PhpArray;
use super::engine::sleep::sleep;
use super::limit_decision::LimitDecision;
use super::limit_exceeded;
use super::limits_in_force::limits_in_use;
use super::settlement::{self, COSTS};
use super::token_counts::{self, TokenCounts};
use crate::clock::{freeze, frozen, now};
use crate::limit::MAX_NOW;
use crate::{http, process};
use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ClassEntry;
use std::cell::Cell;

/// The value of a `TokenBucket\Decision`.
pub struct DecisionObject {
    limits: DecisionLimits,
    /// The process that made it and may call `settle()` or `refund()`; 0 once it has.
    settleable_by: Cell<u64>,
    /// When the wait of a reservation ends, in nanoseconds of this host's clock or of the frozen one.
    ready_at: u64,
}

/// `TokenBucket\Decision`.
pub static CLASS: Class = Class::new();

/// A method without arguments that returns what `$read` says of the decision.
macro_rules! getter {
    ($name:literal, $read:expr, $returns:expr) => {
        public($name, handler!(|call: &Call| get(call, $read)), &[], $returns)
    };
}

const METHODS: &[Method] = &[
    public(c"isAccepted", handler!(is_accepted), &[], Type::BOOL),
    getter!(c"getLimit", |it| it.limits.limit(), Type::INT),
    getter!(c"getTokens", |it| it.limits.tokens(), Type::INT),
    getter!(c"getRemainingTokens", |it| it.limits.remaining(), Type::INT),
    getter!(c"getUsedTokens", |it| it.limits.limit() - it.limits.remaining(), Type::INT),
    getter!(c"getRetryAfter", |it| it.limits.retry_after(), Type::FLOAT),
    getter!(c"getRetryAfterSeconds", |it| it.limits.retry_after_seconds(), Type::INT.or_null()),
    getter!(c"getResetAfter", |it| it.limits.reset_after(), Type::FLOAT),
    getter!(c"getWait", |it| it.limits.wait(), Type::FLOAT),
    public(c"wait", handler!(wait), &[], Type::BOOL),
    public(c"ensureAccepted", handler!(ensure_accepted), &[], Type::STATIC),
    getter!(c"getDeniedBy", |it| names(it.limits.denying()), Type::ARRAY),
    getter!(c"getChargedTo", |it| names(it.limits.charged()), Type::ARRAY),
    getter!(c"getHeaders", DecisionObject::headers, Type::ARRAY),
    public(c"getProblem", handler!(get_problem), &[], Type::ARRAY),
    getter!(c"isDegraded", |it| it.limits.is_degraded(), Type::BOOL),
    getter!(c"isExempt", |it| it.limits.is_exempt(), Type::BOOL),
    getter!(c"wouldDeny", |it| it.limits.would_deny(), Type::BOOL),
    public(c"settle", handler!(settle), &[COSTS], Type::BOOL.or_null()),
    public(c"refund", handler!(refund), &[], Type::BOOL.or_null()),
    getter!(c"jsonSerialize", DecisionObject::to_json, Type::ARRAY),
    NO_CONSTRUCTOR,
];

unsafe extern "C" {
    static php_json_serializable_ce: *mut ClassEntry;
}

pub fn register() {
    let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
    object::class::<DecisionObject>(&CLASS, "TokenBucket\\Decision", flags, METHODS, &[]);
    // SAFETY: the JSON extension is part of every PHP from 8.0 on, and registers its interface before the
    // engine loads extensions from files.
    declare::implement(&CLASS, unsafe { php_json_serializable_ce });
}

impl DecisionObject {
    /// The decision of one limit.
    #[inline(always)]
    pub fn one(decision: LimitDecision) -> Self {
        let ready_at = match decision.wait_ns() {
            0 => 0,
            wait => ready_in(wait),
        };
        Self { ready_at, ..Self::new(DecisionLimits::One(decision)) }
    }

    /// The decision of several limits, of which at least one was asked.
    pub fn several(decisions: Vec<LimitDecision>) -> Self {
        Self::new(DecisionLimits::Several(decisions.into_boxed_slice()))
    }

    /// The decision of several limits that all deny a call which any of them might have accepted; `soonest` is the place of
    /// the one whose decision it is.
    pub fn denied(decisions: Vec<LimitDecision>, soonest: usize) -> Self {
        Self::new(DecisionLimits::Denied { each: decisions.into_boxed_slice(), soonest })
    }

    #[inline(always)]
    fn new(limits: DecisionLimits) -> Self {
        Self { limits, settleable_by: Cell::new(process::generation()), ready_at: 0 }
    }

    /// What is left of the wait of a reservation, in nanoseconds.
    fn wait_left(&self) -> u64 {
        // No more than the wait, for a test may have frozen the clock or let it run since.
        let wait = self.limits.wait_ns();
        if wait == 0 { 0 } else { self.ready_at.saturating_sub(now()).min(wait) }
    }

    /// The fields of an HTTP answer.
    fn headers(&self) -> ZBox<ZendHashTable> {
        let policies: Vec<_> = self.limits.holding().map(LimitDecision::policy).collect();
        let mut fields = ZendHashTable::new();
        if policies.is_empty() {
            return fields;
        }
        let _ = fields.insert("RateLimit-Policy", http::rate_limit_policy(&policies));
        let _ = fields.insert("RateLimit", http::rate_limit(&policies));
        if let Some(seconds @ 1..) = self.limits.retry_after_seconds() {
            let _ = fields.insert("Retry-After", seconds.to_string());
        }
        fields
    }

    /// What an exception says of a denied call.
    fn denial(&self) -> String {
        let names: Vec<_> =
            self.limits.denying().map(|limit| http::printable(limit.name())).collect();
        let seconds = self.limits.retry_after_seconds();
        let advice = match seconds {
            Some(_) => "",
            None => " Take the limit at most, and settle() what it costs.",
        };
        format!("Denied by {}. {}{advice}", names.join(", "), http::detail(seconds))
    }

    /// The problem of an HTTP answer; none if the call was accepted.
    fn problem(&self) -> Option<ZBox<ZendHashTable>> {
        if self.limits.is_admitted() {
            return None;
        }
        let problem = self.limits.problem()?;
        let names = self.limits.denying().map(|limit| http::printable(limit.name()));
        let mut table = ZendHashTable::new();
        let _ = table.insert("type", problem.uri());
        let _ = table.insert("title", problem.title());
        let _ = table.insert("status", problem.status());
        let _ = table.insert("detail", http::detail(self.limits.retry_after_seconds()));
        let _ = table.insert("violated-policies", names.collect::<PhpArray>());
        Some(table)
    }

    fn to_json(&self) -> ZBox<ZendHashTable> {
        let mut table = ZendHashTable::new();
        self.fill(&mut table, Zval::null());
        table
    }

    /// Adds what JSON and `var_dump()` show. `never` stands for an infinite `retry_after`, which JSON
    /// cannot express.
    fn fill(&self, table: &mut ZendHashTable, never: Zval) {
        let retry_after = self.limits.retry_after();
        let _ = table.insert("accepted", self.limits.is_admitted());
        let _ = table.insert("limit", self.limits.limit());
        let _ = table.insert("remaining_tokens", self.limits.remaining());
        let _ = match retry_after.is_finite() {
            true => table.insert("retry_after", retry_after),
            false => table.insert("retry_after", never),
        };
        let _ = table.insert("reset_after", self.limits.reset_after());
        let _ = table.insert("wait", self.limits.wait());
        let _ = table.insert("degraded", self.limits.is_degraded());
        let _ = table.insert("would_deny", self.limits.would_deny());
        let _ = table.insert("exempt", self.limits.is_exempt());
    }
}

/// When the wait of a reservation ends that was just made.
#[cold]
fn ready_in(wait: u64) -> u64 {
    now().saturating_add(wait)
}

impl Native for DecisionObject {
    own_handlers!();

    fn truth(&self) -> Option<bool> {
        Some(self.limits.is_admitted())
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let mut never = Zval::new();
        never.set_double(f64::INFINITY);
        self.fill(properties, never);
        let _ = properties.insert("tokens", self.limits.tokens());
        let _ = properties.insert("denied_by", names(self.limits.denying()));
        let _ = properties.insert("charged_to", names(self.limits.charged()));
    }
}

/// No getter: benchmarks take it for a native method that does nothing.
fn is_accepted(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_bool(call.with_this(|this: &DecisionObject| this.limits.is_admitted())?)
}

fn get<R: IntoZval>(call: &Call, read: impl FnOnce(&DecisionObject) -> R) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    call.return_value(call.with_this(read)?)
}

fn names<'a>(limits: impl Iterator<Item = &'a LimitDecision>) -> PhpArray {
    limits.map(|limit| string(limit.name())).collect()
}

fn wait(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    loop {
        let (is_admitted, left) =
            call.with_this(|this: &DecisionObject| (this.limits.is_admitted(), this.wait_left()))?;
        match frozen() {
            // A frozen clock moves on instead of the test.
            Some(now) => freeze(Some(now.saturating_add(left).min(MAX_NOW))),
            // A signal ends the sleep, but not the wait.
            None if left > 0 => {
                sleep(left)?;
                continue;
            }
            None => {}
        }
        return call.return_bool(is_admitted);
    }
}

fn ensure_accepted(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let denial = |this: &DecisionObject| (!this.limits.is_admitted()).then(|| this.denial());
    match call.with_this(denial)? {
        None => call.return_value(call.this_value()),
        Some(message) => Err(limit_exceeded::throw(call.this_value(), &message)),
    }
}

fn get_problem(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    match call.with_this(DecisionObject::problem)? {
        Some(problem) => call.return_value(problem),
        None => Err(logic_exception("getProblem() describes a denied call; this one was accepted")),
    }
}

fn settle(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 1)?;
    // A denied call took nothing, and knows only the limits that were asked.
    let names = |this: &DecisionObject| {
        let all = || this.limits.asked().iter().map(|limit| limit.name().into()).collect();
        this.limits.is_admitted().then(all)
    };
    let costs = token_counts::parse(call, 1, || call.with_this(names), 0)?;
    return_settled(call, "settle", &costs)
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    return_settled(call, "refund", &TokenCounts::All(0))
}

/// Settles the decision, if this is the first call that does, in the process that made it.
fn return_settled(call: &Call, method: &str, costs: &TokenCounts) -> Result<(), Thrown> {
    // A file that has become useless gives a warning, whose handler runs before the object is borrowed.
    let in_force = limits_in_use()?;
    let outcome = call.with_this_mut(|this: &mut DecisionObject| {
        let is_first = this.settleable_by.replace(0) == process::generation();
        settlement::settle(this.limits.asked_mut(), is_first, costs, in_force.as_deref())
    })?;
    settlement::return_outcome(call, method, outcome)
}
