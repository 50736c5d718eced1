//! A connection, plain or encrypted.

use super::failure::LocalError;
use super::pause;
use super::socket::Socket;
use super::verdict::of_tls;
use crate::dsn::Address;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the look at an idle connection may take.
const LONGEST_LOOK: Duration = Duration::from_millis(1);

/// A connection to a server, for reading and writing until its deadline.
///
/// Dropping it closes the descriptor and says nothing to the server: in a forked child the
/// session is still the parent's.
pub struct Channel {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    process: u32,
}

impl Channel {
    /// Connects to `address` by `deadline`, and with a `tls` verifies who answers.
    pub fn open(
        address: &Address,
        tls: Option<&Arc<ClientConfig>>,
        deadline: Instant,
    ) -> io::Result<Self> {
        let socket = Socket::connect(address, deadline)?;
        let mut channel = Self { socket, tls: None, process: std::process::id() };
        if let Some(config) = tls {
            channel.encrypt(address, config, deadline)?;
        }
        Ok(channel)
    }

    /// Encrypts from here on, and verifies who answers; a unix socket stays as it is.
    pub fn encrypt(
        &mut self,
        address: &Address,
        config: &Arc<ClientConfig>,
        deadline: Instant,
    ) -> io::Result<()> {
        let Address::Tcp { host, .. } = address else { return Ok(()) };
        let name = ServerName::try_from(host.clone())
            .map_err(|_| io::Error::other(LocalError("no name to verify".to_owned())))?;
        let mut tls = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        self.set_deadline(deadline);
        while tls.is_handshaking() {
            tls.complete_io(&mut self.socket).map_err(of_tls)?;
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// Whether a call may be made on it: it was opened by this process, and the server has
    /// neither hung up nor said anything that nobody asked for.
    pub fn is_good(&mut self) -> bool {
        if self.process != std::process::id() {
            return false;
        }
        let Some(tls) = &mut self.tls else { return self.socket.is_quiet() };
        // TLS 1.3 sends session tickets when it likes: only what they leave behind counts. A server that
        // sends them without end is not waited for.
        let end = pause::now() + LONGEST_LOOK;
        self.socket.deadline = end;
        while !self.socket.is_quiet() {
            if pause::now() >= end {
                return false;
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
        true
    }

    /// Sets until when to read and write.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.socket.deadline = deadline;
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.tls.as_deref_mut() {
            None => self.socket.read(buffer),
            Some(tls) => rustls::Stream::new(tls, &mut self.socket).read(buffer).map_err(of_tls),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.tls.as_deref_mut() {
            None => self.socket.write(bytes),
            Some(tls) => rustls::Stream::new(tls, &mut self.socket).write(bytes).map_err(of_tls),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.tls.as_deref_mut() {
            None => Ok(()),
            Some(tls) => rustls::Stream::new(tls, &mut self.socket).flush(),
        }
    }
}
