//! What a call asks of which server, and when.

use super::distance::Distance;
use crate::net::Timeouts;
use crate::store::RemoteStore;

/// Which server a call asks, and when.
#[derive(Clone, Copy)]
pub struct Asked {
    /// The breaker of the server that answers.
    pub breaker: u64,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// How many round trips it takes.
    pub trips: u32,
    /// When the call began.
    pub sent: u64,
}

impl Asked {
    /// How far the server is.
    pub(super) fn distance(self, store: &dyn RemoteStore) -> Distance {
        Distance {
            round_trip: store.round_trip(self.breaker),
            trips: self.trips,
            trips_to_connect: store.trips_to_connect(),
        }
    }
}
