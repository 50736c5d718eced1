//! Suggests a name for a misspelt one.

/// The nearest of these names, if at most so many characters of the word have to be changed.
pub fn nearest<'a>(
    word: &str,
    names: impl Iterator<Item = &'a str>,
    most_changes: usize,
) -> Option<&'a str> {
    names
        .map(|name| (distance(word, name), name))
        .min()
        .filter(|(distance, _)| *distance <= most_changes)
        .map(|(_, name)| name)
}

/// How many characters must be put in, left out or replaced to make one text of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut cells = row.iter_mut();
        let mut left = i + 1;
        let mut diagonal = cells.next().map_or(i, |first| std::mem::replace(first, left));
        for (above, b) in cells.zip(b.chars()) {
            left = (diagonal + usize::from(a != b)).min(*above + 1).min(left + 1);
            diagonal = std::mem::replace(above, left);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_the_changes_between_two_texts() {
        for (a, b, changes) in [
            ("storage", "storage", 0),
            ("storge", "storage", 1),
            ("storrage", "storage", 1),
            ("sturage", "storage", 1),
            ("timeout", "timeout_ms", 3),
            ("", "lease", 5),
            ("lease", "", 5),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), changes, "{a}, {b}");
        }
    }

    #[test]
    fn nearest_name_is_found_if_one_is_near() {
        let names = ["limit", "interval", "leave", "like"];
        let nearest = |word| nearest(word, names.into_iter(), 2);
        assert_eq!(nearest("limt"), Some("limit"));
        assert_eq!(nearest("intervall"), Some("interval"));
        assert_eq!(nearest("rate"), None);
    }
}
