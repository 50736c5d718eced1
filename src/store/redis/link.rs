//! A connection that speaks RESP, logged in.

use crate::dsn::{Address, RedisTarget, Secret, Topology};
use crate::net::channel::Channel;
use crate::net::failure::{Failure, sanitize_line, unless_closed};
use crate::net::pause::Moment;
use crate::net::round_trip::RoundTrip;
use redis::{Cmd, Parser, RedisError, Value};
use rustls::ClientConfig;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;
use std::sync::Arc;

/// The most that is read of an answer, in bytes. The longest answer is the map of a large cluster.
const LONGEST_ANSWER: usize = 1 << 20;

/// A connection that speaks RESP, logged in.
pub struct RedisLink {
    channel: Channel,
}

impl RedisLink {
    /// Connects to `address` and logs in as `redis` says, by `deadline`.
    pub fn open(
        address: &Address,
        redis: &RedisTarget,
        tls: Option<&Arc<ClientConfig>>,
        deadline: Moment,
        round_trip: &Rc<RoundTrip>,
    ) -> Result<Self, Failure> {
        let link = Self { channel: Channel::open(address, tls, deadline, round_trip)? };
        let mut commands = Vec::new();
        if redis.database != 0 {
            commands.push(command("SELECT", &[redis.database.to_string().as_bytes()]));
        }
        let user = redis.user.as_deref();
        let must_be_master = matches!(redis.topology, Topology::Sentinel { .. });
        let password = redis.password.as_ref();
        link.log_in(user, password, commands, must_be_master, deadline)
    }

    /// Connects to a sentinel.
    pub fn open_sentinel(
        address: &Address,
        password: Option<&Secret>,
        tls: Option<&Arc<ClientConfig>>,
        deadline: Moment,
    ) -> Result<Self, Failure> {
        let link = Self { channel: Channel::open(address, tls, deadline, &Rc::default())? };
        link.log_in(None, password, Vec::new(), false, deadline)
    }

    fn log_in(
        mut self,
        user: Option<&str>,
        password: Option<&Secret>,
        further: Vec<Cmd>,
        must_be_master: bool,
        deadline: Moment,
    ) -> Result<Self, Failure> {
        let mut commands: Vec<Cmd> = password.map(|it| auth(user, it)).into_iter().collect();
        commands.extend(further);
        // Shows in CLIENT LIST that the connection is ours. A user without the right to set a
        // name does without.
        commands.push(command("CLIENT", &[b"SETNAME", b"token_bucket"]));
        // A user without the right to ROLE skips this check; a replica then refuses the first call.
        commands.extend(must_be_master.then(|| command("ROLE", &[])));
        let mut answers = self.exchange(&commands, deadline)?;
        let role = must_be_master.then(|| answers.pop()).flatten();
        let named = answers.pop();
        let mut answers = answers.into_iter();
        if password.is_some()
            && let Some(Err(failure)) = answers.next()
        {
            return Err(explain_login_failure(failure));
        }
        let refused = match answers.find_map(Result::err) {
            None => named
                .and_then(Result::err)
                .filter(|failure| failure.is("NOAUTH") || refuses_connection(failure)),
            some => some,
        };
        refused.or_else(|| role.and_then(Result::ok).and_then(check_role)).map_or(Ok(self), Err)
    }

    /// Whether this process opened the connection.
    pub fn is_own(&self) -> bool {
        self.channel.is_own()
    }

    /// Whether a call may be made on this connection.
    pub fn is_reusable(&mut self) -> bool {
        self.channel.is_reusable()
    }

    /// Returns the link if a call may be made on it.
    pub fn if_reusable(mut self) -> Option<Self> {
        self.is_reusable().then_some(self)
    }

    /// Sends a command and waits for its answer. After a failure other than
    /// [`Failure::Refused`] the link must be dropped: its answer may yet come.
    pub fn call(&mut self, command: &Cmd, deadline: Moment) -> Result<Value, Failure> {
        let answers = self.exchange(std::slice::from_ref(command), deadline)?;
        answers.into_iter().next().unwrap_or(Err(Failure::Lost))
    }

    /// Sends commands in one go and waits for the answer to each.
    pub fn exchange(
        &mut self,
        commands: &[Cmd],
        deadline: Moment,
    ) -> Result<Vec<Result<Value, Failure>>, Failure> {
        let channel = &mut self.channel;
        channel.set_deadline(deadline);
        let mut request = Vec::new();
        commands.iter().for_each(|command| command.write_packed_command(&mut request));
        let sent = channel.write_all(&request).and_then(|()| channel.flush());
        sent.or_else(unless_closed).map_err(|error| Failure::from_io(&error))?;
        // The parser reads ahead, so all answers need the same one. The next call gets a new parser, which
        // holds nothing of this call's.
        let mut reader = ReplyReader::new(channel);
        let mut parser = Parser::new();
        let mut answers = Vec::with_capacity(commands.len());
        for _ in commands {
            answers.push(match parser.parse_value(&mut reader) {
                Ok(Value::ServerError(error)) => Err(refused_by(&RedisError::from(error))),
                Ok(value) => Ok(value),
                Err(_) => {
                    let own = reader.text_of_error(answers.len());
                    if let Some(error) = own.filter(|_| answers.len() + 1 == commands.len()) {
                        answers.push(Err(error));
                        break;
                    }
                    // A server that refuses a connection says why, and closes it. Another error may be the answer to
                    // AUTH, which holds the password if the server does not know AUTH.
                    let why = answers.pop().and_then(Result::err).filter(refuses_connection);
                    return Err(why.unwrap_or_else(|| reader.failure()));
                }
            });
        }
        Ok(answers)
    }
}

