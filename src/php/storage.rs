//! `TokenBucket\SharedMemoryStorage` and its siblings: one class for each kind of store.
//!
//! A limiter takes the store out of such an object and decides by itself. The methods `prepare()`,
//! `bootstrap()` and `consume()` serve code that was written for the contract `TokenBucketStorage`.

use super::engine::call::{Call, CallId, handler};
use super::engine::declare::{
    Class, Method, Parameter, Type, optional, public, required, sensitive,
};
use super::engine::exceptions::{Thrown, error, logic_exception, value_error};
use super::engine::object::{self, Native, own_handlers};
use super::events::deliver;
use super::globals::GLOBALS;
use super::interfaces;
use crate::clock::{from_seconds, unix_seconds};
use crate::dsn::{Dsn, Target};
use crate::error::Error;
use crate::limit::{Op, SECOND, TokenBucket};
use crate::limiter::{CallContext, FlaggedDecision, Limiter, Report};
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendCallable, ZendHashTable, ZendStr};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

/// The value of a storage object.
pub struct StorageObject {
    limiter: Rc<Limiter>,
    dsn: String,
    /// The calls of `consume()` that run their bootstrap closures: several in fibers, or one in another.
    bootstrapping: RefCell<Vec<Bootstrapping>>,
}

/// What `consume()` passes to the `bootstrap()` that its closure calls, and the result.
#[derive(Clone, Copy)]
struct Bootstrapping {
    consume: CallId,
    /// The size of a full bucket, in nanoseconds.
    full: u64,
    /// Whether `bootstrap()` has started the bucket: `None` if it was not called, `Some(false)` if the
    /// bucket existed by then.
    started: Option<bool>,
}

/// One of the classes.
struct StorageClass {
    class: Class,
    name: &'static str,
    constructor: &'static [Parameter],
    /// The DSN for a constructor without arguments; `None` if the argument is required.
    default_dsn: Option<&'static [u8]>,
    /// The schemes of the class's DSNs, as its error names them.
    schemes: &'static str,
    accepts: fn(&Target) -> bool,
}

static CLASSES: [StorageClass; 5] = [
    StorageClass {
        class: Class::new(),
        name: "TokenBucket\\SharedMemoryStorage",
        constructor: &[sensitive(optional(c"dsn", Type::STRING, c"\"shm:\""))],
        default_dsn: Some(b"shm:"),
        schemes: "\"shm:\"",
        accepts: |target| matches!(target, Target::SharedMemory { .. }),
    },
    StorageClass {
        class: Class::new(),
        name: "TokenBucket\\ArrayStorage",
        constructor: &[sensitive(optional(c"dsn", Type::STRING, c"\"array:\""))],
        default_dsn: Some(b"array:"),
        schemes: "\"array:\"",
        accepts: |target| matches!(target, Target::Array),
    },
    StorageClass {
        class: Class::new(),
        name: "TokenBucket\\RedisStorage",
        constructor: REQUIRED_DSN,
        default_dsn: None,
        schemes: "\"redis:\" or \"rediss:\"",
        accepts: |target| matches!(target, Target::Redis(_)),
    },
    StorageClass {
        class: Class::new(),
        name: "TokenBucket\\MemcachedStorage",
        constructor: REQUIRED_DSN,
        default_dsn: None,
        schemes: "\"memcached:\"",
        accepts: |target| matches!(target, Target::Memcached { .. }),
    },
    StorageClass {
        class: Class::new(),
        name: "TokenBucket\\MysqlStorage",
        constructor: REQUIRED_DSN,
        default_dsn: None,
        schemes: "\"mysql:\"",
        accepts: |target| matches!(target, Target::Mysql(_)),
    },
];

const REQUIRED_DSN: &[Parameter] = &[sensitive(required(c"dsn", Type::STRING))];

/// The methods of `TokenBucketStorage`, with return types.
const PREPARE: Method = public(c"prepare", handler!(prepare), &[], Type::VOID);
const BOOTSTRAP: Method =
    public(c"bootstrap", handler!(bootstrap), interfaces::BOOTSTRAP_PARAMETERS, Type::VOID);
