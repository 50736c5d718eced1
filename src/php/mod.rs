//! The PHP extension: the only folder that knows PHP. It asks `crate::limiter`, never `crate::store`.
//!
//! * Classes, one file each: [`token_bucket`], [`calendar_window`] (by the [`calendar`] of a [`calendar_unit`] in a
//!   [`time_zone`]), [`compound`], [`first_of`], [`concurrency_limit`], [`permit`], [`decision`], [`limit_exceeded`],
//!   [`test_clock`]; [`interval_limit`] has the leaky bucket and the fixed and sliding window, [`storage`] one class for each
//!   kind of store, [`interfaces`] the interfaces. [`statistics`], [`status`], [`denials`], [`named_limiter`], [`client_terms`] and [`address`] have the
//!   functions. A [`decision`] is about [`decision_limits`], each with its [`limit_decision`]; [`settlement`] changes it.
//! * The limiters share [`limiter_object`] (the value in their objects), [`limiter_methods`] and
//!   [`storage_argument`]; those of several limiters [`limiter_set`], and [`token_counts`], the arguments for several limits.
//!   [`permit_registry`] has the permits of the request, and gives them back at its end.
//!   [`php_storage`] calls storages that are written in PHP.
//! * [`ini`] makes the directives known to the engine: [`default_storage`] and the settings; [`unknown_directives`] warns of others, [`limits_file`] reads the file of named limits, and [`clients_files`]
//!   those of clients, each a [`watched_file`].
//!   [`likely_mistakes`] says what is probably wrong in code,
//!   [`globals`] is what a worker keeps, [`info`] the section in phpinfo(), [`module`] the start and the end of a process,
//!   [`request`] those of a request.
//! * [`engine`] is the bridge to the engine.

mod address;
mod calendar;
mod calendar_unit;
mod calendar_window;
mod client_terms;
mod clients_files;
mod compound;
mod concurrency_limit;
mod decision;
mod decision_limits;
mod default_storage;
mod denials;
mod engine;
mod events;
mod first_of;
mod globals;
mod info;
mod ini;
mod ini_text;
mod interfaces;
mod interval_limit;
mod likely_mistakes;
mod limit_decision;
mod limit_exceeded;
mod limiter_methods;
mod limiter_object;
mod limiter_set;
mod limits_file;
mod limits_in_force;
mod module;
mod named_limiter;
mod permit;
mod permit_registry;
mod php_storage;
mod request;
mod settlement;
mod statistics;
mod status;
mod storage;
mod storage_argument;
mod test_clock;
mod time_zone;
mod token_bucket;
mod token_counts;
mod unknown_directives;
mod watched_file;

/// Makes all classes known to the engine. Interfaces and parents come before the classes that need them.
fn register_classes() {
    interfaces::register();
    engine::exceptions::register();
    limit_exceeded::register();
    decision::register();
    storage::register();
    php_storage::register();
    token_bucket::register();
    interval_limit::register();
    calendar_window::register();
    compound::register();
    first_of::register();
    permit::register();
    concurrency_limit::register();
    test_clock::register();
}
