//! Connections to servers, each call within its time.
//!
//! The connections of the crates `redis`, `memcache` and `mysql` are not used, for they hide the socket: they have
//! no deadline for a whole call, do not check an idle connection, and let a forked child use its parent's.
//!
//! * [`timeouts`]: how long a call and a connection may take
//! * [`budget`]: the time that is left to one call
//! * [`pause`]: the time, without that in which this process could not run
//! * [`socket`]: a socket that never waits beyond a deadline
//! * [`tls`]: the configuration of encryption; the server is always verified
//! * [`tls_error`]: explains why a TLS connection failed
//! * [`channel`]: a connection, plain or encrypted
//! * [`round_trip`]: how long a round trip to a server takes
//! * [`kept_connection`]: a connection that is kept from call to call
//! * [`mark`]: shows that a reply belongs to this call
//! * [`failure`]: why a call failed

pub mod budget;
pub mod channel;
pub mod failure;
pub mod kept_connection;
pub mod mark;
pub mod pause;
pub mod round_trip;
mod socket;
mod timeouts;
pub mod tls;
mod tls_error;

pub use timeouts::Timeouts;
