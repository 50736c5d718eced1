//! Counts the calls of all workers of one system user on a host, by the prefixes and names of the limits.

use super::blocks::{BlockedKey, Blocks, ListedBlock};
use super::context::CallContext;
use super::denial_log::{DenialCause, DenialLog, LoggedDenial, note_denied};
use super::inferred_name::infer_name;
use super::limit_statistics::{LimitName, LimitStatistics};
use super::name_source::NameSource;
use super::outcome::Outcome;
use super::records::{LONGEST_NAME, Record, RecordHandle, Records};
use super::statistics_file::StatisticsFile;
use super::watch::{self, LimitNumbers, Watch};
use crate::clock::{boot_time, coarse_time};
use crate::error::Error;
use crate::guard::Event;
use crate::identifier::Identifier;
use crate::limit::Limit;
use crate::mapped::Region;
use crate::settings::Settings;
use crate::store::KeyHash;
use std::cell::RefCell;
use std::rc::Rc;

/// Counts the calls of the limits below one prefix.
pub struct Statistics {
    file: Rc<StatisticsFile>,
    prefix: Vec<u8>,
    /// Whether likely mistakes give a warning.
    warn_of_mistakes: bool,
    /// The name that was looked up last. Most workers have few limits.
    last: RefCell<LastName>,
}

struct LastName {
    name: [u8; LONGEST_NAME],
    length: usize,
    source: NameSource,
    handle: RecordHandle,
}

impl Statistics {
    /// Counts in `file`, for the limits below `prefix`.
    pub fn new(file: Rc<StatisticsFile>, prefix: &[u8], warn_of_mistakes: bool) -> Self {
        let (name, length, source) = ([0; LONGEST_NAME], 0, NameSource::Given);
        let last = LastName { name, length, source, handle: RecordHandle::default() };
        let (prefix, last) = (prefix.to_vec(), RefCell::new(last));
        Self { file, prefix, warn_of_mistakes, last }
    }

    /// Adds how a call ended that was not denied. A `limit` is compared with others on the identifier, now and then. Returns
    /// the warning of a likely mistake.
    #[inline(always)]
    pub fn add_outcome(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        outcome: Outcome,
        now: impl FnOnce() -> u64,
    ) -> Option<Box<Event>> {
        self.with_record(context, limit, now, |_, record, _| {
            record.stripe(self.file.stripe()).count(outcome);
        })
    }

    /// Adds what happened in a call beside its answer. No mistake shows there.
    #[cold]
    pub fn add_incident(&self, context: CallContext<'_>, outcome: Outcome) {
        let _ = self.add_outcome(&context, None, outcome, boot_time);
    }

    /// Adds a call that was denied, as [`add_outcome`](Self::add_outcome) does. `now` and `cause` are asked once the record is
    /// found, `cause` only for a denial that is noted in the log.
    #[inline(always)]
    pub fn add_denial(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        settings: &Settings,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        self.with_record(context, limit, now, |region, record, now| {
            let stripe = record.stripe(self.file.stripe());
            let outcome = if settings.enforce { Outcome::Denied } else { Outcome::DryRunDenied };
            let before = stripe.count(outcome);
            let weight = stripe.weigh_denial(before, now);
            if weight > 0 {
                let track = settings.track_identifiers;
                note_denied(region, context, track, weight, now, &cause());
            }
        })
    }

    /// Runs `work` on the record that counts the calls of a limit, if there is a file, with the time of the call.
    #[inline(always)]
    fn with_record(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        now: impl FnOnce() -> u64,
        work: impl FnOnce(&Region, &Record, u64),
    ) -> Option<Box<Event>> {
        if self.file.is_check_due() {
            self.check(context.key_hash.get());
        }
        let region = self.file.region();
        let region = region.as_ref()?;
        let records = Records::new(region);
        let known = records.get(context.record.get());
        // `check()` may be given another client and another limit each time.
        let is_first = known.is_none() || matches!(context.identifier, Identifier::Client { .. });
        if is_first && self.file.is_watch_due() {
            self.watch(region, context.key_hash.get());
        }
        if let Some(record) = known.or_else(|| self.find(records, context)) {
            let now = now();
            record.note_minute(now);
            work(region, record, now);
        }
        let watched = limit.filter(|_| Watch::in_file(region).is_on(context.key_hash.get()))?;
        self.note_limit(region, context, watched)
    }

    /// Opens the file of other processes, and watches the key of this call if no process watches one.
    #[cold]
    #[inline(never)]
    fn check(&self, key: KeyHash) {
        self.file.open();
        if let Some(region) = &*self.file.region() {
            self.watch(region, key);
        }
    }

