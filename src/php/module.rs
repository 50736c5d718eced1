//! The module: its entry, and what runs when a process starts and ends.

use super::engine::declare::{self, Method};
use super::engine::sapi::{unwrap_deactivate, wrap_deactivate};
use super::engine::versions::{FAILURE, SUCCESS};
use super::globals::{self, GLOBALS};
use super::{
    address, client_terms, denials, info, ini, named_limiter, request, statistics, status,
    unknown_directives,
};
use ext_php_rs::builders::ModuleBuilder;
use ext_php_rs::ffi;
use ext_php_rs::zend::{ModuleEntry, StaticModuleEntry};
use std::panic::catch_unwind;

/// The engine passes this where php.ini loads the module, not `dl()`.
const PERSISTENT: i32 = ffi::MODULE_PERSISTENT as i32;

const FUNCTIONS: [Method; 13] = [
    named_limiter::LIMITER,
    named_limiter::CONCURRENCY_LIMIT,
    client_terms::CLIENT_TERMS,
    statistics::STATISTICS,
    statistics::RESET_STATISTICS,
    status::STATUS,
    status::PROMETHEUS,
    status::FORGET_SERVER,
    denials::DENIALS,
    request::END_REQUEST,
    address::CLIENT_ADDRESS,
    address::CLIENT_NETWORK,
    address::IN_NETWORK,
];

/// Returns the module's entry. The engine calls this when it loads the extension.
#[unsafe(no_mangle)]
#[allow(clippy::expect_used, reason = "the engine takes no reason for a failed load")]
extern "C" fn get_module() -> *mut ModuleEntry {
    static MODULE: StaticModuleEntry = StaticModuleEntry::new();
    MODULE.get_or_init(|| {
        let (mut entry, _, owned) = ModuleBuilder::new("token_bucket", env!("CARGO_PKG_VERSION"))
            .globals(&GLOBALS)
            .startup_function(startup)
            .shutdown_function(shutdown)
            .request_startup_function(request::startup)
            .request_shutdown_function(request::shutdown)
            .info_function(info::print)
            .try_into()
            .expect("a name and a version without NUL bytes");
        entry.functions = declare::table(&FUNCTIONS);
        #[cfg(not(php_zts))]
        {
            entry.globals_dtor = Some(globals::end);
        }
        (entry, owned)
    })
}

/// Runs once, before any request; under FPM in the master process, before it forks.
///
/// Opens no store: each worker opens those that it needs.
unsafe extern "C" fn startup(kind: i32, module: i32) -> i32 {
    let started = catch_unwind(|| {
        ini::register(module);
        unknown_directives::emit_warnings();
        super::register_classes();
        if kind == PERSISTENT {
            wrap_deactivate(request::deactivate);
        }
    });
    if started.is_ok() { SUCCESS } else { FAILURE }
}

unsafe extern "C" fn shutdown(_type: i32, module: i32) -> i32 {
    unwrap_deactivate();
    // SAFETY: the engine passes the number it gave this module at startup.
    unsafe { ffi::zend_unregister_ini_entries(module) };
    SUCCESS
}
