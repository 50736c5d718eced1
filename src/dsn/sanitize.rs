//! Text of a caller in a message.

/// Makes a caller's text fit for a message: short, and without control characters.
pub fn sanitize(text: &str) -> String {
    const LONGEST: usize = 64;
    let cut = text.char_indices().nth(LONGEST).map_or(text, |(end, _)| text.split_at(end).0);
    let mut shown = escape_controls(cut);
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Makes a text that an operator wrote fit for a message, however long it is: without control characters.
pub fn escape_controls(text: &str) -> String {
    text.chars().flat_map(char::escape_default).collect()
}
