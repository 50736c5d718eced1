//! What the targets have in common.

pub mod calls;
pub mod folder;
pub mod record;
pub mod server;
pub mod table_file;
