//! The store on MariaDB or MySQL gets any answers, the greeting included.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::record::state;
use token_bucket_fuzz::server::{PASSWORD, Piece, bytes, play};

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const END: &[u8] = &[0xFE, 0, 0, 2, 0];
const LONGLONG: u8 = 8;
const DOUBLE: u8 = 5;
const BLOB: u8 = 252;

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Unstructured::new(input));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut pieces = Vec::new();
    // The number of valid answers at the beginning: greeting, login, session, statement.
    let well = u.int_in_range(0..=5u8)?;
    let maria = u.arbitrary()?;
    let right = [
        framed(0, &[greeting(maria)]),
        framed(2, &[OK.to_vec()]),
        framed(1, &[OK.to_vec()]),
        framed(1, &[prepared(0, 0)]),
    ];
    let right = right.into_iter().take(well.into());
    pieces.extend(right.map(Piece::Bytes));
    for _ in 0..u.int_in_range(1..=6u8)? {
        let sequence = match pieces.len() {
            0 => 0,
            1 => 2,
            _ if u.ratio(1, 16)? => u.arbitrary()?,
            _ => 1,
        };
        let mut payloads = Vec::new();
        for _ in 0..u.int_in_range(1..=3u8)? {
            payloads.extend(answer(u, maria)?);
        }
        let all = framed(sequence, &payloads);
        pieces.push(match u.int_in_range(0..=15u8)? {
            0 => Piece::Endless(all),
            1 => Piece::Bytes(bytes(u)?),
            2 => Piece::Bytes([all, bytes(u)?].concat()),
            _ => Piece::Bytes(all),
        });
    }
    play(u, &format!("mysql+unix://joe:{PASSWORD}@%?db=limits"), true, pieces)
}

/// Packets, numbered from `sequence` on.
fn framed(sequence: u8, payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Vec::new();
    for (i, payload) in payloads.iter().enumerate() {
        all.extend(&(payload.len() as u32).to_le_bytes()[..3]);
        all.push(sequence.wrapping_add(i as u8));
        all.extend(payload);
    }
    all
}

fn greeting(maria: bool) -> Vec<u8> {
    let version: &[u8] = if maria { b"5.5.5-10.11.6-MariaDB\0" } else { b"8.0.36\0" };
    let plugin: &[u8] = if maria { b"mysql_native_password\0" } else { b"caching_sha2_password\0" };
    let mut all =
        [&[10], version, &[1, 0, 0, 0], b"abcdefgh\0", &[0xFF, 0xF7, 45, 2, 0, 0xFF, 0x81, 21]]
            .concat();
    all.extend([0; 10]);
    all.extend(b"ijklmnopqrst\0");
    all.extend(plugin);
    all
}

fn prepared(columns: u16, parameters: u16) -> Vec<u8> {
    let mut all = vec![0, 1, 0, 0, 0];
    all.extend(columns.to_le_bytes());
    all.extend(parameters.to_le_bytes());
    all.extend([0, 0, 0]);
    all
}

fn column(kind: u8, flags: u16) -> Vec<u8> {
    let mut all = b"\x03def\0\0\0\x01x\0\x0c\x3f\0\x14\0\0\0".to_vec();
    all.push(kind);
    all.extend(flags.to_le_bytes());
    all.extend([0, 0, 0]);
    all
}

