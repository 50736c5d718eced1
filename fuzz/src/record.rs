//! States as servers keep them: much like the records that the stores write.

use crate::calls::number;
use arbitrary::{Result, Unstructured};
use token_bucket::limit::MAX_SLIDING_HITS;

/// The lengths of the states behind their first time.
const REST: [usize; 6] = [0, 3, 4, 5, 9, 9];

/// A state near a time, in seconds: of a bucket, a fixed window, a block or a sliding window.
pub fn state(u: &mut Unstructured<'_>, seconds: u64) -> Result<Vec<u8>> {
    if u.ratio(1, 3)? {
        return hits(u, seconds);
    }
    let mut state = time(u, seconds)?;
    let length = *u.choose(&REST)?;
    state.extend(u.bytes(length.min(u.len()))?);
    Ok(state)
}

/// The hits of a sliding window, in any order: mostly a few, sometimes more than any limit allows.
pub fn hits(u: &mut Unstructured<'_>, seconds: u64) -> Result<Vec<u8>> {
    let mut hits = vec![0];
    for _ in 0..u.int_in_range(0..=5u8)? {
        let hit = time(u, seconds)?;
        let most = u64::from(MAX_SLIDING_HITS) + 8;
        let times = if u.ratio(1, 8)? { number(u, most)? } else { 1 };
        (0..times).for_each(|_| hits.extend(&hit));
    }
    if u.ratio(1, 16)? {
        hits.truncate(u.int_in_range(0..=hits.len())?);
    }
    Ok(hits)
}

/// A time: five bytes of seconds and four of nanoseconds, which may be too many.
fn time(u: &mut Unstructured<'_>, seconds: u64) -> Result<Vec<u8>> {
    let seconds = seconds.saturating_add(number(u, 1 << 40)?).min((1 << 40) - 1);
    let mut time = seconds.to_be_bytes()[3..].to_vec();
    time.extend((u.arbitrary::<u32>()? >> 2).to_be_bytes());
    Ok(time)
}
