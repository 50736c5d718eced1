//! What all workers of a host count together, by the prefixes and names of the limits.

use super::{CallContext, Identifier};
use crate::store::FileSettings;
use crate::store::counters::{
    FILE_SIZE, LONGEST_NAME, LimitName, LimitStatistics, Outcome, Record, Records, denial_weight,
};
use crate::store::file::{Location, Purpose, Region};
use std::cell::{Cell, RefCell};
use std::net::Ipv6Addr;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The file's name. Not one that a DSN can have.
const NAME: &str = ".statistics";
/// After how many of its own calls a process looks again whether the file still is the one that others
/// have, and tries again to open it.
const LOOK_EVERY: u32 = 1_024;

/// Where a caller's calls are counted, once that is known.
#[derive(Clone, Copy, Default)]
pub struct CounterHandle {
    record: u32,
    /// Of the file that was open then, counted from 1.
    generation: u32,
}

/// How many files this process has opened, or tried to: each thread has one.
static FILES: AtomicU32 = AtomicU32::new(0);

/// The file in which the workers of a host count together.
///
/// Where it cannot be had nothing is counter: that must not keep anyone from a decision.
pub struct StatisticsFile {
    location: Location,
    /// Added to the process's number: threads count in stripes of their own.
    number: u32,
    /// Where this process counts, in every record. A forked child keeps its parent's until it looks.
    stripe: Cell<u32>,
    region: RefCell<Option<Region>>,
    /// Counts the files opened, from 1.
    generation: Cell<u32>,
    calls_until_look: Cell<u32>,
}

impl StatisticsFile {
    /// The file below this directory. Nothing is opened yet.
    pub fn new(files: &FileSettings) -> Self {
        Self {
            location: Location::new(
                &FileSettings { size: FILE_SIZE, ..files.clone() },
                NAME,
                Purpose::Counts,
            ),
            number: FILES.fetch_add(1, Ordering::Relaxed),
            stripe: Cell::new(0),
            region: RefCell::new(None),
            generation: Cell::new(0),
            calls_until_look: Cell::new(0),
        }
    }

    /// The directory that it is below, as the directive names it.
    pub fn path(&self) -> &Path {
        &self.location.base
    }

    /// Looks at the file, if that is due.
    #[inline(always)]
    fn look(&self) {
        match self.calls_until_look.get() {
            0 => self.open(),
            left => self.calls_until_look.set(left - 1),
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&self) {
        self.calls_until_look.set(LOOK_EVERY);
        self.stripe.set(self.number.wrapping_add(std::process::id()));
        let mut region = self.region.borrow_mut();
        if region.as_ref().is_none_or(Region::is_stale) {
            // The old one goes first: a process never maps two.
            region.take();
            *region = Region::open(&self.location).ok();
            self.generation.set(self.generation.get().wrapping_add(1).max(1));
        }
    }
}

/// Counts the calls of the limits below one prefix.
pub struct Statistics {
    file: Rc<StatisticsFile>,
    prefix: Vec<u8>,
    /// The name that was looked up last: a worker has but a few limits.
    last: RefCell<LastName>,
}

struct LastName {
    name: [u8; LONGEST_NAME],
    length: usize,
    counter: CounterHandle,
}

impl Statistics {
    /// Counts in `file`, for the limits below `prefix`.
    pub fn new(file: Rc<StatisticsFile>, prefix: &[u8]) -> Self {
        let last =
            LastName { name: [0; LONGEST_NAME], length: 0, counter: CounterHandle::default() };
        Self { file, prefix: prefix.to_vec(), last: RefCell::new(last) }
    }

    /// Counts how a call ended. `track` tells whether the identifiers that are denied most are counted.
    #[inline(always)]
    pub fn count(&self, context: &CallContext<'_>, outcome: Outcome, track: bool) {
        self.file.look();
        let mut counter = context.counter.get();
        if counter.generation != self.file.generation.get() {
            counter = self.find(context.identifier, context.name);
            context.counter.set(counter);
        }
        let region = self.file.region.borrow();
        let Some(region) = &*region else { return };
        let records = Records::new(region);
        let Some(record) = records.get(counter.record as usize) else { return };
        let before = record.stripe(self.file.stripe.get()).count(outcome);
        if matches!(outcome, Outcome::Denied | Outcome::DryRunDenied) && track {
            let weight = denial_weight(before);
            if weight > 0 {
                note_denied(records, record, weight, context.identifier);
            }
        }
    }

    /// Finds out where the calls of a identifier are counted.
    #[inline(never)]
    fn find(&self, identifier: Identifier<'_>, name: Option<&[u8]>) -> CounterHandle {
        let (name, bare) = match name {
            Some(name) => (name, false),
            None => name_of(identifier),
        };
        let last = self.last.borrow();
        let known = last.counter.generation == self.file.generation.get();
        if known && last.length == name.len() && last.name.iter().zip(name).all(|(a, b)| a == b) {
            return last.counter;
        }
        drop(last);
        self.look_up(name, bare)
    }

