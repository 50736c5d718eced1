//! Gates that let the processes of this host connect to a server a few at a time.
//!
//! All workers connect at once when a pool starts or a server is back. A server that makes one handshake after
//! the other would then answer all but the first too late, and each of the others would begin anew. A gate begins
//! narrow, becomes wider with each connection that is opened, and half as wide with each that fails.

use crate::limit::SECOND;
use crate::mapped::{GATES_AT, HOST_BODY_AT, Mappable, Region};
use portable_atomic::{AtomicU64, Ordering};

/// How many servers have a gate. Processes connect to a further one without.
const COUNT: usize = 16;
/// The most processes of this host that connect to a server at once.
const WIDEST: usize = 14;
/// How wide a gate is at first.
const FIRST_WIDTH: u64 = 4;

/// How long a place is occupied at most, in nanoseconds: its process may have been killed, or wait for a server with
/// time-outs of its own.
const LONGEST_PLACE: u64 = SECOND;

/// The gates of a host.
#[repr(C, align(128))]
#[derive(Default)]
pub struct Gates([Gate; COUNT]);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Gates {}

#[repr(C)]
#[derive(Default)]
struct Gate {
    /// The id of the server; 0 if the gate is free.
    id: AtomicU64,
    /// How many processes may connect at once; 0 for a gate that was never used.
    width: AtomicU64,
    /// The time by which each process that connects must be done, in nanoseconds since boot. One that was killed occupies
    /// its place until then.
    places: [AtomicU64; WIDEST],
}

/// Whether a process may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateEntry {
    /// It may, and calls [`Gates::leave`] afterwards.
    Place(GatePlace),
    /// It may: no gate is free for the server.
    WithoutGate,
    /// It may not: as many others as the gate is wide are connecting.
    Full,
}

/// The place of a process that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatePlace {
    index: usize,
    until: u64,
}

impl Gates {
    /// The gates in this file.
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, GATES_AT, HOST_BODY_AT>()
    }

    /// Whether a process may connect to the server of this id at `now`, for at most `longest` nanoseconds.
    pub fn enter(&self, id: u64, now: u64, longest: u64) -> GateEntry {
        let Some(gate) = self.find_or_claim(id, now) else { return GateEntry::WithoutGate };
        let until = now + longest.clamp(1, LONGEST_PLACE);
        let width = gate.width() as usize;
        for (index, place) in gate.places.iter().enumerate().take(width) {
            let taken_until = place.load(Ordering::Relaxed);
            let (order, is_free) = (Ordering::Relaxed, taken_until <= now);
            if is_free && place.compare_exchange(taken_until, until, order, order).is_ok() {
                return GateEntry::Place(GatePlace { index, until });
            }
        }
        GateEntry::Full
    }

    /// Notes that a process has connected to the server of this id, or failed to.
    pub fn leave(&self, id: u64, place: GatePlace, has_connected: bool) {
        let Some(gate) = self.find(id) else { return };
        let order = Ordering::Relaxed;
        if let Some(word) = gate.places.get(place.index) {
            let _ = word.compare_exchange(place.until, 0, order, order);
        }
        let width = gate.width();
        let next = if has_connected { (width + 1).min(WIDEST as u64) } else { (width / 2).max(1) };
        gate.width.store(next, order);
    }

    fn find(&self, id: u64) -> Option<&Gate> {
        self.0.iter().find(|gate| gate.id.load(Ordering::Relaxed) == id)
    }

    fn find_or_claim(&self, id: u64, now: u64) -> Option<&Gate> {
        self.find(id).or_else(|| self.0.iter().find(|gate| gate.is_claimed(id, now)))
    }
}

impl Gate {
    /// Whether this gate is the server's, after an attempt to claim it. Another process may have claimed it meanwhile, for
    /// the same server.
    fn is_claimed(&self, id: u64, now: u64) -> bool {
        let (seen, order) = (self.id.load(Ordering::Relaxed), Ordering::Relaxed);
        let is_idle = || self.places.iter().all(|until| until.load(order) <= now);
        if seen == id || !is_idle() {
            return seen == id;
        }
        match self.id.compare_exchange(seen, id, order, order) {
            Ok(_) => {
                self.width.store(FIRST_WIDTH, order);
                true
            }
            Err(claimed) => claimed == id,
        }
    }

