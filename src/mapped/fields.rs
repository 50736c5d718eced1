//! Fields packed into one word of shared memory.

/// What a field holds.
pub trait Field: Copy {
    /// The value that these bits are.
    fn from_bits(bits: u128) -> Self;

    /// The bits of the value.
    fn to_bits(self) -> u128;
}

macro_rules! implement {
    ($($type:ty),*) => {$(
        impl Field for $type {
            #[inline(always)]
            fn from_bits(bits: u128) -> Self {
                // A field is no wider than its type.
                bits as Self
            }

            #[inline(always)]
            fn to_bits(self) -> u128 {
                self.into()
            }
        }
    )*};
}

implement!(u32, u64);

impl Field for bool {
    #[inline(always)]
    fn from_bits(bits: u128) -> Self {
        bits != 0
    }

    #[inline(always)]
    fn to_bits(self) -> u128 {
        self.into()
    }
}

/// Defines a struct that is packed into one word. Each field has its number of bits, from the lowest bit on; together they are
/// those of the word. A value that is too large for its field is cut.
macro_rules! fields {
    ($(#[$about:meta])* $pub:vis struct $name:ident: $word:ty {
        $($(#[$about_field:meta])* $pub_field:vis $field:ident: $type:ty = $bits:expr,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $pub struct $name {
            $($(#[$about_field])* $pub_field $field: $type,)+
        }

        const _: () = assert!(0 $(+ $bits)+ == <$word>::BITS);

        impl $name {
            /// Reads a word.
            #[inline(always)]
            $pub fn from_word(word: $word) -> Self {
                let mut rest = u128::from(word);
                let mut next = |bits: u32| {
                    let field = rest & ((1 << bits) - 1);
                    rest >>= bits;
                    field
                };
                Self { $($field: $crate::mapped::fields::Field::from_bits(next($bits)),)+ }
            }

            /// The word.
            #[inline(always)]
            $pub fn to_word(self) -> $word {
                let (mut word, mut at) = (0u128, 0u32);
                $(
                    let bits = $crate::mapped::fields::Field::to_bits(self.$field);
                    word |= (bits & ((1 << $bits) - 1)) << at;
                    at += $bits;
                )+
                debug_assert!(at == <$word>::BITS);
                word as $word
            }
        }
    };
}
pub(crate) use fields;

#[cfg(test)]
mod tests {
    fields! {
        struct Packed: u64 {
            count: u32 = 12,
            is_set: bool = 1,
            time: u64 = 51,
        }
    }

    #[test]
    fn word_holds_each_field_beginning_with_the_lowest_bit() {
        let packed = Packed { count: 0xabc, is_set: true, time: 5 };
        assert_eq!(packed.to_word(), 0xabc | 1 << 12 | 5 << 13);
        assert_eq!(Packed::from_word(packed.to_word()), packed);
        assert_eq!(Packed::from_word(u64::MAX).to_word(), u64::MAX);
        assert_eq!(Packed::from_word(0), Packed::default());
    }

    #[test]
    fn value_too_large_for_its_field_leaves_the_others_alone() {
        let cut = Packed { count: u32::MAX, is_set: false, time: u64::MAX };
        assert_eq!(cut.to_word(), 0xfff | (u64::MAX >> 13) << 13);
    }
}
