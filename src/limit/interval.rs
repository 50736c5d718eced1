//! From a rate as PHP gives it, a float, to the exact worth of a token.

use super::span::{SECOND, Span};

/// The most parts a nanosecond is divided into: what a shared-memory slot can hold.
pub(super) const MAX_PARTS: u64 = 1 << 30;

/// The time one token takes to come back: a span, and the parts in a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) span: Span,
    pub(super) parts: u64,
}

impl Interval {
    /// `seconds` for each `tokens`: exact while `tokens`, in lowest terms, is at most
    /// 2³⁰; beyond that rounded up, by less than 10⁻⁹ of a nanosecond.
    ///
    /// Both must be above zero, and `seconds` at most 2⁶⁴.
    pub(super) fn of_ratio(seconds: u128, tokens: u128) -> Self {
        // Never wraps: 2^64 * 10^9 is below 2^94.
        let ns = seconds * u128::from(SECOND);
        let divisor = gcd(ns, tokens);
        let (ns, tokens) = (ns / divisor, tokens / divisor);
        let (whole, rest) = (ns / tokens, ns % tokens);
        let (whole, part, parts) = if tokens <= u128::from(MAX_PARTS) {
            (whole, rest, tokens)
        } else {
            // Never wraps: `rest` is below `tokens`, which came from a float's 53 bits
            // times at most 10^9.
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

    /// The interval of a rate in tokens per second, finite and above zero.
    ///
    /// A float stands for every number that rounds to it; the one meant is taken to be
    /// the simplest fraction among them. So 0.1 is one in ten, and `10 / 300` one in
    /// thirty, exactly.
    pub(super) fn of_rate(rate: f64) -> Self {
        if rate >= 1.0 && rate.fract() == 0.0 {
            return Self::of_ratio(1, rate as u128);
        }
        let seconds = rate.recip().round();
        if seconds >= 1.0 && seconds.recip() == rate {
            return Self::of_ratio(seconds as u128, 1);
        }
        let (tokens, seconds) = simplest_fraction(rate);
        Self::of_ratio(seconds, tokens)
    }
}

/// The fraction with the smallest denominator among those that round to `value`.
///
/// `value` must lie in 2⁻²⁸..2³⁰ with a fraction, so that its bounds, which have one
/// bit more than the float, fit a `u128` as fractions.
fn simplest_fraction(value: f64) -> (u128, u128) {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // value = mantissa * 2^exponent. Its neighbours' midpoints are half a unit away;
    // the lower one is nearer below a power of two, where taking half is merely careful.
    let denominator = 1u128 << (1 - exponent).clamp(0, 82);
    between(2 * mantissa - 1, 2 * mantissa + 1, denominator)
}

/// The simplest fraction strictly between `low/scale` and `high/scale`, by the
/// continued fractions of the two (Stern-Brocot).
fn between(low: u128, high: u128, scale: u128) -> (u128, u128) {
    let (mut low, mut high) = ((low, scale), (high, scale));
    // (p, q) is the last convergent, (p0, q0) the one before.
    let (mut p0, mut q0, mut p, mut q) = (0u128, 1u128, 1u128, 0u128);
    loop {
        let whole = low.0 / low.1;
        // The next term is `whole` as long as both ends share it; then one more.
        let differ = (whole + 1) * high.1 < high.0;
        let term = if differ { whole + 1 } else { whole };
        (p0, q0, p, q) = (p, q, term * p + p0, term * q + q0);
        if differ {
            return (p, q);
        }
        let (low_rest, high_rest) = (low.0 - whole * low.1, high.0 - whole * high.1);
        if low_rest == 0 {
            // `low` is excluded, and there is no fraction `whole + 1` below `high`:
            // the simplest beyond it has the smallest denominator that fits.
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
    fn a_rate_means_the_simplest_fraction() {
        assert_eq!(Interval::of_rate(1.0), interval(SECOND, 0, 1));
        assert_eq!(Interval::of_rate(3.0), interval(333_333_333, 1, 3));
        assert_eq!(Interval::of_rate(0.1), interval(10 * SECOND, 0, 1));
        assert_eq!(Interval::of_rate(10.0 / 300.0), interval(30 * SECOND, 0, 1));
        assert_eq!(Interval::of_rate(100.0 / 60.0), interval(600_000_000, 0, 1));
        assert_eq!(Interval::of_rate(0.7), interval(1_428_571_428, 4, 7));
        assert_eq!(Interval::of_rate(2.5), interval(400_000_000, 0, 1));
        assert_eq!(Interval::of_rate(1e9), interval(1, 0, 1));
        assert_eq!(Interval::of_rate(999_999_999.0), interval(1, 1, 999_999_999));
    }

    #[test]
    fn a_ratio_is_exact() {
        assert_eq!(Interval::of_ratio(300, 10), interval(30 * SECOND, 0, 1));
        assert_eq!(Interval::of_ratio(60, 7), interval(8_571_428_571, 3, 7));
    }

    proptest! {
        #[test]
        fn the_fraction_of_a_ratio_is_found_again(p in 1u32..40_000, q in 1u32..40_000) {
            let found = Interval::of_rate(f64::from(p) / f64::from(q));
            prop_assert_eq!(found, Interval::of_ratio(u128::from(q), u128::from(p)));
        }

        #[test]
        fn no_rate_gets_faster(rate in 1e-8..1e9f64) {
            let found = Interval::of_rate(rate);
            prop_assert!(found.span.part < found.parts && found.parts <= MAX_PARTS);
            let ns = found.span.ns as f64 + found.span.part as f64 / found.parts as f64;
            let exact = 1e9 / rate;
            prop_assert!((ns - exact).abs() <= exact * 1e-9, "{} for {}", ns, exact);
        }
    }
}
