//! The protocol of claimed records under a model checker (loom): the interleavings of two or three processes of a host.
//!
//! The ids are words of the model, and the processes run the functions of `mapped::claimed`. Each record holds the id that
//! was noted in it last. After each interleaving
//!
//! * processes that claimed for one id at once, while no record became free, have one record;
//! * a record that was freed and claimed anew holds nothing of the one before;
//! * a record is reset by one process, though several find that the one which was to do so was killed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod modelled;

use loom::sync::Arc;
use loom::thread;
use modelled::Modelled;
use token_bucket::mapped::claimed::{Claimed, Contents, find, find_or_claim, free_oldest};
use token_bucket::mapped::word::Word;

/// The id that was noted last; 0 in a new record.
struct Noted(Modelled<u64>);

impl Contents for Noted {
    fn reset(&self) {
        self.0.store(0);
    }
}

type Records = Vec<Claimed<Noted, Modelled<u64>>>;

const NOW: u64 = 1_000;
/// After a process that began to reset a record at [`NOW`] is given up.
const LATE: u64 = NOW + 11_000_000_000;
const A: u64 = 7;
const B: u64 = 9;
const C: u64 = 11;

/// Records with these ids, in which their ids are noted.
fn records<const N: usize>(ids: [u64; N]) -> Arc<Records> {
    let record = |id| Claimed::new(Modelled::new(id), Noted(Modelled::new(id)));
    Arc::new(ids.map(record).into())
}

/// Claims a record. Returns its index and what is noted in it then.
fn claim(records: &Records, id: u64) -> Option<(usize, u64)> {
    find_or_claim(records, id).map(|(index, noted)| (index, noted.0.load()))
}

fn free(records: &Records, index: usize, id: u64) {
    records[index].free(id, NOW);
}

fn in_each_order(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(check);
}

#[test]
fn processes_that_claim_at_once_have_one_record() {
    in_each_order(|| {
        let records = records([B, 0, 0]);
        let others = [A, C].map(|id| {
            let records = Arc::clone(&records);
            thread::spawn(move || claim(&records, id).unwrap())
        });
        let own = claim(&records, A).unwrap();
        let [same, other] = others.map(|other| other.join().unwrap());
        assert_eq!(own, same);
        assert_ne!(own.0, other.0);
        assert_eq!(find(&records, A).unwrap().0, own.0);
    });
}

#[test]
fn record_that_is_claimed_anew_holds_nothing_of_the_one_before() {
    in_each_order(|| {
        let records = records([A]);
        let others = [(); 2].map(|()| {
            let records = Arc::clone(&records);
            thread::spawn(move || free(&records, 0, A))
        });
        let claimed = claim(&records, B);
        others.into_iter().for_each(|other| other.join().unwrap());
        match claimed {
            Some((0, noted)) => assert_eq!(noted, 0),
            _ => assert_eq!(claim(&records, B), Some((0, 0))),
        }
        assert!(find(&records, A).is_none() && find(&records, B).is_some());
    });
}

#[test]
fn id_that_is_claimed_while_records_become_free_is_found() {
    in_each_order(|| {
        let records = records([C, 0]);
        let others = [C, A].map(|id| {
            let records = Arc::clone(&records);
            thread::spawn(move || match id {
                C => free(&records, 0, C),
                _ => assert!(claim(&records, A).is_some()),
            })
        });
        assert!(claim(&records, A).is_some());
        others.into_iter().for_each(|other| other.join().unwrap());
        let ids = records.iter().filter(|record| record.get(A).is_some()).count();
        assert!(find(&records, A).is_some() && ids <= 2);
    });
}

#[test]
fn record_of_a_killed_process_is_reset_by_one_and_never_once_it_is_claimed() {
    in_each_order(|| {
        // A process was killed while it reset the record of the id A.
        let records: Arc<Records> =
            Arc::new(vec![Claimed::new(Modelled::new(NOW), Noted(Modelled::new(A)))]);
        let free_left = |records: &Records| free_oldest(records, |_| 0, 0, LATE);
        let others = [(); 2].map(|()| {
            let records = Arc::clone(&records);
            thread::spawn(move || {
                free_left(&records);
                let (_, noted) = find_or_claim(&records, B)?;
                noted.0.store(B);
                Some(())
            })
        });
        free_left(&records);
        let claimed = others.map(|other| other.join().unwrap()).iter().flatten().count();
        let noted = records[0].contents().0.load();
        assert_eq!(noted, if claimed > 0 { B } else { 0 });
    });
}
