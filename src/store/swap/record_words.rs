//! Bytes of a state in two words of a record, and the checksum of its words.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The most bytes of a record, behind a byte for their number.
pub(super) const MAX_RECORD: usize = 31;

/// A byte, and bytes behind it, as many as there are up to [`MAX_RECORD`]. None if there are more.
pub(super) fn with_length(length: u8, bytes: impl IntoIterator<Item = u8>) -> Option<[u8; 32]> {
    let mut all = [0; 32];
    let mut bytes = std::iter::once(length).chain(bytes);
    all.iter_mut().zip(&mut bytes).for_each(|(to, from)| *to = from);
    bytes.next().is_none().then_some(all)
}

/// The bytes in two words.
pub(super) fn from_bytes(bytes: [u8; 32]) -> [u128; 2] {
    let (first, second) = bytes.split_at(16);
    [first, second].map(|half| half.iter().fold(0, |word, byte| word << 8 | u128::from(*byte)))
}

/// The bytes that two words have.
pub(super) fn to_bytes([first, second]: [u128; 2]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let both = first.to_be_bytes().into_iter().chain(second.to_be_bytes());
    bytes.iter_mut().zip(both).for_each(|(to, from)| *to = from);
    bytes
}

/// A checksum of words that belong to `owner`.
pub(super) fn checksum([low, high]: [u64; 2], owner: u64, words: &[u128]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    hasher.write_u64(owner);
    words.iter().for_each(|word| hasher.write_u128(*word));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_a_length_and_31_bytes() {
        let bytes = |count: u8| with_length(count, 1..=count);
        let all = bytes(31).unwrap();
        assert_eq!(all, std::array::from_fn(|i| if i == 0 { 31 } else { i as u8 }));
        assert_eq!(to_bytes(from_bytes(all)), all);
        assert_eq!(bytes(32), None);
    }

    #[test]
    fn checksum_depends_on_all_it_is_made_of() {
        let sums = [
            checksum([2, 3], 1, &[4, 5]),
            checksum([3, 3], 1, &[4, 5]),
            checksum([2, 2], 1, &[4, 5]),
            checksum([2, 3], 2, &[4, 5]),
            checksum([2, 3], 1, &[5, 5]),
            checksum([2, 3], 1, &[4, 4]),
        ];
        let (first, others) = sums.split_first().unwrap();
        assert!(!others.contains(first));
    }
}
