//! The numbers of claims, which tell a claim from an earlier one of the same key in the same slot (see [`table`](super::table)).
//!
//! Each thread counts its own claims, from a random number on. A child that a process forks begins anew: otherwise it would
//! give its claims the numbers of its siblings'. A count that all processes share would be one more cache line that
//! every new client's call writes.

use super::holder::random;
use crate::process;
use std::cell::Cell;

thread_local! {
    /// The generation of the process, and the number of its last claim on this thread.
    static LAST: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// The number of the next claim. A claim keeps its lower [`CLAIM_NUMBER_BITS`](super::slot::CLAIM_NUMBER_BITS) bits.
pub fn next() -> u32 {
    let generation = process::generation();
    let number = match LAST.get() {
        (made_in, last) if made_in == generation => last.wrapping_add(1),
        _ => random(),
    };
    LAST.set((generation, number));
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::shm::slot::CLAIM_NUMBER_BITS;
    use std::collections::HashSet;
    use std::thread;

    #[test]
    fn claims_of_a_thread_are_counted_from_a_random_number_on() {
        let count = || {
            let first = next();
            assert_eq!([next(), next()], [1, 2].map(|more| first.wrapping_add(more)));
            first % (1 << CLAIM_NUMBER_BITS)
        };
        let running: Vec<_> = (0..8).map(|_| thread::spawn(count)).collect();
        let first: HashSet<u32> = running.into_iter().map(|it| it.join().unwrap()).collect();
        assert!(first.len() > 1, "all threads begin with {first:?}");
    }

    #[test]
    fn child_begins_anew() {
        let inherited = next();
        LAST.set((process::generation() + 1, inherited));
        let anew: HashSet<u32> = (0..4)
            .map(|_| {
                LAST.set((process::generation() + 1, inherited));
                next()
            })
            .collect();
        assert!(anew.len() > 1, "it goes on from {inherited}: {anew:?}");
    }
}
