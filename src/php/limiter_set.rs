//! Several limiters in one object: what `Compound` and `FirstOf` carry and share.

use super::calendar_window;
use super::engine::argument::Argument;
use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Parameter, Type, public, variadic};
use super::engine::exceptions::{Thrown, argument_type_error, error, value_error};
use super::engine::fiber::FiberId;
use super::engine::object::{self, Native, own_handlers};
use super::engine::php_array::PhpArray;
use super::engine::shared_string::SharedString;
use super::events::deliver;
use super::interfaces::{self, SECONDS};
use super::limit_decision::{Asked, LimitDecision, Origin, limit_name};
use super::limiter_methods::block_by;
use super::limiter_object::{LimitArguments, LimiterObject};
use super::storage_argument::{Backend, NamedLimiter};
use crate::limit::{Limit, Op};
use crate::limiter::{FlaggedDecision, KeyHash, MAX_MEMBERS, Member, RecordHandle, Report};
use ext_php_rs::types::ZendHashTable;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr;
use std::rc::Rc;

/// The class of a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// All limits are charged, or none.
    Compound,
    /// The first limit that accepts is charged.
    FirstOf,
}

/// The value of a `TokenBucket\Compound` or a `TokenBucket\FirstOf`.
pub struct LimiterSet {
    kind: SetKind,
    /// Counted, so that a call keeps its limiters if PHP code constructs the object again meanwhile.
    pub parts: Rc<[Part]>,
    /// What a `FirstOf` has charged last.
    pub charged: Charged,
}

/// The position of the limiter that a `FirstOf` has charged last: outside fibers, and in each fiber that has called it.
#[derive(Default)]
pub struct Charged {
    outside: Cell<Option<usize>>,
    in_fibers: RefCell<HashMap<FiberId, usize>>,
}

impl Charged {
    /// Notes that the running fiber has charged the limiter at this position.
    pub fn set(&self, position: usize) {
        match FiberId::of_running() {
            None => self.outside.set(Some(position)),
            Some(fiber) => drop(self.in_fibers.borrow_mut().insert(fiber, position)),
        }
    }

    /// The position of the limiter that the running fiber has charged last.
    pub fn get(&self) -> Option<usize> {
        match FiberId::of_running() {
            None => self.outside.get(),
            Some(fiber) => self.in_fibers.borrow().get(&fiber).copied(),
        }
    }
}

/// The parameter of the constructors.
pub const LIMITERS: &[Parameter] = &[variadic(c"limiters", Type::object(c"TokenBucket\\Limiter"))];

pub const RESET: Method = public(c"reset", handler!(reset), &[], Type::VOID);
pub const BLOCK: Method = public(c"block", handler!(block), &[SECONDS], Type::VOID);

/// One of several limiters, as it was when the object was made.
#[derive(Clone)]
pub struct Part {
    limiter: NamedLimiter,
    identifier: SharedString,
    name: Option<SharedString>,
    limit: Rc<Limit>,
    /// What its constructor was given.
    arguments: LimitArguments,
    key_hash: Cell<KeyHash>,
    record: Cell<RecordHandle>,
}

impl Native for LimiterSet {
    own_handlers!();

    fn dump(&self, properties: &mut ZendHashTable) {
        let limiters = self.parts.iter().map(|part| {
            let mut shown = ZendHashTable::new();
            part.arguments.dump(&part.identifier, part.name.as_ref(), &mut shown);
            shown
        });
        let _ = properties.insert("limiters", limiters.collect::<PhpArray>());
    }
}

impl LimiterSet {
    /// These limiters, of which each has its own bucket.
    pub fn new(kind: SetKind, parts: Vec<Part>) -> Self {
        Self { kind, parts: parts.into(), charged: Charged::default() }
    }
}

