//! A server on a unix socket that answers with what the fuzzer has made.

use crate::calls::{keeps_promises, limit, number, operation};
use crate::folder::folder;
use arbitrary::{Result, Unstructured};
use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use token_bucket::clock::{at, boot_time};
use token_bucket::dsn::Dsn;
use token_bucket::error;
use token_bucket::guard::Stores;
use token_bucket::limit::{Decision, Limit, MAX_NOW, Op};
use token_bucket::mapped::{FileSettings, MIN_SIZE};
use token_bucket::net::Timeouts;
use token_bucket::store::{JointRequest, Key, KeyHash, LimitKind, Request, Store};

/// The password of all DSNs, which no message may contain.
pub const PASSWORD: &str = "Zq7vSKx9wJ";

/// What the server sends: one piece after the other, each once it has received something.
pub enum Piece {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, and then what it received: as servers answer to an unknown command.
    Echo(&'static [u8]),
    /// These bytes again and again, until the client closes the connection.
    Endless(Vec<u8>),
}

/// What the server sends, and how far it has come.
struct Script {
    pieces: Vec<Piece>,
    /// Whether the first piece is sent before anything was received.
    greets: bool,
    next: AtomicUsize,
}

static SCRIPT: Mutex<Option<Arc<Script>>> = Mutex::new(None);
const MOST: usize = 64 << 20;

fn socket() -> &'static PathBuf {
    static SOCKET: OnceLock<PathBuf> = OnceLock::new();
    SOCKET.get_or_init(|| {
        let path = folder().join("s");
        let listener = UnixListener::bind(&path).expect("a socket");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = SCRIPT.lock().expect("no one panics here").clone();
                // The client may close the connection at any time.
                let _ = script.map(|script| converse(stream, &script));
            }
        });
        path
    })
}

/// A client that is silent for this long waits for the rest of an answer, and gets the next piece.
const SILENCE: Duration = Duration::from_millis(2);

/// Sends the pieces, and closes the connection after the last so that the client does not wait.
fn converse(mut stream: UnixStream, script: &Script) -> std::io::Result<()> {
    let mut request = vec![0; 1 << 16];
    let mut greets = script.greets;
    stream.set_read_timeout(Some(SILENCE))?;
    loop {
        let read = match std::mem::take(&mut greets) {
            true => 0,
            false => match stream.read(&mut request) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            },
        };
        let at = script.next.fetch_add(1, Ordering::Relaxed);
        match script.pieces.get(at) {
            None => return Ok(()),
            Some(Piece::Bytes(bytes)) => stream.write_all(bytes)?,
            // An echo of the password is an answer to the login only: no server keeps it for later.
            Some(Piece::Echo(_)) if at > 0 && contains_password(&request[..read]) => return Ok(()),
            Some(Piece::Echo(before)) => {
                let words = request[..read].iter().map(|byte| match byte {
                    b'\r' | b'\n' => b' ',
                    other => *other,
                });
                stream.write_all(&before.iter().copied().chain(words).collect::<Vec<_>>())?;
                stream.write_all(b"\r\n")?;
            }
            Some(Piece::Endless(bytes)) if bytes.is_empty() => return Ok(()),
            Some(Piece::Endless(bytes)) => {
                let many = bytes.repeat(4096usize.div_ceil(bytes.len()));
                for _ in 0..MOST / many.len() {
                    stream.write_all(&many)?;
                }
                return Ok(());
            }
        }
        if at + 1 >= script.pieces.len() {
            return Ok(());
        }
    }
}

fn contains_password(bytes: &[u8]) -> bool {
    bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes())
}

