//! From a rate, which PHP gives as a float, to the exact time in which a token comes back.

use super::span::{SECOND, Span};

/// The most parts that a nanosecond is divided into: a shared-memory slot has 30 bits for them.
pub(super) const MAX_PARTS: u64 = 1 << 30;

/// The time in which one token comes back: a span, and how many parts a nanosecond has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) span: Span,
    pub(super) parts: u64,
}

impl Interval {
    /// The interval of `tokens` in `seconds`. Exact if the number of tokens, in lowest terms, is at
    /// most 2³⁰; else rounded up, by less than 10⁻⁹ of a nanosecond.
    ///
    /// Both must be above zero, and `seconds` at most 2⁶⁴.
    pub(super) fn from_ratio(seconds: u128, tokens: u128) -> Self {
        // Never wraps: 2^64 * 10^9 is below 2^94.
        let ns = seconds * u128::from(SECOND);
        let divisor = gcd(ns, tokens);
        let (ns, tokens) = (ns / divisor, tokens / divisor);
        let (whole, rest) = (ns / tokens, ns % tokens);
        let (whole, part, parts) = if tokens <= u128::from(MAX_PARTS) {
            (whole, rest, tokens)
        } else {
            // Never wraps: `rest` is below `tokens`, which has at most the 53 bits of a float times
            // 10^9.
            let parts = u128::from(MAX_PARTS);
            match (rest * parts).div_ceil(tokens) {
                part if part == parts => (whole + 1, 0, parts),
                part => (whole, part, parts),
            }
        };
        Self {
            span: Span {
                ns: u64::try_from(whole).unwrap_or(u64::MAX),
                part: u64::try_from(part).unwrap_or(0),
            },
            parts: u64::try_from(parts).unwrap_or(MAX_PARTS),
        }
    }

    /// The interval of a rate in tokens per second, which is finite and above zero.
    ///
    /// Many numbers round to the same float. The rate is taken to be the simplest fraction among
    /// them, so 0.1 is exactly one in ten, and `10 / 300` exactly one in thirty.
    pub(super) fn from_rate(rate: f64) -> Self {
        let (tokens, seconds) = to_fraction(rate);
        Self::from_ratio(seconds, tokens)
    }

    /// The interval of `tokens` in a period of so many seconds, which is finite and above zero. The period is taken
    /// to be whole nanoseconds, if such a number rounds to it, else the simplest fraction that does: 17 in 0.017 seconds
    /// is exactly one in a thousandth, and one in `10 / 3` seconds three in ten.
    pub(super) fn from_period(tokens: u32, period: f64) -> Self {
        let ns = (period * SECOND as f64).round();
        let (seconds, parts) = match ns >= 1.0 && ns / SECOND as f64 == period {
            true => (ns as u128, u128::from(SECOND)),
            false => to_fraction(period),
        };
        Self::from_ratio(seconds, parts * u128::from(tokens))
    }
}

/// The simplest fraction among the numbers that round to `value`, which must be as for [`simplest_fraction`], or
/// whole, or the reciprocal of a whole number.
fn to_fraction(value: f64) -> (u128, u128) {
    if value >= 1.0 && value.fract() == 0.0 {
        return (value as u128, 1);
    }
    let reciprocal = value.recip().round();
    if reciprocal >= 1.0 && reciprocal.recip() == value {
        return (1, reciprocal as u128);
    }
    simplest_fraction(value)
}

/// The fraction with the smallest denominator among those that round to `value`.
///
/// `value` must lie in 2⁻²⁸..2³⁰, and neither it nor its reciprocal may be whole. Then its bounds,
/// which have one bit more than the float, fit a `u128` as fractions.
fn simplest_fraction(value: f64) -> (u128, u128) {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // value = mantissa * 2^exponent, and the midpoints to its two neighbours are half a unit away.
    // Only the lower neighbour of a power of two is nearer, and no power of two comes here: it is
    // whole, or its reciprocal is.
    let denominator = 1u128 << (1 - exponent).clamp(0, 82);
    simplest_between(2 * mantissa - 1, 2 * mantissa + 1, denominator)
}