    fn width(&self) -> u64 {
        self.width.load(Ordering::Relaxed).clamp(1, WIDEST as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: u64 = 100;

    fn enter_all(gates: &Gates, id: u64, now: u64) -> Vec<GatePlace> {
        let enter = || match gates.enter(id, now, TIME) {
            GateEntry::Place(place) => Some(place),
            _ => None,
        };
        std::iter::from_fn(enter).collect()
    }

    #[test]
    fn places_of_processes_that_were_killed_are_free_after_a_second() {
        let gates = Gates::default();
        let enter = |now| gates.enter(7, now, 60 * SECOND);
        while let GateEntry::Place(_) = enter(5) {}
        assert_eq!(enter(4 + LONGEST_PLACE), GateEntry::Full);
        assert!(matches!(enter(5 + LONGEST_PLACE), GateEntry::Place(_)));
    }

    #[test]
    fn gate_becomes_wider_with_success_and_narrower_with_failure() {
        let gates = Gates::default();
        let mut widths = Vec::new();
        for has_connected in [true, true, true, false, false, false] {
            let places = enter_all(&gates, 7, 5);
            widths.push(places.len());
            gates.leave(7, places[0], has_connected);
            places.iter().skip(1).for_each(|place| gates.leave(7, *place, true));
        }
        assert_eq!(widths[..4], [4, 8, 14, 14]);
        let places = enter_all(&gates, 7, 5);
        places.iter().for_each(|place| gates.leave(7, *place, false));
        assert_eq!(enter_all(&gates, 7, 5).len(), 1);
    }

    #[test]
    fn one_failure_makes_a_gate_half_as_wide() {
        let gates = Gates::default();
        enter_all(&gates, 7, 5)
            .iter()
            .cycle()
            .take(20)
            .for_each(|place| gates.leave(7, *place, true));
        let places = enter_all(&gates, 7, 5);
        assert_eq!(places.len(), WIDEST);
        for (nth, place) in places.iter().enumerate() {
            gates.leave(7, *place, nth < WIDEST - 1);
        }
        assert_eq!(enter_all(&gates, 7, 5).len(), WIDEST / 2);
    }

    #[test]
    fn process_that_comes_late_frees_no_place_of_another() {
        let gates = Gates::default();
        let first = enter_all(&gates, 7, 5);
        assert_eq!(gates.enter(7, 5 + TIME - 1, TIME), GateEntry::Full);
        assert_eq!(enter_all(&gates, 7, 5 + TIME).len(), 4);
        gates.leave(7, first[0], false);
        gates.leave(7, first[0], true);
        gates.leave(7, first[0], true);
        assert_eq!(gates.enter(7, 5 + TIME, TIME), GateEntry::Full);
    }

    #[test]
    fn server_has_one_gate_although_two_processes_claim_it_at_once() {
        let gates = Gates::default();
        // The other process has found no gate of the server, either, and takes a place in the one that this one claims.
        assert_eq!(enter_all(&gates, 7, 5).len(), 4);
        let again: Vec<_> = gates.0.iter().filter(|gate| gate.is_claimed(7, 5)).take(1).collect();
        assert!(std::ptr::eq(again[0], &gates.0[0]));
    }

    #[test]
    fn servers_have_gates_of_their_own_as_long_as_there_are_any() {
        let gates = Gates::default();
        for id in 1..=COUNT as u64 {
            assert_eq!(enter_all(&gates, id, 5).len(), 4);
        }
        assert_eq!(gates.enter(99, 5, TIME), GateEntry::WithoutGate);
        assert_eq!(enter_all(&gates, 99, 5 + TIME).len(), 4, "an idle gate");
    }
}
