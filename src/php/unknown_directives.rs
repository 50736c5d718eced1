//! Warns of directives in php.ini that begin like those of this extension and are none: nothing else reads them.

use super::{events, ini};
use crate::dsn::sanitize;
use crate::suggestion::nearest;
use ext_php_rs::ffi;

/// What all names of directives begin with.
const NAMESPACE: &str = "token_bucket.";

/// Emits a warning for each of them. Those of a pool are not in php.ini: php-fpm itself refuses them.
pub fn emit_warnings() {
    // SAFETY: the engine returns the table of what it has read from php.ini and the command line, which lives as long
    // as the process and does not change once extensions are loaded.
    let Some(read) = (unsafe { ffi::php_ini_get_configuration_hash().as_ref() }) else { return };
    let mut entries = read.iter();
    while let Some((name, _)) = entries.next_zval() {
        let name = name.zend_str().map(|name| String::from_utf8_lossy(name.as_bytes()));
        if let Some(name) = name.filter(|name| is_unknown(name)) {
            events::emit_warning(&describe(&name));
        }
    }
}

fn known() -> impl Iterator<Item = &'static str> {
    ini::names().filter_map(|name| name.to_str().ok())
}

fn is_unknown(name: &str) -> bool {
    let start = name.get(..NAMESPACE.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(NAMESPACE))
        && known().all(|known| known != name)
}

fn describe(name: &str) -> String {
    let near = nearest(&name.to_ascii_lowercase(), known(), 4)
        .map_or(String::new(), |near| format!("; did you mean {near}?"));
    format!("{} is not a directive and has no effect{near}", sanitize(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_directive_is_named_if_one_is_near() {
        let near =
            |name: &str| describe(name).split_once("; did you mean ").map(|it| it.1.to_owned());
        assert_eq!(near("token_bucket.storge").as_deref(), Some("token_bucket.storage?"));
        assert_eq!(near("token_bucket.timeout").as_deref(), Some("token_bucket.timeout_ms?"));
        assert_eq!(near("Token_Bucket.Lease").as_deref(), Some("token_bucket.lease?"));
        assert_eq!(near("token_bucket.redis_password"), None);
        assert!(is_unknown("token_bucket.storge") && is_unknown("Token_Bucket.lease"));
        assert!(!is_unknown("token_bucket.lease") && !is_unknown("memory_limit"));
    }
}
