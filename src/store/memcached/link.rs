//! A connection that speaks memcached's meta protocol.
//!
//! The crate `memcache` builds the commands and parses the headers of replies. Its own connections that speak this protocol are
//! by TCP alone, and their time-outs (0.21) are those of each read, not of a call.

use crate::clock::boot_time;
use crate::dsn::Address;
use crate::net::channel::Channel;
use crate::net::failure::{Failure, unless_closed};
use crate::net::kept_connection::Reusable;
use crate::net::pause::Moment;
use crate::net::round_trip::RoundTrip;
use crate::net::{failure, mark};
use crate::store::record;
use memcache::exp::{MetaCommand, MetaOp, MetaResponse, ReturnCode};
use std::io::{Read, Write};
use std::rc::Rc;

/// The longest valid reply, in bytes: a line of flags and a state.
const LONGEST: usize = 512 + record::LONGEST;

/// What a server answers to a connection beyond `-c`, before it closes it.
const TOO_MANY_CONNECTIONS: &[u8] = b"ERROR Too many open connections";

/// A reply of the meta protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct MetaReply {
    /// The return code.
    pub code: ReturnCode,
    /// The token for compare and swap, if there is one.
    pub cas: Option<u64>,
    /// The mark of the command that it answers. A miss (`EN`) has none.
    mark: Option<u64>,
    /// For how many more seconds the item is kept, if that was asked for.
    pub left: Option<u64>,
    /// What the client keeps beside the value, if that was asked for.
    pub client_flags: Option<u32>,
    /// The value, if there is one.
    pub value: Option<Vec<u8>>,
}

/// A connection that speaks memcached's meta protocol.
pub struct MemcachedLink {
    channel: Channel,
    /// When the connection was opened, by this host's clock. An older token may be from an earlier run of
    /// the server.
    pub opened: u64,
}

impl MemcachedLink {
    /// Connects to `address` by `deadline`.
    pub fn open(
        address: &Address,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> Result<Self, Failure> {
        let channel = Channel::open(address, None, deadline, round_trip)?;
        Ok(Self { channel, opened: boot_time() })
    }

    /// Sends a command and waits for its answer. After a failure the link must be dropped: its
    /// answer may yet come.
    pub fn call(&mut self, command: &MetaCommand, deadline: Moment) -> Result<MetaReply, Failure> {
        let mark = mark::new();
        let request = command.clone().flag(format!("O{mark:x}")).encode();
        let request = request.map_err(|error| Failure::Down(error.to_string()))?;
        let channel = &mut self.channel;
        channel.set_deadline(deadline);
        let sent = channel.write_all(&request).or_else(unless_closed);
        sent.map_err(|error| Failure::from_io(&error))?;
        let mut received = Vec::new();
        loop {
            let mut chunk = [0u8; 2048];
            let read = channel.read(&mut chunk).map_err(|error| Failure::from_io(&error))?;
            if read == 0 {
                return Err(Failure::Lost);
            }
            received.extend(chunk.iter().take(read));
            if let Some((answer, rest)) = parse_reply(&received)? {
                let is_marked = !matches!(answer.code, ReturnCode::En | ReturnCode::Mn);
                // The reply to this call may stand behind one to another call.
                return match is_marked && answer.mark != Some(mark) {
                    true => Err(Failure::ReplyToAnotherCall),
                    false if !rest.is_empty() => Err(garbage()),
                    false => Ok(answer),
                };
            }
        }
    }
}

impl Reusable for MemcachedLink {
    fn is_own(&self) -> bool {
        self.channel.is_own()
    }

    fn is_reusable(&mut self) -> bool {
        self.channel.is_reusable()
    }

