//! Where the keys of a store are in a file: the hash that places each.

use super::super::{Key, KeyHash, LimitKind};
use crate::mapped::Region;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;

/// Places the keys of one store.
pub struct Keys {
    /// Keeps the keys of different servers apart.
    domain: u64,
    hash_keys: Cell<HashKeys>,
}

/// The keys of the hashes that place the keys of a table.
#[derive(Clone, Copy, Default)]
struct HashKeys {
    /// The number of the file that they were made for, as [`MappedFile::number`](crate::mapped::MappedFile::number)
    /// counts; 0 before the first.
    file: u32,
    by_kind: [[u64; 2]; LimitKind::ALL.len()],
}

/// A hash key for the domain and the kind. Two of them place no key alike.
fn hash_key([low, high]: [u64; 2], domain: u64, kind: LimitKind) -> [u64; 2] {
    [0, 1].map(|half| {
        let mut hasher = SipHasher13::new_with_keys(low, high);
        hasher.write_u64(domain);
        hasher.write_u8(kind as u8);
        hasher.write_u8(half);
        hasher.finish()
    })
}

impl Keys {
    /// The keys of a store, apart from those of other domains.
    pub fn new(domain: u64) -> Self {
        Self { domain, hash_keys: Cell::default() }
    }

    /// The hash that places a key in the file of this number. The key remembers it.
    #[inline(always)]
    pub fn hash(&self, key: &Key<'_>, region: &Region, file: u32) -> u64 {
        let key_hash = key.key_hash.get();
        if key_hash.file == file {
            return key_hash.hash;
        }
        self.hash_and_remember(key, region.secret(), file)
    }

    #[cold]
    fn hash_and_remember(&self, key: &Key<'_>, secret: [u64; 2], file: u32) -> u64 {
        let mut keys = self.hash_keys.get();
        if keys.file != file {
            let by_kind = LimitKind::ALL.map(|kind| hash_key(secret, self.domain, kind));
            keys = HashKeys { file, by_kind };
            self.hash_keys.set(keys);
        }
        let [low, high] = keys.by_kind.get(key.kind as usize).copied().unwrap_or_default();
        let mut hasher = SipHasher13::new_with_keys(low, high);
        for part in key.parts.iter().filter(|part| !part.is_empty()) {
            hasher.write(part);
        }
        let hash = hasher.finish();
        key.key_hash.set(KeyHash { hash, file });
        hash
    }
}
