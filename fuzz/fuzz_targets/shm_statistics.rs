//! Counters, in a file with a valid header and any records.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::os::unix::fs::FileExt;
use token_bucket::limit::TokenBucket;
use token_bucket::mapped::{self, BLOCKS_SIZE, DENIAL_LOG_SIZE, Purpose};
use token_bucket::statistics::{
    BlockedKey, Blocks, CallContext, DenialCause, DenialLog, DeniedBy, FILE_SIZE, NameSource,
    Outcome, RECORDS, Records,
};
use token_bucket::store::LimitKind;
use token_bucket_fuzz::table_file::{HEADER, file, location};

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let file = file(Purpose::Statistics);
    let size = (FILE_SIZE - HEADER - (DENIAL_LOG_SIZE + BLOCKS_SIZE) as u64) / RECORDS as u64;
    for _ in 0..u.int_in_range(0..=8u8)? {
        // Near the beginning of a record, where its name is, or anywhere; or in the log of denials and the blocks.
        let record = size * u.int_in_range(0..=RECORDS as u64 - 1)?;
        let within = u.int_in_range(0..=size - 1)?;
        let at = match u.int_in_range(0..=2u8)? {
            0 => record + within,
            1 => record + within % 144,
            _ => u.int_in_range(RECORDS as u64 * size..=FILE_SIZE - HEADER - 1)?,
        };
        let at = HEADER + at;
        let length = u.int_in_range(1..=64usize)?.min((FILE_SIZE - at) as usize);
        file.write_all_at(u.bytes(length.min(u.len()))?, at).expect("within the file");
    }
    let region = mapped::open(&location(Purpose::Statistics)).expect("its header is valid");
    let records = Records::new(&region);
    let now = u.arbitrary()?;
    let limit = TokenBucket::per_period(5, 60.0).expect("a valid limit").into();
    let names: [&[u8]; 4] = [b"login", b"", &[b'n'; 80], b"a"];
    for _ in 0..16 {
        if u.is_empty() {
            break;
        }
        let name = *u.choose(&names)?;
        let sources = [NameSource::Given, NameSource::BeforeColon, NameSource::WholeIdentifier];
        let prefix: &[u8] = *u.choose(&[&b"tb:"[..], b""])?;
        let counter = records.find_or_claim(prefix, name, *u.choose(&sources)?);
        let record = records.get(counter).expect("there is such a record");
        let stripe = record.stripe(u.arbitrary()?);
        let before =
            stripe.count(*u.choose(&[Outcome::Accepted, Outcome::Denied, Outcome::Evicted])?);
        let weight = stripe.weigh_denial(before, now).max(1);
        let length = usize::from(u.arbitrary::<u8>()?).min(u.len());
        let id = u.bytes(length)?;
        let by = *u.choose(&[DeniedBy::Store, DeniedBy::OnError])?;
        let cause = DenialCause::new(&limit, by, u.arbitrary()?, u.arbitrary()?);
        DenialLog::new(&region).note(counter, id, &cause, weight, now);
        let (key_hash, record) = (Cell::default(), Cell::default());
        let unnamed = CallContext::of_identifier(id, &key_hash, &record);
        let context = CallContext { name: Some(name), ..unnamed };
        let (store, kind) = (b"store=3:shm;".as_slice(), *u.choose(&LimitKind::ALL)?);
        let key = BlockedKey { store, prefix, context, kind, is_enforced: u.arbitrary()? };
        match u.arbitrary()? {
            true => Blocks::new(&region).note(&key, prefix, true, u.arbitrary()?),
            false => Blocks::new(&region).lift(&key),
        }
    }
    for block in Blocks::new(&region).snapshot(b"tb:", now) {
        assert!(block.identifier.len() <= 96 && block.name.len() <= 56 && block.until > now);
    }
    for denial in DenialLog::new(&region).snapshot() {
        assert!(denial.identifier.len() <= 96);
    }
    for denied in DenialLog::new(&region).most_denied(now).values() {
        assert!(denied.len() <= 64 && denied.iter().all(|(id, _)| id.len() <= 96));
        assert!(denied.is_sorted_by(|(_, a), (_, b)| a >= b));
    }
    for (name, _) in records.snapshot(now) {
        assert!(name.prefix().is_none_or(|prefix| prefix.len() <= 64));
        assert!(name.name().is_none_or(|name| name.len() <= 56));
    }
    Ok(())
}
