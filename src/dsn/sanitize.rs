//! Text of a caller or an operator in a message.

use std::path::Path;

/// Makes a caller's text fit for a message: short, and without control characters.
pub fn sanitize(text: &str) -> String {
    const LONGEST: usize = 64;
    let cut = text.char_indices().nth(LONGEST).map_or(text, |(end, _)| text.split_at(end).0);
    let mut shown: String = cut.chars().flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Makes a path fit for a message, however long it is: without control characters.
pub fn printable_path(path: &Path) -> String {
    let mut shown = String::new();
    for char in path.to_string_lossy().chars() {
        match char.is_control() {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    shown
}
