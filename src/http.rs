//! How a decision reads in HTTP: the fields of draft-ietf-httpapi-ratelimit-headers, and the problem of
//! RFC 9457 that it registers.
//!
//! The draft may still rename its parameters: nothing else in this crate knows them.

use percent_encoding::{CONTROLS, percent_encode};

/// What the fields say about one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaPolicy<'a> {
    /// The limit's name: any bytes.
    pub name: &'a [u8],
    /// What the limit allows at once.
    pub quota: u64,
    /// The time in which it allows that, in whole seconds, at least 1.
    pub window: u64,
    /// What is left.
    pub remaining: u64,
    /// Seconds until the same call would be accepted or, after an accepted one, until more than `remaining` can be used.
    /// `None`: never.
    pub wait: Option<u64>,
}

/// The field `RateLimit-Policy`: `"login";q=5;w=300`.
pub fn rate_limit_policy(policies: &[QuotaPolicy<'_>]) -> String {
    list(policies, |policy| {
        format!("{};q={};w={}", quoted(policy.name), policy.quota, policy.window)
    })
}

/// The field `RateLimit`: `"login";r=4;t=60`.
pub fn rate_limit(policies: &[QuotaPolicy<'_>]) -> String {
    list(policies, |policy| {
        let wait = policy.wait.map(|seconds| format!(";t={seconds}")).unwrap_or_default();
        format!("{};r={}{wait}", quoted(policy.name), policy.remaining)
    })
}

fn list(policies: &[QuotaPolicy<'_>], item: impl Fn(&QuotaPolicy<'_>) -> String) -> String {
    policies.iter().map(item).collect::<Vec<_>>().join(", ")
}

/// Why a call is denied, as the draft registers it.
///
/// In order: of the reasons of several limits, the greatest says most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// What is left is kept for others, or the store is down.
    ReducedCapacity,
    /// A limit is used up.
    QuotaExceeded,
    /// The client is blocked.
    AbnormalUsage,
}

impl Problem {
    /// The URI of its type.
    pub const fn uri(self) -> &'static str {
        match self {
            Self::QuotaExceeded => "https://iana.org/assignments/http-problem-types#quota-exceeded",
            Self::ReducedCapacity => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
            Self::AbnormalUsage => {
                "https://iana.org/assignments/http-problem-types#abnormal-usage-detected"
            }
        }
    }

    /// Its title, the same for each problem of the type.
    pub const fn title(self) -> &'static str {
        match self {
            Self::QuotaExceeded => "Too many requests",
            Self::ReducedCapacity => "The service has less capacity for a while",
            Self::AbnormalUsage => "Blocked after unusual use",
        }
    }

    /// The status of its answer.
    pub const fn status(self) -> i64 {
        match self {
            Self::ReducedCapacity => 503,
            Self::QuotaExceeded | Self::AbnormalUsage => 429,
        }
    }
}

/// Describes a denied call to a person. `seconds`: when the same call would be accepted, `None` for never. The time is rounded up, so that
/// the call is accepted if the client waits that long.
pub fn detail(seconds: Option<u64>) -> String {
    match seconds {
        Some(1) => "Try again in 1 second.".to_owned(),
        Some(seconds @ ..120) => format!("Try again in {seconds} seconds."),
        Some(seconds @ ..7_200) => format!("Try again in {} minutes.", seconds.div_ceil(60)),
        Some(seconds @ ..172_800) => in_two_units(seconds, 3_600, 60, "hours", "minute"),
        Some(seconds) => in_two_units(seconds, 86_400, 3_600, "days", "hour"),
        None => "The request is larger than the limit allows at any time.".to_owned(),
    }
}

/// Of a long time an hour or a day may be much.
fn in_two_units(seconds: u64, unit: u64, part: u64, units: &str, part_name: &str) -> String {
    let up = seconds.div_ceil(part).saturating_mul(part);
    let (whole, rest) = (up / unit, up % unit / part);
    match rest {
        0 => format!("Try again in {whole} {units}."),
        1 => format!("Try again in {whole} {units} 1 {part_name}."),
        _ => format!("Try again in {whole} {units} {rest} {part_name}s."),
    }
}

/// A String of RFC 9651.
fn quoted(text: &[u8]) -> String {
    let escaped = printable(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// A name as printable ASCII, all that a String of RFC 9651 may hold: other bytes are percent-encoded.
pub fn printable(text: &[u8]) -> String {
    percent_encode(text, CONTROLS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy(name: &[u8]) -> QuotaPolicy<'_> {
        QuotaPolicy { name, quota: 5, window: 300, remaining: 4, wait: Some(60) }
    }

    #[test]
    fn fields_are_those_of_the_draft() {
        let policies = [policy(b"login"), QuotaPolicy { wait: None, ..policy(b"day") }];
        assert_eq!(rate_limit_policy(&policies), r#""login";q=5;w=300, "day";q=5;w=300"#);
        assert_eq!(rate_limit(&policies), r#""login";r=4;t=60, "day";r=4"#);
    }

    #[test]
    fn time_in_a_detail_is_rounded_up() {
        for (seconds, text) in [
            (1, "1 second"),
            (119, "119 seconds"),
            (120, "2 minutes"),
            (121, "3 minutes"),
            (7_199, "120 minutes"),
            (7_200, "2 hours"),
            (7_201, "2 hours 1 minute"),
            (33_475, "9 hours 18 minutes"),
            (172_799, "48 hours"),
            (172_800, "2 days"),
            (172_801, "2 days 1 hour"),
            (612_001, "7 days 3 hours"),
        ] {
            assert_eq!(detail(Some(seconds)), format!("Try again in {text}."));
        }
    }

    proptest! {
        #[test]
        fn any_name_is_a_string_of_rfc_9651(name: Vec<u8>) {
            let quoted = quoted(&name);
            let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
            let mut bytes = inner.bytes();
            while let Some(byte) = bytes.next() {
                match byte {
                    b'\\' => prop_assert!(matches!(bytes.next(), Some(b'"' | b'\\'))),
                    b' '..=b'~' => prop_assert!(byte != b'"'),
                    _ => prop_assert!(false, "{:?}", quoted),
                }
            }
        }
    }
}
