//! A gate that lets the processes of this host connect to the servers of a store a few at a time.
//!
//! Paid: a process waits for up to a quarter of `connect_timeout_ms` before it connects, and then `on_error` answers its call. Got: a server
//! that makes one handshake after the other answers some in time. Tried instead: no gate; all workers connect at once when a pool starts or a
//! server is back, all but the first are answered too late, and each begins anew.
//!
//! A gate begins narrow, becomes wider with each connection that is opened, and half as wide with each that fails.

use crate::limit::SECOND;
use portable_atomic::{AtomicU64, Ordering};

/// The most processes of this host that connect at once.
const WIDEST: usize = 14;
/// How wide a gate is at first.
const FIRST_WIDTH: u64 = 4;

/// How long a lane is occupied at most, in nanoseconds: its process may have been killed, or wait for a server with
/// time-outs of its own.
const LONGEST_STAY: u64 = SECOND;

/// How many processes connect, and how many may.
#[repr(C)]
#[derive(Default)]
pub struct Gate {
    /// How many processes may connect at once; 0 for a gate that was never used.
    width: AtomicU64,
    /// The time by which each process that connects must be done, in nanoseconds since boot. One that was killed occupies
    /// its lane until then.
    lanes: [AtomicU64; WIDEST],
}

/// Whether a process may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateEntry {
    /// It may, and calls [`Gate::leave`] afterwards.
    Lane(Lane),
    /// It may: it has a connection, or no gate can be had.
    WithoutGate,
    /// It may not: as many others as the gate is wide are connecting.
    Full,
}

/// The lane of a process that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    index: usize,
    until: u64,
}

impl Gate {
    /// Makes it one that was never used.
    pub fn reset(&self) {
        self.lanes.iter().chain([&self.width]).for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Whether a process may connect at `now`, for at most `longest` nanoseconds.
    pub fn enter(&self, now: u64, longest: u64) -> GateEntry {
        let until = now + longest.clamp(1, LONGEST_STAY);
        for (index, lane) in self.lanes.iter().enumerate().take(self.width() as usize) {
            let taken_until = lane.load(Ordering::Relaxed);
            let (order, is_free) = (Ordering::Relaxed, taken_until <= now);
            if is_free && lane.compare_exchange(taken_until, until, order, order).is_ok() {
                return GateEntry::Lane(Lane { index, until });
            }
        }
        GateEntry::Full
    }

    /// Notes that a process has connected, or failed to.
    pub fn leave(&self, lane: Lane, has_connected: bool) {
        let order = Ordering::Relaxed;
        if let Some(word) = self.lanes.get(lane.index) {
            let _ = word.compare_exchange(lane.until, 0, order, order);
        }
        let width = self.width();
        let next = if has_connected { (width + 1).min(WIDEST as u64) } else { (width / 2).max(1) };
        self.width.store(next, order);
    }

    fn width(&self) -> u64 {
        match self.width.load(Ordering::Relaxed) {
            0 => FIRST_WIDTH,
            width => width.min(WIDEST as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: u64 = 100;

    fn enter_all(gate: &Gate, now: u64) -> Vec<Lane> {
        let enter = || match gate.enter(now, TIME) {
            GateEntry::Lane(lane) => Some(lane),
            _ => None,
        };
        std::iter::from_fn(enter).collect()
    }

    #[test]
    fn lanes_of_processes_that_were_killed_are_free_after_a_second() {
        let gate = Gate::default();
        let enter = |now| gate.enter(now, 60 * SECOND);
        while let GateEntry::Lane(_) = enter(5) {}
        assert_eq!(enter(4 + LONGEST_STAY), GateEntry::Full);
        assert!(matches!(enter(5 + LONGEST_STAY), GateEntry::Lane(_)));
    }

    #[test]
    fn gate_becomes_wider_with_success_and_narrower_with_failure() {
        let gate = Gate::default();
        let mut widths = Vec::new();
        for has_connected in [true, true, true, false, false, false] {
            let lanes = enter_all(&gate, 5);
            widths.push(lanes.len());
            gate.leave(lanes[0], has_connected);
            lanes.iter().skip(1).for_each(|lane| gate.leave(*lane, true));
        }
        assert_eq!(widths[..4], [4, 8, 14, 14]);
        let lanes = enter_all(&gate, 5);
        lanes.iter().for_each(|lane| gate.leave(*lane, false));
        assert_eq!(enter_all(&gate, 5).len(), 1);
    }

    #[test]
    fn one_failure_makes_a_gate_half_as_wide() {
        let gate = Gate::default();
        enter_all(&gate, 5).iter().cycle().take(20).for_each(|lane| gate.leave(*lane, true));
        let lanes = enter_all(&gate, 5);
        assert_eq!(lanes.len(), WIDEST);
        for (nth, lane) in lanes.iter().enumerate() {
            gate.leave(*lane, nth < WIDEST - 1);
        }
        assert_eq!(enter_all(&gate, 5).len(), WIDEST / 2);
    }

    #[test]
    fn process_that_comes_late_frees_no_lane_of_another() {
        let gate = Gate::default();
        let first = enter_all(&gate, 5);
        assert_eq!(gate.enter(5 + TIME - 1, TIME), GateEntry::Full);
        assert_eq!(enter_all(&gate, 5 + TIME).len(), 4);
        gate.leave(first[0], false);
        gate.leave(first[0], true);
        gate.leave(first[0], true);
        assert_eq!(gate.enter(5 + TIME, TIME), GateEntry::Full);
    }
}
