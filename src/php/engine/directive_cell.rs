//! What holds the value of a directive, and where a new value comes from.

use std::cell::RefCell;

/// Where a directive's value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueSource {
    /// php.ini, or the default that takes the place of an invalid value in php.ini.
    PhpIni,
    /// The FPM pool, when a worker starts.
    Pool,
    /// The web server, for one request.
    Request,
    /// `ini_set()`.
    Script,
    /// The value from before it was set: at the end of a request, or by `ini_restore()`.
    Restored,
}

/// Holds the value of a directive.
pub trait DirectiveValue {
    /// The value once it is parsed.
    type Value;

    /// Whether the text of the value may hold a password, which no message may show.
    const IS_SECRET: bool = false;

    /// Replaces the value.
    fn assign(&self, value: Self::Value, source: ValueSource);

    /// Notes that a value was refused for the reason in `message`. Returns whether the previous value
    /// stays in force.
    fn refuse(&self, _message: &str, _source: ValueSource) -> bool {
        true
    }
}

/// The value of a directive for which an invalid value changes nothing.
#[derive(Default)]
pub struct DirectiveCell<T>(RefCell<T>);

impl<T: Clone> DirectiveCell<T> {
    /// A copy of the value.
    pub fn get(&self) -> T {
        self.0.borrow().clone()
    }
}

impl<T> DirectiveValue for DirectiveCell<T> {
    type Value = T;

    fn assign(&self, value: T, _: ValueSource) {
        self.0.replace(value);
    }
}
