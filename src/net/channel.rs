//! A connection, plain or encrypted.

use super::failure::{Failure, LocalError, SilentIdle};
use super::pause::{self, Moment};
use super::round_trip::RoundTrip;
use super::socket::Socket;
use super::tls_error::explain_tls_error;
use crate::clock::boot_time;
use crate::dsn::Address;
use crate::limit::SECOND;
use crate::process;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A connection without an answer for this long is idle, in nanoseconds: a firewall may have dropped its
/// flow.
const IDLE: u64 = SECOND;
/// The longest time that the check of an idle connection takes.
const MAX_CHECK_TIME: Duration = Duration::from_millis(1);
/// The most reads of a check, of four kilobytes each. The session tickets of one handshake take one.
const MAX_READS: u32 = 8;

/// A connection to a server, for reading and writing until its deadline.
///
/// Dropping it closes the descriptor and says nothing to the server: in a forked child the
/// session is still the parent's.
pub struct Channel {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// The process that opened it.
    process: u64,
    /// When something was last received, by this host's clock.
    read_at: u64,
    /// Whether the connection was idle when the current call began.
    was_idle: bool,
    /// When the call was sent whose answer has not begun to arrive.
    sent_at: Option<u64>,
    round_trip: Rc<RoundTrip>,
}

impl Channel {
    /// Connects to `address` by `deadline`; with `tls` it encrypts and verifies the server. Notes in `round_trip` how long
    /// each trip takes.
    ///
    /// # Errors
    ///
    /// Why there is no connection, also for a server that could not be verified.
    pub fn open(
        address: &Address,
        tls: Option<&Arc<ClientConfig>>,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> Result<Self, Failure> {
        let opened = Self::connect(address, tls, deadline, round_trip);
        opened.map_err(|error| Failure::from_connecting(&error))
    }

    fn connect(
        address: &Address,
        tls: Option<&Arc<ClientConfig>>,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> io::Result<Self> {
        let mut channel = Self {
            socket: Socket::connect(address, deadline, round_trip)?,
            tls: None,
            process: process::generation(),
            read_at: boot_time(),
            was_idle: false,
            sent_at: None,
            round_trip: Rc::clone(round_trip),
        };
        if let Some(config) = tls {
            channel.encrypt(address, config, deadline)?;
        }
        Ok(channel)
    }

    /// Encrypts all that follows, and verifies the server. A unix socket is not encrypted.
    pub fn encrypt(
        &mut self,
        address: &Address,
        config: &Arc<ClientConfig>,
        deadline: Moment,
    ) -> io::Result<()> {
        let Address::Tcp { host, .. } = address else { return Ok(()) };
        // A certificate is for an address without the zone that leads to it.
        let host = host.split_once('%').map_or(host.as_str(), |(address, _)| address);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| io::Error::other(LocalError("no name to verify".to_owned())))?;
        let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        self.set_deadline(deadline);
        while tls.is_handshaking() {
            tls.complete_io(&mut self.socket).map_err(explain_tls_error)?;
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Whether this process opened the connection, and not one that it was forked from.
    pub fn is_own(&self) -> bool {
        self.process == process::generation()
    }

    /// Whether a call may be made on the connection: this process opened it and has not closed its descriptor, and
    /// the server has neither closed it nor sent anything unasked.
    pub fn is_reusable(&mut self) -> bool {
        if !self.is_own() || !self.socket.is_intact() {
            return false;
        }
        self.was_idle = boot_time().saturating_sub(self.read_at) > IDLE;
        let Some(tls) = &mut self.tls else { return self.socket.has_no_unread_data() };
        let is_all_read =
            tls.process_new_packets().is_ok_and(|it| it.plaintext_bytes_to_read() == 0);
        if !is_all_read {
            return false;
        }
        // TLS 1.3 servers send session tickets at any time, so only application data counts. The number of
        // reads is bounded, for a server may send tickets without end.
        self.socket.set_deadline(pause::now() + MAX_CHECK_TIME);
        for _ in 0..MAX_READS {
            if self.socket.has_no_unread_data() {
                return true;
            }
            match tls.read_tls(&mut self.socket) {
                Ok(0) | Err(_) => return false,
                Ok(_) => match tls.process_new_packets() {
                    Ok(state)
                        if state.plaintext_bytes_to_read() == 0 && !state.peer_has_closed() => {}
                    _ => return false,
                },
            }
        }
        false
    }

    /// Sets the deadline of reads and writes.
    pub fn set_deadline(&mut self, deadline: Moment) {
        self.socket.set_deadline(deadline);
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.tls.as_deref_mut() {
            None => self.socket.read(buffer),
            Some(tls) => {
                rustls::Stream::new(tls, &mut self.socket).read(buffer).map_err(explain_tls_error)
            }
        };
        match read {
            Ok(read) => {
                (self.read_at, self.was_idle) = (boot_time(), false);
                if let Some(sent_at) = self.sent_at.take() {
                    let took = Duration::from_nanos(self.read_at.saturating_sub(sent_at));
                    self.round_trip.note_answer(took, self.read_at);
                }
                Ok(read)
            }
            Err(error) if error.kind() == ErrorKind::TimedOut && self.was_idle => {
                Err(io::Error::new(ErrorKind::TimedOut, SilentIdle))
            }
            Err(error) => Err(error),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent_at.get_or_insert_with(boot_time);
        match self.tls.as_deref_mut() {
            None => self.socket.write(bytes),
            Some(tls) => {
                rustls::Stream::new(tls, &mut self.socket).write(bytes).map_err(explain_tls_error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.tls.as_deref_mut() {
            None => Ok(()),
            Some(tls) => rustls::Stream::new(tls, &mut self.socket).flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::{RootCertStore, ServerConfig, ServerConnection};
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};

    const PEM: &[u8] = include_bytes!("../../tests/localhost.pem");

    /// Starts a server that sends this many session tickets and bytes after the handshake, reports that, and waits.
    fn serve(tickets: usize, bytes: &'static [u8]) -> (Address, Arc<ClientConfig>, Receiver<()>) {
        let certificate = CertificateDer::from_pem_slice(PEM).unwrap();
        let key = PrivateKeyDer::from_pem_slice(PEM).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let client = client.with_safe_default_protocol_versions().unwrap();
        let client = client.with_root_certificates(roots).with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider);
        let server = server.with_safe_default_protocol_versions().unwrap();
        let mut server =
            server.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        server.send_tls13_tickets = tickets;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::tcp("127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let (sent, is_sent) = channel();
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut tls = ServerConnection::new(Arc::new(server)).unwrap();
            while tls.is_handshaking() || tls.wants_write() {
                if tls.complete_io(&mut socket).is_err() {
                    return;
                }
            }
            if tls.writer().write_all(bytes).and_then(|()| tls.write_tls(&mut socket)).is_err() {
                return;
            }
            sent.send(()).unwrap();
            let _ = socket.read(&mut [0]);
        });
        (address, Arc::new(client), is_sent)
    }

    fn open(tickets: usize, bytes: &'static [u8]) -> Channel {
        let (address, config, is_sent) = serve(tickets, bytes);
        let deadline = pause::start() + Duration::from_secs(60);
        let channel = Channel::open(&address, Some(&config), deadline, &Rc::default()).unwrap();
        is_sent.recv().unwrap();
        channel
    }

    #[test]
    fn connection_with_a_few_session_tickets_is_reusable() {
        assert!(open(2, b"").is_reusable());
    }

    #[test]
    fn connection_with_session_tickets_without_end_is_not_reusable() {
        assert!(!open(500, b"").is_reusable());
    }

    #[test]
    fn connection_with_decrypted_bytes_that_were_not_read_is_not_reusable() {
        let mut channel = open(2, b"answer, and more");
        channel.read_exact(&mut [0; 6]).unwrap();
        assert!(!channel.is_reusable());
        channel.read_exact(&mut [0; 10]).unwrap();
        assert!(channel.is_reusable());
    }
}
