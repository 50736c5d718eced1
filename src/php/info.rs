//! The section of the extension in phpinfo().

use super::globals::GLOBALS;
use crate::dsn::sanitize;
use ext_php_rs::zend::ModuleEntry;
use ext_php_rs::{ffi, info_table_end, info_table_header, info_table_row, info_table_start};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Prints the section: the version, the default store, the directives.
pub extern "C" fn print(module: *mut ModuleEntry) {
    let printed = catch_unwind(AssertUnwindSafe(|| {
        info_table_start!();
        info_table_header!("token_bucket", "enabled");
        info_table_row!("Version", env!("CARGO_PKG_VERSION"));
        for (name, value) in describe_default_store() {
            info_table_row!(name, value);
        }
        info_table_end!();
    }));
    if printed.is_ok() {
        // SAFETY: the engine passes the entry of this module.
        unsafe { ffi::display_ini_entries(module) };
    }
}

/// Names and values that describe the default store of this worker.
fn describe_default_store() -> Vec<(String, String)> {
    match GLOBALS.get().limiter(None, None) {
        Ok(limiter) => limiter
            .describe()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), sanitized_line(&value)))
            .collect(),
        Err(error) => vec![("Default store".to_owned(), sanitized_line(&error.to_string()))],
    }
}

/// Escapes a value for a row of the table, in text and in HTML.
fn sanitized_line(value: &str) -> String {
    let shown: Vec<String> = value.split(' ').map(sanitize).collect();
    shown.join(" ").replace('&', "&amp;").replace('<', "&lt;")
}