const CONSUME: Method =
    public(c"consume", handler!(consume), interfaces::CONSUME_PARAMETERS, Type::BOOL);

pub fn register() {
    for StorageClass { class, name, constructor, .. } in &CLASSES {
        let constructor = public(c"__construct", handler!(construct), constructor, Type::NONE);
        let methods = [constructor, PREPARE, BOOTSTRAP, CONSUME];
        let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
        object::class::<StorageObject>(class, name, flags, &methods, &[&interfaces::STORAGE]);
    }
}

/// Which of the classes an object is of. They are final, so no other class extends them.
fn class_of(object: &ffi::zend_object) -> Option<&'static StorageClass> {
    CLASSES.iter().find(|known| object.ce == known.class.as_ptr())
}

/// The limiter of an object of one of these classes; `None` for any other object.
pub fn limiter_of(object: &ffi::zend_object) -> Result<Option<Rc<Limiter>>, Thrown> {
    if class_of(object).is_none() {
        return Ok(None);
    }
    if !object::carries::<StorageObject>(object) {
        return Err(error("The storage's class is disabled"));
    }
    // SAFETY: the object carries a StorageObject; the reference ends here, before PHP code can run.
    match unsafe { object::borrow::<StorageObject>(ptr::from_ref(object).cast_mut()) } {
        Some(storage) => Ok(Some(Rc::clone(&storage.limiter))),
        None => Err(error("The storage is not initialized")),
    }
}

impl Native for StorageObject {
    own_handlers!();

    fn dump(&self, properties: &mut ZendHashTable) {
        let _ = properties.insert("dsn", Dsn::redact(&self.dsn));
    }
}

impl StorageObject {
    /// Applies `op` to the bucket of `identifier`. A full bucket refills in `full` nanoseconds, and a token
    /// in one.
    fn decide(
        &self,
        identifier: &ZendStr,
        full: u64,
        op: Op,
    ) -> Result<Report<FlaggedDecision>, Thrown> {
        let limit = TokenBucket::per_nanosecond(full)
            .map_err(|_| value_error(3, "must be above 0 and at most four years, in seconds"))?
            .into();
        let (key_hash, record) = (Cell::default(), Cell::default());
        let context = CallContext::of_identifier(identifier.as_bytes(), &key_hash, &record);
        Ok(self.limiter.decide(&context, &limit, &op))
    }

    /// Starts the bucket of the `consume()` whose closure makes this call, which was empty at this Unix time.
    fn start(
        &self,
        call: &Call,
        identifier: &ZendStr,
        empty_at: f64,
    ) -> Result<Report<FlaggedDecision>, Thrown> {
        let mut running = self.bootstrapping.borrow_mut();
        let find = |caller| running.iter().position(|it| it.consume == caller);
        let found = call.callers().find_map(find);
        let Some(bootstrapping) = found.and_then(|nth| running.get_mut(nth)) else {
            return Err(logic_exception(
                "bootstrap() must be called by the closure that was passed to consume(); \
                 a bucket without a record is full",
            ));
        };
        let full = bootstrapping.full as f64 / SECOND as f64;
        let missing = (full - (unix_seconds() - empty_at)).clamp(0.0, full);
        let missing = from_seconds(missing).unwrap_or(bootstrapping.full);
        let report = self.decide(identifier, bootstrapping.full, Op::Start { missing })?;
        if let Ok(flagged) = &report.answer {
            bootstrapping.started = Some(flagged.decision.is_accepted());
        }
        Ok(report)
    }
}

