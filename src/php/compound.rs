//! `TokenBucket\Compound`: several limits, of which a call is charged all or none.

use super::calendar_window;
use super::decision::{self, DecisionObject};
use super::engine::argument::Argument;
use super::engine::call::{Call, handler};
use super::engine::declare;
use super::engine::declare::{
    Class, Method, Parameter, Type, no_discard, optional, public, variadic,
};
use super::engine::exceptions::{Thrown, argument_type_error, error, value_error};
use super::engine::object;
use super::engine::object::{Handlers, Native};
use super::engine::shared_string::SharedString;
use super::events::deliver;
use super::globals::GLOBALS;
use super::interfaces::{self, DECISION, SECONDS};
use super::limit_decision::{LimitDecision, Origin};
use super::limiter_methods::parse_block_duration;
use super::limiter_object::{LimitArguments, LimiterObject};
use super::storage_argument::Backend;
use super::token_counts;
use crate::limit::{Limit, Op};
use crate::limiter::{
    Answers, FlaggedDecision, KeyHash, Limiter, MAX_MEMBERS, Member, RecordHandle, Report,
    admits_all, peek_all, take_all,
};
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

/// The value of a `TokenBucket\Compound`. Counted, so that a call keeps its limiters if PHP code constructs
/// the object again meanwhile.
pub struct CompoundObject(Rc<[Part]>);

/// One of its limiters, as it was when the compound was made.
#[derive(Clone)]
pub struct Part {
    limiter: Rc<Limiter>,
    identifier: SharedString,
    name: Option<SharedString>,
    limit: Rc<Limit>,
    /// What its constructor was given.
    arguments: LimitArguments,
    /// Each call leaves so many tokens.
    leave: u64,
    key_hash: Cell<KeyHash>,
    record: Cell<RecordHandle>,
}

/// The class.
pub static CLASS: Class = Class::new();
static HANDLERS: Handlers = Handlers::new();

/// One number for all limits, or a list with one for each.
const TOKENS: Parameter = optional(c"tokens", Type::INT.or(Type::ARRAY), c"1");
/// What must be left of each limit.
const LEAVE: Parameter = Parameter { name: c"leave", default: Some(c"0"), ..TOKENS };
/// The parameter of `consume()`.
const TOKEN_COUNT: Parameter = Parameter { name: c"token_count", ..TOKENS };

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(construct),
        &[variadic(c"limiters", Type::object(c"TokenBucket\\Limiter"))],
        Type::NONE,
    ),
    public(c"consume", handler!(consume), &[TOKEN_COUNT], Type::BOOL),
    no_discard(public(c"attempt", handler!(attempt), &[TOKENS, LEAVE], DECISION)),
    public(c"peek", handler!(peek), &[TOKENS, LEAVE], DECISION),
    public(c"refund", handler!(refund), &[TOKENS], Type::BOOL),
    public(c"reset", handler!(reset), &[], Type::VOID),
    public(c"block", handler!(block), &[SECONDS], Type::VOID),
];

/// Makes the class known to the engine.
pub fn register() {
    let (flags, interfaces) = (ClassFlags::Final, [&interfaces::LIMITER]);
    declare::class(&CLASS, "TokenBucket\\Compound", flags, METHODS, ptr::null_mut(), &interfaces);
    object::install_handlers::<CompoundObject>(&CLASS);
}

impl Native for CompoundObject {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let mut identifiers = Zval::new_array();
        if let Some(list) = identifiers.array_mut() {
            self.0.iter().for_each(|part| drop(list.push(part.identifier.to_zval())));
        }
        let _ = properties.insert("identifiers", identifiers);
    }
}

impl CompoundObject {
    /// A compound of these limiters.
    pub fn new(parts: Vec<Part>) -> Self {
        Self(parts.into())
    }
}

impl Part {
    /// A limiter of this name.
    pub fn new(
        limiter: Rc<Limiter>,
        identifier: SharedString,
        name: SharedString,
        limit: Rc<Limit>,
        arguments: LimitArguments,
        leave: u64,
    ) -> Self {
        let (name, key_hash, record) = (Some(name), Cell::default(), Cell::default());
        Self { limiter, identifier, name, limit, arguments, leave, key_hash, record }
    }

