//! A section that limits how many run at once.

use crate::limit::{LimitError, PermitLimit};

/// The algorithm of such a section.
pub const CONCURRENCY: &str = "concurrency";

/// How long a permit is held at most, in seconds, where nothing else is said.
pub const DEFAULT_LIFETIME: f64 = 60.0;

/// The limit of a section that begins in this line, from the values of its keys and their lines; else the line of a mistake,
/// and what is wrong.
pub fn permit_limit(
    line: u32,
    limit: Option<(u32, i64)>,
    interval: Option<(u32, f64)>,
    lifetime: Option<(u32, f64)>,
) -> Result<PermitLimit, (u32, String)> {
    let (Some((limit_line, max)), None) = (limit, interval) else {
        let message = "a limit of how many run at once must have limit, and no interval";
        return Err((line, message.to_owned()));
    };
    let (lifetime_line, lifetime) = lifetime.unwrap_or((limit_line, DEFAULT_LIFETIME));
    PermitLimit::new(max, lifetime).map_err(|error| match error {
        LimitError::Permits => (limit_line, format!("limit {error}")),
        _ => (lifetime_line, format!("lifetime {error}")),
    })
}
