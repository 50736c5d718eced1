//! A number of refills, in a code of seven bits: exact up to 31, then rounded up, by half at most.
//!
//! What is owed is kept in refills rather than in time, so that other numbers can be applied to it.
//!
//! ```text
//! 0 to 31   the number
//! 32 + n    32 * 2^(n / 2), and half of that more if n is odd
//! ```

use super::bounds::LONGEST_AHEAD;

const EXACT: u64 = 32;
const EXACT_BITS: u32 = EXACT.ilog2();
/// The highest code. It stands for more refills than the longest debt has, if one takes a nanosecond.
pub const MOST_REFILLS: u8 = 127;

/// The smallest code of at least so many refills.
pub(super) const fn to_code(refills: u64) -> u8 {
    if refills < EXACT {
        return refills as u8;
    }
    let exponent = refills.ilog2() - EXACT_BITS;
    let steps = (refills - (EXACT << exponent)).div_ceil(EXACT << exponent >> 1) as u32;
    let code = EXACT as u32 + 2 * exponent + steps;
    // Fits: the exponent is at most 58.
    if code > MOST_REFILLS as u32 { MOST_REFILLS } else { code as u8 }
}

/// How many refills a code stands for.
pub(super) const fn from_code(code: u8) -> u64 {
    if (code as u64) < EXACT {
        return code as u64;
    }
    if code >= MOST_REFILLS {
        return LONGEST_AHEAD;
    }
    let above = code as u64 - EXACT;
    ((2 + above % 2) * (EXACT / 2)) << (above / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn number_is_rounded_up_by_half_at_most(refills in prop_oneof![0..200u64, 0..1u64 << 52]) {
            let code = to_code(refills);
            let kept = from_code(code);
            prop_assert!(kept >= refills && kept <= refills + refills / 2, "{} became {}", refills, kept);
            prop_assert!(refills > 31 || kept == refills);
            prop_assert_eq!(to_code(kept), code);
            prop_assert!(code == 0 || from_code(code - 1) < refills.max(1));
        }
    }

    #[test]
    fn more_than_the_highest_number_is_the_highest() {
        assert_eq!((to_code(u64::MAX), from_code(u8::MAX)), (MOST_REFILLS, LONGEST_AHEAD));
    }
}