    #[cold]
    fn look_up(&self, name: &[u8], bare: bool) -> CounterHandle {
        let region = self.file.region.borrow();
        let Some(region) = &*region else { return CounterHandle::default() };
        // Fits: there are 128.
        let record = Records::new(region).find_or_claim(&self.prefix, name, bare) as u32;
        let counter = CounterHandle { record, generation: self.file.generation.get() };
        let mut last = LastName { name: [0; LONGEST_NAME], length: name.len(), counter };
        if name.len() <= LONGEST_NAME {
            last.name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
            self.last.replace(last);
        }
        counter
    }

    /// What is counted so far, of all prefixes.
    pub fn snapshot(&self) -> Vec<(LimitName, LimitStatistics)> {
        self.file.open();
        let region = self.file.region.borrow();
        region.as_ref().map(|region| Records::new(region).snapshot()).unwrap_or_default()
    }
}

#[inline(never)]
fn note_denied(records: Records<'_>, record: &Record, weight: u32, identifier: Identifier<'_>) {
    let identifier: [&[u8]; 3] = match identifier {
        Identifier::Plain(identifier) => [identifier, b"", b""],
        Identifier::Client { name, id } => [name, b":", id],
    };
    records.note_denied(record, weight, identifier);
}

/// The name of a limit that was given none, and whether that is the whole identifier: what stands
/// before the first colon. An address has no name, nor has a number: they are a client's.
#[inline]
pub fn name_of(identifier: Identifier<'_>) -> (&[u8], bool) {
    let (identifier, is_client) = match identifier {
        // The application's name.
        Identifier::Client { name, .. } => (name, false),
        Identifier::Plain(identifier) => (identifier, true),
    };
    let first = up_to_colon(identifier);
    let bare = first.len() == identifier.len();
    // Nothing, but of the identifier, where there is memory: to compare with what is nowhere takes long.
    let nothing = first.get(..0).unwrap_or_default();
    let is_address = || is_ipv6(first, identifier) || (first.contains(&b'.') && is_number(first));
    match is_client && if bare { is_number(first) } else { is_address() } {
        true => (nothing, false),
        false => (first, bare && is_client),
    }
}

/// Whether it is digits and dots: a number, or an IPv4 address or network.
fn is_number(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
        // These follow each other in ASCII: . / 0 to 9.
        && text.iter().all(|byte| (b'.'..=b'9').contains(byte))
}

/// Whether it is an IPv6 address or network, of which `first` is what stands before the first colon.
fn is_ipv6(first: &[u8], identifier: &[u8]) -> bool {
    if first.len() > 4 || !first.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    // Of a network, or in a zone.
    let address = identifier.split(|byte| matches!(byte, b'/' | b'%')).next().unwrap_or_default();
    std::str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// Eight bytes at a time: every new object has its identifier looked through.
#[inline]
fn up_to_colon(text: &[u8]) -> &[u8] {
    const COLONS: u64 = u64::from_le_bytes([b':'; 8]);
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let (words, rest) = text.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        // Zero where there is a colon; the lowest zero byte is the lowest with its high bit set.
        let word = u64::from_le_bytes(*word) ^ COLONS;
        let found = word.wrapping_sub(LOW) & !word & HIGH;
        if found != 0 {
            return text.get(..at + found.trailing_zeros() as usize / 8).unwrap_or_default();
        }
        at += 8;
    }
    let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
    text.get(..at + end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_by_what_stands_before_the_colon() {
        let named = |identifier: &[u8]| {
            String::from_utf8_lossy(name_of(Identifier::Plain(identifier)).0).into_owned()
        };
        assert_eq!(named(b"login:192.0.2.1"), "login");
        assert_eq!(named(b"login:2001:db8::1"), "login");
        assert_eq!(named(b"api"), "api");
        assert_eq!(named(b"feed:joe"), "feed");
        assert_eq!(named(b"feed:ad:joe"), "feed");
        assert_eq!(named(b"db:17:192.0.2.1"), "db");
        assert_eq!(named(b"2fa"), "2fa");
        assert_eq!(named(b"42:joe"), "42");
        for length in 1..40 {
            let name = "n".repeat(length);
            assert_eq!(named(format!("{name}:x:y").as_bytes()), name);
            assert_eq!(named(format!("{name}\u{bb}").as_bytes()), format!("{name}\u{bb}"));
        }
        assert_eq!(named(b"4711"), "");
        for address in ["192.0.2.1", "2001:db8::1", "::1", "::ffff:192.0.2.1", "192.0.2.1:80"]
            .into_iter()
            .chain(["2001:db8:1:2::/64", "192.0.2.0/24", "fe80::1%eth0"])
        {
            assert_eq!(named(address.as_bytes()), "");
        }
        // As the bucket's own, so that both are counted in one place.
        assert_eq!(name_of(Identifier::Client { name: b"a:b", id: b"c" }), (&b"a"[..], false));
        assert_eq!(name_of(Identifier::Client { name: b"2", id: b"c" }), (&b"2"[..], false));
        assert_eq!(name_of(Identifier::Plain(b"joe")), (&b"joe"[..], true));
    }
}
