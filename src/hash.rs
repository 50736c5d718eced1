//! Hashes of bytes (SipHash 1-3), and random bytes.

use rustix::rand::{GetRandomFlags, getrandom};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The hash of these parts as one text. Finding two texts of one hash takes the secret.
pub fn keyed([low, high]: [u64; 2], parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

/// The hash of these parts as one text, the same on every host.
pub fn plain(parts: &[&[u8]]) -> u64 {
    keyed([0, 0], parts)
}

/// Random bytes of the system.
pub fn random<const N: usize>() -> rustix::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).map(|_| bytes)
}
