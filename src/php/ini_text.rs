//! Reads text in the format of ini files by PHP's own parser.

use super::engine::versions::FAILURE;
use crate::limiter::{FileError, FileLine, LineContent};
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{ExecutorGlobals, ce};
use std::ffi::{c_char, c_int, c_void};
use std::iter::Zip;
use std::mem::MaybeUninit;
use std::ops::RangeFrom;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice::Split;

/// The zeros that PHP's scanner wants behind the text: `ZEND_MMAP_AHEAD`.
const PADDING: usize = 64;
/// `ZEND_INI_SCANNER_RAW`: values are taken as they are, without constants and variables.
const RAW: c_int = 1;
/// `ZEND_INI_PARSER_ENTRY`
const ENTRY: c_int = 1;
/// `ZEND_INI_PARSER_SECTION`
const SECTION: c_int = 2;

/// Lines and their numbers.
type Lines<'a> = Zip<RangeFrom<u32>, Split<'a, u8, fn(&u8) -> bool>>;

/// What the parser has found so far.
struct IniReader<'a> {
    found: Vec<FileLine>,
    /// The lines that are still to be read, and their numbers. The parser tells what stands in a line, but not
    /// which line that is.
    rest: Lines<'a>,
}

/// Returns the lines of the text that say something.
///
/// # Errors
///
/// The line that is not in the format of ini files.
pub fn read(text: &[u8]) -> Result<Vec<FileLine>, FileError> {
    let is_line_end: fn(&u8) -> bool = |byte| *byte == b'\n';
    let mut reader = IniReader { found: Vec::new(), rest: (1..).zip(text.split(is_line_end)) };
    if text.contains(&0) {
        let message = "must be text, without NUL bytes".to_owned();
        return Err(FileError { line: 1, message });
    }
    // PHP 8.2 ignores a last word that no end of a line follows.
    let mut padded = [text, b"\n"].concat();
    padded.resize(padded.len() + PADDING, 0);
    let mut handling = MaybeUninit::uninit();
    // SAFETY: the text ends with zeros and lives as long as the parser runs; the parser calls `note` with the
    // reader that it is given, to which no other reference exists meanwhile. The parser reports a wrong line by
    // a warning, which becomes an exception here, so that no error handler of the script runs; the handling
    // is restored at once.
    let result = unsafe {
        ffi::zend_replace_error_handling(
            ffi::zend_error_handling_t_EH_THROW,
            ptr::from_ref(ce::exception()).cast_mut(),
            handling.as_mut_ptr(),
        );
        let result = ffi::zend_parse_ini_string(
            padded.as_mut_ptr().cast::<c_char>(),
            false,
            RAW,
            Some(note),
            (&raw mut reader).cast::<c_void>(),
        );
        ffi::zend_restore_error_handling(handling.as_mut_ptr());
        result
    };
    let has_thrown = ExecutorGlobals::take_exception().is_some();
    if result == FAILURE || has_thrown {
        let message =
            "must be [name] or key = value; a value with special characters needs \"quotes\"";
        return Err(FileError { line: reader.next_line(), message: message.to_owned() });
    }
    Ok(reader.found)
}

/// Notes what the parser has found.
unsafe extern "C" fn note(
    first: *mut Zval,
    second: *mut Zval,
    _: *mut Zval,
    kind: c_int,
    reader: *mut c_void,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the pointer that `read` gave to the parser.
        let reader = unsafe { &mut *reader.cast::<IniReader<'_>>() };
        // SAFETY: the parser passes strings, or null where there is none.
        let [first, second] = [first, second].map(|value| unsafe { text_of(value) });
        reader.note(match kind {
            SECTION => LineContent::Section(first),
            ENTRY => LineContent::Entry(first, second),
            // `key[] = value`: no key of a limit is a list.
            _ => LineContent::Entry(format!("{first}[]"), second),
        });
    }));
}

impl IniReader<'_> {
    /// The number of the next line that is neither empty nor a comment.
    fn next_line(&self) -> u32 {
        let says_something = |text: &[u8]| !matches!(text.trim_ascii_start(), [] | [b';', ..]);
        let mut rest = self.rest.clone();
        rest.find(|(_, text)| says_something(text)).map_or(1, |(line, _)| line)
    }

    /// Notes the content of the next line that begins like it.
    fn note(&mut self, content: LineContent) {
        let start = match &content {
            LineContent::Section(_) => "[",
            LineContent::Entry(key, _) => key.trim_end_matches("[]"),
        };
        let begins_like_it =
            |(_, text): &(u32, &[u8])| text.trim_ascii_start().starts_with(start.as_bytes());
        let number = self.rest.find(begins_like_it).map_or(0, |(line, _)| line);
        self.found.push(FileLine { number, content });
    }
}

/// # Safety
///
/// The pointer is null, or to a value that lives as long as this call.
unsafe fn text_of(value: *const Zval) -> String {
    // SAFETY: the caller's promise.
    let text = unsafe { value.as_ref() }.and_then(Zval::zend_str).map(ZendStr::as_bytes);
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}
