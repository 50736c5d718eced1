//! The start and the end of a request.
//!
//! The engine's RSHUTDOWN is the end in most runtimes. FrankenPHP's workers serve many requests in one of the engine's, and
//! end each with `sapi_deactivate()`. Where PHP sees no end, the application calls `TokenBucket\end_request()`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Type, function};
use super::engine::exceptions::Thrown;
use super::engine::versions::SUCCESS;
use super::globals::GLOBALS;
use super::ini;
use std::panic::catch_unwind;

pub const END_REQUEST: Method =
    function(c"TokenBucket\\end_request", handler!(end_request), &[], Type::VOID);

pub unsafe extern "C" fn startup(_type: i32, _module: i32) -> i32 {
    GLOBALS.get().is_in_request.set(true);
    // A request runs without the warnings rather than not at all.
    let _ = catch_unwind(ini::emit_pending_warnings);
    SUCCESS
}

pub unsafe extern "C" fn shutdown(_type: i32, _module: i32) -> i32 {
    GLOBALS.get().is_in_request.set(false);
    let _ = catch_unwind(|| GLOBALS.get().end_engine_request());
    SUCCESS
}

/// Ends a request of a worker that serves many. After RSHUTDOWN there is nothing left to end.
pub fn deactivate() {
    if GLOBALS.get().is_in_request.get() {
        let _ = catch_unwind(|| GLOBALS.get().end_request());
    }
}

fn end_request(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(0, 0)?;
    GLOBALS.get().give_back_permits();
    Ok(())
}
