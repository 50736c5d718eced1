//! What a call is about.

/// The longest identifier, in bytes.
pub const MAX_IDENTIFIER: usize = 4096;

/// Identifies the bucket a call is about.
#[derive(Clone, Copy)]
pub enum Identifier<'a> {
    /// An identifier, as the application made it.
    Plain(&'a [u8]),
    /// A client of an application: `login` and `192.0.2.1`.
    Client {
        /// The application's name.
        name: &'a [u8],
        /// The client's.
        id: &'a [u8],
    },
}

/// The identifier of a client of an application: `name:id`.
///
/// A colon and a percent sign in the name are escaped, so no two pairs of a name and an id make the same
/// identifier.
///
/// # Example
///
/// ```
/// use token_bucket::identifier::client_identifier;
///
/// assert_eq!(client_identifier(b"login", b"2001:db8::1"), b"login:2001:db8::1");
/// assert_eq!(client_identifier(b"a:b", b"c"), b"a%3Ab:c");
/// ```
pub fn client_identifier(name: &[u8], id: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1 + id.len());
    for byte in name {
        match byte {
            b':' => key.extend(b"%3A"),
            b'%' => key.extend(b"%25"),
            other => key.push(*other),
        }
    }
    key.push(b':');
    key.extend(id);
    key
}

/// Whether [`client_identifier`] escapes anything in this name.
pub fn needs_escape(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b':' | b'%'))
}
