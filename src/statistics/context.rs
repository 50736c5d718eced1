//! What a call is about, and under which name it is counted.

use super::records::RecordHandle;
use crate::identifier::Identifier;
use crate::store::KeyHash;
use std::cell::Cell;

/// The context of a call: its identifier, and what earlier calls have found out about it.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// Identifies the bucket.
    pub identifier: Identifier<'a>,
    /// The limit's name, if it was given one. Otherwise the identifier tells it.
    pub name: Option<&'a [u8]>,
    /// Caches the hash of the key, for calls on the same identifier and store; empty at first.
    pub key_hash: &'a Cell<KeyHash>,
    /// Caches where calls on the same limit are counted; empty at first.
    pub record: &'a Cell<RecordHandle>,
    /// Whether no limit holds for the client: the call is accepted, charged to nothing, and counted as such.
    pub is_exempt: bool,
}

impl<'a> CallContext<'a> {
    /// The context of a call that knows the identifier alone: the limit was given no name, and holds for the client.
    #[inline(always)]
    pub const fn of_identifier(
        identifier: &'a [u8],
        key_hash: &'a Cell<KeyHash>,
        record: &'a Cell<RecordHandle>,
    ) -> Self {
        let identifier = Identifier::Plain(identifier);
        Self { identifier, name: None, key_hash, record, is_exempt: false }
    }
}
