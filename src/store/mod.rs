//! Stores: where the state of buckets and windows lives.
//!
//! * [`request`]: what a caller asks of a store, and the trait [`Store`]; [`answer`]: what it answers;
//!   [`remote`]: what only a store on servers has; [`writes`]: writes that may wait for a lock
//! * [`permits`]: what a caller asks of a store that holds permits
//! * [`key`], [`kind`]: names a bucket or a window
//! * [`array`], [`shm`]: stores on this host; [`redis`], [`memcached`], [`mysql`]: stores on servers
//! * [`swap`]: decides by compare and swap, for servers that run no algorithm of ours, once for all of a host's equal calls
//! * [`record`], [`name`]: states and keys as servers keep them

mod answer;
pub mod array;
mod key;
mod kind;
mod memcached;
mod mysql;
mod name;
mod permits;
mod record;
mod redis;
mod remote;
mod request;
pub mod shm;
pub mod swap;
mod writes;

pub use answer::Answer;
pub use key::{Key, KeyHash};
pub use kind::LimitKind;
pub use memcached::Memcached;
pub use mysql::Mysql;
/// The names of keys on servers: fuzzing looks for two keys that share one name.
#[cfg(fuzzing)]
pub use name::{key_name, row_name};
pub use permits::{PermitHandle, Permits};
pub use redis::Redis;
/// What Redis says of its nodes: fuzzing looks for addresses that no DSN could name. And what its scripts
/// reply.
#[cfg(fuzzing)]
pub use redis::{
    parse_map, parse_master, parse_permit_reply, parse_redirection, parse_reply,
    parse_reply_for_all,
};
pub use remote::{BREAKERS, RemoteStore};
#[cfg(test)]
pub use request::tests::with_request;
pub use request::{JointRequest, Request, Store};
pub use writes::{WriteOutcome, Writes};
