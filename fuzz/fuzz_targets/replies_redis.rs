//! The store on Redis gets any answers.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use token_bucket::limit::{MAX_NOW, SECOND};
use token_bucket::store::{parse_reply, parse_reply_for_all};
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::record::state;
use token_bucket_fuzz::server::{PASSWORD, Piece, bytes, play};

/// The mark of each call under fuzzing.
const MARK: &[u8] = b"fuzzmark";

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Unstructured::new(input));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 16)? {
        return parse_several(u);
    }
    let with_password = u.arbitrary()?;
    let mut pieces = Vec::new();
    // Mostly the login succeeds: the answers to AUTH and CLIENT SETNAME.
    if u.int_in_range(0..=7u8)? > 0 {
        let login: &[u8] = if with_password { b"+OK\r\n+OK\r\n" } else { b"+OK\r\n" };
        pieces.push(Piece::Bytes(login.to_vec()));
    }
    for _ in 0..u.int_in_range(1..=6u8)? {
        pieces.push(match u.int_in_range(0..=15u8)? {
            0 => Piece::Echo(b"-ERR unknown command, with args beginning with: "),
            1 => Piece::Endless(reply(u, 0)?),
            _ => Piece::Bytes(reply(u, 0)?),
        });
    }
    let dsn = match with_password {
        true => format!("redis+unix://joe:{PASSWORD}@%"),
        false => "redis+unix://%".to_owned(),
    };
    play(u, &dsn, false, pieces)
}

fn reply(u: &mut Unstructured<'_>, depth: usize) -> Result<Vec<u8>> {
    const ERRORS: [&str; 8] =
        ["NOSCRIPT", "WRONGTYPE", "NOPERM", "MOVED 1 ", "READONLY", "CLUSTERDOWN", "NOAUTH", "ERR"];
    Ok(match u.int_in_range(0..=9u8)? {
        0 => bytes(u)?,
        1 => {
            let error = u.choose(&ERRORS)?;
            [&b"-"[..], error.as_bytes(), b" ", &bytes(u)?, b"\r\n"].concat()
        }
        2 => format!(":{}\r\n", u.arbitrary::<i64>()?).into_bytes(),
        3 if depth < 200 => {
            let kind = *u.choose(b"*~>%|")?;
            let mut all =
                [&[kind][..], number(u, i64::MAX as u64)?.to_string().as_bytes(), b"\r\n"].concat();
            // Nests as deep as there are bytes.
            for _ in 0..u.int_in_range(0..=4u8)? {
                all.extend(reply(u, depth + 1)?);
            }
            all
        }
        4 => {
            let kind = *u.choose(b"$=!+-(,#_")?;
            [&[kind][..], number(u, u64::MAX)?.to_string().as_bytes(), b"\r\n", &bytes(u)?].concat()
        }
        5 => u
            .choose(&[&b"*"[..], b"*1\r\n", b"%1\r\n", b"$-1\r\n", b"*-1\r\n"])?
            .repeat(u.arbitrary::<u8>()?.into()),
        // The reply of a script: accepted or not, the clock, the state before, mostly the mark.
        _ => {
            let (seconds, micros) = (number(u, 4_000_000_000)?, number(u, 999_999)?);
            let mut reply_text =
                format!("{}{seconds} {micros} ", u.int_in_range(0..=1u8)?).into_bytes();
            // Of one key, or of several, each behind its length.
            match u.int_in_range(0..=4u8)? {
                0 => reply_text.extend(state(u, seconds)?),
                keys => {
                    for _ in 0..keys {
                        let state = state(u, seconds)?;
                        let length =
                            if u.ratio(1, 16)? { u.arbitrary()? } else { state.len() as u16 };
                        reply_text.extend(length.to_be_bytes());
                        reply_text.extend(state);
                    }
                }
            }
            reply_text.extend(if u.ratio(7, 8)? { MARK } else { b"" });
            [format!("${}\r\n", reply_text.len()).as_bytes(), &reply_text, b"\r\n"].concat()
        }
    })
}

/// Parses the reply of a call on several keys: as each of the states alone, or any bytes.
fn parse_several(u: &mut Unstructured<'_>) -> Result<()> {
    let (seconds, micros) = (number(u, 4_000_000_000)?, number(u, 999_999)?);
    let is_accepted = u.arbitrary()?;
    let head = format!("{}{seconds} {micros} ", u8::from(is_accepted)).into_bytes();
    let mut reply = head.clone();
    let mut states = Vec::new();
    for _ in 0..u.int_in_range(0..=16u8)? {
        let mut state = if u.ratio(1, 4)? { bytes(u)? } else { state(u, seconds)? };
        state.truncate(u16::MAX.into());
        reply.extend((state.len() as u16).to_be_bytes());
        reply.extend(&state);
        states.push(parse_reply(&[&head[..], &state].concat()).map(|alone| alone.before));
    }
    let now = seconds * SECOND + micros * 1_000;
    match parse_reply_for_all(&reply, states.len()) {
        Some(all) => {
            assert_eq!((all.accepted, all.now), (is_accepted, now));
            assert_eq!(all.before.into_iter().map(Some).collect::<Vec<_>>(), states);
        }
        None => assert!(now > MAX_NOW, "a reply was not read"),
    }
    if let Some(fewer) = states.len().checked_sub(1) {
        assert!(parse_reply_for_all(&reply, fewer).is_none(), "a state too many");
    }
    let any = [&reply[..reply.len().min(head.len())], &bytes(u)?].concat();
    let keys = u.int_in_range(0..=16usize)?;
    let parsed = parse_reply_for_all(&any, keys);
    assert!(parsed.is_none_or(|parsed| parsed.before.len() <= keys && parsed.now <= MAX_NOW));
    Ok(())
}
