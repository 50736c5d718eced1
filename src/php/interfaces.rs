//! The interfaces.

use super::engine::declare;
use super::engine::declare::{
    Class, Method, Parameter, Type, no_discard, optional, required, signature,
};

/// `TokenBucketStorage`, the contract of the published classes.
pub static STORAGE: Class = Class::new();

/// `TokenBucket\Limiter`, which all limiter classes implement.
pub static LIMITER: Class = Class::new();

/// Without types: PHP would reject the classes written for this contract, which declare none, if the
/// interface had a return type.
const STORAGE_METHODS: &[Method] = &[
    signature(c"prepare", &[], Type::NONE),
    signature(c"bootstrap", BOOTSTRAP_PARAMETERS, Type::NONE),
    signature(c"consume", CONSUME_PARAMETERS, Type::NONE),
];

/// The parameters of a storage's `bootstrap()`.
pub const BOOTSTRAP_PARAMETERS: &[Parameter] =
    &[required(c"identifier", Type::NONE), required(c"microtime", Type::NONE)];
/// The parameters of a storage's `consume()`.
pub const CONSUME_PARAMETERS: &[Parameter] = &[
    required(c"identifier", Type::NONE),
    required(c"microtime", Type::NONE),
    required(c"full_microtime", Type::NONE),
    required(c"bootstrap_closure", Type::NONE),
];

/// The parameter of the methods that take tokens or hits.
pub const TOKENS: Parameter = optional(c"tokens", Type::INT, c"1");
/// The parameter of `consume()`, by the name that the published class gave it.
pub const TOKEN_COUNT: Parameter = Parameter { name: c"token_count", ..TOKENS };
/// The parameter of `block()`.
pub const SECONDS: Parameter = required(c"seconds", Type::FLOAT);
/// The return type of the methods that describe their decision.
pub const DECISION: Type = Type::object(c"TokenBucket\\Decision");

const LIMITER_METHODS: &[Method] = &[
    signature(c"consume", &[TOKEN_COUNT], Type::BOOL),
    no_discard(signature(c"attempt", &[TOKENS], DECISION)),
    signature(c"peek", &[TOKENS], DECISION),
    signature(c"refund", &[TOKENS], Type::BOOL),
    signature(c"reset", &[], Type::VOID),
    signature(c"block", &[SECONDS], Type::VOID),
];

pub fn register() {
    declare::interface(&STORAGE, "TokenBucketStorage", STORAGE_METHODS);
    declare::interface(&LIMITER, "TokenBucket\\Limiter", LIMITER_METHODS);
}
