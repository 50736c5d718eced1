//! Where the keys of a store are in a file: the hash that places each.

use super::super::{Key, KeyHash, LimitKind};
use crate::hash;
use crate::mapped::Region;
use std::cell::Cell;

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
fn hash_key(secret: [u64; 2], domain: u64, kind: LimitKind) -> [u64; 2] {
    [0, 1].map(|half| hash::keyed(secret, &[&domain.to_le_bytes(), &[kind as u8, half]]))
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
        let hash_key = keys.by_kind.get(key.kind as usize).copied().unwrap_or_default();
        let hash = hash::keyed(hash_key, &key.parts);
        key.key_hash.set(KeyHash { hash, file });
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::{Purpose, without_file};
    use std::collections::HashSet;

    fn region() -> Region {
        without_file(Purpose::Buckets).unwrap()
    }

    #[test]
    fn keys_of_different_names_kinds_domains_and_files_have_different_hashes() {
        let regions = [region(), region()];
        let mut hashes = HashSet::new();
        for (domain, kind) in (0..2).flat_map(|it| LimitKind::ALL.map(|kind| (it, kind))) {
            let keys = Keys::new(domain);
            for (file, region) in (1..).zip(&regions) {
                for name in [b"a", b"b"] {
                    let key =
                        Key { parts: [b"", b"", name, b""], kind, key_hash: &Cell::default() };
                    hashes.insert(keys.hash(&key, region, file));
                }
            }
        }
        assert_eq!(hashes.len(), 2 * LimitKind::ALL.len() * 2 * 2);
    }

    #[test]
    fn key_has_the_hash_of_the_file_that_is_open() {
        let (first, second, keys) = (region(), region(), Keys::new(0));
        let key_hash = Cell::default();
        let key =
            Key { parts: [b"a", b"", b"", b""], kind: LimitKind::TokenBucket, key_hash: &key_hash };
        let hash = keys.hash(&key, &first, 1);
        assert_eq!((key_hash.get().hash, key_hash.get().file), (hash, 1), "the key remembers it");
        assert_eq!(keys.hash(&key, &first, 1), hash);
        let other = keys.hash(&key, &second, 2);
        assert_ne!(other, hash);
        assert_eq!(Keys::new(0).hash(&key, &second, 2), other);
        key_hash.take();
        assert_eq!(keys.hash(&key, &second, 2), other);
        assert_eq!(keys.hash(&key, &first, 3), hash, "the first file is opened again");
    }
}
