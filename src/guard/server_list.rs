//! The servers that processes of a host use, for operators: read from the host's file by a process that need not use one itself.

use super::host::Host;
use super::store_record::{ServerStatus, forget, list, records};
use crate::clock::boot_time;
use crate::mapped::{self, FileSettings, HOST, Location, Purpose, Region};

/// The stores on servers that processes of this user use, among them those that are `configured`.
pub fn list_servers<'a>(
    files: &FileSettings,
    configured: impl Iterator<Item = &'a Host>,
) -> Vec<ServerStatus> {
    let Some(file) = existing_file(files) else { return Vec::new() };
    configured.for_each(|host| host.note_call_in(&file, boot_time()));
    list(records(&file), boot_time())
}

/// Leaves the stores of this name out of that list until a process calls them. Returns whether there is one.
pub fn forget_server(files: &FileSettings, name: &str) -> bool {
    existing_file(files).is_some_and(|file| forget(records(&file), name))
}

/// The file of what this host knows of servers. None if there is none, or it cannot be opened, which the list of tables
/// tells.
fn existing_file(files: &FileSettings) -> Option<Region> {
    mapped::open_existing(&Location::new(files, HOST, Purpose::Host)).ok().flatten()
}
