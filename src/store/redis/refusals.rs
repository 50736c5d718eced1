//! What a server's refusal of a call concerns.

/// Whether an error concerns this call alone, and the server is up.
pub fn refuses_call(code: &str, detail: &str) -> bool {
    match code {
        // One key, or several that a cluster is moving to another node.
        "WRONGTYPE" | "TRYAGAIN" | "CROSSSLOT" => true,
        // A server that stores nothing new, for want of memory or disk, still denies: a denial stands without what it would store.
        "OOM" | "MISCONF" => true,
        // The user lacks the right to a key, or to a command of the script.
        "NOPERM" => true,
        // As Redis 7.0 says it, and as Redis 8 and Valkey.
        "ERR" => {
            detail.starts_with("The user executing the script")
                || detail.starts_with("ACL failure in script")
        }
        _ => false,
    }
}
