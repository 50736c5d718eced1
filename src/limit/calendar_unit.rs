//! The units of a calendar window.

/// How long a window lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarUnit {
    /// From one full hour of the zone's clock to the next.
    Hour,
    /// From midnight to midnight: 23 to 25 hours.
    Day,
    /// From Monday on.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

impl CalendarUnit {
    /// All names, for messages.
    pub const VALUES: &'static str = "\"hour\", \"day\", \"week\", \"month\" or \"year\"";

    const ALL: [Self; 5] = [Self::Hour, Self::Day, Self::Week, Self::Month, Self::Year];

    /// The unit of this name.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name().as_bytes() == name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_has_a_name() {
        for name in ["hour", "day", "week", "month", "year"] {
            let unit = CalendarUnit::from_name(name.as_bytes()).unwrap();
            assert_eq!(unit.name(), name);
            assert!(CalendarUnit::VALUES.contains(&format!("\"{name}\"")));
        }
        assert_eq!(CalendarUnit::from_name(b"fortnight"), None);
    }
}
