//! Which process holds a permit, and whether it still lives.
//!
//! Each process has a number in the file, by which other processes know its permits. It locks the byte of that
//! number, and the kernel frees the lock when the process ends, however it ends ([`byte_lock`]). So no process
//! id is needed, which another process may get later, and which means nothing in another PID namespace; nor
//! `/proc`, which may be hidden.
//!
//! ```text
//!  23                                     4 3        0
//! +----------------------------------------+----------+
//! | number of the process               20 | serial 4 |   a holder, in the slot of a permit
//! +----------------------------------------+----------+
//! ```
//!
//! The serial counts the permits that the process takes. It tells two of the same process apart whose lifetimes end
//! in the same nanosecond, as they may by a test's clock.
//!
//! A process takes a number at random, so it almost never gets one of which the permits of a dead process are
//! left; such a permit would stay until its lifetime ends. Numbers from [`UNLOCKED`] on are of processes without a
//! lock, where the system has none; their permits are freed by the end of the lifetime alone.

use crate::descriptor::KeptDescriptor;
use crate::error::Result;
use crate::hash;
use crate::mapped::byte_lock::ByteLock;
use crate::mapped::{Region, byte_lock};
use crate::process;
use std::cell::Cell;
use std::rc::Rc;

const SERIAL_BITS: u32 = 4;
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
    serial: Cell<u32>,
    /// The lock on the byte of the number; none without one.
    lock: Option<ByteLock>,
    /// The generation of the process that made it: a child that it forks has a number of its own.
    process: u64,
    /// The file, as [`MappedFile::number`](crate::mapped::MappedFile::number) tells it.
    file_number: u32,
}

impl Holder {
    /// A holder in the file that is mapped. None if the file has lost its path.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the file cannot be opened.
    pub fn new(region: &Region, file_number: u32) -> Result<Option<Self>> {
        if !region.has_file() {
            return Ok(Some(Self::without_lock(file_number)));
        }
        let (Some(file), Some(again)) = (region.reopen()?, region.reopen()?) else {
            return Ok(None);
        };
        for _ in 0..MAX_TRIES {
            let number = random_number();
            match byte_lock::try_lock(&file, byte_of(number)) {
                Ok(true) => match ByteLock::keep(file, again, byte_of(number)) {
                    Ok(lock) => return Ok(Some(Self::with(number, Some(lock), file_number))),
                    Err(_) => break,
                },
                Ok(false) => {}
                Err(_) => break,
            }
        }
        Ok(Some(Self::without_lock(file_number)))
    }

    /// A holder whose permits are freed by the end of their lifetimes alone, if it does not free them itself.
    pub fn without_lock(file_number: u32) -> Self {
        Self::with(UNLOCKED + random_number(), None, file_number)
    }

    fn with(number: u32, lock: Option<ByteLock>, file_number: u32) -> Self {
        let serial = Cell::new(random());
        Self { number, serial, lock, process: process::generation(), file_number }
    }

    /// Whether it is this process, in the file of this number.
    #[inline(always)]
    pub fn is_current(&self, file_number: u32) -> bool {
        self.file_number == file_number && self.process == process::generation()
    }

    /// The holder of the next permit that this process takes.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        let serial = self.serial.get().wrapping_add(1);
        self.serial.set(serial);
        // Never 0, which no holder is.
        ((self.number << SERIAL_BITS) + serial % (1 << SERIAL_BITS)).max(1)
    }

    /// Asks about other processes with permits in the file that is mapped, about `most` of them. All others are taken
    /// to live.
    pub fn ask_about_others(&self, most: usize, region: &Region) -> Living {
        let reopen = || region.reopen().ok().flatten();
        let file = self.lock.as_ref().and_then(|lock| lock.file(reopen));
        // Its own lock may be that of the file.
        Living { file, known: vec![(self.number, true)], left: most }
    }
}

/// Finds out which holders live, and asks the kernel about each process once. In doubt a holder lives.
pub struct Living {
    /// The file, by which the kernel is asked; none if it cannot be opened.
    file: Option<Rc<KeptDescriptor>>,
    known: Vec<(u32, bool)>,
    /// How many processes may still be asked about.
    left: usize,
}

impl Living {
    /// Asks about all processes with permits in the file that is mapped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the file cannot be opened.
    pub fn in_file(region: &Region) -> Result<Self> {
        let file = region.reopen()?.and_then(|file| KeptDescriptor::new(file).ok()).map(Rc::new);
        Ok(Self { file, known: Vec::new(), left: usize::MAX })
    }