fn construct(call: &Call) -> Result<(), Thrown> {
    let Some(class) = class_of(call.this_object()) else {
        return Err(error("Unknown storage class"));
    };
    call.expect_arguments(u32::from(class.default_dsn.is_none()), 1)?;
    let dsn = match class.default_dsn {
        Some(default) => call.string_or(1, default)?,
        None => call.string(1)?.as_bytes(),
    };
    let target = Dsn::parse(&String::from_utf8_lossy(dsn))?.target;
    if !(class.accepts)(&target) {
        let schemes = class.schemes;
        let message = format!("The DSN of this storage must begin with {schemes}");
        return Err(Error::configuration(message).into());
    }
    let limiter = match target {
        // Each object has its own buckets, so that tests do not affect each other.
        Target::Array => Rc::new(GLOBALS.get().unshared_limiter_on(dsn)?),
        // One mapping or connection, shared with the limiters that name the same DSN.
        _ => GLOBALS.get().limiter_of_script(dsn)?,
    };
    let dsn = String::from_utf8_lossy(dsn).into_owned();
    call.construct(StorageObject { limiter, dsn, bootstrapping: RefCell::default() });
    Ok(())
}

fn prepare(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    Ok(call.with_this(|this: &StorageObject| this.limiter.prepare())??)
}

/// Starts a bucket with a first level. Only the closure of a `consume()` may call it, because only that
/// call knows the size of a full bucket.
fn bootstrap(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let identifier = parse_identifier(call)?;
    let empty_at = call.float(2)?;
    let report =
        call.try_with_this(|storage: &StorageObject| storage.start(call, identifier, empty_at))?;
    deliver(report).map(drop)
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(4, 4)?;
    let identifier = parse_identifier(call)?;
    // Rounded down: ten times a tenth of a bucket must not cost more than one bucket.
    let cost = parse_seconds(call, 2)?.floor() as u64;
    let full = parse_seconds(call, 3)?.round() as u64;
    if call.non_null(4).is_some() && is_full(call, identifier, full)? {
        let consume = call.id();
        let own = Bootstrapping { consume, full, started: None };
        call.with_this(|this: &StorageObject| this.bootstrapping.borrow_mut().push(own))?;
        let result = run_bootstrap_closure(call);
        let started = call.with_this(|this: &StorageObject| {
            let mut running = this.bootstrapping.borrow_mut();
            let nth = running.iter().position(|it| it.consume == consume)?;
            running.swap_remove(nth).started
        })?;
        let result = result?;
        // Another process may have started the bucket meanwhile. Then this call takes from it, as below.
        if started != Some(false) {
            return call.return_bool(result);
        }
    }
    let flagged = decide(call, identifier, full, Op::Take { cost })?;
    call.return_bool(flagged.is_admitted())
}

/// Whether the bucket is full. A bucket without a record is full, too, and looks the same.
fn is_full(call: &Call, identifier: &ZendStr, full: u64) -> Result<bool, Thrown> {
    let flagged = decide(call, identifier, full, Op::Peek { cost: 0 })?;
    Ok(flagged.decision.reset_after() == 0.0)
}

/// Applies `op` to a bucket of the call's object, and emits what is to be reported.
fn decide(call: &Call, identifier: &ZendStr, full: u64, op: Op) -> Result<FlaggedDecision, Thrown> {
    deliver(call.try_with_this(|this: &StorageObject| this.decide(identifier, full, op))?)
}

/// Calls the bootstrap closure.
fn run_bootstrap_closure(call: &Call) -> Result<bool, Thrown> {
    let closure = call.non_null(4).and_then(|value| ZendCallable::new(value).ok());
    let Some(closure) = closure else {
        return Err(value_error(4, "must be a callable or null"));
    };
    match closure.try_call(vec![]) {
        Ok(result) => Ok(result.coerce_to_bool()),
        Err(_) if ExecutorGlobals::has_exception() => Err(Thrown),
        Err(_) => Err(error("The bootstrap closure could not be called")),
    }
}

fn parse_identifier(call: &Call) -> Result<&ZendStr, Thrown> {
    call.check_identifier(1, call.string(1)?)
}

/// The argument `n`, which is in seconds, in nanoseconds.
fn parse_seconds(call: &Call, n: u32) -> Result<f64, Thrown> {
    let seconds = call.float(n)?;
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds * SECOND as f64);
    }
    Err(value_error(n, "must be a finite number of seconds, 0 or above"))
}
