//! A connection that speaks memcached's meta protocol.
//!
//! Commands are built and answers are read by the crate `memcache`; its own connections know no
//! unix sockets and no time budget.

use crate::clock::boot_time;
use crate::dsn::Address;
use crate::store::net::channel::Channel;
use crate::store::net::failure::{self, Failure};
use crate::store::net::kept::Reusable;
use crate::store::net::mark;
use memcache::exp::{MetaCommand, MetaOp, MetaResponse, ReturnCode};
use std::io::{Read, Write};
use std::time::Instant;

/// The longest answer that can be ours: a line of flags and a state.
const LONGEST: usize = 512;

/// An answer: its code, its token for compare-and-swap, its mark, and the value if there is one.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The first word.
    pub code: ReturnCode,
    /// The token, if it has one.
    pub cas: Option<u64>,
    /// The mark of the command that it answers. A miss (`EN`) carries none.
    mark: Option<u64>,
    /// The value, if it has one.
    pub value: Option<Vec<u8>>,
}

/// A connection that speaks memcached's meta protocol.
pub struct Link {
    channel: Channel,
    /// When the connection was opened, on the clock of this host. A token that was known before may be
    /// another server's.
    pub opened: u64,
}

impl Link {
    /// Connects to `address` by `deadline`.
    pub fn open(address: &Address, deadline: Instant) -> Result<Self, Failure> {
        let channel = Channel::open(address, None, deadline)
            .map_err(|error| Failure::of_connecting(&error))?;
        Ok(Self { channel, opened: boot_time() })
    }

    /// Sends a command and waits for its answer. After a failure the link must be dropped: its
    /// answer may yet come.
    pub fn call(&mut self, command: &MetaCommand, deadline: Instant) -> Result<Answer, Failure> {
        let mark = mark::new();
        let request = command.clone().flag(format!("O{mark:x}")).encode();
        let request = request.map_err(|error| Failure::Down(error.to_string()))?;
        let channel = &mut self.channel;
        channel.set_deadline(deadline);
        channel.write_all(&request).map_err(|error| Failure::of_io(&error))?;
        let mut received = Vec::with_capacity(LONGEST);
        loop {
            let mut chunk = [0u8; LONGEST];
            let read = channel.read(&mut chunk).map_err(|error| Failure::of_io(&error))?;
            if read == 0 {
                return Err(Failure::Lost);
            }
            received.extend(chunk.iter().take(read));
            if let Some(answer) = read_answer(&received)? {
                let is_marked = !matches!(answer.code, ReturnCode::En | ReturnCode::Mn);
                return match is_marked && answer.mark != Some(mark) {
                    true => Err(Failure::Astray),
                    false => Ok(answer),
                };
            }
        }
    }
}

impl Reusable for Link {
    fn is_reusable(&mut self) -> bool {
        self.channel.is_reusable()
    }

    fn verify(&mut self, by: Instant) -> Result<(), Failure> {
        self.call(&MetaCommand::new(MetaOp::Noop, ""), by).map(drop)
    }
}

/// Reads an answer that fills `bytes`; `None` if more has to come.
fn read_answer(bytes: &[u8]) -> Result<Option<Answer>, Failure> {
    let garbage = || Failure::Down("its answer is not memcached's meta protocol".to_owned());
    if bytes.len() > LONGEST {
        return Err(garbage());
    }
    let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
    let (line, rest) =
        (bytes.get(..end).unwrap_or_default(), bytes.get(end + 2..).unwrap_or_default());
    let response = MetaResponse::parse_header(line).map_err(|error| match error {
        memcache::exp::Error::Rejected(_) if line == b"ERROR" => {
            Failure::Down("it does not know the meta protocol: memcached 1.6 is needed".to_owned())
        }
        // It is up, and has no room for this one.
        memcache::exp::Error::Server(why) if why.starts_with("out of memory") => {
            Failure::Refused { code: "SERVER_ERROR".to_owned(), detail: failure::line(&why) }
        }
        memcache::exp::Error::Rejected(why) | memcache::exp::Error::Server(why) => {
            Failure::Down(failure::line(&why))
        }
        _ => garbage(),
    })?;
    let flag = |flag: &[u8]| match flag.split_first() {
        Some((b'c', number)) => std::str::from_utf8(number).ok()?.parse().ok(),
        _ => None,
    };
    let cas = response.flags().find_map(flag);
    let mark = response.flags().find_map(|flag| match flag.split_first() {
        Some((b'O', mark)) => u64::from_str_radix(std::str::from_utf8(mark).ok()?, 16).ok(),
        _ => None,
    });
    let value = match response.rc() {
        ReturnCode::Va => {
            // How long it is stands after the code; the crate keeps that to itself.
            let length = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let length: usize = std::str::from_utf8(length)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(garbage)?;
            match rest.split_at_checked(length) {
                Some((value, b"\r\n")) => Some(value.to_vec()),
                Some((_, b"" | b"\r")) | None if length < LONGEST => return Ok(None),
                _ => return Err(garbage()),
            }
        }
        // Nobody asked for what comes after.
        _ if !rest.is_empty() => return Err(garbage()),
        _ => None,
    };
    Ok(Some(Answer { code: response.rc(), cas, mark, value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole() {
        let answer = |bytes: &[u8]| read_answer(bytes).unwrap();
        let (code, value) = (ReturnCode::Va, Some(b"a\r\n".to_vec()));
        let hit = Answer { code, cas: Some(7), mark: Some(0xAB), value };
        assert_eq!(answer(b"VA 3 c7 Oab\r\na\r\n\r\n"), Some(hit));
        let stored = Answer { code: ReturnCode::Hd, cas: Some(8), mark: None, value: None };
        assert_eq!(answer(b"HD c8\r\n"), Some(stored));
        for part in
            [&b""[..], b"V", b"VA 3 c7\r", b"VA 3 c7\r\n", b"VA 3 c7\r\nabc", b"VA 3 c7\r\nabc\r"]
        {
            assert_eq!(answer(part), None);
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let refused = |bytes: &[u8]| read_answer(bytes).unwrap_err().reason();
        let strange = [
            &b"\r\n"[..],
            b"XX\r\n",
            b"VA x\r\n",
            b"VA -1\r\n",
            b"VA 99999999999999999999\r\n",
            b"VA 2\r\nabcd",
            b"HD\r\nHD\r\n",
            b"VA 600\r\n",
            &[b'x'; 600],
        ];
        for bytes in strange {
            assert!(refused(bytes).contains("not memcached's meta protocol"), "{bytes:?}");
        }
        assert!(refused(b"ERROR\r\n").contains("1.6 is needed"));
        assert!(
            refused(b"SERVER_ERROR out of memory storing object\r\n").contains("out of memory")
        );
        // Nothing that a terminal or a log would take for more than words.
        assert!(!refused(b"SERVER_ERROR \x1b[2J\x07x\r\n").contains(char::is_control));
    }
}
