//! Builds arrays for PHP of values that need no check, on ext-php-rs's `ZendHashTable`: a value that cannot be converted becomes null, and
//! no caller handles an error. Reads arrays of PHP whatever the bytes of their keys: ext-php-rs's iterators panic at one that is not UTF-8.

use ext_php_rs::boxed::ZBox;
use ext_php_rs::convert::IntoZval;
use ext_php_rs::error::Result;
use ext_php_rs::flags::DataType;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};

/// The keys, as ints or strings, and the values.
pub fn entries(array: &ZendHashTable) -> impl Iterator<Item = (Zval, &Zval)> {
    let mut entries = array.iter();
    std::iter::from_fn(move || entries.next_zval())
}

/// The values, whatever their keys.
pub fn values(array: &ZendHashTable) -> impl Iterator<Item = &Zval> {
    entries(array).map(|(_, value)| value)
}

/// Whether the keys are 0, 1, 2 and so on.
pub fn is_list(array: &ZendHashTable) -> bool {
    (0..).zip(entries(array)).all(|(i, (key, _))| key.long() == Some(i))
}

/// An array that is being built.
pub struct PhpArray(ZBox<ZendHashTable>);

impl IntoZval for PhpArray {
    const TYPE: DataType = DataType::Array;
    const NULLABLE: bool = false;

    fn set_zval(self, zv: &mut Zval, persistent: bool) -> Result<()> {
        self.0.set_zval(zv, persistent)
    }
}

impl PhpArray {
    /// An empty array.
    pub fn new() -> Self {
        Self(ZendHashTable::new())
    }

    /// Puts a value into the array; null for an int above 2^63, which nothing that is counted reaches. As in a script,
    /// a key of digits becomes an int: `"12"` is 12.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl IntoZval) {
        let value = value.into_zval(false).unwrap_or_default();
        // Only a value that cannot be converted is refused.
        let _ = self.0.insert(&*ZendStr::new(key, false), value);
    }
}

impl<T: IntoZval> FromIterator<T> for PhpArray {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut list = Self::new();
        for value in values {
            let _ = list.0.push(value);
        }
        list
    }
}
