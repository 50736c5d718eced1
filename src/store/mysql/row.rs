//! A state as the columns of a row.
//!
//! | column | |
//! |---|---|
//! | `microtime` | when the bucket was empty, in seconds; the published PDO class has this column only. Of a sliding window: when its last hit leaves |
//! | `seen` | the `microtime` that the columns below were written with |
//! | `kind` | 0 filling, 1 reserved, 2 overdrawn, 3 window, 4 blocked, 5 emptied |
//! | `due` | when the state expires, in nanoseconds; without the fraction of a filling or reserved bucket |
//! | `part` | the fraction of a nanosecond, a window's hits, the reach of an emptied bucket, or how long a block was asked for, in seconds |
//! | `more` | how far a reservation reaches ahead, the debt of an overdrawn bucket, when a bucket was emptied, in nanoseconds, or the number of a window after a block |
//! | `hits` | of a sliding window: the record of its state (`store/record.rs`); `kind`, `part` and `more` are `NULL` then. Of others: what hosts hold of it, as in a record |
//!
//! The columns from `kind` on are valid while `seen` equals `microtime`. If it does not, the published class has
//! written to the row since, and `microtime` alone is the state.

use super::statements::Schema;
use crate::limit::{Limit, MAX_NOW, Op, Span, State, StoredState};
use crate::store::record;
use mysql_common::value::Value;
use mysql_common::value::convert::from_value_opt;

/// The columns of a row, in the order of [`Schema::columns`].
pub type Columns = Vec<Value>;

/// Encodes `state` as the columns of `schema`. Also returns their `microtime`.
pub fn encode(schema: Schema, limit: &Limit, state: &StoredState) -> (Columns, f64) {
    let microtime = match limit {
        Limit::SlidingWindow(_) => seconds_rounded_up(state.expires_at() as i64),
        _ => empty_at(limit, state.word()),
    };
    (columns(schema, limit, state, microtime), microtime)
}

/// Encodes `state` as the columns of `schema`, with this `microtime`.
pub fn columns(schema: Schema, limit: &Limit, state: &StoredState, microtime: f64) -> Columns {
    let microtime = Value::Double(microtime);
    match (schema, limit) {
        (Schema::Legacy, _) => vec![microtime],
        (Schema::Full, Limit::SlidingWindow(_)) => {
            let due = Value::Int(state.expires_at() as i64);
            let record = Value::Bytes(record::encode(state));
            vec![microtime.clone(), microtime, Value::NULL, due, Value::NULL, Value::NULL, record]
        }
        (Schema::Full, _) => {
            let numbers = numbers(state.word()).map(Value::Int);
            let leased = state.leased().map(|it| Value::Bytes(record::encode_leased(it)));
            let last = leased.unwrap_or(Value::NULL);
            [microtime.clone(), microtime].into_iter().chain(numbers).chain([last]).collect()
        }
    }
}

/// The columns `kind`, `due`, `part` and `more` of a state.
fn numbers(state: State) -> [i64; 4] {
    let (kind, due, part, more) = match state {
        State::Filling { full_at } => (0, full_at.ns, full_at.part, 0),
        State::Reserved { full_at, fraction, ahead } => {
            (1, full_at, u64::from(fraction), u64::from(ahead))
        }
        State::Overdrawn { forgiven_at, debt } => (2, forgiven_at, 0, debt),
        State::Window { ends_at, hits } => (3, ends_at, u64::from(hits), 0),
        State::Emptied { at, reach } => (5, state.expires_at(), u64::from(reach), at),
        State::Blocked { until, asked, number } => (4, until, asked.into(), number.into()),
    };
    // Every time and count is below 2^63.
    [kind, due, part, more].map(|number| number as i64)
}

/// The schema by which the row of a limit has to be read, if the table must have it: what is to be stored
/// does not fit into `microtime`.
pub fn needed_schema(limit: &Limit, op: Op) -> Option<Schema> {
    match (limit, op) {
        (
            Limit::TokenBucket(_),
            Op::Check
            | Op::Reserve { .. }
            | Op::Settle { .. }
            | Op::Block { .. }
            | Op::Lease { .. }
            | Op::GiveBack { .. },
        ) => Some(Schema::Full),
        (Limit::TokenBucket(_), _) => None,
        _ => Some(Schema::Full),
    }
}

/// Decodes the columns of `schema`. None if they are not a state.
pub fn decode(schema: Schema, limit: &Limit, columns: &[Value]) -> Option<StoredState> {
    match (limit, columns) {
        (Limit::SlidingWindow(_), [.., Value::Bytes(record)]) if record.is_empty() => {
            Some(StoredState::FULL)
        }
        (Limit::SlidingWindow(_), [.., Value::Bytes(record)]) => record::try_decode(record),
        (Limit::SlidingWindow(_), [.., Value::NULL]) => Some(StoredState::FULL),
        (Limit::SlidingWindow(_), _) => None,
        (_, [microtime, seen, .., Value::Bytes(leased)])
            if schema == Schema::Full && seconds(seen)? == seconds(microtime)? =>
        {
            let (state, leased) =
                (decode_word(schema, limit, columns)?, record::decode_leased(leased));
            Some(leased.map_or(state.into(), |leased| StoredState::Leased(state, leased)))
        }
        _ => decode_word(schema, limit, columns).map(StoredState::Word),
    }
}

