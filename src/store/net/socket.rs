//! A socket that is never waited for beyond a deadline.
//!
//! `poll` does the waiting, in slices, so that a pause of this process is told from a slow server
//! ([`pause`](super::pause)). Where much time is left, reading waits by itself for the first part of
//! it, which saves a system call: that is as long as most answers take. A signal that interrupts (a
//! timer of PHP's) makes it wait on, not start anew.
//!
//! The socket is looked at before a wait is given up: what has arrived is read, however late it is.

use super::failure::{LocalError, is_local};
use super::pause;
use crate::dsn::Address;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, sockopt};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest that the system looks for a name.
const LONGEST_LOOKUP: Duration = Duration::from_secs(600);
/// For how long reading waits by itself.
const PATIENCE: Duration = Duration::from_millis(10);
/// How much is read after the deadline, in bytes: what had arrived by then. No answer is longer, and a
/// server that sends without end is not listened to without end.
const MAX_LATE_BYTES: usize = 64 * 1024;
/// For how long `poll` waits at once: a pause counts as no more than this.
const SLICE: Duration = Duration::from_millis(5);

/// A connected socket, for reading and writing until its deadline.
pub struct Socket {
    fd: OwnedFd,
    /// Until when to read and write.
    deadline: Instant,
    /// How many bytes may still be read after the deadline.
    late_bytes: usize,
}

impl Socket {
    /// Connects to `address`; where a name has several addresses, to the first that answers.
    ///
    /// The look-up of a name is the one thing no deadline reaches: it is the system's.
    pub fn connect(address: &Address, deadline: Instant) -> io::Result<Self> {
        let socket = match address {
            Address::Unix(path) => Self::connect_unix(path, deadline)?,
            Address::Tcp { host, port } => Self::connect_by_name(host, *port, deadline)?,
        };
        rustix::io::ioctl_fionbio(&socket.fd, false)?;
        sockopt::set_socket_timeout(&socket.fd, sockopt::Timeout::Recv, Some(PATIENCE))?;
        Ok(socket)
    }

    fn connect_by_name(host: &str, port: u16, deadline: Instant) -> io::Result<Self> {
        // What the system says of it differs, and helps nobody.
        let unknown = || io::Error::other(LocalError("the host name is not known".to_owned()));
        let mut failure = unknown();
        let candidates = (host, port).to_socket_addrs();
        pause::waited(LONGEST_LOOKUP);
        let candidates = candidates.map_err(|_| match pause::now() < deadline {
            true => unknown(),
            // The name server is silent, as it will be to the other processes of this host.
            false => io::Error::other("the host name was not looked up in time"),
        })?;
        // One that drops every packet must leave time for the others.
        let candidates: Vec<SocketAddr> = candidates.collect();
        for (i, candidate) in candidates.iter().enumerate() {
            match Self::connect_tcp(candidate, share(deadline, candidates.len() - i)) {
                Ok(socket) => return Ok(socket),
                // One that this host cannot reach says nothing of those that it can.
                Err(error) if !is_local(&failure) && is_local(&error) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_tcp(to: &SocketAddr, deadline: Instant) -> io::Result<Self> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = Self::new(family, deadline)?;
        // Answers are awaited one by one: nothing is gained by gathering small packets.
        sockopt::set_tcp_nodelay(&socket.fd, true)?;
        // A server or a firewall that went away in silence is noticed between calls.
        sockopt::set_socket_keepalive(&socket.fd, true)?;
        match net::connect(&socket.fd, to) {
            Ok(()) => return Ok(socket),
            Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        socket.wait(PollFlags::OUT, deadline)?;
        sockopt::socket_error(&socket.fd)??;
        Ok(socket)
    }

    fn connect_unix(path: &Path, deadline: Instant) -> io::Result<Self> {
        let address = SocketAddrUnix::new(path)?;
        let socket = Self::new(AddressFamily::UNIX, deadline)?;
        loop {
            match net::connect(&socket.fd, &address) {
                Ok(()) => return Ok(socket),
                Err(Errno::INTR) => {}
                // The server's queue of callers is full, and there is nothing to poll for.
                Err(Errno::AGAIN) if pause::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::AGAIN) => return Err(ErrorKind::TimedOut.into()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn new(family: AddressFamily, deadline: Instant) -> io::Result<Self> {
        let fd = net::socket(family, SocketType::STREAM, None)?;
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&fd, true)?;
        #[cfg(target_vendor = "apple")]
        sockopt::set_socket_nosigpipe(&fd, true)?;
        Ok(Self { fd, deadline, late_bytes: MAX_LATE_BYTES })
    }

    /// Sets until when to read and write.
    pub fn set_deadline(&mut self, deadline: Instant) {
        if deadline != self.deadline {
            self.deadline = deadline;
            self.late_bytes = MAX_LATE_BYTES;
        }
    }

    /// Whether nothing has come and nobody has hung up.
    pub fn has_no_unread_data(&self) -> bool {
        let mut byte = [0u8; 1];
        matches!(
            net::recv(&self.fd, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT),
            Err(Errno::AGAIN | Errno::INTR)
        )
    }

    fn wait(&self, what: PollFlags, deadline: Instant) -> io::Result<()> {
        loop {
            let slice = deadline.saturating_duration_since(pause::now()).min(SLICE);
            let time = Timespec { tv_sec: 0, tv_nsec: slice.subsec_nanos().into() };
            let ready = poll(&mut [PollFd::new(&self.fd, what)], Some(&time));
            pause::waited(slice);
            match ready {
                Ok(0) if slice.is_zero() => return Err(ErrorKind::TimedOut.into()),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The end of the first of `many` equal shares of the time that is left.
pub fn share(deadline: Instant, many: usize) -> Instant {
    let now = pause::now();
    let many = u32::try_from(many.max(1)).unwrap_or(u32::MAX);
    now + deadline.saturating_duration_since(now) / many
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Twice as long is left, for the kernel counts in ticks of some milliseconds.
        if self.deadline.saturating_duration_since(pause::now()) >= 2 * PATIENCE {
            let received = net::recv(&self.fd, &mut *buffer, RecvFlags::empty());
            pause::waited(PATIENCE);
            match received {
                Ok((read, _)) => return Ok(read),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        loop {
            self.wait(PollFlags::IN, self.deadline)?;
            match net::recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((read, _)) if pause::now() < self.deadline => return Ok(read),
                Ok((read, _)) => {
                    let left = self.late_bytes.checked_sub(read);
                    self.late_bytes = left.ok_or(ErrorKind::TimedOut)?;
                    return Ok(read);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match net::send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(written) => return Ok(written),
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, self.deadline)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn server_that_sends_without_end_is_left_after_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            while connection.write_all(&[0; 1 << 20]).is_ok() {}
        });
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let start = pause::start();
        let mut socket = Socket::connect(&address, start + Duration::from_secs(5)).unwrap();
        let deadline = pause::now() + Duration::from_millis(30);
        socket.set_deadline(deadline);
        let mut late = 0;
        let error = loop {
            // For each part of an answer the same one.
            socket.set_deadline(deadline);
            match socket.read(&mut [0; 4096]) {
                Ok(read) if pause::now() > deadline => late += read,
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(late <= MAX_LATE_BYTES, "{late}");
    }
}
