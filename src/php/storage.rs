//! `TokenBucket\SharedMemoryStorage` and its siblings: one class for each kind of store.
//!
//! A `TokenBucket` takes their store and decides by itself. Code written for the classic
//! contract may also call `prepare()`, `bootstrap()` and `consume()` on them.

use super::call::{Call, handler};
use super::declare::{self, Class, Method, Parameter, Type, optional, public, required, sensitive};
use super::exceptions::{Thrown, error, logic_exception, value_error};
use super::globals::GLOBALS;
use super::ini::emit_warning;
use super::interfaces;
use super::object::{self, Handlers, Native};
use crate::clock::from_seconds;
use crate::dsn::{Dsn, Target};
use crate::error::Error;
use crate::limit::{Op, SECOND, TokenBucket};
use crate::limiter::{CallContext, FlaggedDecision, Identifier, Limiter};
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendCallable, ZendHashTable, ZendStr};
use ext_php_rs::zend::ExecutorGlobals;
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;
use std::time::SystemTime;

/// A store as a PHP object.
pub struct Storage {
    limiter: Rc<Limiter>,
    dsn: String,
    /// The `consume()` whose bootstrap closure is running.
    starting: Cell<Option<Starting>>,
}

/// What `bootstrap()` has to know of the `consume()` it is called from, and tells it.
#[derive(Clone, Copy)]
struct Starting {
    /// A full bucket, in nanoseconds.
    full: u64,
    /// Whether it gave the bucket its first level; false if someone else had before.
    started: Option<bool>,
}

static SHARED_MEMORY: Class = Class::new();
static ARRAY: Class = Class::new();
static REDIS: Class = Class::new();
static MEMCACHED: Class = Class::new();
static MYSQL: Class = Class::new();
static HANDLERS: Handlers = Handlers::new();

const SHARED_MEMORY_DSN: &[Parameter] = &[sensitive(optional(c"dsn", Type::STRING, c"\"shm:\""))];
const SERVER_DSN: &[Parameter] = &[sensitive(required(c"dsn", Type::STRING))];
const ARRAY_DSN: &[Parameter] = &[sensitive(optional(c"dsn", Type::STRING, c"\"array:\""))];

/// The classic contract, with the types it leaves out.
const CONTRACT: [Method; 3] = [
    public(c"prepare", handler!(prepare), &[], Type::VOID),
    public(
        c"bootstrap",
        handler!(bootstrap),
        &[required(c"identifier", Type::NONE), required(c"microtime", Type::NONE)],
        Type::VOID,
    ),
    public(
        c"consume",
        handler!(consume),
        &[
            required(c"identifier", Type::NONE),
            required(c"microtime", Type::NONE),
            required(c"full_microtime", Type::NONE),
            required(c"bootstrap_closure", Type::NONE),
        ],
        Type::BOOL,
    ),
];

/// Makes the classes known to the engine.
pub fn register() {
    for (class, name, constructor) in [
        (
            &SHARED_MEMORY,
            "TokenBucket\\SharedMemoryStorage",
            public(
                c"__construct",
                handler!(construct_shared_memory),
                SHARED_MEMORY_DSN,
                Type::NONE,
            ),
        ),
        (
            &ARRAY,
            "TokenBucket\\ArrayStorage",
            public(c"__construct", handler!(construct_array), ARRAY_DSN, Type::NONE),
        ),
        (
            &REDIS,
            "TokenBucket\\RedisStorage",
            public(c"__construct", handler!(construct_redis), SERVER_DSN, Type::NONE),
        ),
        (
            &MEMCACHED,
            "TokenBucket\\MemcachedStorage",
            public(c"__construct", handler!(construct_memcached), SERVER_DSN, Type::NONE),
        ),
        (
            &MYSQL,
            "TokenBucket\\MysqlStorage",
            public(c"__construct", handler!(construct_mysql), SERVER_DSN, Type::NONE),
        ),
    ] {
        let [prepare, bootstrap, consume] = CONTRACT;
        let methods = [constructor, prepare, bootstrap, consume];
        let flags = ClassFlags::Final | ClassFlags::NoDynamicProperties;
        declare::class(class, name, flags, &methods, ptr::null_mut(), &[&interfaces::STORAGE]);
        object::install_handlers::<Storage>(class);
    }
}

