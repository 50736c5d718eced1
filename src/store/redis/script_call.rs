//! A call of a script, as a command.

use super::scripts::ScriptSource;
use ::redis::Cmd;

/// A call of a script on keys that one server has.
pub struct ScriptCall<'a> {
    /// The script.
    pub source: &'a ScriptSource,
    /// The names of the keys.
    pub names: &'a [Vec<u8>],
    /// Its arguments beside them.
    pub arguments: &'a [Vec<u8>],
}

impl ScriptCall<'_> {
    /// The name that tells the server.
    pub fn first_name(&self) -> &[u8] {
        self.names.first().map_or(b"", Vec::as_slice)
    }

    /// The command that runs the script: by its hash, or by its text.
    pub fn packed(&self, command: &str, script: &str) -> Cmd {
        let mut packed = ::redis::cmd(command);
        packed.arg(script).arg(self.names.len());
        for argument in self.names.iter().chain(self.arguments) {
            packed.arg(argument.as_slice());
        }
        packed
    }
}