impl Part {
    /// A limiter of this name.
    pub fn new(
        limiter: NamedLimiter,
        identifier: SharedString,
        name: SharedString,
        limit: Rc<Limit>,
        arguments: LimitArguments,
    ) -> Self {
        let (name, key_hash, record) = (Some(name), Cell::default(), Cell::default());
        Self { limiter, identifier, name, limit, arguments, key_hash, record }
    }

    /// The limiter in an argument; none if that is no object of such a class.
    fn from_argument(argument: Argument<'_>) -> Result<Option<Self>, Thrown> {
        let n = argument.position();
        let object = argument.value().object();
        let Some(object) = object.filter(|object| object::carries::<LimiterObject>(object)) else {
            return Ok(None);
        };
        // SAFETY: the object carries a LimiterObject; the reference ends before PHP code can run.
        match unsafe { object::borrow::<LimiterObject>(ptr::from_ref(object).cast_mut()) } {
            Some(value) => Self::from_object(value, n).map(Some),
            None => Err(not_initialized(n)),
        }
    }

    fn from_object(value: &LimiterObject, n: u32) -> Result<Self, Thrown> {
        let limiter = match &value.backend {
            Backend::Native(limiter) => {
                NamedLimiter { limiter: Rc::clone(limiter), leave: 0, is_exempt: false }
            }
            Backend::Named(named) => NamedLimiter::clone(named),
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
            limiter,
            identifier: value.shared_identifier(),
            name: value.shared_name(),
            limit: Rc::clone(limit),
            arguments: value.arguments.clone(),
            key_hash: Cell::default(),
            record: Cell::default(),
        })
    }

    /// Whether both are about one bucket.
    fn has_bucket_of(&self, other: &Self) -> bool {
        let (own, others) = (self.identifier.as_bytes(), other.identifier.as_bytes());
        self.limit.is_of_same_kind(&other.limit)
            && self.limiter.limiter.has_same_key(own, &other.limiter.limiter, others)
    }

    /// The name of the limit, as its decisions have it.
    pub fn name(&self) -> &[u8] {
        limit_name(self.name.as_ref(), &self.identifier)
    }

    /// The limit, of which a call takes `cost` and leaves so many.
    pub fn member(&self, cost: u64, leave: u64) -> Member<'_> {
        Member {
            limiter: &self.limiter.limiter,
            identifier: self.identifier.as_bytes(),
            name: self.name.as_ref().map(SharedString::as_bytes),
            key_hash: &self.key_hash,
            record: &self.record,
            limit: &self.limit,
            cost,
            leave: self.limiter.leave(cost, leave),
            is_exempt: self.limiter.is_exempt,
        }
    }

    /// Makes a call on this limit alone.
    pub fn decide(&self, op: Op) -> Report<FlaggedDecision> {
        let context = self.member(0, 0).context();
        self.limiter.limiter.decide(&context, &self.limit, &op)
    }

    /// A decision on this limit, of a call that asked for so many tokens.
    pub fn decision(&self, flagged: FlaggedDecision, asked: Asked) -> LimitDecision {
        let (identifier, name) = (self.identifier.clone(), self.name.clone());
        let limiter = Some(Rc::clone(&self.limiter.limiter));
        let origin = Origin { limiter, identifier, name };
        let (limit, leave) = (Rc::clone(&self.limit), self.limiter.leave);
        LimitDecision { flagged, limit, asked, leave, origin }
    }
}

/// Makes the value of a `Compound` or a `FirstOf` of the limiters in the arguments.
pub fn construct(call: &Call, kind: SetKind) -> Result<(), Thrown> {
    let (class, least) = match kind {
        SetKind::Compound => ("Compound", 1),
        SetKind::FirstOf => ("FirstOf", 2),
    };
    call.expect_no_named_arguments()?;
    call.expect_arguments(least, u32::MAX)?;
    let mut parts = Vec::new();
    for argument in call.arguments() {
        for part in parts_of(argument, kind)? {
            add(&mut parts, part, argument.position(), class)?;
        }
    }
    call.construct(LimiterSet::new(kind, parts));
    Ok(())
}

