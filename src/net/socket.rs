//! A socket that never waits beyond a deadline.
//!
//! `poll` waits in slices, so that a pause of this process can be distinguished from a slow server
//! ([`pause`](super::pause)). If enough time is left, a blocking read waits for the first part of it, which
//! saves the call of `poll` for most answers. A signal (PHP's timers) does not end a wait or prolong it.
//!
//! Before a wait times out the socket is read once more: an answer that has arrived counts, however late
//! this process reads it. It is not wrong then: Redis decided by its own clock when it ran the script, and compare
//! and swap refuses a state that is out of date.

use super::failure::{LocalError, is_local};
use super::pause::{self, Moment};
use super::round_trip::RoundTrip;
use crate::clock::{boot_time, since, sleep};
use crate::descriptor::KeptDescriptor;
use crate::dsn::Address;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, sockopt};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

/// The longest look-up of a name by the system.
const LONGEST_LOOKUP: Duration = Duration::from_secs(600);
/// How long a blocking read waits.
const BLOCKING_READ: Duration = Duration::from_millis(10);
/// The most that is read after the deadline, in bytes. No answer is longer, and a server may send without
/// end.
const MAX_LATE_BYTES: usize = 64 * 1024;
/// The longest wait of one `poll`. A pause counts as no more than this.
const SLICE: Duration = Duration::from_millis(5);

/// A connected socket, for reading and writing until its deadline.
pub struct Socket {
    fd: KeptDescriptor,
    /// The deadline of reads and writes.
    deadline: Moment,
    /// How many bytes may still be read after the deadline.
    late_bytes: usize,
}

impl Socket {
    /// Connects to `address`. If a name has several addresses, it connects to the first that answers.
    ///
    /// No deadline ends the look-up of a name, which the system does.
    pub fn connect(
        address: &Address,
        deadline: Moment,
        round_trip: &RoundTrip,
    ) -> io::Result<Self> {
        let socket = match address {
            Address::Unix(path) => Self::connect_unix(path, deadline)?,
            Address::Tcp { host, port } => {
                Self::connect_by_name(host, *port, deadline, round_trip)?
            }
        };
        rustix::io::ioctl_fionbio(&socket.fd, false)?;
        sockopt::set_socket_timeout(&socket.fd, sockopt::Timeout::Recv, Some(BLOCKING_READ))?;
        Ok(socket)
    }

