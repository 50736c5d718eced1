//! One parameter of a DSN, and the values it may have.

use super::servers::Tls;
use crate::error::{Error, Result};
use percent_encoding::percent_decode_str;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One parameter of a DSN.
pub struct DsnParameter<'a> {
    /// The name.
    pub name: &'a str,
    /// The value, decoded.
    pub value: Vec<u8>,
}

impl<'a> DsnParameter<'a> {
    /// Parses `name=value`.
    pub fn parse(pair: &'a str) -> Self {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Self { name, value: percent_decode_str(value).collect() }
    }

    /// The value as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.value).into_owned()
    }

    /// The value as the number of a database.
    pub fn database_number(&self) -> Result<u32> {
        let number = std::str::from_utf8(&self.value).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| must_be(self.name, "a database's number"))
    }

    /// The value as the name of a table, which needs no quotes in any statement.
    pub fn table_name(&self) -> Result<String> {
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        match (1..=64).contains(&self.value.len()) && self.value.iter().all(is_allowed) {
            true => Ok(self.text()),
            false => Err(must_be(self.name, "1 to 64 letters, digits, \"_\" or \"$\"")),
        }
    }

    /// Sets the file of `tls` that the parameter names: `ca`, `cert` or `key`.
    pub fn set_tls(&self, tls: &mut Tls) -> Result<()> {
        let path = PathBuf::from(OsString::from_vec(self.value.clone()));
        if !path.is_absolute() {
            return Err(must_be(self.name, "the absolute path of a PEM file"));
        }
        match self.name {
            "ca" => tls.ca = Some(path),
            "cert" => tls.cert = Some(path),
            _ => tls.key = Some(path),
        }
        Ok(())
    }
}

/// The error of a value that is not accepted.
pub fn must_be(name: &str, what: &str) -> Error {
    Error::configuration(format!("DSN parameter \"{name}\" must be {what}"))
}
