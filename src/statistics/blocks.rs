//! What is blocked, as operators see it: an entry for each key on which a store has set a block, until the block ends or
//! the key is reset. The store alone decides who is denied.
//!
//! Entries lie in [sets](super::tagged_set), found by a keyed hash. A full set gives up the block that ends first.

use super::context::CallContext;
use super::denial_log::LONGEST_IDENTIFIER;
use super::inferred_name::infer_name;
use super::records::LONGEST_NAME;
use super::tagged_set::{self, Position, TaggedSet};
use crate::hash;
use crate::identifier::{Identifier, client_identifier};
use crate::mapped::{Area, BLOCKS_SIZE, Mappable, Region, SharedText};
use crate::store::LimitKind;
use portable_atomic::{AtomicU64, Ordering};
use std::borrow::Cow;
use std::cmp::Reverse;

/// A block, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBlock {
    /// The limit's name, given or inferred.
    pub name: Vec<u8>,
    /// The identifier, cut at 96 bytes; empty if none is kept.
    pub identifier: Vec<u8>,
    /// The algorithm of the limit.
    pub kind: LimitKind,
    /// Whether the limit denies. In a dry run calls go on.
    pub is_enforced: bool,
    /// When the block ends, in nanoseconds since boot.
    pub until: u64,
}

/// What is blocked or reset.
pub struct BlockedKey<'a> {
    /// What identifies the store.
    pub store: &'a [u8],
    /// What stands before the identifier there.
    pub prefix: &'a [u8],
    /// The identifier, and the limit's name.
    pub context: CallContext<'a>,
    /// The algorithm of the limit.
    pub kind: LimitKind,
    /// Whether the limit denies.
    pub is_enforced: bool,
}

impl BlockedKey<'_> {
    /// The identifier that the store has.
    fn identifier(&self) -> Cow<'_, [u8]> {
        match self.context.identifier {
            Identifier::Plain(identifier) => identifier.into(),
            Identifier::Client { name, id } => client_identifier(name, id).into(),
        }
    }

    fn hash(&self, secret: [u64; 2]) -> u64 {
        let (kind, length) = ([self.kind as u8], self.store.len().to_le_bytes());
        hash::keyed(secret, &[&kind, &length, self.store, self.prefix, &self.identifier()])
    }
}

/// The blocks whose hashes choose one set, with the end of each.
type BlockSet = TaggedSet<BlockEntry>;

const _: () = assert!(BLOCKS_SIZE.is_multiple_of(size_of::<BlockSet>()));

#[repr(C)]
#[derive(Default)]
struct BlockEntry {
    /// The hash of its key.
    key: AtomicU64,
    /// The hash of `token_bucket.prefix`, by which limits are counted.
    prefix: AtomicU64,
    /// The algorithm, and in the next byte whether the limit denies.
    kind: AtomicU64,
    name: SharedText<{ LONGEST_NAME / 8 }>,
    identifier: SharedText<{ LONGEST_IDENTIFIER / 8 }>,
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for BlockEntry {}

/// What an entry holds.
struct Content {
    key: u64,
    prefix: u64,
    kind: u64,
    name: Vec<u8>,
    identifier: Vec<u8>,
}

impl Content {
    /// The tag of the entry with this content.
    fn tag(&self, secret: [u64; 2]) -> u64 {
        let words = [self.key, self.prefix, self.kind, self.name.len() as u64];
        let words = words.map(u64::to_le_bytes);
        tagged_set::tag(hash::keyed(secret, &[words.as_flattened(), &self.name, &self.identifier]))
    }

    /// None if no process writes such a kind.
    fn listed(self, until: u64) -> Option<ListedBlock> {
        let Self { name, identifier, kind, .. } = self;
        let [kind, is_enforced, ..] = kind.to_le_bytes();
        let kind = *LimitKind::ALL.get(usize::from(kind))?;
        Some(ListedBlock { name, identifier, kind, is_enforced: is_enforced != 0, until })
    }
}

impl BlockEntry {
    fn key(&self) -> u64 {
        self.key.load(Ordering::Relaxed)
    }