    fn watch(&self, region: &Region, key: KeyHash) {
        let watch = Watch::in_file(region);
        if self.warn_of_mistakes && !watch.is_on(key) {
            watch.begin(key, coarse_time());
        }
    }

    /// Notes the limit of a call on the watched key, and makes a warning if there is another limit on it.
    #[cold]
    #[inline(never)]
    fn note_limit(
        &self,
        region: &Region,
        context: &CallContext<'_>,
        limit: &Limit,
    ) -> Option<Box<Event>> {
        let (watch, now) = (Watch::in_file(region), coarse_time());
        let is_noted = self.warn_of_mistakes && self.file.is_watched(now);
        let own = LimitNumbers::of(limit).filter(|_| is_noted)?;
        let other = watch.note(context.key_hash.get(), own, now)?;
        // A whole identifier may be a person's, and is not for the log.
        let inferred = || match infer_name(context.identifier) {
            inferred if inferred.is_whole_identifier => b"".as_slice(),
            inferred => inferred.name,
        };
        let name = context.name.unwrap_or_else(inferred);
        let is_due = watch.claim_warning(region.secret(), name, now);
        is_due.then(|| Event::from_warning(watch::warning(name, own, other)))
    }

    /// Finds the record that counts the calls of a limit.
    #[inline(never)]
    fn find<'a>(&self, records: Records<'a>, context: &CallContext<'_>) -> Option<&'a Record> {
        let (name, source) = match context.name {
            Some(name) => (name, NameSource::Given),
            None => {
                let inferred = infer_name(context.identifier);
                let source = match inferred.is_whole_identifier {
                    // No client has made up a name that is not there.
                    _ if inferred.name.is_empty() => NameSource::Given,
                    true => NameSource::WholeIdentifier,
                    false => NameSource::BeforeColon,
                };
                (inferred.name, source)
            }
        };
        let last = self.last.borrow();
        let is_same = last.source == source
            && last.length == name.len()
            && last.name.iter().zip(name).all(|(a, b)| a == b);
        let handle = last.handle;
        drop(last);
        let known = records.get(handle).filter(|_| is_same);
        let (record, handle) = match known {
            Some(record) => (record, handle),
            None => {
                let handle = self.look_up(records, name, source);
                (records.get(handle)?, handle)
            }
        };
        context.record.set(handle);
        Some(record)
    }

    #[cold]
    fn look_up(&self, records: Records<'_>, name: &[u8], source: NameSource) -> RecordHandle {
        let handle = records.find_or_claim(&self.prefix, name, source);
        if name.len() <= LONGEST_NAME {
            let mut last = LastName { name: [0; LONGEST_NAME], length: name.len(), source, handle };
            last.name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
            self.last.replace(last);
        }
        handle
    }

    /// Why nothing is counted, if that is so.
    pub fn error(&self) -> Option<Error> {
        self.file.error()
    }

    /// Runs `work` on the file that other processes use, if there is one.
    fn in_file<T>(&self, work: impl FnOnce(&Region) -> T) -> Option<T> {
        self.file.open();
        self.file.region().as_ref().map(work)
    }

    /// What is counted so far, under all prefixes.
    pub fn snapshot(&self) -> Vec<(LimitName, LimitStatistics)> {
        self.in_file(|region| {
            let now = boot_time();
            let mut limits = Records::new(region).snapshot(now);
            let mut denied = DenialLog::new(region).most_denied(now);
            for (name, limit) in &mut limits {
                limit.denied = denied.remove(name).unwrap_or_default();
            }
            limits
        })
        .unwrap_or_default()
    }

    /// What was denied lately, under all prefixes, the latest first.
    pub fn denials(&self) -> Vec<LoggedDenial> {
        self.in_file(|it| DenialLog::new(it).snapshot()).unwrap_or_default()
    }

    /// What is blocked at `now` below this prefix.
    pub fn blocks(&self, now: u64) -> Vec<ListedBlock> {
        self.in_file(|it| Blocks::new(it).snapshot(&self.prefix, now)).unwrap_or_default()
    }

    /// Notes until when a key is blocked, or that it was reset.
    pub fn note_block(&self, key: &BlockedKey<'_>, until: Option<u64>, track: bool) {
        self.in_file(|region| match until {
            Some(until) => Blocks::new(region).note(key, &self.prefix, track, until),
            None => Blocks::new(region).lift(key),
        });
    }

    /// Sets the counts of some limits to zero, and forgets their names and what they have denied.
    pub fn reset(&self, is_wanted: impl Fn(&LimitName) -> bool) {
        self.in_file(|region| {
            DenialLog::new(region).forget(&is_wanted);
            Records::new(region).reset(is_wanted);
        });
    }
}
