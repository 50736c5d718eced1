//! Statistics: what the processes of a host count together, and what operators see of it.
//!
//! * [`context`]: what a call is about, and under which name it is counted
//! * [`call_statistics`]: which outcomes a call has
//! * [`statistics`]: adds them where the limit's calls are counted, in the [`statistics_file`]; [`inferred_name`] by which names,
//!   [`name_source`] where those come from
//! * [`limit_statistics`]: what was counted of a limit, by [`outcome`]
//! * [`records`]: the counts in the file that all processes map, found by a keyed hash; [`denial_log`] the latest denials,
//!   [`blocks`] what is blocked (both in [`tagged_set`]s), [`watch`] what shows two limits on one identifier
//! * [`minutes`]: the calls of each minute of the last hour
//! * [`likely_proxy`]: notices a limit that counts a proxy's clients as one
//! * [`tables`]: the tables in shared memory, and how full they are
//! * [`status`]: all of it, as operators ask for it; [`prometheus`]: its text for a scraper

mod blocks;
mod call_statistics;
mod context;
mod denial_log;
mod inferred_name;
mod likely_proxy;
mod limit_statistics;
mod minutes;
mod name_source;
mod outcome;
mod prometheus;
mod records;
#[expect(clippy::module_inception, reason = "the module holds the type that the folder is about")]
mod statistics;
mod statistics_file;
mod status;
mod tables;
mod tagged_set;
mod watch;

pub use blocks::{BlockedKey, ListedBlock};
pub use call_statistics::{CallStatistics, Incidents};
pub use context::CallContext;
pub use denial_log::{DenialCause, DenialReason, DeniedBy, LONGEST_IDENTIFIER, LoggedDenial};
pub use inferred_name::{InferredName, infer_name};
pub use likely_proxy::describe_likely_proxy;
pub use limit_statistics::{LimitName, LimitStatistics};
pub use minutes::CallsOfMinute;
pub use outcome::Outcome;
pub use prometheus::prometheus;
pub use records::{FILE_SIZE, LONGEST_NAME, RecordHandle};
pub use statistics::Statistics;
pub use statistics_file::StatisticsFile;
pub use status::{Status, unix_time};
pub use tables::TableStatus;
/// The records and the log of denials: fuzzing looks for words that they trust.
#[cfg(fuzzing)]
pub use {
    blocks::Blocks,
    denial_log::DenialLog,
    name_source::NameSource,
    records::{RECORDS, Records},
};
