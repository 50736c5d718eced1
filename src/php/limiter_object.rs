//! The value that the objects of all limiter classes carry: a backend, an identifier and a limit.

use super::calendar_unit::Calendar;
use super::engine::call::Call;
use super::engine::exceptions::{Thrown, logic_exception};
use super::engine::object::{Native, own_handlers};
use super::engine::shared_string::SharedString;
use super::events::{Answered, answered};
use super::storage_argument::Backend;
use crate::identifier::Identifier;
use crate::limit::{Limit, Op};
use crate::limiter::{CallContext, FlaggedDecision, KeyHash, Limiter, RecordHandle};
use ext_php_rs::convert::IntoZval;
use ext_php_rs::ffi;
use ext_php_rs::types::{ZendHashTable, Zval};
use std::cell::Cell;
use std::ptr::NonNull;
use std::rc::Rc;

/// The position of `$identifier` in the constructors.
const IDENTIFIER: u32 = 2;
/// The position of `$name` in the constructors.
const NAME: u32 = 5;

/// The value of a `TokenBucket`, or of a class of `interval_limit`.
pub struct LimiterObject {
    pub backend: Backend,
    identifier: SharedString,
    /// `None` for a `TokenBucket` without capacity or rate.
    pub limit: Option<Rc<Limit>>,
    pub arguments: LimitArguments,
    /// The name of the limit in statistics, if the constructor was given one.
    name: Option<SharedString>,
    key_hash: Cell<KeyHash>,
    record: Cell<RecordHandle>,
    /// The `key()` of a class in PHP that overrides ours.
    pub overridden_key: Option<NonNull<ffi::zend_function>>,
}

/// The numbers that the constructor was given.
#[derive(Clone)]
pub enum LimitArguments {
    /// `$bucket_capacity`, `$tokens_per_second`.
    TokenBucket(Option<i64>, Option<f64>),
    /// `$limit`, `$interval` of a class of `interval_limit`.
    Interval { limit: i64, interval: f64 },
    /// `$limit`, `$unit` and `$timezone` of a `CalendarWindow`.
    Calendar { limit: i64, calendar: Rc<Calendar> },
}

impl LimitArguments {
    /// Adds the arguments of a constructor to what `var_dump()` shows; the name only if there is one.
    pub fn dump(
        &self,
        identifier: &SharedString,
        name: Option<&SharedString>,
        properties: &mut ZendHashTable,
    ) {
        // A class in PHP may have properties of the same names.
        let mut add = |name: &str, value: Zval| {
            if properties.get(name).is_none() {
                let _ = properties.insert(name, value);
            }
        };
        add("identifier", identifier.to_zval());
        match self {
            Self::TokenBucket(capacity, rate) => {
                add("bucket_capacity", to_zval(*capacity));
                add("tokens_per_second", to_zval(*rate));
            }
            Self::Interval { limit, interval } => {
                add("limit", to_zval(*limit));
                add("interval", to_zval(*interval));
            }
            Self::Calendar { limit, calendar } => {
                add("limit", to_zval(*limit));
                add("unit", to_zval(calendar.unit.name()));
                add("timezone", to_zval(calendar.zone.as_str()));
            }
        }
        if let Some(text) = name {
            add("name", text.to_zval());
        }
    }
}

fn to_zval(value: impl IntoZval) -> Zval {
    value.into_zval(false).unwrap_or_default()
}

impl Native for LimiterObject {
    own_handlers!();

    fn dump(&self, properties: &mut ZendHashTable) {
        self.arguments.dump(&self.identifier, self.name.as_ref(), properties);
    }

    fn gc_roots(&self) -> &[Zval] {
        match &self.backend {
            Backend::Native(_) | Backend::Named(_) => &[],
            Backend::Php(storage) => std::slice::from_ref(&**storage),
        }
    }
}

impl LimiterObject {
    /// Makes the value of an object that the constructor of its class does not make.
    pub fn new(
        backend: Backend,
        identifier: SharedString,
        limit: Rc<Limit>,
        arguments: LimitArguments,
        name: Option<SharedString>,
    ) -> Self {
        Self {
            backend,
            identifier,
            limit: Some(limit),
            arguments,
            name,
            key_hash: Cell::default(),
            record: Cell::default(),
            overridden_key: None,
        }
    }

    /// Makes the value in a constructor, with the `$identifier` and the `$name` of the call.
    #[inline(always)]
    pub fn from_call(
        call: &Call,
        backend: Backend,
        limit: Option<Rc<Limit>>,
        arguments: LimitArguments,
    ) -> Result<Self, Thrown> {
        let identifier = call.identifier(IDENTIFIER)?;
        Ok(Self {
            backend,
            identifier,
            limit,
            arguments,
            name: parse_name(call)?,
            key_hash: Cell::default(),
            record: Cell::default(),
            overridden_key: None,
        })
    }