/// The limiter of an object, if it is one of the storages here.
pub fn limiter_of(object: *mut ffi::zend_object) -> Result<Option<Rc<Limiter>>, Thrown> {
    // SAFETY: a live object, from an argument of the call that is running.
    let class = unsafe { (*object).ce };
    let known = [&SHARED_MEMORY, &ARRAY, &REDIS, &MEMCACHED, &MYSQL];
    if !known.iter().any(|known| class == known.as_ptr()) {
        return Ok(None);
    }
    if !object::is_instance::<Storage>(object) {
        return Err(error("The storage's class is disabled"));
    }
    // SAFETY: all these classes carry a Storage and are final; the reference ends here.
    match unsafe { object::value::<Storage>(object) } {
        Some(storage) => Ok(Some(Rc::clone(&storage.limiter))),
        None => Err(error("The storage is not initialized")),
    }
}

impl Native for Storage {
    fn handlers() -> &'static Handlers {
        &HANDLERS
    }

    fn dump(&self, properties: &mut ZendHashTable) {
        let _ = properties.insert("dsn", Dsn::shown(&self.dsn));
    }
}

impl Storage {
    /// Takes `cost` from the bucket of `identifier`, where a full one is worth `full`; all
    /// in nanoseconds.
    fn decide(
        &self,
        identifier: &ZendStr,
        full: u64,
        op: Op,
    ) -> Result<(FlaggedDecision, Option<String>), Thrown> {
        let limit = TokenBucket::per_nanosecond(full)
            .map_err(|_| value_error(3, "must be above 0 and at most four years, in seconds"))?
            .into();
        let identifier = Identifier::Plain(identifier.as_bytes());
        let (key_hash, counter) = (Cell::default(), Cell::default());
        let context =
            CallContext { identifier, name: None, key_hash: &key_hash, counter: &counter };
        let answer = self.limiter.decide(&context, &limit, &op, GLOBALS.get().frozen.get())?;
        Ok((answer, self.limiter.take_warning()))
    }
}

fn construct_shared_memory(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let dsn = call.string_or(1, b"shm:")?;
    let limiter = match parse(dsn)?.target {
        // One table, one mapping: shared with the buckets that name the DSN.
        Target::SharedMemory { .. } => GLOBALS.get().limiter_on(dsn)?,
        _ => return Err(wrong_scheme("shm:")),
    };
    construct(call, limiter, dsn)
}

fn construct_array(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 1)?;
    let dsn = call.string_or(1, b"array:")?;
    let limiter = match parse(dsn)?.target {
        // Each object has buckets of its own, so that one test does not see another's.
        Target::Array => Rc::new(GLOBALS.get().limiter_alone_on(dsn)?),
        _ => return Err(wrong_scheme("array:")),
    };
    construct(call, limiter, dsn)
}

fn construct_redis(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let dsn = call.string(1)?.as_bytes();
    let limiter = match parse(dsn)?.target {
        // One connection: shared with the buckets that name the DSN.
        Target::Redis(_) => GLOBALS.get().limiter_on(dsn)?,
        _ => return Err(wrong_scheme("redis:\" or \"rediss:")),
    };
    construct(call, limiter, dsn)
}

fn construct_memcached(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let dsn = call.string(1)?.as_bytes();
    let limiter = match parse(dsn)?.target {
        Target::Memcached { .. } => GLOBALS.get().limiter_on(dsn)?,
        _ => return Err(wrong_scheme("memcached:")),
    };
    construct(call, limiter, dsn)
}

fn construct_mysql(call: &Call) -> Result<(), Thrown> {
    call.expect(1, 1)?;
    let dsn = call.string(1)?.as_bytes();
    let limiter = match parse(dsn)?.target {
        Target::Mysql(_) => GLOBALS.get().limiter_on(dsn)?,
        _ => return Err(wrong_scheme("mysql:")),
    };
    construct(call, limiter, dsn)
}

fn parse(dsn: &[u8]) -> Result<Dsn, Thrown> {
    Ok(Dsn::parse(&String::from_utf8_lossy(dsn))?)
}

