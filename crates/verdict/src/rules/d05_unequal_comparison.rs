//! D05: rates of unequal work stand beside each other. Reports of equal work are put together as
//! one kind; every kind is then told apart from the kind nearest to it.

use super::comparison::{Answers, Comparison, Member, Work};
use crate::DiagnosisId::D05;
use crate::finding::{Finding, Severity};
use crate::printed::Connections;
use crate::words::{amount, grouped, listed};

/// Bytes and counts that lie no further apart are equal.
const BYTES_APART: f64 = 0.01;
/// So many times as many requests are another length of run.
const REQUESTS_APART: f64 = 2.0;

/// One way in which two runs were not the same work.
struct Difference {
    severity: Severity,
    text: String,
}

pub fn check(comparison: &Comparison) -> Option<Finding> {
    let kinds = kinds(&comparison.members);
    let mut severity = None;
    let mut evidence = Vec::new();
    for (index, kind) in kinds.iter().enumerate().skip(1) {
        let apart = |other: &&Vec<&Member>| {
            let found = differences(other[0], kind[0]);
            let weight: usize = found.iter().map(|d| 1 + 10 * d.severity as usize).sum();
            (weight, found.len())
        };
        let nearest = kinds[..index].iter().min_by_key(apart)?;
        let found = differences(nearest[0], kind[0]);
        severity = severity.max(found.iter().map(|difference| difference.severity).max());
        let texts = found.iter().map(|difference| difference.text.as_str()).collect::<Vec<_>>();
        evidence.push(format!("{} against {}: {}", names(nearest), names(kind), texts.join("; ")));
    }
    let remedy = if kinds.len() < comparison.members.len() {
        "Compare only what did the same work, or make the work the same (path, status, body, \
         connections, number of requests) and measure again."
    } else {
        "Make the work the same (path, status, body, connections, number of requests), measure \
         again, and compare then."
    };
    let severity = severity?;
    let cause = if severity == Severity::Invalid {
        "A ratio of these rates is a ratio of unequal work: it says nothing about the targets."
    } else {
        "As far as these differ, a ratio of the rates is one of the work, and not of the targets."
    };
    Some(Finding::new(D05, severity, evidence.join("\n"), cause, remedy))
}

/// Members that differ in nothing.
fn kinds(members: &[Member]) -> Vec<Vec<&Member>> {
    let mut kinds: Vec<Vec<&Member>> = Vec::new();
    for member in members.iter().filter(|member| member.work.is_some()) {
        match kinds.iter_mut().find(|kind| differences(kind[0], member).is_empty()) {
            Some(kind) => kind.push(member),
            None => kinds.push(vec![member]),
        }
    }
    kinds
}

/// `reports 1, 2 and 3`.
fn names(kind: &[&Member]) -> String {
    let numbers: Vec<&str> =
        kind.iter().map(|member| member.name.trim_start_matches("report ")).collect();
    match numbers.as_slice() {
        [one] => format!("report {one}"),
        _ => format!("reports {}", listed(numbers)),
    }
}

fn differences(one: &Member, other: &Member) -> Vec<Difference> {
    let (Some(a), Some(b)) = (&one.work, &other.work) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |severity, text: String| found.push(Difference { severity, text });
    if a.answers != b.answers && a.answers != Answers::Unknown && b.answers != Answers::Unknown {
        add(Severity::Invalid, format!("{} against {}", answers(a), answers(b)));
    }
    if let Some(text) = bytes(a, b) {
        add(Severity::Invalid, text);
    }
    if let Some((severity, text)) = connections(a, b) {
        add(severity, text);
    }
    if let Some(text) = in_flight(one, other) {
        add(Severity::Invalid, text);
    } else if let (Some(c1), Some(c2)) = (one.concurrency, other.concurrency)
        && c1 != c2
    {
        let (c1, c2) = (grouped(c1), grouped(c2));
        add(Severity::Suspect, format!("a concurrency of {c1} against {c2}"));
    }
    if a.open_loop != b.open_loop {
        let loops = |work: &Work| if work.open_loop { "an open loop" } else { "a closed loop" };
        add(Severity::Invalid, format!("{} against {}", loops(a), loops(b)));
    }
    if a.tls != b.tls {
        add(Severity::Invalid, "TLS against plain TCP".to_owned());
    }
    if let (Some(n1), Some(n2)) = (one.requests, other.requests) {
        let ratio = n1.max(n2) as f64 / n1.min(n2).max(1) as f64;
        if ratio > REQUESTS_APART {
            let (n1, n2) = (grouped(n1), grouped(n2));
            add(Severity::Suspect, format!("{n1} requests against {n2}"));
        }
    }
    if a.tool != b.tool {
        let text = format!("measured by {} against {}", a.tool.name(), b.tool.name());
        add(Severity::Note, text);
    }
    // Another path alone may serve the same: it is told only beside another difference.
    if let (Some(p1), Some(p2), false) = (&a.path, &b.path, found.is_empty())
        && p1 != p2
    {
        found.push(Difference { severity: Severity::Note, text: format!("{p1} against {p2}") });
    }
    found
}