    /// The object's own identifier.
    #[inline]
    pub fn identifier(&self) -> &[u8] {
        self.identifier.as_bytes()
    }

    /// The object's own identifier.
    #[inline(always)]
    pub fn shared_identifier(&self) -> SharedString {
        self.identifier.clone()
    }

    /// The name of the limit, if the constructor was given one.
    #[inline(always)]
    pub fn shared_name(&self) -> Option<SharedString> {
        self.name.clone()
    }

    /// The object's own identifier as a PHP string.
    pub fn identifier_to_zval(&self) -> Zval {
        self.identifier.to_zval()
    }

    #[inline(always)]
    fn name(&self) -> Option<&[u8]> {
        self.name.as_ref().map(SharedString::as_bytes)
    }

    /// Whether the operator's file exempts the client from the limit.
    #[inline(always)]
    pub fn is_exempt(&self) -> bool {
        matches!(&self.backend, Backend::Named(named) if named.is_exempt)
    }

    /// The context of a call on the object's own identifier.
    #[inline(always)]
    pub fn context(&self) -> CallContext<'_> {
        let identifier = Identifier::Plain(self.identifier());
        CallContext {
            identifier,
            name: self.name(),
            key_hash: &self.key_hash,
            record: &self.record,
            is_exempt: self.is_exempt(),
        }
    }

    /// The context of a call on another identifier under the object's limit, which holds for it.
    #[inline(always)]
    pub fn context_for<'a>(
        &'a self,
        identifier: Identifier<'a>,
        key_hash: &'a Cell<KeyHash>,
    ) -> CallContext<'a> {
        let (name, record) = (self.name(), &self.record);
        CallContext { identifier, name, key_hash, record, is_exempt: false }
    }

    /// The object's own limit. Throws a `LogicException` in the name of `method` if it has none.
    #[inline]
    pub fn limit(&self, method: &str) -> Result<&Rc<Limit>, Thrown> {
        self.limit.as_ref().ok_or_else(|| self.throw_no_limit(method))
    }

    #[cold]
    fn throw_no_limit(&self, method: &str) -> Thrown {
        let missing = match self.arguments {
            LimitArguments::TokenBucket(None, None) => "$bucket_capacity and $tokens_per_second",
            LimitArguments::TokenBucket(None, _) => "$bucket_capacity",
            _ => "$tokens_per_second",
        };
        logic_exception(match method {
            "check" => format!(
                "TokenBucket::check() needs a limit, such as check($id, 10, 300) for 10 in 300 seconds, or \
                 {missing} in TokenBucket::__construct()"
            ),
            _ => format!(
                "TokenBucket::{method}() needs a limit: {missing} missing in TokenBucket::__construct()"
            ),
        })
    }

    /// The limiter of a native backend. Throws a `LogicException` in the name of `method` for a storage
    /// written in PHP.
    #[inline(always)]
    pub fn limiter(&self, method: &str) -> Result<&Limiter, Thrown> {
        match &self.backend {
            Backend::Native(limiter) => Ok(limiter),
            Backend::Named(named) => Ok(&named.limiter),
            Backend::Php(..) => Err(throw_unsupported(method)),
        }
    }

    /// Decides a call on the object's own identifier.
    #[inline(always)]
    pub fn decide(
        &self,
        limiter: &Limiter,
        limit: &Limit,
        op: &Op,
    ) -> Result<Answered<FlaggedDecision>, Thrown> {
        answered(limiter.decide(&self.context(), limit, op))
    }

    /// Decides a call on the object's own identifier, and returns only whether it is admitted.
    #[inline(always)]
    pub fn admits(
        &self,
        limiter: &Limiter,
        limit: &Limit,
        op: &Op,
    ) -> Result<Answered<bool>, Thrown> {
        answered(limiter.admits(&self.context(), limit, op))
    }
}

/// Throws the exception of a method that needs more than a storage written in PHP can do.
#[cold]
pub fn throw_unsupported(method: &str) -> Thrown {
    logic_exception(format!(
        "{method}() is not available on a storage written in PHP: \
         TokenBucketStorage has consume() only"
    ))
}

/// Reads the `$name` of a constructor.
#[inline(always)]
pub fn parse_name(call: &Call) -> Result<Option<SharedString>, Thrown> {
    match call.non_null(NAME) {
        None => Ok(None),
        Some(_) => parse_name_at(call, NAME),
    }
}

/// Reads the `$name` of a constructor at this position.
#[cold]
pub fn parse_name_at(call: &Call, n: u32) -> Result<Option<SharedString>, Thrown> {
    call.string_or_null(n)?;
    Ok(call.non_null(n).and_then(SharedString::from_zval))
}
