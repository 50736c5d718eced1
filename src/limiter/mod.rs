//! A limit on a store: turns a call of the application into a decision.
//!
//! * [`limiter`]: a store with all that applies to every key in it
//! * [`limiters`]: the limiters of a worker; [`named_limits`] are limits that an operator names in a file
//! * [`compound`]: calls on several limits, of which all are charged or none: [`joint_call`] asks them, [`together`] on one server
//! * [`first_of`]: calls on several limits, of which the first that accepts is charged
//! * [`member`]: one limit of such a call; [`in_order`]: asks one after the other
//! * [`settlement`]: what a call cost, once that is known, in place of its estimate
//! * [`concurrency`]: limits of how many run at once
//! * [`uncharged`]: answers to calls of which a limit learns nothing
//! * [`flagged_decision`]: a decision, and how it came about

mod compound;
mod concurrency;
mod first_of;
mod flagged_decision;
mod in_order;
mod joint_call;
#[expect(clippy::module_inception, reason = "the module holds the type that the folder is about")]
mod limiter;
mod limiters;
mod member;
mod named_limits;
mod settlement;
mod together;
mod uncharged;

// src/php reaches stores, and what is known of them, through this room alone.
pub use crate::guard::{DecidedBy, Event, Host, Report, ServerStatus, forget_server};
pub use crate::mapped::FileSettings;
pub use crate::statistics::{
    CallContext, CallStatistics, CallsOfMinute, DenialCause, DenialReason, DeniedBy, Incidents,
    InferredName, LONGEST_IDENTIFIER, LimitName, LimitStatistics, ListedBlock, LoggedDenial,
    Outcome, RecordHandle, Statistics, StatisticsFile, Status, TableStatus, describe_likely_proxy,
    infer_name, prometheus, unix_time,
};
pub use crate::store::KeyHash;

pub use compound::{Answers, MAX_MEMBERS, admits_all, peek_all, take_all};
pub use concurrency::{HeldPermit, NO_PERMITS, acquire, count_permits, has_permits, reset_permits};
pub use first_of::{FirstAnswer, peek_first, take_first};
pub use flagged_decision::{DecisionFlags, FlaggedDecision};
pub use limiter::Limiter;
pub use limiters::Limiters;
pub use member::Member;
pub use named_limits::{
    Algorithm, CALENDAR, CONCURRENCY, ClientRule, Clients, ClientsFile, DEFAULT_LIFETIME,
    Exception, FileError, FileLine, LineContent, NamedLimit, NamedLimits, Rule, Sources, Terms,
    read_clients,
};
pub use settlement::{Settled, Settlement, settle};
