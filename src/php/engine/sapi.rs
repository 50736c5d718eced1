//! The end of a request as the SAPI sees it: `sapi_module.deactivate`, which other extensions wrap, too.
//!
//! ext-php-rs has `sapi_activate_function` and `post_deactivate_function`. The first runs when the next request starts, so an idle worker
//! would keep its permits. The second follows RSHUTDOWN, which FrankenPHP's workers do not run for each request.

use super::versions::SUCCESS;
use ext_php_rs::zend::SapiModule;
use parking_lot::RwLock;
use std::ffi::c_int;
use std::ptr::fn_addr_eq;

type Deactivate = unsafe extern "C" fn() -> c_int;

/// What was there before [`wrap_deactivate`], and what runs first.
static WRAPPED: RwLock<(Option<Deactivate>, fn())> = RwLock::new((None, || ()));

/// Runs `first` before each end of a request, in the process's startup: there is one thread then.
///
/// Not where `dl()` loads the extension: the engine would unload it before that request ends.
pub fn wrap_deactivate(first: fn()) {
    let mut sapi = SapiModule::get_mut();
    if !is_ours(sapi.deactivate) {
        *WRAPPED.write() = (sapi.deactivate, first);
        sapi.deactivate = Some(deactivate);
    }
}

/// Puts back what was there, unless another extension has wrapped it since: that one calls ours.
pub fn unwrap_deactivate() {
    let mut sapi = SapiModule::get_mut();
    if is_ours(sapi.deactivate) {
        sapi.deactivate = WRAPPED.read().0;
    }
}

fn is_ours(current: Option<Deactivate>) -> bool {
    current.is_some_and(|current| fn_addr_eq(current, deactivate as Deactivate))
}

unsafe extern "C" fn deactivate() -> c_int {
    let (before, first) = *WRAPPED.read();
    first();
    // SAFETY: the engine would call it in the same way.
    before.map_or(SUCCESS, |before| unsafe { before() })
}