fn decode_word(schema: Schema, limit: &Limit, columns: &[Value]) -> Option<State> {
    let microtime = seconds(columns.first()?)?;
    let [_, seen, kind, due, part, more, _] = columns else {
        return (schema == Schema::Legacy).then(|| from_empty_at(limit, microtime));
    };
    // The published class has no windows, so the state of a window is always current.
    let is_current = microtime.is_some() && seconds(seen)? == microtime;
    let number = |value| Some(whole(value)?.unwrap_or(0).clamp(0, MAX_TIME));
    let (kind, due, part, more) = (whole(kind)?, number(due)?, number(part)?, number(more)?);
    let small = u32::try_from(part).unwrap_or(u32::MAX);
    let window = u16::try_from(more).unwrap_or_default();
    let blocked = State::Blocked { until: due as u64, asked: small, number: window };
    Some(match (kind, limit) {
        (Some(3), _) => State::Window { ends_at: due as u64, hits: small },
        (Some(4), Limit::FixedWindow(_) | Limit::CalendarWindow(_)) => blocked,
        (_, Limit::FixedWindow(_) | Limit::CalendarWindow(_)) => State::FULL,
        (Some(0), _) if is_current => {
            State::Filling { full_at: Span { ns: due as u64, part: small.into() } }
        }
        (Some(1), _) if is_current => State::Reserved {
            full_at: due as u64,
            fraction: small,
            ahead: u8::try_from(more).unwrap_or(u8::MAX),
        },
        (Some(2), _) if is_current => {
            State::Overdrawn { forgiven_at: due as u64, debt: more as u64 }
        }
        (Some(4), _) if is_current => blocked,
        (Some(5), _) if is_current => State::Emptied { at: more as u64, reach: small },
        _ => from_empty_at(limit, microtime),
    })
}

/// The latest time in a row, in nanoseconds.
const MAX_TIME: i64 = (1 << 62) - 1;
/// The furthest time from 1970 that the published class writes, in seconds.
const MAX_SECONDS: f64 = 4e9;

/// When the bucket of `state` was empty, in seconds: whole microseconds, which a `DOUBLE` and a `DECIMAL`
/// keep exactly. Rounded up, so that rounding gives no tokens away.
fn empty_at(limit: &Limit, state: State) -> f64 {
    let full_at = match state {
        State::Overdrawn { forgiven_at, debt } => forgiven_at + debt,
        State::Emptied { at, .. } => state.expires_at().min(at + refill_time(limit).ceil()),
        State::Window { ends_at, .. } => ends_at,
        // Empty until its end, for the published class.
        State::Blocked { until, .. } => until + refill_time(limit).ns,
        other => other.expires_at(),
    };
    // Does not wrap: both are below 2^63.
    seconds_rounded_up(full_at as i64 - refill_time(limit).ns as i64)
}

/// Nanoseconds as seconds, in whole microseconds, rounded up.
fn seconds_rounded_up(ns: i64) -> f64 {
    ns.div_euclid(1_000).saturating_add((ns.rem_euclid(1_000) > 0).into()) as f64 / 1e6
}

/// The state of a bucket that was empty at `microtime`.
fn from_empty_at(limit: &Limit, microtime: Option<f64>) -> State {
    let microseconds = microtime.unwrap_or(0.0).clamp(-MAX_SECONDS, MAX_SECONDS) * 1e6;
    let full = refill_time(limit);
    // Does not wrap: 4e18 and a refill of four years are below 2^63.
    let full_at = (microseconds.round() as i64) * 1_000 + full.ns as i64;
    match u64::try_from(full_at) {
        Ok(ns) => State::Filling { full_at: Span { ns, part: full.part } },
        Err(_) => State::FULL,
    }
}

fn refill_time(limit: &Limit) -> Span {
    match limit {
        Limit::TokenBucket(bucket) => bucket.refill_time(),
        Limit::FixedWindow(_) | Limit::CalendarWindow(_) | Limit::SlidingWindow(_) => {
            Span::default()
        }
    }
}

/// Reads a number of seconds; the inner None is `NULL`. The outer None is a value that is no number, or not
/// exact to the microsecond, as a `DOUBLE` and a `DECIMAL` with six places are.
fn seconds(value: &Value) -> Option<Option<f64>> {
    match value {
        Value::Bytes(text) if !has_microseconds(text) => None,
        Value::Double(_) | Value::Bytes(_) | Value::NULL => from_value_opt(value.clone()).ok(),
        _ => None,
    }
}

fn has_microseconds(decimal: &[u8]) -> bool {
    decimal.iter().rev().position(|byte| *byte == b'.').is_some_and(|places| places >= 6)
}

