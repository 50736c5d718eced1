//! A state as the bytes that servers keep.
//!
//! Numbers are big-endian. The length tells the states apart, and of a list also the 0 before it. The Redis scripts read and write the same
//! bytes:
//!
//! | bytes | state | fields |
//! |---|---|---|
//! | 12 | window | ends at: seconds (5), nanoseconds (4); hits (3) |
//! | 13 | filling | full at: seconds (5), nanoseconds (4); parts of one more (4) |
//! | 14 | reserved | full at: seconds (5), nanoseconds (4); fraction (4); ahead (1) |
//! | 15 | emptied | at: seconds (5), nanoseconds (4); 0 (2); reach (4) |
//! | 16 | blocked | until: seconds (5), nanoseconds (4); asked: seconds (4); number (3) |
//! | 18 | overdrawn | forgiven at: seconds (5), nanoseconds (4); debt: seconds (5), nanoseconds (4) |
//! | 12 more | one of the first three, emptied or overdrawn, of which hosts hold something | name (4); held: hits or nanoseconds, in thousand millions (4) and the rest (4) |
//! | 1 + 9 n | n hits in a sliding window | 0 (1); for each hit, the earliest first, when it leaves: seconds (5), nanoseconds (4) |

use crate::limit::{Hits, Leased, MAX_SLIDING_HITS, SECOND, Span, State, StoredState};

/// Every time is below this one, in seconds: 2⁶² nanoseconds.
const END: u64 = (1 << 62) / SECOND;

/// The bytes of what hosts hold.
const LEASED: usize = 12;

/// The bytes of a hit in a sliding window.
const HIT: usize = 9;

/// The bytes of the longest record.
pub const LONGEST: usize = 1 + HIT * MAX_SLIDING_HITS as usize;

/// Encodes a state.
pub fn encode(state: &StoredState) -> Vec<u8> {
    match state {
        StoredState::Word(state) => encode_word(*state),
        StoredState::Leased(state, leased) => {
            [encode_word(*state), encode_leased(*leased)].concat()
        }
        StoredState::Hits(hits) => {
            let mut bytes = Vec::with_capacity(1 + HIT * hits.as_slice().len());
            bytes.push(0);
            hits.as_slice().iter().for_each(|time| put_time(&mut bytes, *time));
            bytes
        }
    }
}

/// What hosts hold of a state, as it stands behind the state.
pub fn encode_leased(Leased { name, held }: Leased) -> Vec<u8> {
    // Fits: limit/leased.rs.
    [name, (held / SECOND) as u32, (held % SECOND) as u32].map(u32::to_be_bytes).concat()
}

/// Decodes what hosts hold of a state. None if the bytes do not say that.
pub fn decode_leased(bytes: &[u8]) -> Option<Leased> {
    let (numbers, []) = bytes.as_chunks() else { return None };
    let &[name, seconds, rest] = numbers else { return None };
    let [name, seconds, rest] = [name, seconds, rest].map(u32::from_be_bytes);
    Some(Leased { name, held: u64::from(seconds) * SECOND + u64::from(rest) })
}

fn encode_word(state: State) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(18);
    match state {
        State::Filling { full_at } => put_span(&mut bytes, full_at),
        State::Blocked { until, asked, number } => {
            put_time(&mut bytes, until);
            bytes.extend(asked.to_be_bytes());
            bytes.push(0);
            bytes.extend(number.to_be_bytes());
        }
        State::Reserved { full_at, fraction, ahead } => {
            put_time(&mut bytes, full_at);
            bytes.extend(fraction.to_be_bytes());
            bytes.push(ahead);
        }
        State::Overdrawn { forgiven_at, debt } => {
            put_time(&mut bytes, forgiven_at);
            put_time(&mut bytes, debt);
        }
        State::Emptied { at, reach } => {
            put_time(&mut bytes, at);
            bytes.extend([0, 0]);
            bytes.extend(reach.to_be_bytes());
        }
        State::Window { ends_at, hits } => {
            put_time(&mut bytes, ends_at);
            bytes.extend(hits.to_be_bytes().into_iter().skip(1));
        }
    }
    bytes
}

/// Decodes a state. Bytes that are not a state are a full bucket.
pub fn decode(bytes: &[u8]) -> StoredState {
    try_decode(bytes).unwrap_or(StoredState::FULL)
}

