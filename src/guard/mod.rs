//! The guard: stands before a store on servers, and knows what to do while they fail.
//!
//! * [`guard`]: asks the store, unless it need not or must not be asked; [`asked`]: what a call asks; [`outcome`]: how it ended;
//!   [`no_answer`]: what answers in its place
//! * [`report`]: how a call ended; [`event`]: what it has to tell beside its answer
//! * [`host`]: what the processes of a host share about a store: a [`store_record`] with a [`breaker`] for each server, a [`gate`] for
//!   connections and what operators see (listed by [`server_list`]), [`denials`] (answered by [`deny_cache`]), and
//!   [`leases`] (taken and given by [`leasing`]); [`host_files`]: where
//! * [`writes`]: writes that wait for a lock while reads are answered
//! * [`local_failures`], [`rediscovery`], [`refusal_warnings`], [`once_a_second`]: what one process keeps of them; [`distance`]: how far they are
//! * [`stores`]: opens the store of a DSN and its guard, once for each worker

mod asked;
pub mod breaker;
pub mod denials;
mod deny_cache;
mod distance;
mod event;
pub mod gate;
#[expect(clippy::module_inception, reason = "the module holds the type that the folder is about")]
mod guard;
mod host;
mod host_files;
pub mod leases;
mod leasing;
mod local_failures;
mod no_answer;
mod once_a_second;
mod outcome;
mod recent_time;
mod rediscovery;
mod refusal_warnings;
mod report;
mod server_list;
pub mod store_record;
mod stores;
mod writes;

pub use asked::Asked;
pub use event::Event;
pub use guard::Guard;
pub use host::Host;
pub use host_files::HostFiles;
pub use leasing::{correct, decide};
pub use no_answer::{NoAnswer, PolicyAnswers, answers_to, untouched};
pub use report::{DecidedBy, Report};
pub use server_list::{forget_server, list_servers};
pub use store_record::ServerStatus;
pub use stores::{OpenStore, Stores};

#[cfg(test)]
mod tests;
