//! Numbers of tokens for several limits: one for all, or an array with one for each.

use super::engine::call::Call;
use super::engine::exceptions::{Thrown, argument_type_error, value_error};
use super::engine::php_array::{entries, is_list, values};
use crate::dsn::sanitize;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};
use std::collections::HashSet;

/// Numbers of tokens.
pub enum TokenCounts {
    /// One for all limits.
    All(u64),
    /// One for each.
    Each(Vec<u64>),
}

impl TokenCounts {
    /// The number for the limit at this place.
    pub fn at(&self, place: usize) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Each(counts) => counts.get(place).copied().unwrap_or(0),
        }
    }
}

/// The names of limits, in their order.
pub type Names = Vec<Box<[u8]>>;

/// Reads the argument `n`, of type `int|array`; `absent` if it was not passed. `names` returns the limits' names. If it returns None, any
/// array is accepted.
pub fn parse(
    call: &Call,
    n: u32,
    names: impl FnOnce() -> Result<Option<Names>, Thrown>,
    absent: u64,
) -> Result<TokenCounts, Thrown> {
    if let Some(array) = call.non_null(n).and_then(Zval::array) {
        let counts = match names()? {
            None => values(array).map(|count| parse_count(n, count)).collect(),
            Some(names) => parse_each(n, array, &names),
        };
        return counts.map(TokenCounts::Each);
    }
    let expected = ffi::_zend_expected_type_Z_EXPECTED_ARRAY_OR_LONG;
    call.token_count_of(n, absent, expected).map(TokenCounts::All)
}

/// One number for each limit: in their order, or by their names, if these differ.
fn parse_each(n: u32, array: &ZendHashTable, names: &Names) -> Result<Vec<u64>, Thrown> {
    let counts: Option<Vec<&Zval>> = if array.len() != names.len() {
        None
    } else if is_list(array) {
        Some(values(array).collect())
    } else if have_duplicate(names) {
        None
    } else {
        names.iter().map(|name| find(array, name)).collect()
    };
    match counts {
        Some(counts) => counts.into_iter().map(|count| parse_count(n, count)).collect(),
        None => Err(value_error(n, describe(names))),
    }
}

fn have_duplicate(names: &Names) -> bool {
    names.iter().collect::<HashSet<_>>().len() < names.len()
}

/// Finds the value of a key. PHP turns the key "404" into an int.
fn find<'a>(array: &'a ZendHashTable, name: &[u8]) -> Option<&'a Zval> {
    let is_it = |key: &Zval| match key.long() {
        Some(number) => number.to_string().as_bytes() == name,
        None => key.zend_str().is_some_and(|key| key.as_bytes() == name),
    };
    entries(array).find(|(key, _)| is_it(key)).map(|(_, value)| value)
}

fn describe(names: &Names) -> String {
    let count = names.len();
    if count == 1 {
        return "must be a list with one number for the one limiter".to_owned();
    }
    if have_duplicate(names) {
        return format!("must be a list with one number for each of the {count} limiters");
    }
    let shown: Vec<_> = names.iter().map(|name| sanitize(&String::from_utf8_lossy(name))).collect();
    let shown = shown.join(", ");
    format!(
        "must have one number for each of the {count} limiters: in their order, or by their names ({shown})"
    )
}

fn parse_count(n: u32, count: &Zval) -> Result<u64, Thrown> {
    match count.long().map(u64::try_from) {
        Some(Ok(count)) => Ok(count),
        Some(Err(_)) => Err(value_error(n, "must contain only numbers of 0 or more")),
        None => Err(argument_type_error(n, "must be of type array|int, with ints in the array")),
    }
}
