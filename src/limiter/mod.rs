//! A limit on a store: turns a call of the application into a decision.
//!
//! * [`identifier`]: what a call is about, and the key of a client
//! * [`limiter`]: a store with all that applies to every key in it; [`uncounted`] are the calls on it that
//!   are not counted, or not yet
//! * [`counting`]: counts calls by how they ended
//! * [`limiters`]: the limiters of a worker; [`named_limits`] are limits that an operator names in a file
//! * [`compound`]: calls on several limits, of which all are charged or none
//! * [`concurrency`]: limits of how many run at once
//! * [`settings`]: what the directives and a DSN set
//! * [`event`]: what a call has to report beside its answer
//! * [`guard`]: deny cache, breaker and on-error policy, for stores on servers
//! * [`leasing`]: tokens of busy buckets on servers, taken ahead
//! * [`flagged_decision`]: a decision, and how it came about
//! * [`statistics`], [`inferred_name`]: what is counted, and by which names
//! * [`status`]: what operators ask; [`prometheus`]: its text for a scraper

mod compound;
mod concurrency;
mod counting;
mod event;
mod flagged_decision;
mod guard;
mod identifier;
mod inferred_name;
mod leasing;
#[expect(clippy::module_inception, reason = "the module holds the type that the folder is about")]
mod limiter;
mod limiters;
mod named_limits;
mod prometheus;
mod settings;
mod statistics;
mod status;
mod uncounted;

pub use crate::mapped::FileSettings;
pub use crate::mapped::{MAX_SIZE as MAX_SHM_SIZE, MIN_SIZE as MIN_SHM_SIZE};
pub use crate::net::Timeouts;
/// What the layer above needs of the stores: it imports nothing from them itself.
pub use crate::store::counters::{
    CounterHandle, DenialCause, DenialReason, DeniedBy, LONGEST_IDENTIFIER, LimitName,
    LimitStatistics, LoggedDenial, Outcome,
};
pub use crate::store::{KeyHash, ServerStatus, TableStatus};
pub use compound::{Answers, MAX_MEMBERS, Member, admits_all, peek_all, take_all};
pub use concurrency::{HeldPermit, NO_PERMITS};
pub use event::Event;
pub use flagged_decision::{DecidedBy, DecisionFlags, FlaggedDecision};
pub use identifier::{CallContext, Identifier, MAX_IDENTIFIER, client_identifier};
pub use inferred_name::{InferredName, infer_name};
pub use limiter::{DEFAULT_PREFIX, Limiter};
pub use limiters::Limiters;
pub use named_limits::{
    Algorithm, FileError, FileLine, LineContent, NamedLimit, NamedLimits, Rule,
};
pub use prometheus::prometheus;
pub use settings::{Policy, Settings, StoreSettings};
pub use statistics::{Statistics, StatisticsFile};
pub use status::{Status, unix_time};