    fn connect_by_name(
        host: &str,
        port: u16,
        deadline: Moment,
        round_trip: &RoundTrip,
    ) -> io::Result<Self> {
        // The system's messages for this differ and do not help.
        let unknown = || {
            let why = match host.contains('%') {
                true => {
                    "this host has no interface of the name after \"%\", or the address is none of IPv6"
                }
                false => "the host name is not known",
            };
            io::Error::other(LocalError(why.to_owned()))
        };
        let mut failure = unknown();
        let candidates = (host, port).to_socket_addrs();
        // The time of a look-up that succeeded does not count: the next one would take as long, so a slow name
        // server would keep this process from the server for ever.
        pause::note_wait(if candidates.is_ok() { Duration::ZERO } else { LONGEST_LOOKUP });
        let candidates = candidates.map_err(|_| match pause::now() < deadline {
            true => unknown(),
            // The name server is silent, to other processes of this host as well: not a local error.
            false => io::Error::other("the host name was not looked up in time"),
        })?;
        // An address that drops every packet must leave time for the others.
        let candidates: Vec<SocketAddr> = candidates.collect();
        for (i, candidate) in candidates.iter().enumerate() {
            let begin = boot_time();
            match Self::connect_tcp(candidate, share(deadline, candidates.len() - i)) {
                Ok(socket) => {
                    round_trip.note_connecting(since(begin));
                    return Ok(socket);
                }
                // The system says "Invalid argument".
                Err(error) if lacks_zone(candidate) => {
                    let why = "a link-local address needs its zone, such as [fe80::1%eth0]";
                    failure = io::Error::new(error.kind(), LocalError(why.to_owned()));
                }
                // A local failure does not replace one that is a server's fault.
                Err(error) if !is_local(&failure) && is_local(&error) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn connect_tcp(to: &SocketAddr, deadline: Moment) -> io::Result<Self> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = Self::new(family, deadline)?;
        // Each call waits for its answer, so a small packet must not wait for a further one.
        sockopt::set_tcp_nodelay(&socket.fd, true)?;
        // Notices between calls that a server or a firewall has silently dropped the connection.
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

    fn connect_unix(path: &Path, deadline: Moment) -> io::Result<Self> {
        let address = SocketAddrUnix::new(path)?;
        let socket = Self::new(AddressFamily::UNIX, deadline)?;
        loop {
            match net::connect(&socket.fd, &address) {
                Ok(()) => return Ok(socket),
                Err(Errno::INTR) => {}
                // The server's backlog is full, and `poll` cannot wait for room in it.
                Err(Errno::AGAIN) if pause::now() < deadline => {
                    sleep(Duration::from_millis(1));
                }
                Err(Errno::AGAIN) => return Err(ErrorKind::TimedOut.into()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn new(family: AddressFamily, deadline: Moment) -> io::Result<Self> {
        let fd = KeptDescriptor::new(net::socket(family, SocketType::STREAM, None)?)?;
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&fd, true)?;
        #[cfg(target_vendor = "apple")]
        sockopt::set_socket_nosigpipe(&fd, true)?;
        Ok(Self { fd, deadline, late_bytes: MAX_LATE_BYTES })
    }

    /// Sets the deadline of reads and writes.
    pub fn set_deadline(&mut self, deadline: Moment) {
        if deadline != self.deadline {
            self.deadline = deadline;
            self.late_bytes = MAX_LATE_BYTES;
        }
    }

    /// Whether the descriptor still stands for this socket.
    pub fn is_intact(&self) -> bool {
        self.fd.is_intact()
    }

    /// Whether the server has sent nothing and has not closed the connection.
    pub fn has_no_unread_data(&self) -> bool {
        let mut byte = [0u8; 1];
        matches!(
            net::recv(&self.fd, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT),
            Err(Errno::AGAIN | Errno::INTR)
        )
    }

    fn wait(&self, what: PollFlags, deadline: Moment) -> io::Result<()> {
        loop {
            let slice = deadline.left_at(pause::now()).min(SLICE);
            let time = Timespec { tv_sec: 0, tv_nsec: slice.subsec_nanos().into() };
            let ready = poll(&mut [PollFd::new(&self.fd, what)], Some(&time));
            pause::note_wait(slice);
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
pub fn share(deadline: Moment, many: usize) -> Moment {
    let now = pause::now();
    let many = u32::try_from(many.max(1)).unwrap_or(u32::MAX);
    now + deadline.left_at(now) / many
}

/// Whether the address is valid on one link, and does not say on which.
fn lacks_zone(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(to) if to.ip().is_unicast_link_local() && to.scope_id() == 0)
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Twice the wait must be left, for the kernel counts in ticks of some milliseconds.
        if self.deadline.left_at(pause::now()) >= 2 * BLOCKING_READ {
            let received = net::recv(&self.fd, &mut *buffer, RecvFlags::empty());
            pause::note_wait(BLOCKING_READ);
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
    fn server_that_sends_without_end_is_not_read_after_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            while connection.write_all(&[0; 1 << 20]).is_ok() {}
        });
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let start = pause::start();
        let mut socket =
            Socket::connect(&address, start + Duration::from_secs(5), &RoundTrip::default())
                .unwrap();
        let deadline = pause::now() + Duration::from_millis(30);
        socket.set_deadline(deadline);
        let mut late = 0;
        let error = loop {
            // The same deadline for each part of an answer.
            socket.set_deadline(deadline);
            let is_late = pause::now() > deadline;
            match socket.read(&mut [0; 4096]) {
                Ok(read) if is_late => late += read,
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(late <= MAX_LATE_BYTES, "{late}");
    }
}