fn wrong_scheme(scheme: &str) -> Thrown {
    Error::configuration(format!("The DSN of this storage must begin with \"{scheme}\"")).into()
}

fn construct(call: &Call, limiter: Rc<Limiter>, dsn: &[u8]) -> Result<(), Thrown> {
    let dsn = String::from_utf8_lossy(dsn).into_owned();
    call.construct(Storage { limiter, dsn, starting: Cell::new(None) });
    Ok(())
}

fn prepare(call: &Call) -> Result<(), Thrown> {
    call.expect(0, 0)?;
    Ok(call.this::<Storage>()?.limiter.prepare()?)
}

/// Gives a bucket its first level; only from the closure that `consume()` calls, for only
/// `consume()` knows what a full bucket is.
fn bootstrap(call: &Call) -> Result<(), Thrown> {
    call.expect(2, 2)?;
    let identifier = identifier(call)?;
    let empty_at = call.float(2)?;
    let storage = call.this::<Storage>()?;
    let Some(starting) = storage.starting.get() else {
        return Err(logic_exception(
            "bootstrap() must be called by the closure that was passed to consume(); \
             a bucket without a record is full",
        ));
    };
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |elapsed| elapsed.as_secs_f64());
    let full = starting.full as f64 / SECOND as f64;
    let missing = (full - (now - empty_at)).clamp(0.0, full);
    let missing = from_seconds(missing).unwrap_or(starting.full);
    let (answer, warning) = storage.decide(identifier, starting.full, Op::Start { missing })?;
    storage.starting.set(Some(Starting { started: Some(answer.decision.accepted), ..starting }));
    emit_warning(warning)
}

fn consume(call: &Call) -> Result<(), Thrown> {
    call.expect(4, 4)?;
    let identifier = identifier(call)?;
    // Down, against the storage: ten times a tenth of a bucket must not be more than one.
    let cost = seconds(call, 2)?.floor() as u64;
    let full = seconds(call, 3)?.round() as u64;
    if call.value(4).is_some() && is_unknown(call, identifier, full)? {
        let storage = call.this::<Storage>()?;
        let outer = storage.starting.replace(Some(Starting { full, started: None }));
        let answer = run_closure(call);
        // The closure may have done anything; the object itself is held by the call.
        let storage = call.this::<Storage>()?;
        let started = storage.starting.replace(outer).and_then(|starting| starting.started);
        let answer = answer?;
        // Someone else had brought the bucket in: then it is consumed from like any other.
        if started != Some(false) {
            return call.return_bool(answer);
        }
    }
    let (answer, warning) = call.this::<Storage>()?.decide(identifier, full, Op::Take { cost })?;
    emit_warning(warning)?;
    call.return_bool(answer.is_admitted())
}

/// Whether the bucket is full, which is all that is known of one that was never used.
fn is_unknown(call: &Call, identifier: &ZendStr, full: u64) -> Result<bool, Thrown> {
    let (answer, warning) =
        call.this::<Storage>()?.decide(identifier, full, Op::Peek { cost: 0 })?;
    emit_warning(warning)?;
    Ok(answer.decision.reset_after() == 0.0)
}

/// Calls the bootstrap closure. Nothing of ours may be borrowed meanwhile.
fn run_closure(call: &Call) -> Result<bool, Thrown> {
    let closure = call.value(4).and_then(|value| ZendCallable::new(value).ok());
    let Some(closure) = closure else {
        return Err(value_error(4, "must be a callable or null"));
    };
    match closure.try_call(vec![]) {
        Ok(answer) => Ok(answer.coerce_to_bool()),
        Err(_) if ExecutorGlobals::has_exception() => Err(Thrown),
        Err(_) => Err(error("The bootstrap closure could not be called")),
    }
}

fn identifier(call: &Call) -> Result<&ZendStr, Thrown> {
    call.valid_identifier(1, call.string(1)?)
}

/// An argument in seconds, as nanoseconds.
fn seconds(call: &Call, n: u32) -> Result<f64, Thrown> {
    let seconds = call.float(n)?;
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds * SECOND as f64);
    }
    Err(value_error(n, "must be a finite number of seconds, 0 or above"))
}
