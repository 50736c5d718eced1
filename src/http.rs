//! How a decision reads in HTTP: the fields of draft-ietf-httpapi-ratelimit-headers, and `Retry-After`.
//!
//! The draft may still rename its parameters: nothing else in this crate knows them.

/// What the fields say about one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy<'a> {
    /// The limit's name: any bytes.
    pub name: &'a [u8],
    /// What the limit allows at once.
    pub quota: u64,
    /// The time in which it allows that, in whole seconds, at least 1.
    pub window: u64,
    /// What is left.
    pub remaining: u64,
    /// Seconds until the same call would be accepted or, after an accepted one, until all of the quota is
    /// back. `None`: never.
    pub reset: Option<u64>,
}

/// The field `RateLimit-Policy`: `"login";q=5;w=300`.
pub fn rate_limit_policy(policies: &[Policy<'_>]) -> String {
    list(policies, |policy| {
        format!("{};q={};w={}", quoted(policy.name), policy.quota, policy.window)
    })
}

/// The field `RateLimit`: `"login";r=4;t=60`.
pub fn rate_limit(policies: &[Policy<'_>]) -> String {
    list(policies, |policy| {
        let reset = policy.reset.map(|seconds| format!(";t={seconds}")).unwrap_or_default();
        format!("{};r={}{reset}", quoted(policy.name), policy.remaining)
    })
}

fn list(policies: &[Policy<'_>], item: impl Fn(&Policy<'_>) -> String) -> String {
    policies.iter().map(item).collect::<Vec<_>>().join(", ")
}

/// A String of RFC 9651, which has printable ASCII only: other bytes are percent-encoded.
fn quoted(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => quoted.push(char::from(*byte)),
            _ => quoted.push_str(&format!("%{byte:02X}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy(name: &[u8]) -> Policy<'_> {
        Policy { name, quota: 5, window: 300, remaining: 4, reset: Some(60) }
    }

    #[test]
    fn fields_are_those_of_the_draft() {
        let policies = [policy(b"login"), Policy { reset: None, ..policy(b"day") }];
        assert_eq!(rate_limit_policy(&policies), r#""login";q=5;w=300, "day";q=5;w=300"#);
        assert_eq!(rate_limit(&policies), r#""login";r=4;t=60, "day";r=4"#);
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
