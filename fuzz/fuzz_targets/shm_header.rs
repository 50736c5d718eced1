//! Any header, and a file of any length: the file is used or replaced, and no call fails.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use portable_atomic::Ordering;
use std::os::unix::fs::FileExt;
use token_bucket::clock::boot_time;
use token_bucket::guard::store_record;
use token_bucket::mapped::set::Set;
use token_bucket::mapped::{self, Area, MIN_SIZE, Purpose};
use token_bucket::statistics::{NameSource, RecordHandle, Records};
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::table_file::{HEADER, file, location};

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let purpose =
        [Purpose::Buckets, Purpose::Host, Purpose::Statistics][u.int_in_range(0..=2usize)?];
    let file = file(purpose);
    let length = location(purpose).size;
    match u.int_in_range(0..=3u8)? {
        0 => file.set_len(number(u, 2 * length)?).expect("room in memory"),
        1 => {
            file.set_len(length.saturating_add_signed(u.arbitrary::<i16>()?.into())).expect("room")
        }
        _ => {}
    }
    let at = u.int_in_range(0..=HEADER - 1)?;
    let bytes = u.bytes(u.len().min(64))?;
    file.write_all_at(bytes, at).expect("room in memory");
    let Ok(region) = mapped::open(&location(purpose)) else { return Ok(()) };
    assert!(region.size() >= MIN_SIZE);
    let areas = [Area::Buckets, Area::Denials];
    let words = areas.into_iter().flat_map(|area| region.area::<Set>(area)).flat_map(|set| &set.0);
    let sum = words.fold(0, |sum, word| sum ^ word.load(Ordering::Relaxed));
    let (records, stores) = (Records::new(&region), store_record::records(&region));
    std::hint::black_box((
        sum,
        records.snapshot(boot_time()),
        store_record::list(stores, boot_time()),
    ));
    let counter = records.find_or_claim(b"tb:", b"a", NameSource::BeforeColon);
    assert!(counter == RecordHandle::default() || records.get(counter).is_some());
    Ok(())
}
