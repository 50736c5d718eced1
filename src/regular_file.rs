//! Files that a directive or a DSN names: read if they are regular, and not larger than they may be. A FIFO or a device would hold
//! the call, or never end.

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
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

/// Opens a file by a path whose folders are no links, as it is none itself, or says why it cannot be read.
pub fn open_without_links(path: &Path) -> Result<File, String> {
    let reason = |error: Errno| reason(&error.into());
    let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = fs::open("/", way, Mode::empty()).map_err(reason)?;
    let mut names = path.iter().skip(1).peekable();
    while let Some(name) = names.next() {
        if names.peek().is_some() {
            folder = fs::openat(&folder, name, way, Mode::empty()).map_err(reason)?;
            continue;
        }
        let stat = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(reason)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            break;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        return Ok(fs::openat(&folder, name, flags, Mode::empty()).map_err(reason)?.into());
    }
    Err("must be a regular file".to_owned())
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
