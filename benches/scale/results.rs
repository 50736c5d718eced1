//! What a simulation counts, and how it is printed.

use std::fmt::Write as _;

/// Times, in classes that are 3 % wide.
pub struct Times {
    classes: Vec<u64>,
    count: u64,
}

/// 24 classes double the time.
const CLASSES_A_DOUBLING: f64 = 24.0;

impl Times {
    pub fn new() -> Self {
        Self { classes: vec![0; 41 * CLASSES_A_DOUBLING as usize], count: 0 }
    }

    pub fn note(&mut self, ns: u64) {
        let class = (ns.max(1) as f64).log2() * CLASSES_A_DOUBLING;
        if let Some(count) = self.classes.get_mut(class as usize) {
            *count += 1;
        }
        self.count += 1;
    }

    /// The time below which this part of all times is.
    pub fn quantile(&self, part: f64) -> f64 {
        let mut left = (self.count as f64 * part) as u64;
        for (class, count) in self.classes.iter().enumerate() {
            if left < *count {
                return ((class as f64 + 0.5) / CLASSES_A_DOUBLING).exp2();
            }
            left -= count;
        }
        f64::INFINITY
    }
}

/// The counts of a simulation, from the end of its warm-up on.
pub struct Counts {
    pub decisions: u64,
    pub accepted: u64,
    pub leased: u64,
    pub known_denials: u64,
    pub trips: u64,
    pub lost_swaps: u64,
    /// Calls that were decided by compare and swap, and how many took the lock of a row.
    pub swap_decisions: u64,
    pub locked: u64,
    /// Calls that could not be decided in their time beside others: `on_error` would have answered them.
    pub busy: u64,
    /// Decisions that took longer than the default time-out of 50 ms: `on_error` would have answered them.
    pub late: u64,
    /// Calls that found all workers busy and no room to wait.
    pub refused: u64,
    pub bytes: [f64; 2],
    pub times: Times,
}

impl Counts {
    pub fn new() -> Self {
        Self {
            decisions: 0,
            accepted: 0,
            leased: 0,
            known_denials: 0,
            trips: 0,
            lost_swaps: 0,
            swap_decisions: 0,
            locked: 0,
            busy: 0,
            late: 0,
            refused: 0,
            bytes: [0.0; 2],
            times: Times::new(),
        }
    }
}

/// An object of JSON.
#[derive(Default, Clone)]
pub struct Object(String);

impl Object {
    pub fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, &format!("\"{value}\""))
    }

    pub fn number(self, name: &str, value: f64) -> Self {
        let value = if value.is_finite() { format!("{value}") } else { "null".to_owned() };
        self.raw(name, &value)
    }

    fn raw(mut self, name: &str, value: &str) -> Self {
        let comma = if self.0.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(self.0, "{comma}\"{name}\": {value}");
        self
    }

    pub fn print(&self) -> String {
        format!("{{{}}}", self.0)
    }
}