    fn verify(&mut self, by: Moment) -> Result<(), Failure> {
        self.call(&MetaCommand::new(MetaOp::Noop, ""), by).map(drop)
    }
}

fn garbage() -> Failure {
    Failure::Down("its answer is not memcached's meta protocol".to_owned())
}

/// Parses the reply that `bytes` begin with, and returns it with what follows. None if it is not complete.
fn parse_reply(bytes: &[u8]) -> Result<Option<(MetaReply, &[u8])>, Failure> {
    let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") else {
        return if bytes.len() > LONGEST { Err(garbage()) } else { Ok(None) };
    };
    let (line, rest) =
        (bytes.get(..end).unwrap_or_default(), bytes.get(end + 2..).unwrap_or_default());
    let response = MetaResponse::parse_header(line).map_err(|error| match error {
        memcache::exp::Error::Rejected(_) if line == b"ERROR" => {
            Failure::Down("it does not know the meta protocol: memcached 1.6 is needed".to_owned())
        }
        // The server is up, but has no memory for this item.
        memcache::exp::Error::Server(why) if why.starts_with("out of memory") => Failure::Refused {
            code: "SERVER_ERROR".to_owned(),
            detail: failure::sanitize_line(&why),
        },
        // Processes that have a connection keep it.
        memcache::exp::Error::Rejected(_) if line == TOO_MANY_CONNECTIONS => {
            Failure::Local("too many open connections".to_owned())
        }
        memcache::exp::Error::Rejected(why) | memcache::exp::Error::Server(why) => {
            Failure::Down(failure::sanitize_line(&why))
        }
        _ => garbage(),
    })?;
    let number = |letter: u8, radix| {
        let mut digits = response.flags().filter_map(|flag| flag.strip_prefix(&[letter]));
        digits.find_map(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok())
    };
    let (cas, mark, left) = (number(b'c', 10), number(b'O', 16), number(b't', 10));
    let client_flags = number(b'f', 10).and_then(|flags| flags.try_into().ok());
    let (value, rest) = match response.rc() {
        ReturnCode::Va => {
            // The length follows the code; the crate does not return it.
            let length = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let length: usize = std::str::from_utf8(length)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(garbage)?;
            match rest.split_at_checked(length) {
                Some((_, b"" | b"\r")) | None if length < LONGEST => return Ok(None),
                Some((value, rest)) => {
                    (Some(value.to_vec()), rest.strip_prefix(b"\r\n").ok_or_else(garbage)?)
                }
                None => return Err(garbage()),
            }
        }
        _ => (None, rest),
    };
    Ok(Some((MetaReply { code: response.rc(), cas, mark, left, client_flags, value }, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_is_parsed_once_it_is_complete() {
        fn answer(bytes: &[u8]) -> Option<(MetaReply, &[u8])> {
            parse_reply(bytes).unwrap()
        }
        let (code, value) = (ReturnCode::Va, Some(b"a\r\n".to_vec()));
        let hit = |value| MetaReply {
            code,
            cas: Some(7),
            mark: Some(0xAB),
            left: Some(30),
            client_flags: Some(9),
            value,
        };
        assert_eq!(
            answer(b"VA 3 c7 t30 f9 Oab\r\na\r\n\r\n"),
            Some((hit(value.clone()), &b""[..]))
        );
        assert_eq!(answer(b"VA 3 c7 t30 f9 Oab\r\na\r\n\r\nHD"), Some((hit(value), &b"HD"[..])));
        let stored = MetaReply {
            code: ReturnCode::Hd,
            cas: Some(8),
            mark: None,
            left: None,
            client_flags: None,
            value: None,
        };
        assert_eq!(answer(b"HD c8\r\n"), Some((stored, &b""[..])));
        for part in
            [&b""[..], b"V", b"VA 3 c7\r", b"VA 3 c7\r\n", b"VA 3 c7\r\nabc", b"VA 3 c7\r\nabc\r"]
        {
            assert_eq!(answer(part), None);
        }
    }

    #[test]
    fn garbage_is_a_failure_of_the_server() {
        let refused = |bytes: &[u8]| parse_reply(bytes).unwrap_err().reason();
        let strange = [
            &b"\r\n"[..],
            b"XX\r\n",
            b"VA x\r\n",
            b"VA -1\r\n",
            b"VA 99999999999999999999\r\n",
            b"VA 2\r\nabcd",
            b"VA 99999\r\n",
            &[b'x'; LONGEST + 1],
        ];
        for bytes in strange {
            assert!(refused(bytes).contains("not memcached's meta protocol"), "{bytes:?}");
        }
        assert!(refused(b"ERROR\r\n").contains("1.6 is needed"));
        assert!(
            refused(b"SERVER_ERROR out of memory storing object\r\n").contains("out of memory")
        );
        // A message has no control characters.
        assert!(!refused(b"SERVER_ERROR \x1b[2J\x07x\r\n").contains(char::is_control));
    }
}