/// Keeps the error of a read, which the parser replaces by its own, and bounds what is read.
struct ReplyReader<R> {
    inner: R,
    failure: Option<io::Error>,
    left: usize,
    /// The first bytes that were read.
    begin: Vec<u8>,
}

/// How much is kept of what was read: some short lines and the error after them.
const KEPT: usize = 512;

impl<R> ReplyReader<R> {
    fn new(inner: R) -> Self {
        Self { inner, failure: None, left: LONGEST_ANSWER, begin: Vec::new() }
    }

    /// The server's error after so many answers of one line, if there is one. The parser takes no line that is not
    /// UTF-8, and a server that does not know a command quotes what was sent.
    fn text_of_error(&self, after: usize) -> Option<Failure> {
        let mut lines = self.begin.split_inclusive(|byte| *byte == b'\n');
        let are_short =
            lines.by_ref().take(after).all(|line| matches!(line.first(), Some(b'+' | b'-' | b':')));
        let line = lines.next().filter(|line| are_short && line.ends_with(b"\r\n"))?;
        let words = String::from_utf8_lossy(line.strip_prefix(b"-")?).into_owned();
        let (code, detail) = words.split_once(' ').unwrap_or((&words, ""));
        Some(refused(code, detail))
    }

    /// Why an answer could not be parsed.
    fn failure(&mut self) -> Failure {
        match self.failure.take() {
            Some(error) => Failure::from_io(&error),
            None => Failure::Down("its answer is not Redis's protocol".to_owned()),
        }
    }
}

impl<R: Read> Read for ReplyReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("too long"));
        }
        match self.inner.read(buffer) {
            Ok(0) => {
                self.failure = Some(ErrorKind::UnexpectedEof.into());
                Ok(0)
            }
            Ok(read) => {
                self.left = self.left.saturating_sub(read);
                let room = KEPT.saturating_sub(self.begin.len()).min(read);
                self.begin.extend_from_slice(buffer.get(..room).unwrap_or_default());
                Ok(read)
            }
            Err(error) => {
                let copy = io::Error::new(error.kind(), error.to_string());
                self.failure = Some(error);
                Err(copy)
            }
        }
    }
}

/// A command with its arguments.
pub fn command(name: &str, arguments: &[&[u8]]) -> Cmd {
    let mut command = redis::cmd(name);
    for argument in arguments {
        command.arg(*argument);
    }
    command
}

/// Whether the server takes no further connection: it has as many as its `maxclients`.
pub fn is_too_many_clients(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { detail, .. } if detail.starts_with("max number of clients"))
}

/// Whether the server takes no connection of this client: it has too many, or a mode that protects it.
fn refuses_connection(failure: &Failure) -> bool {
    is_too_many_clients(failure) || failure.is("DENIED")
}

fn auth(user: Option<&str>, Secret(password): &Secret) -> Cmd {
    match user {
        Some(user) => command("AUTH", &[user.as_bytes(), password.as_bytes()]),
        None => command("AUTH", &[password.as_bytes()]),
    }
}

/// Explains a refused login. The server's message is used only if it is known to hold no password: a
/// server that does not know AUTH quotes what it was sent.
fn explain_login_failure(failure: Failure) -> Failure {
    match failure {
        Failure::Refused { code, detail } => {
            let detail = match code.as_str() {
                "WRONGPASS" | "NOPERM" | "NOAUTH" => detail,
                _ if detail.contains("without any password configured") => {
                    "there is no password to this server; take it out of the storage DSN".to_owned()
                }
                _ => "it does not take the password".to_owned(),
            };
            Failure::Refused { code, detail }
        }
        other => other,
    }
}

/// The failure of a server that is not the master, by its answer to `ROLE`.
fn check_role(answer: Value) -> Option<Failure> {
    let Value::Array(parts) = answer else { return None };
    match parts.first() {
        Some(Value::BulkString(role)) if role != b"master" => {
            let detail = "it is a master no more".to_owned();
            Some(Failure::Refused { code: "READONLY".to_owned(), detail })
        }
        _ => None,
    }
}

fn refused_by(error: &RedisError) -> Failure {
    refused(error.code().unwrap_or("ERR"), error.detail().unwrap_or_default())
}

fn refused(code: &str, detail: &str) -> Failure {
    let (code, mut detail) = (sanitize_line(code), sanitize_line(detail));
    // The arguments after it are the client's identifier, or bytes.
    if let Some((command, _)) = detail.split_once(", with args beginning with") {
        detail = format!("{command}, which this extension needs");
    }
    // Protected mode explains itself in many sentences.
    if code == "DENIED"
        && let Some((reason, _)) = detail.split_once(". ")
    {
        detail = format!("{reason}; set one, and name it in the storage DSN");
    }
    Failure::Refused { code, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_a_server_has_no_control_characters() {
        let answer = redis::parse_redis_value(b"-\x1b[2J\0 a\x07b\r\n").unwrap();
        let Value::ServerError(error) = answer else { panic!("{answer:?}") };
        let told = refused_by(&RedisError::from(error)).reason();
        assert!(!told.contains(char::is_control), "{told:?}");
    }
}
