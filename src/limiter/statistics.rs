//! What all workers of a host count together, by the names of the limits.

use super::{Caller, Subject};
use crate::store::Settings;
use crate::store::shm::counts::{LONGEST_NAME, Outcome, Stripe, Told, weight};
use crate::store::shm::file::{COUNTS_SIZE, Location, Purpose, Region};
use std::cell::{Cell, RefCell};
use std::net::Ipv6Addr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The file's name. Not one that a DSN can have.
const NAME: &str = ".statistics";
/// How many calls there may be until it is looked again whether the file still is the one that others
/// have; and until it is tried again to open it.
const LOOK_EVERY: u64 = 1_024;

/// Where a caller's calls are counted, once that is known.
#[derive(Clone, Copy, Default)]
pub struct Counted {
    stripe: Option<&'static Stripe>,
    /// In the region of the same number, counted from 1.
    record: u32,
    generation: u32,
}

/// A file that was opened. None is ever closed, so that nobody has to ask whether it still is open;
/// there is another only where someone has removed it.
struct Opened {
    location: Location,
    region: &'static Region,
}

static OPENED: Mutex<Vec<Opened>> = Mutex::new(Vec::new());

/// How many of them this process has made: each thread has one, or a few.
static MADE: AtomicU32 = AtomicU32::new(0);

/// What all workers of a host count together.
///
/// In a file of its own. Where that cannot be had nothing is counted: that must not keep anyone
/// from a decision.
pub struct Statistics {
    location: Location,
    /// Added to the process's number: threads count in stripes of their own.
    stripe: u32,
    region: Cell<Option<&'static Region>>,
    generation: Cell<u32>,
    open_in: Cell<u64>,
    /// The name that was looked for last: a worker has but a few limits.
    last: RefCell<Last>,
}

struct Last {
    name: [u8; LONGEST_NAME],
    length: usize,
    counted: Counted,
}

impl Statistics {
    /// What is counted below `settings.shm_path`. Nothing is opened yet.
    pub fn new(settings: &Settings) -> Self {
        let location = Location {
            base: settings.shm_path.clone(),
            name: NAME.to_owned(),
            size: COUNTS_SIZE,
            purpose: Purpose::Counts,
        };
        let last = Last { name: [0; LONGEST_NAME], length: 0, counted: Counted::default() };
        Self {
            location,
            stripe: MADE.fetch_add(1, Ordering::Relaxed),
            region: Cell::new(None),
            generation: Cell::new(0),
            open_in: Cell::new(0),
            last: RefCell::new(last),
        }
    }

    /// Below which directory it is counted.
    pub fn base(&self) -> &Path {
        &self.location.base
    }

    /// Counts how a call ended. `track` tells whether it is to be remembered who was denied.
    #[inline(always)]
    pub fn count(&self, caller: &Caller<'_>, outcome: Outcome, track: bool) {
        let mut counted = caller.counted.get();
        if counted.generation != self.generation.get() || counted.generation == 0 {
            counted = self.find(caller.subject, caller.name);
            caller.counted.set(counted);
        }
        let Some(stripe) = counted.stripe else { return };
        let before = stripe.count(outcome);
        if before % LOOK_EVERY == 0 {
            self.open();
        }
        if matches!(outcome, Outcome::Denied | Outcome::LetIn) && track {
            let weight = weight(before);
            if weight > 0 {
                self.note_denied(counted.record, weight, caller.subject);
            }
        }
    }

    #[inline(never)]
    fn note_denied(&self, record: u32, weight: u32, subject: Subject<'_>) {
        let identifier: [&[u8]; 3] = match subject {
            Subject::Identifier(identifier) => [identifier, b"", b""],
            Subject::Client { name, id } => [name, b":", id],
        };
        if let Some(region) = self.region.get()
            && let Some(record) = region.records().get(record as usize)
        {
            region.note_denied(record, weight, identifier);
        }
    }

    /// Finds out where the calls of a subject are counted.
    #[inline(never)]
    fn find(&self, subject: Subject<'_>, name: Option<&[u8]>) -> Counted {
        if self.region.get().is_none() {
            match self.open_in.get() {
                0 => {
                    self.open_in.set(LOOK_EVERY);
                    self.open();
                }
                left => self.open_in.set(left - 1),
            }
        }
        let (name, bare) = match name {
            Some(name) => (name, false),
            None => name_of(subject),
        };
        let last = self.last.borrow();
        let known = last.counted.generation == self.generation.get();
        if known && last.length == name.len() && last.name.iter().zip(name).all(|(a, b)| a == b) {
            return last.counted;
        }
        drop(last);
        self.look_up(name, bare)
    }

    #[cold]
    fn look_up(&self, name: &[u8], bare: bool) -> Counted {
        let Some(region) = self.region.get() else { return Counted::default() };
        let record = region.record_of(name, bare);
        let number = std::process::id().wrapping_add(self.stripe);
        let stripe = region.records().get(record).and_then(|record| record.stripe(number));
        // Fits: there are 64.
        let (record, generation) = (record as u32, self.generation.get());
        let counted = Counted { stripe, record, generation };
        let mut last = Last { name: [0; LONGEST_NAME], length: name.len(), counted };
        if name.len() <= LONGEST_NAME {
            last.name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
            self.last.replace(last);
        }
        counted
    }

    #[cold]
    fn open(&self) {
        if self.region.get().is_none_or(Region::is_stale) {
            self.region.set(opened(&self.location));
            self.generation.set(self.generation.get().wrapping_add(1).max(1));
        }
    }

    /// What is counted so far, by the limits' names; `None` for those that came too late to have a
    /// place of their own.
    pub fn told(&self) -> Vec<(Option<Vec<u8>>, Told)> {
        self.open();
        self.region.get().map(Region::told).unwrap_or_default()
    }
}

/// The file at a location, as it was opened before, or anew.
fn opened(location: &Location) -> Option<&'static Region> {
    let mut opened = OPENED.lock().ok()?;
    let known = opened.iter_mut().find(|known| known.location == *location);
    match known {
        Some(known) if !known.region.is_stale() => Some(known.region),
        known => {
            let region: &'static Region = Box::leak(Box::new(Region::open(location).ok()?));
            match known {
                Some(known) => known.region = region,
                None => opened.push(Opened { location: location.clone(), region }),
            }
            Some(region)
        }
    }
}

/// The name of a limit that was given none, and whether that is the whole identifier: what stands
/// before the first colon. An address has no name, nor has a number: they are a client's.
#[inline]
pub fn name_of(subject: Subject<'_>) -> (&[u8], bool) {
    let (identifier, is_client) = match subject {
        // The application's name.
        Subject::Client { name, .. } => (name, false),
        Subject::Identifier(identifier) => (identifier, true),
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
        && text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'/'))
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
            String::from_utf8_lossy(name_of(Subject::Identifier(identifier)).0).into_owned()
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
        assert_eq!(name_of(Subject::Client { name: b"a:b", id: b"c" }), (&b"a"[..], false));
        assert_eq!(name_of(Subject::Client { name: b"2", id: b"c" }), (&b"2"[..], false));
        assert_eq!(name_of(Subject::Identifier(b"joe")), (&b"joe"[..], true));
    }
}
