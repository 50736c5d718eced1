//! What PHP sees. The only folder that knows PHP.
//!
//! * one file per class: [`token_bucket`], [`leaky_bucket`], [`fixed_window`], which have [`bucket`]
//!   in common; [`decision`], [`storage`], [`test_clock`];
//!   [`php_storage`] asks the storages that are written in PHP;
//!   [`interfaces`] and [`exceptions`] hold the small ones; [`statistics`] is the one function
//! * [`ini`], [`default_storage`], [`globals`], [`info`]: directives, what a worker keeps, phpinfo
//! * [`shared_string`]: a string that is shared with the script
//! * [`declare`], [`object`], [`call`]: how classes, their objects and their methods are
//!   made known to the engine. By hand rather than with ext-php-rs's macros, because of
//!   what those cannot do: union types and untyped parameters, the engine's own coercion
//!   and error texts, subclasses in PHP, and a constructor at the speed of a C one.
//! * [`engine`]: where the versions of PHP differ

mod bucket;
mod call;
mod decision;
mod declare;
mod default_storage;
mod engine;
mod exceptions;
mod fixed_window;
mod globals;
mod info;
mod ini;
mod interfaces;
mod leaky_bucket;
mod object;
mod php_storage;
mod shared_string;
mod statistics;
mod storage;
mod test_clock;
mod token_bucket;

use ext_php_rs::builders::ModuleBuilder;
use ext_php_rs::ffi;
use ext_php_rs::zend::{ModuleEntry, StaticModuleEntry};

const SUCCESS: i32 = 0;
const FAILURE: i32 = -1;

/// The module, as the engine asks for it when it loads the extension.
#[unsafe(no_mangle)]
#[allow(clippy::expect_used, reason = "the engine cannot be told why loading failed")]
extern "C" fn get_module() -> *mut ModuleEntry {
    static MODULE: StaticModuleEntry = StaticModuleEntry::new();
    MODULE.get_or_init(|| {
        let (entry, _, owned) = ModuleBuilder::new("token_bucket", env!("CARGO_PKG_VERSION"))
            .globals(&globals::GLOBALS)
            .startup_function(startup)
            .shutdown_function(shutdown)
            .request_startup_function(request_startup)
            .request_shutdown_function(request_shutdown)
            .info_function(info::print)
            .function(statistics::function())
            .try_into()
            .expect("a name and a version without NUL bytes");
        (entry, owned)
    })
}

/// Runs once, before any request; under FPM in the master, before it forks.
///
/// Opens nothing: the stores are opened by the worker that needs them.
unsafe extern "C" fn startup(_type: i32, module: i32) -> i32 {
    let started = std::panic::catch_unwind(|| {
        ini::register(module);
        interfaces::register();
        exceptions::register();
        decision::register();
        storage::register();
        php_storage::register();
        token_bucket::register();
        leaky_bucket::register();
        fixed_window::register();
        test_clock::register();
    });
    if started.is_ok() { SUCCESS } else { FAILURE }
}

unsafe extern "C" fn shutdown(_type: i32, module: i32) -> i32 {
    // SAFETY: the engine passes the number it gave this module at startup.
    unsafe { ffi::zend_unregister_ini_entries(module) };
    SUCCESS
}

unsafe extern "C" fn request_startup(_type: i32, _module: i32) -> i32 {
    // A panic has nothing to say either.
    let _ = std::panic::catch_unwind(ini::emit_directive_warnings);
    SUCCESS
}

unsafe extern "C" fn request_shutdown(_type: i32, _module: i32) -> i32 {
    let _ = std::panic::catch_unwind(|| globals::GLOBALS.get().end_request());
    SUCCESS
}
