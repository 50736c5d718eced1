//! The files of clients that a file of limits names: read with it, and again when one of them has changed.

use super::watched_file::{NoText, Version, open, read_text};
use crate::dsn::printable_path;
use crate::limiter::{Clients, ClientsFile, read_clients};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The largest file that is read, in MiB.
const MAX_SIZE: u64 = 8;

/// What a worker knows of the files.
#[derive(Default)]
pub struct ClientsFiles(RefCell<Vec<Seen>>);

/// A file as it was seen last.
struct Seen {
    path: PathBuf,
    /// None if it could not be opened.
    version: Option<Version>,
    /// None if it has a mistake.
    file: Option<Rc<ClientsFile>>,
}

/// A version that was read before, and what it says.
type OldFile = (Option<Version>, Result<Rc<ClientsFile>, String>);

/// The files, while a file of limits is read.
pub struct Reading<'a> {
    before: &'a ClientsFiles,
    /// The folder of the file of limits.
    folder: Option<&'a Path>,
    may_wait: bool,
    seen: RefCell<Vec<Seen>>,
    is_any_changing: Cell<bool>,
}

impl ClientsFiles {
    /// Forgets all of them.
    pub fn forget(&self) {
        self.0.take();
    }

    /// In how long the first of those that have changed may be read. None: none has.
    pub fn rest_of_changed(&self) -> Option<Duration> {
        let seen = self.0.borrow();
        let rest = |it: &Seen| {
            let version = open(&it.path).ok().map(|(_, version)| version);
            (version != it.version).then(|| version.map_or(Duration::ZERO, |it| it.rest()))
        };
        seen.iter().filter_map(rest).min()
    }

    /// Begins to read those that a file of limits in `folder` names. `may_wait`: one that is being written is left for later.
    pub fn begin<'a>(&'a self, folder: Option<&'a Path>, may_wait: bool) -> Reading<'a> {
        let (seen, is_any_changing) = (RefCell::default(), Cell::default());
        Reading { before: self, folder, may_wait, seen, is_any_changing }
    }

    /// Notes what was read. Returns whether one was changed meanwhile, so that it has to be read once more.
    pub fn end(&self, reading: Reading<'_>) -> bool {
        let Reading { seen, is_any_changing, .. } = reading;
        self.0.replace(seen.take());
        is_any_changing.get()
    }
}

impl Reading<'_> {
    /// Reads a file, or says what is wrong with it. If it has not changed, or is being written, it is as it was read before.
    pub fn read(&self, name: &str) -> Result<Rc<ClientsFile>, String> {
        let path = self.folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
        let shown = printable_path(&path).to_string();
        let (version, read) = match open(&path) {
            Err(reason) => (None, Err(format!("{shown}: {reason}"))),
            Ok((_, version)) if let Some(old) = self.before_the_change(&path, version) => old,
            Ok((file, version)) => {
                let read = match self.known(&path, version) {
                    Some(known) => Ok(known),
                    None => self
                        .read_clients(file, version)
                        .map(|clients| Rc::new(ClientsFile { path: shown.clone(), clients }))
                        .map_err(|what| format!("{shown}: {what}")),
                };
                // A worker begins with what there is, and reads that once more.
                (Some(version).filter(|version| version.rest().is_zero()), read)
            }
        };
        self.seen.borrow_mut().push(Seen { path, version, file: read.clone().ok() });
        read
    }

    fn read_clients(&self, file: File, version: Version) -> Result<Clients, String> {
        let text = read_text(file, version, MAX_SIZE).map_err(|reason| {
            if matches!(reason, NoText::Changed) && self.may_wait {
                self.is_any_changing.set(true);
            }
            reason.to_string()
        })?;
        read_clients(&text).map_err(|mistake| format!("line {}: {}", mistake.line, mistake.message))
    }

    /// The version and the file that were read before, if there is another one that is being written.
    fn before_the_change(&self, path: &Path, version: Version) -> Option<OldFile> {
        let before = self.before.0.borrow();
        let old = before.iter().find(|seen| seen.path == path && seen.version != Some(version))?;
        let is_being_written = self.may_wait && !version.rest().is_zero();
        old.file.clone().filter(|_| is_being_written).map(|file| (old.version, Ok(file)))
    }

    /// The file, if it was read before in this version.
    fn known(&self, path: &Path, version: Version) -> Option<Rc<ClientsFile>> {
        let (before, now) = (self.before.0.borrow(), self.seen.borrow());
        let is_it = |seen: &&Seen| seen.path == path && seen.version == Some(version);
        now.iter().chain(&*before).find(is_it).and_then(|seen| seen.file.clone())
    }
}
