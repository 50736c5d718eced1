//! The interfaces.

use super::declare::{self, Class, Method, Type, optional, required, signature};

/// `TokenBucketStorage`, the contract of the published classes.
pub static STORAGE: Class = Class::new();

/// `TokenBucket\Limiter`, which all limiter classes implement.
pub static LIMITER: Class = Class::new();

/// Without types: PHP would reject the classes written for this contract, which declare none, if the
/// interface had a return type.
const STORAGE_METHODS: &[Method] = &[
    signature(c"prepare", &[], Type::NONE),
    signature(
        c"bootstrap",
        &[required(c"identifier", Type::NONE), required(c"microtime", Type::NONE)],
        Type::NONE,
    ),
    signature(
        c"consume",
        &[
            required(c"identifier", Type::NONE),
            required(c"microtime", Type::NONE),
            required(c"full_microtime", Type::NONE),
            required(c"bootstrap_closure", Type::NONE),
        ],
        Type::NONE,
    ),
];

const DECISION: Type = Type::object(c"TokenBucket\\Decision");

const LIMITER_METHODS: &[Method] = &[
    signature(c"consume", &[optional(c"token_count", Type::INT, c"1")], Type::BOOL),
    signature(c"attempt", &[optional(c"token_count", Type::INT, c"1")], DECISION),
    signature(c"peek", &[optional(c"token_count", Type::INT, c"1")], DECISION),
    signature(c"refund", &[optional(c"token_count", Type::INT, c"1")], Type::VOID),
    signature(c"reset", &[], Type::VOID),
];

/// Makes the interfaces known to the engine.
pub fn register() {
    declare::interface(&STORAGE, "TokenBucketStorage", STORAGE_METHODS);
    declare::interface(&LIMITER, "TokenBucket\\Limiter", LIMITER_METHODS);
}
