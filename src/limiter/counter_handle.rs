//! Where the calls of a limit are counted, cached in the objects of PHP.

/// Caches where the calls of a limit are counted; the default is the empty cache.
#[derive(Clone, Copy, Default)]
pub struct CounterHandle {
    /// The index of the record.
    pub(super) record: u32,
    /// The generation of the file that holds the record; 0 where nothing is cached.
    pub(super) generation: u32,
}