    /// Whether the process of `holder` lives.
    pub fn contains(&mut self, holder: u32) -> bool {
        let number = holder >> SERIAL_BITS;
        if let Some((_, lives)) = self.known.iter().find(|(known, _)| *known == number) {
            return *lives;
        }
        let Some(file) = self.file.as_ref().filter(|_| number < UNLOCKED) else { return true };
        if self.left == 0 {
            return true;
        }
        let lives = byte_lock::is_locked_elsewhere(&**file, byte_of(number)).unwrap_or(true);
        self.left -= 1;
        self.known.push((number, lives));
        lives
    }
}

/// The byte that the process of this number locks.
fn byte_of(number: u32) -> u64 {
    LOCKS_AT + u64::from(number)
}

/// A random number below [`UNLOCKED`].
fn random_number() -> u32 {
    random() % UNLOCKED
}

/// A random number.
pub fn random() -> u32 {
    // Without random numbers all begin with one number and try it in vain: then they have no lock.
    u32::from_ne_bytes(hash::random().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::tests::Folder;
    use crate::mapped::{self, Location, MAX_SIZE, Purpose};
    use std::collections::HashSet;
    use std::fs;

    #[test]
    fn permits_that_a_process_takes_one_after_the_other_have_different_holders_of_its_number() {
        let holder = Holder::without_lock(3);
        let holders: Vec<u32> = (0..16).map(|_| holder.next()).collect();
        assert_eq!(holders.iter().collect::<HashSet<_>>().len(), 16);
        assert!(holders.iter().all(|it| it >> SERIAL_BITS == holder.number));
        assert_eq!(holder.next(), holders[0], "the serial begins again");
        let first = Holder { number: 0, ..Holder::without_lock(3) };
        assert!((0..16).all(|_| first.next() > 0), "0 is no holder");
    }

    #[test]
    fn process_without_a_lock_has_a_random_number_that_has_none_and_is_taken_to_live() {
        let numbers: HashSet<u32> = (0..64).map(|_| Holder::without_lock(3).number).collect();
        assert!(numbers.iter().all(|it| (UNLOCKED..2 * UNLOCKED).contains(it)));
        assert!(numbers.iter().any(|it| *it >= UNLOCKED / 2 * 3), "they are spread over all");
        assert!(numbers.iter().any(|it| *it < UNLOCKED / 2 * 3));
        // No process has a lock on this file.
        let file = KeptDescriptor::new(std::fs::File::open("/proc/self/exe").unwrap().into());
        let file = Some(Rc::new(file.unwrap()));
        let mut living = Living { file, known: vec![(7, true)], left: 1 };
        assert!(living.contains(UNLOCKED << SERIAL_BITS));
        assert!(living.contains(7 << SERIAL_BITS | 5), "what is known is not asked for again");
        assert!(!living.contains((UNLOCKED - 1) << SERIAL_BITS));
        assert!(living.contains(8 << SERIAL_BITS), "it may not be asked about");
    }

    #[test]
    fn holder_is_that_of_one_file() {
        let holder = Holder::without_lock(3);
        assert!(holder.is_current(3) && !holder.is_current(4));
        let of_the_parent = Holder { process: holder.process + 1, ..Holder::without_lock(3) };
        assert!(!of_the_parent.is_current(3), "a forked child has another");
    }

    #[test]
    fn process_lives_for_others_while_it_keeps_its_lock() {
        let folder = Folder::new();
        let location = Location::of_permits(&folder.files(), "default", Purpose::Permits);
        let region = mapped::open(&location).unwrap();
        let [own, other] = [0, 1].map(|_| Holder::new(&region, 3).unwrap().unwrap());
        assert!(own.number < UNLOCKED && own.lock.is_some());
        let others = |most| own.ask_about_others(most, &region);
        assert!(others(1).contains(other.next()));
        assert!(others(0).contains(own.next()), "it asks about no number of its own");
        let mut all = Living::in_file(&region).unwrap();
        assert!([&own, &other].iter().all(|it| all.contains(it.next())));
        let ended = other.next();
        drop(other);
        assert!(!others(1).contains(ended));
        assert!(!Living::in_file(&region).unwrap().contains(ended));
        fs::remove_file(location.path()).unwrap();
        assert!(Holder::new(&region, 3).unwrap().is_none(), "its file has no path any more");
        let memory = mapped::without_file(Purpose::HostPermits).unwrap();
        assert!(Holder::new(&memory, 3).unwrap().unwrap().lock.is_none());
    }

    #[test]
    fn each_number_has_a_byte_behind_the_largest_file_that_all_processes_know() {
        let first = 1 << 40;
        assert!(first > MAX_SIZE);
        // A process of another version may share the file.
        assert_eq!([0, 1, UNLOCKED - 1].map(byte_of), [first, first + 1, first + 524_287]);
    }
}