fn answers(work: &Work) -> &'static str {
    match work.answers {
        Answers::Nothing => "no answer at all",
        Answers::Good => "status 2xx",
        Answers::Other => "no status of 2xx",
        Answers::Mixed => "some statuses of 2xx",
        Answers::Unknown => "statuses not printed",
    }
}

/// Bodies, or else heads, of different lengths.
fn bytes(a: &Work, b: &Work) -> Option<String> {
    let apart = |x: f64, y: f64| (x - y).abs() > BYTES_APART * x.max(y);
    let (b1, b2) = (a.bytes?, b.bytes?);
    let totals = format!("{} B per answer against {} B", amount(b1), amount(b2));
    match (a.body_bytes, b.body_bytes) {
        (Some(body1), Some(body2)) if apart(body1, body2) => {
            Some(format!("bodies of {} B against {} B ({totals})", amount(body1), amount(body2)))
        }
        // Keeping a connection changes the head by some letters, and is told by itself.
        _ if apart(b1, b2) && a.connections == b.connections => Some(totals),
        _ => None,
    }
}

fn connections(a: &Work, b: &Work) -> Option<(Severity, String)> {
    let words = |work: &Work| match work.connections {
        Connections::PerRequest => "one per request (no -k)".to_owned(),
        Connections::Kept(_) => "kept".to_owned(),
        Connections::Unknown => {
            format!("unknown ({} does not print whether it kept them)", work.tool.name())
        }
    };
    let state = |work: &Work| match work.connections {
        Connections::PerRequest => Some(false),
        Connections::Kept(_) => Some(true),
        Connections::Unknown => None,
    };
    if state(a) == state(b) {
        return None;
    }
    let severity = if state(a).is_none() || state(b).is_none() {
        Severity::Suspect
    } else {
        Severity::Invalid
    };
    Some((severity, format!("connections {} against {}", words(a), words(b))))
}

/// In flight as it was, not as it was asked for.
fn in_flight(one: &Member, other: &Member) -> Option<String> {
    let (a, b) = (one.work.as_ref()?, other.work.as_ref()?);
    let ((low1, high1), (low2, high2)) = (a.in_flight?, b.in_flight?);
    (high1 * 2.0 < low2 || high2 * 2.0 < low1).then_some(())?;
    let text = |work: &Work, asked| work.in_flight_text(asked);
    Some(format!("{} in flight against {}", text(a, one.concurrency)?, text(b, other.concurrency)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::{Document, Report, Text};
    use crate::rules::{comparison, sample};

    fn compared(change: impl FnOnce(&mut Report)) -> Option<Finding> {
        let (one, mut other) = (sample::ab(), sample::ab());
        change(&mut other);
        let text = Text { reports: vec![one, other], ..Text::default() };
        check(&comparison::of(&text)[0])
    }

    #[test]
    fn equal_work_is_left_alone() {
        assert_eq!(compared(|_| {}), None);
        assert_eq!(compared(|report| report.port = Some(81)), None);
        assert_eq!(compared(|report| report.path = Some("/other".into())), None);
        assert_eq!(compared(|report| report.complete = Some(1_000_100)), None);
    }

    #[test]
    fn each_difference_is_named() {
        let finding = compared(|report| report.non_2xx = report.complete).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("status 2xx against no status of 2xx"));
        let finding = compared(|report| {
            report.body_bytes = Some(1_020_000_000);
            report.total_bytes = Some(1_220_000_000);
            report.document = Some(Document::Bytes(1020));
        });
        assert!(finding.unwrap().evidence.contains("bodies of 1,000 B against 1,020 B"));
        let finding = compared(|report| report.connections = Connections::Kept(Some(1_000_000)));
        assert!(
            finding.unwrap().evidence.contains("connections one per request (no -k) against kept")
        );
        let finding = compared(|report| report.connections = Connections::Unknown).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("unknown"));
        // 10,000/s × less than 0.5 ms.
        let finding = compared(|report| {
            report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
        });
        assert!(finding.unwrap().evidence.contains("200 in flight against fewer than 5.00"));
        assert!(compared(|report| report.tls = true).is_some());
        let finding = compared(|report| report.open_loop = true).unwrap();
        assert!(finding.evidence.contains("a closed loop against an open loop"));
    }
}
