//! Numbers of tokens for several limits: one for all, or a list with one for each.

use super::engine::call::Call;
use super::engine::exceptions::{Thrown, argument_type_error, value_error};
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};

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

/// Reads the argument `n`, of type `int|array`, for so many limits; `absent` if it was not passed. A number of limits that is
/// None fits any list.
pub fn parse(
    call: &Call,
    n: u32,
    limits: Option<usize>,
    absent: u64,
) -> Result<TokenCounts, Thrown> {
    if let Some(list) = call.non_null(n).and_then(Zval::array) {
        return parse_list(n, list, limits).map(TokenCounts::Each);
    }
    let expected = ffi::_zend_expected_type_Z_EXPECTED_ARRAY_OR_LONG;
    call.token_count_of(n, absent, expected).map(TokenCounts::All)
}

fn parse_list(n: u32, list: &ZendHashTable, limits: Option<usize>) -> Result<Vec<u64>, Thrown> {
    if let Some(count) = limits
        && (list.len() != count || !list.has_sequential_keys())
    {
        let limits = match count {
            1 => "the one limiter".to_owned(),
            _ => format!("each of the {count} limiters"),
        };
        return Err(value_error(n, format!("must be a list with one number for {limits}")));
    }
    let counts = list.values().map(|count| match count.long().map(u64::try_from) {
        Some(Ok(count)) => Ok(count),
        Some(Err(_)) => Err(value_error(n, "must contain only numbers of 0 or more")),
        None => Err(argument_type_error(n, "must be of type array|int, with ints in the array")),
    });
    counts.collect()
}