/// Makes calls on the store of this DSN, in which `%` is the socket's path, while the server sends these
/// pieces.
pub fn play(u: &mut Unstructured<'_>, dsn: &str, greets: bool, pieces: Vec<Piece>) -> Result<()> {
    // libFuzzer learns the password from comparisons. What a server sends by itself is not a secret.
    let knows = pieces.iter().any(|piece| {
        matches!(piece, Piece::Bytes(bytes) | Piece::Endless(bytes) if contains_password(bytes))
    });
    let script = Arc::new(Script { pieces, greets, next: AtomicUsize::new(0) });
    *SCRIPT.lock().expect("no one panics here") = Some(Arc::clone(&script));
    let dsn = dsn.replace('%', &socket().to_string_lossy());
    let dsn = Dsn::parse(&dsn).expect("a DSN that is right");
    let timeout = Duration::from_millis(200);
    let timeouts = Timeouts { call: timeout, connect: timeout };
    let files = FileSettings { path: folder().to_owned(), size: MIN_SIZE };
    let store = Stores::default().get(&dsn.target, &files).store;
    for _ in 0..3 {
        if script.next.load(Ordering::Relaxed) >= script.pieces.len() {
            break;
        }
        let calls = calls(u)?;
        let now = u.arbitrary::<Option<u64>>()?.map(|now| now.min(MAX_NOW));
        let begun = Instant::now();
        match at(now, || call(&*store, &calls, &timeouts)) {
            // The server determines the state, but the decision must follow from it.
            Ok(decisions) => {
                assert_eq!(decisions.len(), calls.len());
                for ((limit, op), decision) in calls.iter().zip(&decisions) {
                    keeps_promises(limit, *op, decision, true);
                }
            }
            Err(error) => {
                let message = format!("{error} {error:?}");
                assert!(knows || !message.contains(PASSWORD), "{message}");
                assert!(message.len() < 2_000, "too long for a log: {message}");
                assert!(!error.to_string().contains(char::is_control), "{message}");
            }
        }
        // Five seconds more for a busy machine.
        assert!(begun.elapsed() < 3 * timeout + Duration::from_secs(5), "longer than its budget");
    }
    std::hint::black_box(store.describe());
    Ok(())
}

/// A call on one key, or a take or a peek on several keys.
fn calls(u: &mut Unstructured<'_>) -> Result<Vec<(Limit, Op)>> {
    let (first, is_peek) = ((limit(u)?, operation(u)?), u.arbitrary()?);
    let cost_of_all = match first.1 {
        Op::Take { cost } => cost,
        _ => return Ok(vec![first]),
    };
    let op = |cost| if is_peek { Op::Peek { cost } } else { Op::Take { cost } };
    let mut calls = vec![(first.0, op(cost_of_all))];
    for _ in 0..u.int_in_range(0..=3u8)? {
        calls.push((limit(u)?, op(number(u, u64::MAX)?)));
    }
    Ok(calls)
}

/// Makes these calls: several of them together, if the store can.
fn call(
    store: &dyn Store,
    calls: &[(Limit, Op)],
    timeouts: &Timeouts,
) -> error::Result<Vec<Decision>> {
    const IDS: [&[u8]; 4] = [b"{x}", b"{x}1", b"{x}2", b"{x}3"];
    let key_hashes: [Cell<KeyHash>; 4] = Default::default();
    let with_ids = calls.iter().zip(IDS).zip(&key_hashes);
    let keys: Vec<Key<'_>> = with_ids
        .map(|(((limit, _), id), key_hash)| {
            let parts = [&b"tb:"[..], id, b"", b""];
            Key { parts, key_hash, kind: LimitKind::from(limit) }
        })
        .collect();
    let requests: Vec<_> = calls
        .iter()
        .zip(&keys)
        .map(|((limit, op), key)| Request { key, limit, op, now: boot_time(), timeouts })
        .collect();
    if let [one] = &requests[..] {
        return Ok(vec![store.decide(one)?.decision]);
    }
    if !store.can_decide_all(&requests) {
        return requests.iter().map(|request| Ok(store.decide(request)?.decision)).collect();
    }
    // Every second limit is in a dry run.
    let joint = |(i, request)| JointRequest { request, is_enforced: i % 2 == 0 };
    store.decide_all(&requests.into_iter().enumerate().map(joint).collect::<Vec<_>>())
}

/// Takes some bytes of the input.
pub fn bytes(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = usize::from(u.arbitrary::<u8>()?).min(u.len());
    Ok(u.bytes(length)?.to_vec())
}