/// Decodes a state. None if the bytes are not one.
pub fn try_decode(bytes: &[u8]) -> Option<StoredState> {
    match bytes {
        [0, hits @ ..] if bytes.len() % HIT == 1 && !hits.is_empty() => {
            (bytes.len() <= LONGEST).then(|| decode_hits(hits))?
        }
        // None of these is as long as a state alone, or as hits.
        _ if matches!(bytes.len(), 24..=27 | 30) => {
            let (state, leased) = bytes.split_at_checked(bytes.len() - LEASED)?;
            Some(StoredState::Leased(decode_word(state)?, decode_leased(leased)?))
        }
        _ => decode_word(bytes).map(StoredState::Word),
    }
}

/// Decodes the hits of a sliding window. None if a time is none that a clock can show.
fn decode_hits(bytes: &[u8]) -> Option<StoredState> {
    let times = bytes.chunks(HIT).map(|hit| take_time(hit).map(|(time, _)| time));
    Some(StoredState::Hits(Hits::new(times.collect::<Option<_>>()?)))
}

/// Decodes a state that fits a word of shared memory. None if the bytes are not one.
fn decode_word(bytes: &[u8]) -> Option<State> {
    let (first, rest) = take_time(bytes)?;
    Some(match *rest {
        [a, b, c] => State::Window { ends_at: first, hits: u32::from_be_bytes([0, a, b, c]) },
        [a, b, c, d] => {
            let part = u32::from_be_bytes([a, b, c, d]).into();
            State::Filling { full_at: Span { ns: first, part } }
        }
        [a, b, c, d, ahead] => {
            let fraction = u32::from_be_bytes([a, b, c, d]);
            State::Reserved { full_at: first, fraction, ahead }
        }
        [a, b, c, d, 0, e, f] => {
            let asked = u32::from_be_bytes([a, b, c, d]);
            State::Blocked { until: first, asked, number: u16::from_be_bytes([e, f]) }
        }
        [0, 0, a, b, c, d] => State::Emptied { at: first, reach: u32::from_be_bytes([a, b, c, d]) },
        _ => {
            let (debt, []) = take_time(rest)? else { return None };
            State::Overdrawn { forgiven_at: first, debt }
        }
    })
}

/// Appends a time and the parts of one nanosecond more: 13 bytes.
pub fn put_span(bytes: &mut Vec<u8>, span: Span) {
    put_time(bytes, span.ns);
    // Fits: a nanosecond has fewer than 2^30 parts.
    bytes.extend((span.part as u32).to_be_bytes());
}

/// Appends a time: 9 bytes.
pub fn put_time(bytes: &mut Vec<u8>, ns: u64) {
    // Five bytes of seconds: eight, less three that are zero.
    bytes.extend((ns / SECOND).to_be_bytes().into_iter().skip(3));
    bytes.extend(((ns % SECOND) as u32).to_be_bytes());
}

fn take_time(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (seconds, rest) = bytes.split_at_checked(5)?;
    let (ns, rest) = rest.split_at_checked(4)?;
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |n, byte| (n << 8) | u64::from(*byte));
    let (seconds, ns) = (number(seconds), number(ns));
    // No clock shows a later time, and the sum does not wrap.
    (seconds < END && ns < SECOND).then(|| (seconds * SECOND + ns, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_returns_the_encoded_state(
            a in 0u64..END * SECOND, b in 0u64..1 << 57, part in 0u32..1 << 30, ahead in 0u8..58,
        ) {
            for state in [
                State::Filling { full_at: Span { ns: a, part: part.into() } },
                State::Reserved { full_at: a, fraction: part >> 6, ahead },
                State::Overdrawn { forgiven_at: a, debt: b },
                State::Emptied { at: a, reach: part >> 6 },
                State::Window { ends_at: a, hits: part >> 6 },
                State::Blocked { until: a, asked: part, number: u16::from(ahead) },
            ] {
                prop_assert_eq!(decode(&encode(&state.into())), state.into());
                if !matches!(state, State::Blocked { .. }) {
                    let leased = StoredState::Leased(state, Leased { name: part + 1, held: b });
                    prop_assert_eq!(decode(&encode(&leased)), leased);
                }
            }
        }

        #[test]
        fn hits_are_kept_exactly(times in prop::collection::vec(0u64..END * SECOND, 1..40)) {
            let hits = StoredState::Hits(Hits::new(times));
            prop_assert_eq!(decode(&encode(&hits)), hits);
        }

        #[test]
        fn any_bytes_are_decoded_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = decode(&bytes);
        }
    }
}
