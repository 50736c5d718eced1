//! What a call asks of which server, and when.

use super::distance::Distance;
use super::host::Host;
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
    /// How far the server is: as far as the process of this host has measured it that had to wait least for its processor.
    pub(super) fn distance(self, store: &dyn RemoteStore, host: &Host) -> Distance {
        let own = store.round_trip(self.breaker);
        let shortest = host.record(|it| it.shortest_round_trip(self.sent)).flatten();
        Distance {
            round_trip: shortest.map_or(own, |shortest| shortest.min(own)),
            trips: self.trips,
            trips_to_connect: store.trips_to_connect(),
        }
    }
}
