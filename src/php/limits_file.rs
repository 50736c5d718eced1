//! The file of `token_bucket.limits`: read at its first use, and again when it has changed.
//!
//! A worker looks at the file once a second. It reads a changed one when nothing was written to it for half a
//! second, so that it does not read the first half of a file that is being written. A file that has a mistake, or
//! is gone, changes nothing: the limits that were read before stay in force, and a warning says so, once for
//! each version of the file. The [files of clients](super::clients_files) that it names are looked at with it.

use super::clients_files::ClientsFiles;
use super::ini_text;
use super::time_zone::{NoZone, open_zone};
use super::watched_file::{NoText, Version, open, read_text};
use crate::clock::coarse_time;
use crate::dsn::printable_path;
use crate::error::{Error, Result};
use crate::limit::SECOND;
use crate::limiter::{NamedLimits, Sources};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The largest file that is read, in MiB.
const MAX_SIZE: u64 = 1;

/// What a worker knows of the file.
#[derive(Default)]
pub struct LimitsFile {
    path: RefCell<PathBuf>,
    /// The limits in force; none before a file was read.
    limits: RefCell<Option<Rc<NamedLimits>>>,
    /// The version that was looked at last; none if there was no file.
    seen: Cell<Option<Version>>,
    /// Whether that one had been left alone when it was read.
    is_settled: Cell<bool>,
    /// The files of clients that it names.
    clients: ClientsFiles,
    look_at: Cell<u64>,
    /// Whether it was read again since that was last asked.
    is_read_again: Cell<bool>,
    /// What is wrong with the version that was read last.
    error: RefCell<Option<String>>,
}

impl LimitsFile {
    /// The limits in force in the file at `path`, and a warning if the file has become useless.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](crate::error::ErrorKind::Configuration) if no file could be read yet.
    #[inline]
    pub fn limits(
        &self,
        path: impl FnOnce() -> PathBuf,
    ) -> Result<(Rc<NamedLimits>, Option<String>)> {
        if coarse_time() < self.look_at.get()
            && let Some(limits) = &*self.limits.borrow()
        {
            return Ok((Rc::clone(limits), None));
        }
        self.look(&path())
    }

    /// Whether this worker has read limits from a file.
    pub fn is_read(&self) -> bool {
        self.limits.borrow().is_some()
    }

    /// Whether other limits were read than those before, since this was last asked.
    #[inline]
    pub fn take_is_read_again(&self) -> bool {
        self.is_read_again.take()
    }

    /// What is wrong with the file as it was read last.
    pub fn error(&self) -> Option<String> {
        self.error.borrow().clone()
    }

    /// Has the next call look at the file, which a directive may name anew.
    pub fn look_again(&self) {
        self.look_at.set(0);
    }

    #[cold]
    fn look(&self, path: &Path) -> Result<(Rc<NamedLimits>, Option<String>)> {
        if *self.path.borrow() != *path {
            self.path.replace(path.to_owned());
            self.limits.take();
            self.seen.set(None);
            self.clients.forget();
            self.error.take();
        }
        if path.as_os_str().is_empty() {
            return Err(Error::configuration(
                "token_bucket.limits is empty: set it in php.ini to the path of a file of limits",
            ));
        }
        self.look_at.set(coarse_time() + SECOND);
        let loaded = self.limits.borrow().clone();
        match (self.read_if_changed(path, loaded.is_some()), loaded) {
            (Ok(Some(limits)), before) => {
                self.is_read_again.set(before.is_some());
                let limits = Rc::new(limits);
                self.limits.replace(Some(Rc::clone(&limits)));
                self.error.take();
                Ok((limits, None))
            }
            (Ok(None), Some(limits)) => Ok((limits, None)),
            (Err(error), Some(limits)) => {
                let warning = format!("{error}; the limits that were read before stay in force");
                self.error.replace(Some(error));
                Ok((limits, Some(warning)))
            }
            (read, None) => {
                let error = read.err().unwrap_or_default();
                self.error.replace(Some(error.clone()));
                // The next call looks again.
                self.seen.set(None);
                self.look_at.set(0);
                Err(Error::configuration(error))
            }
        }
    }

    /// Reads the file if it is another version than the one that was seen last. `may_wait`: a file that was
    /// written to a moment ago is left for later.
    fn read_if_changed(
        &self,
        path: &Path,
        may_wait: bool,
    ) -> std::result::Result<Option<NamedLimits>, String> {
        let at = |what: &dyn std::fmt::Display| {
            format!("token_bucket.limits: {}: {what}", printable_path(path))
        };
        let had_file = self.seen.get().is_some();
        let (file, version) = match open(path) {
            Ok(opened) => opened,
            Err(reason) => {
                self.seen.set(None);
                // Told once: until there is a file again.
                return if had_file || !may_wait { Err(at(&reason)) } else { Ok(None) };
            }
        };
        let has_changed = self.seen.get() != Some(version) || !self.is_settled.get();
        let rest = match (has_changed, self.clients.rest_of_changed()) {
            (false, None) => return Ok(None),
            (false, Some(rest)) => rest,
            // A file of clients that is being written is left for later.
            (true, _) => version.rest(),
        };
        if may_wait && !rest.is_zero() {
            self.look_at.set(coarse_time() + rest.as_nanos() as u64);
            return Ok(None);
        }
        self.seen.set(Some(version));
        // Else it is read once more, for a worker begins with what there is.
        self.is_settled.set(rest.is_zero());
        // The descriptor is closed then: it may be the one that a time zone needs.
        let text = match read_text(file, version, MAX_SIZE) {
            Err(NoText::Changed) if may_wait => {
                self.seen.set(None);
                return Ok(None);
            }
            read => read.map_err(|reason| at(&reason))?,
        };
        let unreadable = Cell::new(None);
        let is_zone = |zone: &str| match open_zone(zone) {
            Ok(_) => true,
            Err(NoZone::Unknown) => false,
            Err(NoZone::Unreadable(why)) => {
                unreadable.set(Some(why));
                false
            }
        };
        let clients = self.clients.begin(path.parent(), may_wait);
        let read_clients = |name: &str| clients.read(name);
        let sources = Sources { is_zone: &is_zone, clients: &read_clients };
        let limits =
            ini_text::read(&text).and_then(|lines| NamedLimits::from_lines(&lines, &sources));
        if self.clients.end(clients) {
            // A file of clients is being written: once more in a second.
            self.seen.set(None);
            return Ok(None);
        }
        if let Some(why) = unreadable.take() {
            // A second from now the file is read again; the reason was said.
            self.seen.set(None);
            return if had_file || !may_wait { Err(at(&why)) } else { Ok(None) };
        }
        limits
            .map(Some)
            .map_err(|mistake| at(&format!("line {}: {}", mistake.line, mistake.message)))
    }
}
