//! The files in shared memory: `<base>/token_bucket-<uid>/<name>.v13`.
//!
//! The directory is the user's alone ([`directory`]). A file belongs to one boot of the host
//! ([`boot`]). A worker maps it ([`Region`]) and changes it through atomics only.
//!
//! * `layout`: what lies where in a file, and its version
//! * `location`: where a file is
//! * `open`: which file is used as it is, and how a new one is made
//! * `cgroup`: the memory that a container leaves
//! * `region`: the mapped file and its areas; `text`: a short text in one
//! * `byte_lock`: locks on bytes of a file, which show whether a process has died
//! * [`word`]: one atomic word, and its stand-in for model checking; [`fields`]: what is packed into one
//! * [`set`]: the words among which a key's is found by its hash
//! * [`claimed`]: records that are found by an id, claimed and freed
//! * `futex`: sleeping until a word changes
//! * `mapped_file`: a file that is opened at its first use, and checked once a second
//!
//! What lies in an area belongs to the feature that uses it: `store::shm`, `guard` or `statistics`.

pub mod boot;
pub mod byte_lock;
mod cgroup;
pub mod claimed;
pub mod directory;
pub mod fields;
pub mod futex;
mod layout;
mod location;
mod mapped_file;
mod open;
mod region;
pub mod set;
mod text;
pub mod word;

pub use layout::{
    Area, BLOCKS_SIZE, BODY_AT, DENIAL_LOG_SIZE, MAX_SIZE, MIN_SIZE, PERMITS_SIZE, Purpose,
    SET_SIZE, STATISTICS_AT, STORE_SIZE, WATCH_AT,
};
pub use location::{FileSettings, HOST, LEASES, Location};
pub use mapped_file::{MappedFile, not_open};
pub use open::{check, open, open_existing, without_file};
pub use region::{Mappable, Region};
pub use text::SharedText;

#[cfg(test)]
pub(crate) mod tests;
