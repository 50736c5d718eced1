//! [`Status`] in the text format of Prometheus, version 0.0.4.
//!
//! Format: <https://prometheus.io/docs/instrumenting/exposition_formats/>. No label holds what a client may have
//! written: there would be a time series for each, and the page would publish it.

use super::outcome::{Outcome, OutcomeCounts};
use super::status::{Status, unix_time};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The label value of limits that have no record of their own, and of names that were inferred from identifiers.
const OTHERS: &str = "*";

/// The counters of a limit: the name, the help, and the outcomes that are counted.
const LIMIT_COUNTERS: [(&str, &str, &[Outcome]); 8] = [
    (
        "checks",
        "Calls that were decided.",
        &[Outcome::Accepted, Outcome::Denied, Outcome::DryRunDenied],
    ),
    ("denied", "Calls that were denied.", &[Outcome::Denied]),
    ("would_deny", "Calls that only a dry run accepted.", &[Outcome::DryRunDenied]),
    ("store_errors", "Calls on which the store failed.", &[Outcome::Failed]),
    (
        "busy",
        "Calls that ran out of time while other calls on the same key went first.",
        &[Outcome::Busy],
    ),
    ("degraded", "Calls that on_error answered.", &[Outcome::Degraded]),
    ("exempt", "Calls of exempt clients.", &[Outcome::Exempt]),
    (
        "evictions",
        "Calls that evicted a bucket in use, or were denied because the table was full.",
        &[Outcome::Evicted],
    ),
];

/// The metrics, as a scrape of Prometheus reads them.
pub fn prometheus(status: &Status) -> String {
    let mut text = Text::default();
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    text.metric("info", "gauge", "The version of the extension.", [(&version[..], 1.0)]);
    let errors = status.memory_errors.len() as f64;
    let help = "Files and directories of shared memory that cannot be used.";
    text.metric("shared_memory_errors", "gauge", help, [([], errors)]);
    limits(&mut text, status);
    tables(&mut text, status);
    servers(&mut text, status);
    let valid = status.is_limits_file_valid.map(|is_valid| ([], f64::from(is_valid)));
    text.metric("limits_file_valid", "gauge", "Whether token_bucket.limits has no mistake.", valid);
    text.0
}

fn limits(text: &mut Text, status: &Status) {
    let mut counts: BTreeMap<(String, String), OutcomeCounts> = BTreeMap::new();
    for (name, limit) in &status.limits {
        let text = |bytes: Option<&[u8]>| bytes.map_or_else(|| OTHERS.to_owned(), to_utf8);
        let mut add = |label: String, outcomes: &OutcomeCounts| {
            if *outcomes != OutcomeCounts::default() {
                let sums = counts.entry((text(name.prefix()), label)).or_default();
                sums.iter_mut()
                    .zip(outcomes)
                    .for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
            }
        };
        let (mut given, inferred) = (limit.outcomes, &limit.inferred);
        given.iter_mut().zip(inferred).for_each(|(all, part)| *all = all.wrapping_sub(*part));
        add(text(name.name()), &given);
        add(OTHERS.to_owned(), inferred);
    }
    for (name, help, outcomes) in LIMIT_COUNTERS {
        let samples = counts.iter().map(|((prefix, limit), counts)| {
            let counted = outcomes.iter().filter_map(|outcome| counts.get(*outcome as usize));
            let labels = [("prefix", prefix.as_str()), ("limit", limit.as_str())];
            (labels, counted.sum::<u64>() as f64)
        });
        text.counter(name, help, samples);
    }
}

/// A name as text. Bytes that are not UTF-8 become `\xff`: a query cannot have a replacement character.
fn to_utf8(name: &[u8]) -> String {
    name.utf8_chunks().fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        // Writing to a String cannot fail.
        let _ = chunk.invalid().iter().try_for_each(|byte| write!(text, "\\x{byte:02x}"));
        text
    })
}

fn tables(text: &mut Text, status: &Status) {
    type Value = fn(&crate::statistics::tables::TableStatus) -> f64;
    const GAUGES: [(&str, &str, Value); 3] = [
        ("table_bytes", "The size of the file.", |table| table.size as f64),
        ("table_slots", "Buckets, hits or permits that the table can hold.", |table| {
            table.usage.slots as f64
        }),
        ("table_used_slots", "Slots in use.", |table| table.usage.used as f64),
    ];
    const COUNTERS: [(&str, &str, Value); 2] = [
        ("table_evictions", "Buckets that were evicted while in use.", |table| {
            table.usage.evictions as f64
        }),
        ("table_denied_newcomers", "Calls that were denied because the table was full.", |table| {
            table.usage.denied_newcomers as f64
        }),
    ];
    let samples = |value: Value| {
        status.tables.iter().map(move |table| {
            ([("table", table.name.as_str()), ("kind", table.kind.name())], value(table))
        })
    };
    for (name, help, value) in GAUGES {
        text.metric(name, "gauge", help, samples(value));
    }
    for (name, help, value) in COUNTERS {
        text.counter(name, help, samples(value));
    }
}

