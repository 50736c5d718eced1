//! The guard: stands before a store on servers, and knows what to do while they fail.
//!
//! * [`guard`]: asks the store, unless it need not or must not be asked; [`no_answer`]: what answers in its
//!   place; [`policy`]: the configuration of both
//! * [`report`]: how a call ended; [`event`]: what it has to tell beside its answer
//! * [`host`]: what the processes of a host share about servers: [`breakers`], [`gates`] for connections, [`denials`]
//!   (answered by [`deny_cache`]), [`leases`] (taken and given by [`leasing`]), and [`servers`] for operators
//! * [`local_failures`], [`refusal_warnings`]: what one process keeps of them
//! * [`stores`]: opens the store of a DSN and its guard, once for each worker

pub mod breakers;
pub mod denials;
mod deny_cache;
mod event;
pub mod gates;
#[expect(clippy::module_inception, reason = "the module holds the type that the folder is about")]
mod guard;
mod host;
pub mod leases;
mod leasing;
mod local_failures;
mod no_answer;
mod policy;
mod refusal_warnings;
mod report;
mod servers;
mod stores;

pub use event::Event;
pub use guard::{Asked, Guard};
pub use host::{Host, HostFiles};
pub use leasing::{correct, decide};
pub use no_answer::{NoAnswer, PolicyAnswers, answers_to};
pub use policy::Policy;
pub use report::{DecidedBy, Report};
pub use servers::ServerStatus;
pub use stores::{OpenStore, Stores};

#[cfg(test)]
mod tests;
