//! Random numbers that are the same in every run, and the two distributions of the simulation.

/// A generator of random numbers (SplitMix64, by Steele, Lea and Flood).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// The time to the next of events that come at random, `mean` nanoseconds apart (Poisson).
    pub fn until_next(&mut self, mean: f64) -> u64 {
        (-(1.0 - self.unit()).ln() * mean) as u64
    }
}

/// A hash of a number, each bit of which depends on all of its bits.
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Which client calls: the k-th most active one in proportion to 1 / k^exponent (Zipf).
///
/// Rejection-inversion, by Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions" (1996): it needs no table of the clients.
pub struct Zipf {
    clients: u32,
    exponent: f64,
    first: f64,
    last: f64,
    accepted: f64,
}

impl Zipf {
    pub fn new(clients: u32, exponent: f64) -> Self {
        let mut zipf = Self { clients, exponent, first: 0.0, last: 0.0, accepted: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(f64::from(clients) + 0.5);
        zipf.accepted = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    /// A client: 0 for the most active one.
    pub fn pick(&self, random: &mut Random) -> u32 {
        if self.clients == 1 {
            return 0;
        }
        loop {
            let u = self.last + random.unit() * (self.first - self.last);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, f64::from(self.clients));
            if k - x <= self.accepted || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u32 - 1;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of `weight`.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.exponent) * log;
        if power.abs() > 1e-8 { power.exp_m1() / power * log } else { log }
    }

    fn inverse(&self, x: f64) -> f64 {
        let power = (x * (1.0 - self.exponent)).max(-1.0);
        (if power.abs() > 1e-8 { power.ln_1p() / power * x } else { x }).exp()
    }
}
