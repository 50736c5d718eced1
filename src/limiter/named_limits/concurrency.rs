//! A section that limits how many run at once.

use super::{At, FileError, mistake};
use crate::limit::{LimitError, PermitLimit};

/// The algorithm of such a section.
pub const CONCURRENCY: &str = "concurrency";

/// How long a permit is held at most, in seconds, where nothing else is said.
pub const DEFAULT_LIFETIME: f64 = 60.0;

/// The limit of a section that begins in this line.
pub fn permit_limit(
    line: u32,
    limit: At<i64>,
    interval: At<f64>,
    lifetime: At<f64>,
) -> Result<PermitLimit, FileError> {
    let (Some((limit_line, max)), None) = (limit, interval) else {
        let message = "a limit of how many run at once must have limit, and no interval";
        return Err(mistake(line, message));
    };
    let (lifetime_line, lifetime) = lifetime.unwrap_or((limit_line, DEFAULT_LIFETIME));
    PermitLimit::new(max, lifetime).map_err(|error| match error {
        LimitError::Permits => mistake(limit_line, format!("limit {error}")),
        _ => mistake(lifetime_line, format!("lifetime {error}")),
    })
}
