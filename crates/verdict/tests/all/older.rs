//! Reports of older versions, and lines that are seldom printed: read as their tools meant them.

use ablaze_verdict::DiagnosisId::{self, D02, D04, D14};
use ablaze_verdict::Verdict;
use ablaze_verdict::printed::{Tool, read};
use ablaze_verdict::rules::{Judgement, judge};

fn judged() -> Judgement {
    judge(&read(include_str!("../printed/older-peers.txt")))
}

/// What was found in the report of a tool, but that it was short.
fn found(tool: Tool) -> (Verdict, Vec<DiagnosisId>) {
    let judgement = judged();
    let report = judgement.reports.iter().find(|report| report.subject.tool == tool).unwrap();
    let ids = report.findings.iter().map(|finding| finding.id).filter(|id| *id != D14);
    (report.verdict(), ids.collect())
}

/// Its second column was the rate of the attack (`Metrics.Rate`); there was no third.
#[test]
fn the_rate_of_old_vegeta_is_that_of_its_attack() {
    assert_eq!(found(Tool::Vegeta), (Verdict::Valid, Vec::new()));
}

/// A ratio of 1, and marks that are the upper ends of parts.
#[test]
fn the_success_rate_of_old_oha_is_a_share_of_one() {
    let (verdict, ids) = found(Tool::Oha);
    assert!(verdict != Verdict::Invalid && !ids.contains(&DiagnosisId::D43), "{ids:?}");
}

#[test]
fn minutes_and_seconds_of_bombardier_are_added_up() {
    let judgement = judged();
    let report = judgement.reports.iter().find(|report| report.subject.tool == Tool::Bombardier);
    assert_eq!(report.unwrap().subject.asked_s.map(|s| s.value), Some(100.0));
    let (_, ids) = found(Tool::Bombardier);
    assert!(!ids.contains(&DiagnosisId::D36), "{ids:?}");
}

/// siege's manual: successful are those with a status below 400.
#[test]
fn a_siege_without_a_successful_transaction_is_one_of_error_pages() {
    let (verdict, ids) = found(Tool::Siege);
    assert!(verdict == Verdict::Invalid && ids.contains(&D04), "{ids:?}");
}

#[test]
fn requests_that_ab_could_not_write_failed() {
    let (verdict, ids) = found(Tool::Ab);
    assert!(verdict == Verdict::Invalid && ids.contains(&D02), "{ids:?}");
}
