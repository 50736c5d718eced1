//! The packets of the protocol of MariaDB and MySQL.

use crate::dsn::Address;
use crate::net::channel::Channel;
use crate::net::failure::{Failure, sanitize_line};
use crate::net::pause::Moment;
use crate::net::round_trip::RoundTrip;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::ErrPacket;
use rustls::ClientConfig;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

/// The longest packet that is received, in bytes: more than any statement returns.
const MAX_PACKET: usize = 1 << 16;

/// A connection that sends and receives packets.
pub struct Packets {
    channel: Channel,
    /// The capabilities that both sides have.
    pub capabilities: CapabilityFlags,
    /// The number of the next packet of this exchange.
    sequence: u8,
    received: Vec<u8>,
}

impl Packets {
    /// Connects to `address` by `deadline`.
    pub fn open(
        address: &Address,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> Result<Self, Failure> {
        let channel = Channel::open(address, None, deadline, round_trip)?;
        let capabilities = CapabilityFlags::empty();
        Ok(Self { channel, capabilities, sequence: 0, received: Vec::new() })
    }

    /// Encrypts all that follows, and verifies the server.
    pub fn encrypt(
        &mut self,
        address: &Address,
        config: &Arc<ClientConfig>,
        deadline: Moment,
    ) -> Result<(), Failure> {
        // Bytes that an attacker sent in the clear must not be taken for the server's over TLS.
        if !self.received.is_empty() {
            return Err(unreadable());
        }
        let encrypted = self.channel.encrypt(address, config, deadline);
        encrypted.map_err(|error| Failure::from_connecting(&error))
    }

    /// Whether this process opened the connection.
    pub fn is_own(&self) -> bool {
        self.channel.is_own()
    }

    /// Whether a call may be made on the connection.
    pub fn is_reusable(&mut self) -> bool {
        self.received.is_empty() && self.channel.is_reusable()
    }

    /// Sends commands in one go. Each begins an exchange of its own: the answers come in this order, and
    /// [`receive_first`](Self::receive_first) begins each.
    pub fn send_commands(&mut self, payloads: &[Vec<u8>], deadline: Moment) -> Result<(), Failure> {
        let packets: Vec<u8> = payloads.iter().flat_map(|payload| packet(0, payload)).collect();
        self.send_bytes(&packets, deadline)
    }

    /// Sends a packet of this exchange.
    pub fn send(&mut self, payload: &[u8], deadline: Moment) -> Result<(), Failure> {
        let packet = packet(self.sequence, payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.send_bytes(&packet, deadline)
    }

    fn send_bytes(&mut self, bytes: &[u8], deadline: Moment) -> Result<(), Failure> {
        self.channel.set_deadline(deadline);
        let sent = self.channel.write_all(bytes).and_then(|()| self.channel.flush());
        sent.map_err(|error| Failure::from_io(&error))
    }

    /// Receives the first packet of the answer to a command.
    pub fn receive_first(&mut self, deadline: Moment) -> Result<Vec<u8>, Failure> {
        self.sequence = 1;
        self.receive(deadline)
    }

    /// Receives a packet. A packet that reports an error becomes [`Failure::Refused`].
    pub fn receive(&mut self, deadline: Moment) -> Result<Vec<u8>, Failure> {
        self.channel.set_deadline(deadline);
        loop {
            if let Some(&[a, b, c, sequence]) = self.received.first_chunk() {
                let end = 4 + u32::from_le_bytes([a, b, c, 0]) as usize;
                if sequence != self.sequence || end > MAX_PACKET {
                    return Err(unreadable());
                }
                if self.received.len() >= end {
                    let payload = self.received.drain(..end).skip(4).collect();
                    self.sequence = self.sequence.wrapping_add(1);
                    return self.unless_error(payload);
                }
            }
            let mut chunk = [0u8; 2048];
            let read = self.channel.read(&mut chunk).map_err(|error| Failure::from_io(&error))?;
            if read == 0 {
                return Err(Failure::Lost);
            }
            self.received.extend(chunk.iter().take(read));
        }
    }

    fn unless_error(&self, payload: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if payload.first() != Some(&0xFF) {
            return Ok(payload);
        }
        match ParseBuf(&payload).parse::<ErrPacket<'_>>(self.capabilities) {
            Ok(ErrPacket::Error(error)) => Err(Failure::Refused {
                code: error.error_code().to_string(),
                detail: sanitize_line(&error.message_str()),
            }),
            _ => Err(unreadable()),
        }
    }
}

/// A packet with this number. The length has three bytes: every statement is shorter than 2^24.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// The failure of an answer that cannot be parsed.
pub fn unreadable() -> Failure {
    Failure::Down("its answer is not the protocol of MariaDB or MySQL".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::pause;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn connection_with_a_packet_that_was_not_read_is_not_reusable() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::tcp("127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let deadline = pause::start() + Duration::from_secs(60);
        let mut packets = Packets::open(&address, deadline, &Rc::default()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(&[1, 0, 0, 0, b'a', 1, 0, 0, 1, b'b']).unwrap();
        assert_eq!(packets.receive(deadline).unwrap(), b"a");
        assert!(!packets.is_reusable());
        assert_eq!(packets.receive(deadline).unwrap(), b"b");
        assert!(packets.is_reusable());
    }
}