    fn write(&self, content: &Content) {
        self.key.store(content.key, Ordering::Relaxed);
        self.prefix.store(content.prefix, Ordering::Relaxed);
        self.kind.store(content.kind, Ordering::Relaxed);
        self.name.write(&content.name);
        self.identifier.write(&content.identifier);
    }

    fn read(&self) -> Content {
        Content {
            key: self.key(),
            prefix: self.prefix.load(Ordering::Relaxed),
            kind: self.kind.load(Ordering::Relaxed),
            name: self.name.read(),
            identifier: self.identifier.read(),
        }
    }
}

/// The blocks in the statistics' file.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    sets: &'a [BlockSet],
    secret: [u64; 2],
}

impl<'a> Blocks<'a> {
    /// The blocks in this file; none without room in it.
    pub fn new(region: &'a Region) -> Self {
        Self { sets: region.area(Area::Blocks), secret: region.secret() }
    }

    /// Notes that a key is blocked until a time, under the limits of `prefix`. The identifier is kept if `track` says so.
    pub fn note(self, blocked: &BlockedKey<'_>, prefix: &[u8], track: bool, until: u64) {
        let (key, context) = (blocked.hash(self.secret), &blocked.context);
        let identifier = blocked.identifier();
        let name = context.name.unwrap_or_else(|| infer_name(context.identifier).name);
        let cut = |text: &[u8], most| text.get(..most).unwrap_or(text).to_vec();
        let content = Content {
            key,
            prefix: hash::keyed(self.secret, &[prefix]),
            kind: u64::from_le_bytes([
                blocked.kind as u8,
                blocked.is_enforced.into(),
                0,
                0,
                0,
                0,
                0,
                0,
            ]),
            name: cut(name, LONGEST_NAME),
            identifier: if track { cut(&identifier, LONGEST_IDENTIFIER) } else { Vec::new() },
        };
        let tag = content.tag(self.secret);
        // Eight tries: other processes may take the position.
        for _ in 0..8 {
            let Some(position) = self.position(key, until) else { return };
            if position.begin(tag, until, |entry| entry.write(&content)) {
                return;
            }
        }
    }

    /// Forgets the block of a key that was reset.
    pub fn lift(self, key: &BlockedKey<'_>) {
        let key = key.hash(self.secret);
        let positions = self.set(key).into_iter().flat_map(TaggedSet::positions);
        positions
            .filter(|position| position.entry.key() == key)
            .for_each(|position| position.forget());
    }

    /// The blocks in force at `now` under the limits of `prefix`, the one that ends last first.
    pub fn snapshot(self, prefix: &[u8], now: u64) -> Vec<ListedBlock> {
        let prefix = hash::keyed(self.secret, &[prefix]);
        let read = |entry: &BlockEntry| {
            let content = entry.read();
            (content.tag(self.secret), content)
        };
        let positions = self.sets.iter().flat_map(TaggedSet::positions);
        let mut found: Vec<_> = positions.filter_map(|position| position.read(read)).collect();
        found.retain(|(content, until)| content.prefix == prefix && *until > now);
        // Two processes that have blocked a key at once may have made two entries.
        found.sort_by_key(|(content, until)| (content.key, Reverse(*until)));
        found.dedup_by_key(|(content, _)| content.key);
        let mut listed: Vec<_> =
            found.into_iter().filter_map(|(content, until)| content.listed(until)).collect();
        listed.sort_by(|a, b| {
            let names = (&a.name, &a.identifier, a.kind as u8);
            b.until.cmp(&a.until).then_with(|| names.cmp(&(&b.name, &b.identifier, b.kind as u8)))
        });
        listed
    }

    fn set(self, key: u64) -> Option<&'a BlockSet> {
        self.sets.get((key as usize).checked_rem(self.sets.len())?)
    }

    /// The position of a key; else a free one, or that of the block that ends first if it ends before this one.
    fn position(self, key: u64, until: u64) -> Option<Position<'a, BlockEntry>> {
        let set = self.set(key)?;
        let own =
            set.positions().find(|position| !position.is_free() && position.entry.key() == key);
        let end = |position: &Position<'_, _>| if position.is_free() { 0 } else { position.time() };
        own.or_else(|| set.positions().min_by_key(end).filter(|position| end(position) < until))
    }
}

#[cfg(test)]
mod tests;