    fn from_object(value: &LimiterObject, n: u32) -> Result<Self, Thrown> {
        let (limiter, leave) = match &value.backend {
            Backend::Native(limiter) => (limiter, 0),
            Backend::Leaving(low) => (&low.limiter, low.leave),
            Backend::Php(..) => {
                return Err(value_error(
                    n,
                    "must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took",
                ));
            }
        };
        let Some(limit) = &value.limit else {
            return Err(value_error(
                n,
                "must have a limit: $bucket_capacity and $tokens_per_second",
            ));
        };
        Ok(Self {
            limiter: Rc::clone(limiter),
            identifier: value.shared_identifier(),
            name: value.shared_name(),
            limit: Rc::clone(limit),
            arguments: value.arguments,
            leave,
            key_hash: Cell::default(),
            record: Cell::default(),
        })
    }

    /// Whether both are about one bucket.
    fn has_bucket_of(&self, other: &Self) -> bool {
        let (own, others) = (self.identifier.as_bytes(), other.identifier.as_bytes());
        self.limit.is_of_same_kind(&other.limit)
            && self.limiter.has_same_key(own, &other.limiter, others)
    }

    /// The limit, of which a call takes `cost` and leaves so many.
    fn member(&self, cost: u64, leave: u64) -> Member<'_> {
        Member {
            limiter: &self.limiter,
            identifier: self.identifier.as_bytes(),
            name: self.name.as_ref().map(SharedString::as_bytes),
            key_hash: &self.key_hash,
            record: &self.record,
            limit: &self.limit,
            cost,
            leave: leave.max(self.leave),
        }
    }

    /// Makes a call on this limit alone.
    fn decide(&self, op: Op) -> Report<FlaggedDecision> {
        let context = self.member(0, 0).context();
        self.limiter.decide(&context, &self.limit, &op, GLOBALS.get().frozen_time.get())
    }

    fn origin(&self) -> Origin {
        let (identifier, name) = (self.identifier.clone(), self.name.clone());
        Origin { limiter: Some(Rc::clone(&self.limiter)), identifier, name }
    }
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect_no_named_arguments()?;
    call.expect_arguments(1, u32::MAX)?;
    let mut parts: Vec<Part> = Vec::new();
    for argument in call.arguments() {
        for part in parts_of(argument)? {
            if parts.len() == MAX_MEMBERS {
                return Err(value_error(
                    argument.position(),
                    format!(
                        "must not exceed the {MAX_MEMBERS} limiters of a Compound, those of nested ones \
                         included"
                    ),
                ));
            }
            if parts.iter().any(|other| part.has_bucket_of(other)) {
                return Err(value_error(
                    argument.position(),
                    "must not use the same bucket as another limiter of the Compound",
                ));
            }
            parts.push(part);
        }
    }
    call.construct(CompoundObject::new(parts));
    Ok(())
}

/// The limiters in an argument: one, or those of another compound.
fn parts_of(argument: Argument<'_>) -> Result<Vec<Part>, Thrown> {
    let n = argument.position();
    let Some(object) = argument.value().object() else {
        return Err(argument.throw_wrong_class(c"TokenBucket\\Limiter"));
    };
    let is_limiter = object.instance_of(interfaces::LIMITER.get());
    let pointer = ptr::from_ref(object).cast_mut();
    if object::carries::<LimiterObject>(object) {
        // SAFETY: the object carries a LimiterObject; the reference ends before PHP code can run.
        return match unsafe { object::borrow::<LimiterObject>(pointer) } {
            Some(value) => Ok(vec![Part::from_object(value, n)?]),
            None => Err(not_initialized(n)),
        };
    }
    if object::carries::<CompoundObject>(object) {
        // SAFETY: the object carries a CompoundObject; the reference ends before PHP code can run.
        return match unsafe { object::borrow::<CompoundObject>(pointer) } {
            Some(CompoundObject(parts)) => Ok(parts.to_vec()),
            None => Err(not_initialized(n)),
        };
    }
    match is_limiter {
        true => Err(argument_type_error(
            n,
            "must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow or Compound: a limiter written in PHP \
             cannot be charged together with others",
        )),
        false => Err(argument.throw_wrong_class(c"TokenBucket\\Limiter")),
    }
}

