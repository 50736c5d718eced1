//! The numbers of calendar windows that end at one boundary: see [`calendar_window`](super::calendar_window).

use super::span::SECOND;
use super::state::State;

/// Boundaries are multiples of it, in nanoseconds.
pub const BOUNDARY: u64 = SECOND / 1_000;
/// What an end is later for each number, in nanoseconds.
pub const UNIT: u64 = 1_000;
/// The highest number of a window.
pub const MAX_NUMBER: u64 = BOUNDARY / UNIT - 1;

/// The number of the window with this end, among those of one boundary.
pub const fn number(end: u64) -> u64 {
    end % BOUNDARY / UNIT
}

/// The number of the window that follows one in this state which was reset or blocked.
pub const fn number_after(state: State) -> u16 {
    match state {
        State::Window { ends_at, .. } => (number(ends_at + 1) % MAX_NUMBER + 1) as u16,
        State::Blocked { number, .. } => number,
        _ => 1,
    }
}
