//! The name of a bucket or a window.

use super::kind::LimitKind;
use std::cell::Cell;

/// The name of a bucket or a window: its kind, and the bytes of all parts, one after the other.
pub struct Key<'a> {
    /// The parts of the name. They are apart so that a prefix is put before an identifier without a copy.
    pub parts: [&'a [u8]; 4],
    /// What the key names. Keys of different kinds never share a state.
    pub kind: LimitKind,
    /// The hash of this key, which a store caches here between calls. The cell must serve one key and
    /// one store only.
    pub key_hash: &'a Cell<KeyHash>,
}

impl Key<'_> {
    /// Joins the parts of the name.
    pub fn to_vec(&self) -> Vec<u8> {
        self.parts.concat()
    }
}

/// The cached hash of a key; the default is the empty cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHash {
    /// A keyed hash of the key.
    pub hash: u64,
    /// The number of the file whose secret it was made with; 0 where nothing is cached.
    pub file: u32,
}