fn servers(text: &mut Text, status: &Status) {
    type Value = fn(&crate::guard::ServerStatus) -> f64;
    let samples = |value: Value| {
        let servers = status.servers.iter();
        servers.map(move |server| ([("server", server.name.as_str())], value(server)))
    };
    let up: Value = |server| if server.is_down { 0.0 } else { 1.0 };
    text.metric(
        "server_up",
        "gauge",
        "Whether the servers of a store answer and can be written to.",
        samples(up),
    );
    text.metric(
        "server_state_change_timestamp_seconds",
        "gauge",
        "Since when the servers answer, or do not.",
        samples(|server| unix_time(server.since)),
    );
    text.counter(
        "server_outages",
        "Outages that have begun.",
        samples(|server| server.outages as f64),
    );
    type Time = fn(&crate::guard::ServerStatus) -> Option<Duration>;
    let times: [(&str, &str, Time); 2] = [
        ("server_round_trip_seconds", "The shortest round trip of the last minute.", |server| {
            server.round_trip
        }),
        (
            "server_clock_behind_seconds",
            "How far this host's clock is behind another's.",
            |server| server.clock_behind,
        ),
    ];
    for (name, help, time) in times {
        let known = status.servers.iter().filter_map(|server| {
            Some(([("server", server.name.as_str())], time(server)?.as_secs_f64()))
        });
        text.metric(name, "gauge", help, known);
    }
}

/// The text of metrics.
#[derive(Default)]
struct Text(String);

impl Text {
    fn counter<'a, L>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (L, f64)>,
    ) where
        L: AsRef<[(&'a str, &'a str)]>,
    {
        self.metric(&format!("{name}_total"), "counter", help, samples);
    }

    /// Writes a metric, unless it has no sample.
    fn metric<'a, L>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (L, f64)>,
    ) where
        L: AsRef<[(&'a str, &'a str)]>,
    {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let Self(text) = self;
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "# HELP token_bucket_{name} {help}\n# TYPE token_bucket_{name} {kind}");
        for (labels, value) in samples {
            let labels: Vec<_> = labels
                .as_ref()
                .iter()
                .map(|(label, value)| format!("{label}=\"{}\"", escape(value)))
                .collect();
            let labels = match labels.as_slice() {
                [] => String::new(),
                labels => format!("{{{}}}", labels.join(",")),
            };
            let _ = writeln!(text, "token_bucket_{name}{labels} {value}");
        }
    }
}

/// Escapes the value of a label.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::ServerStatus;
    use crate::statistics::limit_statistics::{LimitName, LimitStatistics};

    fn limit(prefix: &str, name: &str, outcomes: OutcomeCounts) -> (LimitName, LimitStatistics) {
        let name = LimitName::Known(prefix.as_bytes().to_vec(), name.as_bytes().to_vec());
        (name, LimitStatistics { outcomes, ..LimitStatistics::default() })
    }

    fn status(limits: Vec<(LimitName, LimitStatistics)>) -> Status {
        let (memory_errors, tables, servers) = (Vec::new(), Vec::new(), Vec::new());
        Status { memory_errors, limits, tables, servers, is_limits_file_valid: None }
    }

    #[test]
    fn each_metric_has_its_help_and_type_before_its_samples() {
        let limits =
            vec![limit("tb:", "login", [5, 2, 1, 0, 0, 0, 0, 9]), limit("b:", "login", [1; 8])];
        let text = prometheus(&status(limits));
        let checks = "# HELP token_bucket_checks_total Calls that were decided.\n\
                      # TYPE token_bucket_checks_total counter\n\
                      token_bucket_checks_total{prefix=\"b:\",limit=\"login\"} 3\n\
                      token_bucket_checks_total{prefix=\"tb:\",limit=\"login\"} 8\n";
        assert!(text.contains(checks), "{text}");
        assert!(text.contains("token_bucket_exempt_total{prefix=\"tb:\",limit=\"login\"} 9\n"));
        assert!(text.contains("token_bucket_denied_total{prefix=\"tb:\",limit=\"login\"} 2\n"));
        assert!(text.ends_with('\n'));
        assert!(!text.contains("table_"), "a metric without a sample is left out");
    }

    #[test]
    fn labels_are_escaped_and_name_no_client() {
        let mut client = limit("tb:", "made up by a client", [1, 0, 0, 0, 0, 0, 0, 0]);
        client.1.inferred = client.1.outcomes;
        let others =
            (LimitName::Others, LimitStatistics { outcomes: [2; 8], ..Default::default() });
        let odd = limit("tb:", "a\"b\\c\nd", [4, 0, 0, 0, 0, 0, 0, 0]);
        let (name, last_failure) = ("Redis".to_owned(), Some("no answer".to_owned()));
        let (round_trip, clock_behind) = (Some(Duration::from_millis(40)), None);
        let server = ServerStatus {
            name,
            is_down: true,
            since: 0,
            outages: 3,
            last_failure,
            round_trip,
            clock_behind,
        };
        let text = prometheus(&Status {
            servers: vec![server],
            is_limits_file_valid: Some(false),
            ..status(vec![client, odd, others])
        });
        assert!(text.contains(r#"token_bucket_checks_total{prefix="tb:",limit="*"} 1"#), "{text}");
        assert!(text.contains(r#"token_bucket_checks_total{prefix="*",limit="*"} 6"#));
        assert!(text.contains(r#"token_bucket_checks_total{prefix="tb:",limit="a\"b\\c\nd"} 4"#));
        assert!(text.contains("token_bucket_server_up{server=\"Redis\"} 0\n"));
        assert!(text.contains("token_bucket_server_outages_total{server=\"Redis\"} 3\n"));
        assert!(text.contains("token_bucket_server_round_trip_seconds{server=\"Redis\"} 0.04\n"));
        assert!(!text.contains("clock_behind"), "no clock is");
        assert!(text.contains("token_bucket_limits_file_valid 0\n"));
        assert!(!text.contains("made up"));
        assert_eq!(to_utf8(b"a\xff\xc3\xc3\xa9"), r"a\xff\xc3é");
    }
}