fn answer(u: &mut Unstructured<'_>, maria: bool) -> Result<Vec<Vec<u8>>> {
    const CODES: [u16; 14] =
        [1054, 1146, 1142, 1205, 1213, 1969, 1062, 1290, 1406, 1060, 1045, 1317, 0, 65535];
    Ok(vec![match u.int_in_range(0..=13u8)? {
        0 => bytes(u)?,
        // A row was found or made, or none.
        1 => [&[0, u.int_in_range(0..=2u8)?], &OK[2..]].concat(),
        2 => END.to_vec(),
        3 => {
            let code = u.choose(&CODES)?.to_le_bytes();
            [&[0xFF][..], &code[..], b"#42000", &bytes(u)?].concat()
        }
        4 => prepared(number(u, u16::MAX.into())? as u16, number(u, u16::MAX.into())? as u16),
        5 => [
            &[0xFE][..],
            *u.choose(&[
                &b"mysql_native_password\0"[..],
                b"caching_sha2_password\0",
                b"sha256_password\0",
                b"mysql_clear_password\0",
                b"client_ed25519\0",
                b"",
            ])?,
            &bytes(u)?,
        ]
        .concat(),
        6 => [&[1][..], *u.choose(&[&[3][..], &[4], &[2], b""])?, &bytes(u)?].concat(),
        7 => {
            let mut all = greeting(maria);
            let at = u.int_in_range(0..=all.len() - 1)?;
            all[at] = u.arbitrary()?;
            all.truncate(u.int_in_range(1..=128)?);
            all
        }
        8 => column(u.arbitrary()?, u.arbitrary()?),
        // Rows of columns of any kind.
        9 => {
            let mut kinds = bytes(u)?;
            kinds.truncate(8);
            let mut all = vec![vec![kinds.len() as u8]];
            for kind in &kinds {
                all.push(column(*kind, u.arbitrary()?));
            }
            all.push([&[0], bytes(u)?.as_slice()].concat());
            all.push(END.to_vec());
            return Ok(all);
        }
        // The row of a sliding window: the clock, `microtime`, `seen`, `due` and the record of its state.
        10 | 11 => {
            let mut all = vec![vec![5]];
            all.extend([LONGLONG, DOUBLE, DOUBLE, LONGLONG, BLOB].map(|kind| column(kind, 0)));
            let seconds = number(u, 4_100_000_000)?;
            let now = seconds as i64 * 1_000_000_000;
            let record = if u.ratio(1, 16)? { bytes(u)? } else { state(u, seconds)? };
            let is_null = u.ratio(1, 16)?;
            // The first two bits stand for no column.
            let mut packet = vec![0, u8::from(is_null) << 6];
            let due: i64 = u.arbitrary()?;
            let numbers =
                [now, (seconds as f64).to_bits() as i64, (seconds as f64).to_bits() as i64, due];
            numbers.iter().for_each(|number| packet.extend(number.to_le_bytes()));
            if !is_null {
                packet.push(0xFC);
                packet.extend((record.len() as u16).to_le_bytes());
                packet.extend(record);
            }
            if u.ratio(3, 4)? {
                all.push(packet);
            }
            all.push(END.to_vec());
            return Ok(all);
        }
        // The row that a decision reads: the clock and the columns.
        _ => {
            let mut all = vec![vec![7]];
            let kinds = [LONGLONG, DOUBLE, DOUBLE, LONGLONG, LONGLONG, LONGLONG, LONGLONG];
            all.extend(kinds.map(|kind| column(kind, 0)));
            let now = number(u, 4_100_000_000)? as i64 * 1_000_000_000;
            let empty_at = if u.arbitrary()? { u.arbitrary()? } else { now as f64 / 1e9 };
            let seen: f64 = if u.ratio(1, 4)? { u.arbitrary()? } else { empty_at };
            let row = [
                now,
                empty_at.to_bits() as i64,
                seen.to_bits() as i64,
                i64::from(u.int_in_range(-1..=4i8)?),
                now.saturating_add(u.arbitrary::<i64>()? >> u.int_in_range(0..=40u8)?),
                i64::from(u.arbitrary::<i32>()?),
                if u.arbitrary()? { u.arbitrary()? } else { i64::from(u.arbitrary::<u8>()?) },
            ];
            let mut packet = vec![0, 0, 0];
            row.iter().for_each(|number| packet.extend(number.to_le_bytes()));
            if u.ratio(3, 4)? {
                all.push(packet);
            }
            all.push(END.to_vec());
            return Ok(all);
        }
    }])
}
