//! Reads text in the format of ini files by PHP's own parser.

use super::engine::versions::FAILURE;
use crate::limiter::{FileError, FileLine, LineContent};
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendStr, Zval};
use ext_php_rs::zend::{ExecutorGlobals, ce};
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The zeros that PHP's scanner wants behind the text: `ZEND_MMAP_AHEAD`.
const PADDING: usize = 64;
/// `ZEND_INI_SCANNER_RAW`: values are taken as they are, without constants and variables.
const RAW: c_int = 1;
/// `ZEND_INI_PARSER_ENTRY`
const ENTRY: c_int = 1;
/// `ZEND_INI_PARSER_SECTION`
const SECTION: c_int = 2;

/// What the parser has found so far. It tells what stands in a text, but not in which line, so it gets one line at a time.
struct IniReader {
    /// The number of the line that it reads.
    number: u32,
    found: Vec<FileLine>,
}

/// Returns the lines of the text that say something.
///
/// # Errors
///
/// The line that is not in the format of ini files.
pub fn read(text: &[u8]) -> Result<Vec<FileLine>, FileError> {
    if text.contains(&0) {
        let message = "must be text, without NUL bytes".to_owned();
        return Err(FileError { line: 1, message });
    }
    let mut reader = IniReader { number: 0, found: Vec::new() };
    let mut handling = MaybeUninit::uninit();
    // SAFETY: the handling is restored below, and nothing between returns or panics. The parser reports a wrong line by a warning, which
    // becomes an exception here, so that no error handler of the script runs.
    unsafe {
        ffi::zend_replace_error_handling(
            ffi::zend_error_handling_t_EH_THROW,
            ptr::from_ref(ce::exception()).cast_mut(),
            handling.as_mut_ptr(),
        );
    }
    let says_something = |line: &[u8]| !matches!(line.trim_ascii_start(), [] | [b';', ..]);
    let mut lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    let wrong = lines.find_map(|(number, line)| {
        reader.number = number;
        (says_something(line) && !reader.parse(line)).then_some(number)
    });
    // SAFETY: what was replaced above.
    unsafe { ffi::zend_restore_error_handling(handling.as_mut_ptr()) };
    match wrong {
        None => Ok(reader.found),
        Some(line) => {
            let message =
                "must be [name] or key = value; a value with special characters needs \"quotes\"";
            Err(FileError { line, message: message.to_owned() })
        }
    }
}

impl IniReader {
    /// Returns whether the parser could read the line.
    fn parse(&mut self, line: &[u8]) -> bool {
        // PHP 8.2 ignores a last word that no end of a line follows.
        let mut padded = [line, b"\n"].concat();
        padded.resize(padded.len() + PADDING, 0);
        // SAFETY: the text ends with zeros and lives as long as the parser runs; the parser calls `note` with the reader that it is
        // given, to which no other reference is used meanwhile.
        let result = unsafe {
            ffi::zend_parse_ini_string(
                padded.as_mut_ptr().cast::<c_char>(),
                false,
                RAW,
                Some(note),
                ptr::from_mut(self).cast::<c_void>(),
            )
        };
        let has_thrown = ExecutorGlobals::take_exception().is_some();
        result != FAILURE && !has_thrown
    }
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
        // SAFETY: the pointer that `parse` gave to the parser.
        let reader = unsafe { &mut *reader.cast::<IniReader>() };
        // SAFETY: the parser passes strings, or null where there is none.
        let [first, second] = [first, second].map(|value| unsafe { text_of(value) });
        let content = match kind {
            SECTION => LineContent::Section(first),
            ENTRY => LineContent::Entry(first, second),
            // `key[] = value`: no key of a limit is a list.
            _ => LineContent::Entry(format!("{first}[]"), second),
        };
        reader.found.push(FileLine { number: reader.number, content });
    }));
}

/// # Safety
///
/// The pointer is null, or to a value that lives as long as this call.
unsafe fn text_of(value: *const Zval) -> String {
    // SAFETY: the caller's promise.
    let text = unsafe { value.as_ref() }.and_then(Zval::zend_str).map(ZendStr::as_bytes);
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}