fn not_initialized(n: u32) -> Thrown {
    error(format!(
        "The limiter in argument #{n} is not initialized: a constructor that overrides must call \
         parent::__construct()"
    ))
}

/// The limiters of the call's object. One whose window of the calendar has ended gets the ends of the open one.
fn parts(call: &Call) -> Result<Rc<[Part]>, Thrown> {
    let parts = call.with_this(|this: &CompoundObject| Rc::clone(&this.0))?;
    let is_calendar = |part: &Part| matches!(part.arguments, LimitArguments::Calendar { .. });
    if !parts.iter().any(is_calendar) {
        return Ok(parts);
    }
    let mut current = parts.to_vec();
    let mut has_changed = false;
    for part in &mut current {
        if let Some(limit) = calendar_window::next_limit(&part.limit, part.arguments)? {
            (part.limit, has_changed) = (limit, true);
        }
    }
    if has_changed {
        let current: Rc<[Part]> = current.into();
        let set = |this: &mut CompoundObject| this.0 = Rc::clone(&current);
        call.with_this_mut(set)?;
        return Ok(current);
    }
    Ok(parts)
}

/// The limiters of the call's object, each with what the call asks of it.
fn members<'a>(call: &Call, parts: &'a [Part]) -> Result<Vec<Member<'a>>, Thrown> {
    let costs = token_counts::parse(call, 1, Some(parts.len()), 1)?;
    let leaves = token_counts::parse(call, 2, Some(parts.len()), 0)?;
    let each = parts.iter().enumerate();
    Ok(each.map(|(i, part)| part.member(costs.at(i), leaves.at(i))).collect())
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let admitted = deliver(admits_all(&members, GLOBALS.get().frozen_time.get()))?;
    call.return_bool(admitted)
}

fn attempt(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let answers = deliver(take_all(&members, GLOBALS.get().frozen_time.get()))?;
    return_decision(call, &parts, &answers, |member| members.get(member).map_or(0, |it| it.cost))
}

fn peek(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 2)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let answers = deliver(peek_all(&members, GLOBALS.get().frozen_time.get()))?;
    return_decision(call, &parts, &answers, |_| 0)
}

fn return_decision(
    call: &Call,
    parts: &[Part],
    answers: &Answers,
    asked: impl Fn(usize) -> u64,
) -> Result<(), Thrown> {
    let decisions = parts.iter().zip(answers).enumerate().filter_map(|(i, (part, answer))| {
        answer.map(|flagged| LimitDecision {
            flagged,
            limit: Rc::clone(&part.limit),
            asked: asked(i),
            origin: part.origin(),
        })
    });
    let decisions = DecisionObject::several(decisions.collect());
    call.return_new(&decision::CLASS, decisions)
}

fn refund(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 1)?;
    let parts = parts(call)?;
    let members = members(call, &parts)?;
    let costs = members.iter().map(|member| member.cost);
    let each = change_each(&parts, costs.map(|cost| Op::Refund { cost, expiry: None }))?;
    call.return_bool(each.iter().any(FlaggedDecision::has_refunded))
}

fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let parts = parts(call)?;
    change_each(&parts, std::iter::repeat(Op::Reset)).map(drop)
}

fn block(call: &Call) -> Result<(), Thrown> {
    let duration = parse_block_duration(call)?;
    let parts = parts(call)?;
    change_each(&parts, std::iter::repeat(Op::Block { duration })).map(drop)
}

/// Applies an operation to each limit, to all of them before a warning or an error of one can end the call.
fn change_each(
    parts: &[Part],
    ops: impl Iterator<Item = Op>,
) -> Result<Vec<FlaggedDecision>, Thrown> {
    let reports = parts.iter().zip(ops).map(|(part, op)| part.decide(op));
    deliver(Report::of_all(reports))
}
