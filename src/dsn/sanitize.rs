//! Text of a caller in a message.

/// Makes a caller's text fit for a message: short, and without control characters.
pub fn sanitize(text: &str) -> String {
    const LONGEST: usize = 64;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}