/// The simplest fraction strictly between `low/scale` and `high/scale`, found by the continued
/// fractions of the two ([Stern-Brocot tree]).
///
/// [Stern-Brocot tree]: https://en.wikipedia.org/wiki/Stern%E2%80%93Brocot_tree
fn simplest_between(low: u128, high: u128, scale: u128) -> (u128, u128) {
    let (mut low, mut high) = ((low, scale), (high, scale));
    // The convergents p/q: the last one, and the one before it.
    let (mut p0, mut q0, mut p, mut q) = (0u128, 1u128, 1u128, 0u128);
    loop {
        let whole = low.0 / low.1;
        // The next term is `whole` as long as both bounds share it, and one more at the end.
        let differ = (whole + 1) * high.1 < high.0;
        let term = if differ { whole + 1 } else { whole };
        (p0, q0, p, q) = (p, q, term * p + p0, term * q + q0);
        if differ {
            return (p, q);
        }
        let (low_rest, high_rest) = (low.0 - whole * low.1, high.0 - whole * high.1);
        if low_rest == 0 {
            // `low` itself is excluded, and `whole + 1` is not below `high`: the simplest fraction
            // between them has the smallest denominator that fits.
            let term = high.1 / high_rest + 1;
            return (term * p + p0, term * q + q0);
        }
        (low, high) = ((high.1, high_rest), (low.1, low_rest));
    }
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(ns: u64, part: u64, parts: u64) -> Interval {
        Interval { span: Span { ns, part }, parts }
    }

    #[test]
    fn period_is_the_simplest_fraction_that_rounds_to_it() {
        assert_eq!(Interval::from_period(17, 0.017), interval(1_000_000, 0, 1));
        assert_eq!(Interval::from_period(5, 300.0), interval(60 * SECOND, 0, 1));
        assert_eq!(Interval::from_period(7, 0.1), interval(14_285_714, 2, 7));
        assert_eq!(Interval::from_period(2_147_483_647, 2.147_483_647), interval(1, 0, 1));
        assert_eq!(Interval::from_period(1, 10.0 / 3.0), interval(3_333_333_333, 1, 3));
    }

    #[test]
    fn rate_is_read_as_the_simplest_fraction() {
        assert_eq!(Interval::from_rate(1.0), interval(SECOND, 0, 1));
        assert_eq!(Interval::from_rate(3.0), interval(333_333_333, 1, 3));
        assert_eq!(Interval::from_rate(0.1), interval(10 * SECOND, 0, 1));
        assert_eq!(Interval::from_rate(10.0 / 300.0), interval(30 * SECOND, 0, 1));
        assert_eq!(Interval::from_rate(100.0 / 60.0), interval(600_000_000, 0, 1));
        assert_eq!(Interval::from_rate(0.7), interval(1_428_571_428, 4, 7));
        assert_eq!(Interval::from_rate(2.5), interval(400_000_000, 0, 1));
        assert_eq!(Interval::from_rate(1e9), interval(1, 0, 1));
        assert_eq!(Interval::from_rate(999_999_999.0), interval(1, 1, 999_999_999));
    }

    #[test]
    fn ratio_of_too_many_tokens_is_rounded_up() {
        // A little less than a nanosecond, by less than a part.
        assert_eq!(Interval::from_ratio(2, 2_000_000_001), interval(1, 0, MAX_PARTS));
        assert_eq!(Interval::from_ratio(5, 2_000_000_001), interval(2, 536_870_911, MAX_PARTS));
    }

    #[test]
    fn power_of_two_is_exact() {
        for exponent in 1..=27 {
            let seconds = 1u128 << exponent;
            assert_eq!(Interval::from_rate(1.0 / seconds as f64), Interval::from_ratio(seconds, 1));
        }
    }

    proptest! {
        #[test]
        fn float_of_a_ratio_gives_the_ratio(p in 1u32..40_000, q in 1u32..40_000) {
            let found = Interval::from_rate(f64::from(p) / f64::from(q));
            prop_assert_eq!(found, Interval::from_ratio(u128::from(q), u128::from(p)));
        }

        #[test]
        fn simplest_fraction_has_the_smallest_denominator(low in 0u128..60, more in 1u128..60, scale in 1u128..60) {
            let high = low + more;
            let is_between = |p: u128, q: u128| low * q < p * scale && p * scale < high * q;
            let first = (1..).find_map(|q| (0..=q * high).find(|p| is_between(*p, q)).map(|p| (p, q)));
            prop_assert_eq!(Some(simplest_between(low, high, scale)), first);
        }

        #[test]
        fn interval_matches_the_rate(rate in 1e-8..1e9f64) {
            let found = Interval::from_rate(rate);
            prop_assert!(found.span.part < found.parts && found.parts <= MAX_PARTS);
            let ns = found.span.ns as f64 + found.span.part as f64 / found.parts as f64;
            let exact = 1e9 / rate;
            prop_assert!((ns - exact).abs() <= exact * 1e-9, "{} for {}", ns, exact);
        }
    }
}
