//! How many rounds a test makes.

/// As many as usual; under Miri, which takes a thousand times as long, a two-thousandth.
pub const fn rounds(usual: u32) -> u32 {
    if cfg!(miri) { usual.div_ceil(2_000) } else { usual }
}
