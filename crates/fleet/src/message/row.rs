//! A piece of a worker's run as it travels: an [`Interval`], with its histograms as short texts.

use ablaze_model::FailureKind;
use ablaze_model::progress::{GroupInterval, Interval};
use ablaze_stats::touched;
use serde::{Deserialize, Serialize};

/// A piece of a worker's run. Zeros are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Row {
    /// Where it begins, ns from the start of the clock.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    responses: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    unexpected: u64,
    /// Failures by the names of their kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failures: Vec<(String, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    statuses: Vec<(u16, u64)>,
    #[serde(default, skip_serializing_if = "is_zero")]
    connections_opened: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    received_bytes: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    sent_bytes: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    spun_ns: u64,
    /// The histogram of its times, as `ablaze_stats::touched::to_text` writes it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    times: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    max_ns: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct GroupRow {
    #[serde(default, skip_serializing_if = "is_zero")]
    responses: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    unexpected: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    failures: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    times: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<&Interval> for Row {
    fn from(interval: &Interval) -> Self {
        let counted =
            interval.failures.iter().zip(FailureKind::ALL).filter(|(count, _)| **count > 0);
        let group = |group: &GroupInterval| GroupRow {
            responses: group.responses,
            unexpected: group.unexpected,
            failures: group.failures,
            times: touched::to_text(&group.times),
        };
        Self {
            from_ns: interval.from_ns,
            to_ns: interval.to_ns,
            responses: interval.responses,
            unexpected: interval.unexpected,
            failures: counted.map(|(count, kind)| (kind.key().to_owned(), *count)).collect(),
            statuses: interval.statuses.clone(),
            connections_opened: interval.connections_opened,
            received_bytes: interval.received_bytes,
            sent_bytes: interval.sent_bytes,
            spun_ns: interval.spun_ns,
            times: touched::to_text(&interval.times),
            max_ns: interval.max_ns,
            groups: interval.groups.iter().map(group).collect(),
        }
    }
}

impl Row {
    /// What it says; `None` if its histograms cannot be read, or a kind of failure is not known.
    pub fn interval(&self) -> Option<Interval> {
        let group = |row: &GroupRow| {
            Some(GroupInterval {
                responses: row.responses,
                unexpected: row.unexpected,
                failures: row.failures,
                times: touched::from_text(&row.times)?,
            })
        };
        let mut failures = [0; FailureKind::ALL.len()];
        for (name, count) in &self.failures {
            failures[FailureKind::ALL.iter().position(|kind| kind.key() == name)?] = *count;
        }
        Some(Interval {
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            responses: self.responses,
            unexpected: self.unexpected,
            failures,
            statuses: self.statuses.clone(),
            connections_opened: self.connections_opened,
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            spun_ns: self.spun_ns,
            times: touched::from_text(&self.times)?,
            max_ns: self.max_ns,
            groups: self.groups.iter().map(group).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use ablaze_stats::Latency;
    use proptest::prelude::*;

    use super::super::{of_line, to_line};
    use super::*;
    use crate::message::FromWorker;

    proptest! {
        #[test]
        fn what_travels_arrives(
            times in prop::collection::vec(1..10_000_000_000u64, 0..50),
            numbers in prop::array::uniform6(0..1_000_000u64),
            kind in 0..FailureKind::ALL.len(),
        ) {
            let mut latency = Latency::new(touched::DIGITS);
            times.iter().for_each(|time| latency.record(*time));
            let mut interval = Interval {
                from_ns: numbers[0],
                to_ns: numbers[0] + numbers[1],
                responses: times.len() as u64,
                unexpected: numbers[2],
                statuses: vec![(200, numbers[3]), (503, 7)],
                received_bytes: numbers[4],
                sent_bytes: numbers[5],
                spun_ns: numbers[1],
                connections_opened: 3,
                max_ns: times.iter().copied().max().unwrap_or(0),
                ..Interval::default()
            };
            interval.failures[kind] = numbers[2];
            touched::append(&latency, &mut interval.times);
            interval.groups = vec![
                GroupInterval { responses: 2, unexpected: 1, failures: 4, times: interval.times.clone() },
                GroupInterval::default(),
            ];
            let line = to_line(&FromWorker::Row(Row::from(&interval)));
            prop_assert!(!line.contains('\n'));
            let Ok(FromWorker::Row(row)) = of_line(&line) else { return Err(TestCaseError::fail(line)) };
            prop_assert_eq!(row.interval(), Some(interval));
        }

        #[test]
        fn any_line_is_read_or_refused(line in "\\PC{0,200}") {
            let _ = of_line::<FromWorker>(&line);
        }
    }

    #[test]
    fn a_row_that_does_not_add_up_to_an_interval_is_none() {
        let row = Row { times: "no base64!".to_owned(), ..Row::default() };
        assert_eq!(row.interval(), None);
        let row = Row { failures: vec![("eaten by a bear".to_owned(), 1)], ..Row::default() };
        assert_eq!(row.interval(), None);
    }
}
