//! The store on memcached gets any answers.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::time::SystemTime;
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::record;
use token_bucket_fuzz::server::{Piece, bytes, play};

/// The mark of each call under fuzzing: `fuzzmark` in hexadecimal digits.
const MARK: &str = "O66757a7a6d61726b";

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Unstructured::new(input));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut pieces = Vec::new();
    for _ in 0..u.int_in_range(1..=8u8)? {
        pieces.push(match u.int_in_range(0..=15u8)? {
            0 => Piece::Echo(b"CLIENT_ERROR "),
            1 => Piece::Endless(reply(u)?),
            _ => Piece::Bytes(reply(u)?),
        });
    }
    play(u, "memcached+unix://%", false, pieces)
}

fn reply(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const LINES: [&str; 9] = [
        "EN",
        "HD",
        "NS",
        "EX",
        "NF",
        "MN",
        "ERROR",
        "SERVER_ERROR ",
        "VA 18446744073709551615 c1",
    ];
    Ok(match u.int_in_range(0..=7u8)? {
        0 => bytes(u)?,
        1 => [u.choose(&LINES)?.as_bytes(), &bytes(u)?, b"\r\n"].concat(),
        2 => [u.choose(&LINES)?.as_bytes(), b" ", MARK.as_bytes(), b"\r\n"].concat(),
        3 => format!("HD c{} {MARK}\r\n", u.arbitrary::<u64>()?).into_bytes(),
        // A value, which may be a state, and its length, which may be wrong.
        kind => {
            let value = if kind == 4 { bytes(u)? } else { state(u)? };
            let length = if u.ratio(1, 8)? { number(u, u64::MAX)? } else { value.len() as u64 };
            let flags = if u.ratio(1, 8)? {
                bytes(u)?
            } else {
                format!("c{} {MARK}", u.arbitrary::<u64>()?).into_bytes()
            };
            [format!("VA {length} ").as_bytes(), &flags, b"\r\n", &value, b"\r\n"].concat()
        }
    })
}

/// A state near this host's clock.
fn state(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let seconds = now.saturating_sub(number(u, 1 << 40)?);
    record::state(u, seconds)
}
