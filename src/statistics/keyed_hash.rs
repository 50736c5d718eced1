//! The hash by which limits, names and blocks are found in the statistics' file.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The keyed hash of a text: a client that could find two texts of one hash would have them counted as one.
pub fn hash([low, high]: [u64; 2], text: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    hasher.write(text);
    hasher.finish()
}
