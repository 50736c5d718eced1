//! Files that a directive or a DSN names: read if they are regular, and not larger than they may be. A FIFO or a device would hold
//! the call, or never end.

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file, or says why it cannot be read.
pub fn open(path: &Path) -> Result<(File, Metadata), String> {
    let regular = |found: io::Result<Metadata>| match found.map_err(|error| reason(&error))? {
        metadata if metadata.is_file() => Ok(metadata),
        _ => Err("must be a regular file".to_owned()),
    };
    // To open a device may already do something, such as to start a watchdog.
    regular(std::fs::metadata(path))?;
    // Without it opening a FIFO, put there meanwhile, waits for a process that writes to it.
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| reason(&error))?;
    let metadata = regular(file.metadata())?;
    Ok((file, metadata))
}

/// Reads an open file of so many MiB at most, or says why it cannot be read.
pub fn read(file: &mut File, mib: u64) -> Result<Vec<u8>, String> {
    let (mut text, most) = (Vec::new(), mib << 20);
    file.take(most + 1).read_to_end(&mut text).map_err(|error| reason(&error))?;
    match text.len() as u64 > most {
        true => Err(format!("must be at most {mib} MiB")),
        false => Ok(text),
    }
}

/// Why a file cannot be read, in the system's words.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
