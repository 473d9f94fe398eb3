//! Differences between two printed reports, of which one is changed.

use super::*;
use crate::printed::{Document, Report, Text, Tool};
use crate::rules::{comparison, sample};

fn found(change: impl FnOnce(&mut Report)) -> Vec<(Severity, String)> {
    let (one, mut other) = (sample::ab(), sample::ab());
    change(&mut other);
    let text = Text { reports: vec![one, other], ..Text::default() };
    let members = comparison::members(&text, 1);
    let found = between(&members[0], &members[1]);
    found.into_iter().map(|difference| (difference.severity, difference.text)).collect()
}

#[test]
fn equal_work_has_none() {
    assert_eq!(found(|_| {}), []);
    assert_eq!(found(|report| report.port = Some(81)), []);
    assert_eq!(found(|report| report.path = Some("/other".into())), []);
    assert_eq!(found(|report| report.complete = Some(1_000_100)), []);
    // One error page in a thousand, one more byte in each body.
    assert_eq!(found(|report| report.non_2xx = Some(1000)), []);
    // A hundredth is no more than a hundredth, and would read `status 2xx against status 2xx`.
    assert_eq!(found(|report| report.non_2xx = Some(10_000)), []);
    assert_eq!(found(|report| report.body_bytes = Some(1_001_000_000)), []);
}

#[test]
fn each_is_named_with_both_figures() {
    let one = |change: fn(&mut Report)| {
        let mut found = found(change);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    let expected = |severity, text: &str| (severity, text.to_owned());
    assert_eq!(
        one(|report| report.non_2xx = report.complete),
        expected(Invalid, "status 2xx against no status of 2xx")
    );
    assert_eq!(
        one(|report| {
            report.body_bytes = Some(1_020_000_000);
            report.total_bytes = Some(1_220_000_000);
            report.document = Some(Document::Bytes(1020));
        }),
        expected(
            Invalid,
            "bodies of 1,000 B against 1,020 B (1,200 B per response against 1,220 B)"
        )
    );
    // Bodies of 1,000 B behind a head that is 100 B longer.
    assert_eq!(
        one(|report| report.total_bytes = Some(1_300_000_000)),
        expected(Note, "heads of 200 B against 300 B")
    );
    assert_eq!(
        one(|report| report.connections = Connections::Kept(Some(1_000_000))),
        expected(Invalid, "connections one per request (no -k) against kept")
    );
    assert_eq!(one(|report| report.connections = Connections::Unknown).0, Suspect);
    // 10,000/s × less than 0.5 ms.
    assert_eq!(
        one(|report| report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0))),
        expected(Invalid, "200 in flight against fewer than 5.00")
    );
    assert_eq!(one(|report| report.tls = true), expected(Invalid, "TLS against plain TCP"));
    assert_eq!(
        one(|report| report.open_loop = true),
        expected(Invalid, "a closed loop against an open loop")
    );
}

#[test]
fn a_slower_target_is_no_other_length() {
    // As many requests in three times the time; a third of them in the same time.
    assert_eq!(found(|report| report.taken_s = Some(sample::printed(300.0, 0.1))), []);
    let fewer = |report: &mut Report| {
        report.complete = Some(333_333);
        report.total_bytes = Some(400_000_000);
        report.body_bytes = Some(333_333_000);
    };
    assert_eq!(found(fewer), []);
    let both = found(|report| {
        fewer(report);
        report.taken_s = Some(sample::printed(30.0, 0.001));
    });
    let text = "1,000,000 requests against 333,333 in 100 s against 30.0 s".to_owned();
    assert_eq!(both, [(Suspect, text)]);
}

/// Reports of hey, which prints how many requests got a response and how many failed.
fn of_hey(failed: [u64; 2]) -> Vec<(Severity, String)> {
    let report = |failed| {
        let mut report = sample::ab();
        report.tool = Tool::Hey;
        report.non_2xx = None;
        report.failed = Some(failed);
        report
    };
    let text = Text { reports: failed.map(report).to_vec(), ..Text::default() };
    let members = comparison::members(&text, 1);
    let found = between(&members[0], &members[1]);
    assert_eq!(
        in_responses(&members[0], &members[1]).is_some(),
        found.iter().any(|difference| difference.severity == Invalid)
    );
    found.into_iter().map(|difference| (difference.severity, difference.text)).collect()
}

#[test]
fn requests_without_a_response_are_other_work() {
    let text = |one: &str, other: &str| {
        format!("{one} of the requests without a response against {other}")
    };
    assert_eq!(of_hey([0, 1_000_000]), [(Invalid, text("0 %", "100 %"))]);
    assert_eq!(of_hey([30_000, 0]), [(Suspect, text("3.0 %", "0 %"))]);
    for equal in [0, 30_000, 1_000_000] {
        assert_eq!(of_hey([equal, equal]), []);
    }
    // A hundredth, which other figures allow for too.
    assert_eq!(of_hey([0, 9_000]), []);
}

/// A run in which nothing came back kept no connection, and closed none.
#[test]
fn without_a_response_nothing_is_said_of_connections() {
    let found = found(|report| {
        (report.total_bytes, report.body_bytes) = (Some(0), Some(0));
        report.connections = Connections::Kept(Some(0));
    });
    let said: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert!(said.contains(&"status 2xx against no response at all"), "{said:?}");
    assert!(!said.iter().any(|text| text.contains("connection")), "{said:?}");
}