/// Reads the server's clock, in nanoseconds. None if it shows no time that the limits can compute with.
pub fn clock(value: &Value) -> Option<u64> {
    u64::try_from(whole(value)??).ok().filter(|time| *time <= MAX_NOW)
}

/// Reads a whole number; the inner None is `NULL`. The outer None is a value that is no whole number.
pub fn whole(value: &Value) -> Option<Option<i64>> {
    from_value_opt(value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{FixedWindow, Hits, Leased, SECOND, SlidingWindow, TokenBucket};
    use proptest::prelude::*;

    fn bucket() -> Limit {
        TokenBucket::per_second(10, 3.0).unwrap().into()
    }

    proptest! {
        #[test]
        fn decoding_returns_the_encoded_state(
            time in 0u64..4_000_000_000 * SECOND, debt in 0u64..1 << 57, part in 0u32..1 << 30, ahead in 0u8..58,
        ) {
            let window = Limit::from(FixedWindow::new(5, 60.0).unwrap());
            for (limit, state) in [
                (bucket(), State::Filling { full_at: Span { ns: time, part: part.into() } }),
                (bucket(), State::Reserved { full_at: time, fraction: part >> 6, ahead }),
                (bucket(), State::Overdrawn { forgiven_at: time, debt }),
                (bucket(), State::Emptied { at: time, reach: part >> 6 }),
                (window, State::Window { ends_at: time, hits: part >> 6 }),
                (window, State::Blocked { until: time, asked: part, number: u16::from(ahead) }),
                (bucket(), State::blocked(time, time - time.min(debt))),
            ] {
                let leased = Leased { name: part + 1, held: debt };
                for state in [StoredState::Word(state), StoredState::Leased(state, leased)] {
                    let (columns, microtime) = encode(Schema::Full, &limit, &state);
                    prop_assert_eq!(decode(Schema::Full, &limit, &columns), Some(state.clone()));
                    prop_assert_eq!(super::columns(Schema::Full, &limit, &state, microtime), columns);
                }
            }
        }

        #[test]
        fn hits_are_kept_exactly(times in prop::collection::vec(0u64..4_000_000_000 * SECOND, 1..9)) {
            let limit = Limit::from(SlidingWindow::new(9, 60.0).unwrap());
            for state in [StoredState::Hits(Hits::new(times.clone())), State::blocked(times[0], 0).into()] {
                let (columns, microtime) = encode(Schema::Full, &limit, &state);
                prop_assert_eq!(decode(Schema::Full, &limit, &columns), Some(state.clone()));
                prop_assert_eq!(super::columns(Schema::Full, &limit, &state, microtime), columns);
            }
        }

        #[test]
        fn legacy_schema_keeps_a_time_to_the_microsecond(
            time in 1_000_000_000 * SECOND..4_000_000_000 * SECOND,
        ) {
            let state = State::Filling { full_at: Span::from_ns(time) };
            let (columns, _) = encode(Schema::Legacy, &bucket(), &state.into());
            let kept = decode(Schema::Legacy, &bucket(), &columns).unwrap().expires_at();
            prop_assert!(kept >= time && kept - time <= 1_001, "{} became {}", time, kept);
        }

        #[test]
        fn any_row_is_decoded_without_a_panic(
            microtime in any::<f64>(), kind in any::<i64>(), due in any::<i64>(), part in any::<i64>(), more in any::<i64>(),
        ) {
            for seen in [microtime, 5.0] {
                let columns = [
                    Value::Double(microtime), Value::Double(seen), Value::Int(kind % 6), Value::Int(due),
                    Value::Int(part), Value::Int(more), Value::Bytes(vec![part as u8; 12]),
                ];
                let state = decode(Schema::Full, &bucket(), &columns).unwrap();
                crate::limit::apply(&bucket(), &state, SECOND, crate::limit::Op::Check);
            }
        }
    }

    #[test]
    fn row_of_the_published_class_says_when_the_bucket_was_empty() {
        let full_at = State::Filling { full_at: Span { ns: 1_003_333_333_333, part: 1 } }.into();
        let written = |microtime| {
            let mut columns = columns(Schema::Full, &bucket(), &StoredState::FULL, 1.0);
            columns[0] = microtime;
            decode(Schema::Full, &bucket(), &columns)
        };
        assert_eq!(written(Value::Double(1_000.0)), Some(StoredState::clone(&full_at)));
        assert_eq!(written(Value::Bytes(b"1000.000000".to_vec())), Some(full_at));
        for inexact in [Value::Int(1_000), Value::Float(1_000.0), Value::Bytes(b"1000.0".to_vec())]
        {
            assert_eq!(written(inexact), None);
        }
        assert_eq!(written(Value::Bytes(b"x.000000".to_vec())), None);
        let never_empty = State::Filling { full_at: Span { ns: 3_333_333_333, part: 1 } }.into();
        assert_eq!(written(Value::NULL), Some(never_empty));
    }
}
