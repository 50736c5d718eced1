//! Which process holds a permit, and whether it still lives.
//!
//! Each process has a number in the file, by which other processes know its permits. It locks the byte of that
//! number, and the kernel frees the lock when the process ends, however it ends ([`byte_lock`]). So no process
//! id is needed, which another process may get later, and which means nothing in another PID namespace.
//!
//! ```text
//!  23                                        4 3     0
//! +-------------------------------------------+-------+
//! | number of the process                  20 | turn 4|   a holder, in the slot of a permit
//! +-------------------------------------------+-------+
//! ```
//!
//! The turn counts the permits that the process takes. It tells two of the same process apart whose leases end
//! in the same nanosecond, as they may by a test's clock.
//!
//! A process takes a number at random, so it almost never gets one of which the permits of a dead process are
//! left; such a permit would stay until its lease ends. Numbers from [`UNLOCKED`] on are of processes without a
//! lock, where the system has none; their permits are freed by the end of the lease alone.

use crate::error::Result;
use crate::process;
use crate::store::file::{Region, byte_lock};
use rustix::rand::{GetRandomFlags, getrandom};
use std::cell::Cell;
use std::os::fd::OwnedFd;

const TURN_BITS: u32 = 4;
/// The numbers from this one on have no lock.
const UNLOCKED: u32 = 1 << 19;
/// Where the bytes of the numbers begin: far behind the end of the file, where nothing is stored.
const LOCKS_AT: u64 = 1 << 40;
/// How many numbers a process tries. All of them are taken only where hundreds of thousands of processes share
/// the file.
const MAX_TRIES: usize = 16;

/// This process as a holder of permits in a file.
pub struct Holder {
    number: u32,
    turn: Cell<u32>,
    /// The file, by which the byte of the number is locked; none without a lock.
    lock: Option<OwnedFd>,
    /// The generation of the process that made it: a child that it forks has a number of its own.
    process: u64,
    /// The file, as [`MappedFile::generation`](crate::store::file::MappedFile::generation) counts.
    generation: u32,
}

impl Holder {
    /// A holder in the file that is mapped. None if the file has lost its path.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the file cannot be opened.
    pub fn new(region: &Region, generation: u32) -> Result<Option<Self>> {
        if !region.has_file() {
            return Ok(Some(Self::without_lock(generation)));
        }
        let Some(file) = region.reopen()? else { return Ok(None) };
        for _ in 0..MAX_TRIES {
            let number = random() % UNLOCKED;
            match byte_lock::try_lock(&file, LOCKS_AT + u64::from(number)) {
                Ok(true) => return Ok(Some(Self::with(number, Some(file), generation))),
                Ok(false) => {}
                Err(_) => break,
            }
        }
        Ok(Some(Self::without_lock(generation)))
    }

    /// A holder whose permits are freed by the end of their leases alone, if it does not free them itself.
    pub fn without_lock(generation: u32) -> Self {
        Self::with(UNLOCKED + random() % UNLOCKED, None, generation)
    }

    /// Asks about the holders in a file, and holds nothing itself.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the file cannot be opened.
    pub fn observer(region: &Region) -> Result<Self> {
        Ok(Self::with(UNLOCKED, region.reopen()?, 0))
    }

    fn with(number: u32, lock: Option<OwnedFd>, generation: u32) -> Self {
        let turn = Cell::new(random());
        Self { number, turn, lock, process: process::generation(), generation }
    }

    /// Whether it is this process, in the file of this generation.
    #[inline(always)]
    pub fn is_current(&self, generation: u32) -> bool {
        self.generation == generation && self.process == process::generation()
    }

    /// The holder of the next permit that this process takes.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        let turn = self.turn.get().wrapping_add(1);
        self.turn.set(turn);
        // Never 0, which no holder is.
        ((self.number << TURN_BITS) + turn % (1 << TURN_BITS)).max(1)
    }

    /// Whether the process of a holder lives. In doubt it does.
    fn lives(&self, number: u32) -> bool {
        match &self.lock {
            Some(file) if number != self.number && number < UNLOCKED => {
                byte_lock::is_locked_elsewhere(file, LOCKS_AT + u64::from(number)).unwrap_or(true)
            }
            _ => true,
        }
    }
}

/// Finds out which holders live, and asks the kernel about each process once.
pub struct Living<'a> {
    asks_as: &'a Holder,
    known: Vec<(u32, bool)>,
    /// How many processes may still be asked about.
    left: usize,
}

impl<'a> Living<'a> {
    /// Asks about `most` processes at most. All others are taken to live.
    pub const fn new(asks_as: &'a Holder, most: usize) -> Self {
        Self { asks_as, known: Vec::new(), left: most }
    }

    /// Whether the process of `holder` lives.
    pub fn contains(&mut self, holder: u32) -> bool {
        let number = holder >> TURN_BITS;
        if let Some((_, lives)) = self.known.iter().find(|(known, _)| *known == number) {
            return *lives;
        }
        if self.left == 0 {
            return true;
        }
        let lives = self.asks_as.lives(number);
        self.left -= 1;
        self.known.push((number, lives));
        lives
    }
}

fn random() -> u32 {
    let mut bytes = [0; 4];
    // Without random numbers all begin with one number and try it in vain: then they have no lock.
    let _ = getrandom(&mut bytes, GetRandomFlags::empty());
    u32::from_ne_bytes(bytes)
}
