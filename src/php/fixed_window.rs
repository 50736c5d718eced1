//! `TokenBucket\FixedWindow`.

use super::bucket::{self, Bucket, LimitArguments, Store};
use super::call::{Call, handler};
use super::declare::{self, Class, Method, Type, public, required};
use super::exceptions::{Thrown, value_error};
use super::interfaces;
use super::object;
use crate::limit::{FixedWindow, LimitError};
use ext_php_rs::flags::ClassFlags;
use std::ptr;
use std::rc::Rc;

static CLASS: Class = Class::new();

const METHODS: &[Method] = &[
    public(
        c"__construct",
        handler!(construct),
        &[
            bucket::STORAGE,
            bucket::IDENTIFIER,
            required(c"limit", Type::INT),
            required(c"interval", Type::FLOAT),
            bucket::LIMIT_NAME,
        ],
        Type::NONE,
    ),
    bucket::CONSUME,
    bucket::ATTEMPT,
    bucket::PEEK,
    bucket::REFUND,
    bucket::RESET,
];

/// Makes the class known to the engine.
pub fn register() {
    let interfaces = [&interfaces::LIMITER];
    let name = "TokenBucket\\FixedWindow";
    declare::class(&CLASS, name, ClassFlags::Final, METHODS, ptr::null_mut(), &interfaces);
    object::install_handlers::<Bucket>(&CLASS);
}

fn construct(call: &Call) -> Result<(), Thrown> {
    call.expect(4, 5)?;
    let store = bucket::store(call)?;
    call.string(2)?;
    let (limit, interval) = (call.int(3, 0)?, call.float(4)?);
    if let Store::Php(..) = store {
        return Err(value_error(
            1,
            "must not be a storage written in PHP: TokenBucketStorage knows token buckets alone",
        ));
    }
    let made = FixedWindow::new(limit, interval)
        .map_err(|wrong| value_error(if wrong == LimitError::Hits { 3 } else { 4 }, wrong))?;
    let arguments = LimitArguments::FixedWindow(limit, interval);
    call.construct(Bucket::new(call, store, Some(Rc::new(made.into())), arguments)?);
    Ok(())
}