/// The limiters in an argument: one, or those of another compound.
fn parts_of(argument: Argument<'_>, kind: SetKind) -> Result<Vec<Part>, Thrown> {
    if let Some(part) = Part::from_argument(argument)? {
        return Ok(vec![part]);
    }
    let n = argument.position();
    let must = match argument.value().object() {
        Some(object) if object::carries::<LimiterSet>(object) => {
            let pointer = ptr::from_ref(object).cast_mut();
            // SAFETY: the object carries a LimiterSet; the reference ends before PHP code can run.
            match (kind, unsafe { object::borrow::<LimiterSet>(pointer) }) {
                (SetKind::Compound, Some(set)) if set.kind == kind => {
                    return Ok(set.parts.to_vec());
                }
                (SetKind::Compound, Some(_)) => {
                    "must not be a FirstOf: a Compound cannot contain one"
                }
                (SetKind::Compound, None) => return Err(not_initialized(n)),
                (SetKind::FirstOf, _) => "must be a single limiter: a FirstOf cannot contain a set",
            }
        }
        Some(object) if object.instance_of(interfaces::LIMITER.get()) => match kind {
            SetKind::Compound => {
                "must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow or Compound: a limiter written in PHP \
                 cannot be charged together with others"
            }
            SetKind::FirstOf => {
                "must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow or SlidingWindow: the decision of a \
                 limiter written in PHP cannot be settled where it was made"
            }
        },
        _ => return Err(argument.throw_wrong_class(c"TokenBucket\\Limiter")),
    };
    Err(argument_type_error(n, must))
}

/// Adds a limiter that an argument of a constructor has, of a class of this name.
fn add(parts: &mut Vec<Part>, part: Part, position: u32, class: &str) -> Result<(), Thrown> {
    if parts.len() == MAX_MEMBERS {
        let message = format!("must not bring the limiters of the {class} above {MAX_MEMBERS}");
        return Err(value_error(position, message));
    }
    if parts.iter().any(|other| part.has_bucket_of(other)) {
        let message = format!("must not use the same bucket as another limiter of the {class}");
        return Err(value_error(position, message));
    }
    parts.push(part);
    Ok(())
}

fn not_initialized(n: u32) -> Thrown {
    error(format!(
        "The limiter in argument #{n} is not initialized: a constructor that overrides must call \
         parent::__construct()"
    ))
}

/// The limiters of the call's object. One whose window of the calendar has ended gets the ends of the open one.
pub fn parts(call: &Call) -> Result<Rc<[Part]>, Thrown> {
    let parts = call.with_this(|this: &LimiterSet| Rc::clone(&this.parts))?;
    let is_calendar = |part: &Part| matches!(part.arguments, LimitArguments::Calendar { .. });
    if !parts.iter().any(is_calendar) {
        return Ok(parts);
    }
    let mut current = parts.to_vec();
    let mut has_changed = false;
    for part in &mut current {
        if let Some(limit) = calendar_window::next_limit(&part.limit, &part.arguments)? {
            (part.limit, has_changed) = (limit, true);
        }
    }
    if has_changed {
        let current: Rc<[Part]> = current.into();
        let set = |this: &mut LimiterSet| this.parts = Rc::clone(&current);
        call.with_this_mut(set)?;
        return Ok(current);
    }
    Ok(parts)
}

pub fn reset(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    let parts = parts(call)?;
    change_each(&parts, std::iter::repeat(Op::Reset)).map(drop)
}

pub fn block(call: &Call) -> Result<(), Thrown> {
    block_by(call, |op| change_each(&parts(call)?, std::iter::repeat(op)).map(drop))
}

/// Applies an operation to each limit, to all of them before a warning or an error of one can end the call.
pub fn change_each(
    parts: &[Part],
    ops: impl Iterator<Item = Op>,
) -> Result<Vec<FlaggedDecision>, Thrown> {
    let reports = parts.iter().zip(ops).map(|(part, op)| part.decide(op));
    deliver(Report::of_all(reports))
}
