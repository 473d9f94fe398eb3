//! Which two rates are held beside each other.

use super::SMALL;
use crate::rules::comparison::Member;
use crate::rules::{Pace, Work};

/// A rate that lies within this share of the one that was asked for is that rate.
const KEPT_UP: f64 = 0.02;

/// Targets that are neighbours in rate at the same concurrency and lie close; two runs of one target are its spread.
pub(super) fn close_pairs(members: &[Member]) -> Vec<(&Member, &Member)> {
    let mut sorted: Vec<&Member> = members.iter().filter(|m| m.rate_per_s > 0.0).collect();
    sorted.sort_by(|a, b| {
        a.concurrency.cmp(&b.concurrency).then(a.rate_per_s.total_cmp(&b.rate_per_s))
    });
    let pairs = sorted.windows(2).map(|pair| (pair[0], pair[1]));
    pairs
        .filter(|(slower, faster)| slower.identity != faster.identity)
        .filter(|(slower, faster)| slower.concurrency == faster.concurrency)
        .filter(|(slower, faster)| !is_asked(slower) && !is_asked(faster))
        .filter(|(slower, faster)| faster.rate_per_s <= slower.rate_per_s * (1.0 + SMALL))
        .collect()
}

/// Whether all rates are what the load asks for, and none is what its target can do.
pub(super) fn rates_are_asked(members: &[Member]) -> bool {
    members.iter().all(is_asked)
}

/// Whether a rate is what the load asks for, and not what its target can do.
pub(super) fn is_asked(member: &Member) -> bool {
    let Some(work) = &member.work else { return false };
    let kept_up = |asked: f64| (member.rate_per_s - asked).abs() <= asked * KEPT_UP;
    match work.pace {
        Some(Pace::Pauses) => true,
        Some(Pace::AtMost(asked)) => kept_up(asked),
        _ => work.sent_per_s.is_some_and(kept_up),
    }
}

/// Two reports that are the same to the last digit.
pub(super) fn twice(members: &[Member]) -> Option<String> {
    let is_same = |one: &Member, other: &Member| {
        let measured = |member: &Member| {
            member.work.as_ref().is_some_and(|work| {
                // A saved run has far more figures.
                // Without times so many digits of the rate are those of one run.
                let is_exact = member.rate_per_s >= 1e3 && member.rate_per_s.fract() != 0.0;
                let has_figures = work.in_flight.is_some() || is_exact;
                work.circumstances.is_none() && work.taken_s.is_some() && has_figures
            })
        };
        measured(one)
            && one.rate_per_s == other.rate_per_s
            && one.requests == other.requests
            && one.concurrency == other.concurrency
            && one.work == other.work
    };
    let others = |at: usize| members[at + 1..].iter().map(move |other| (&members[at], other));
    let (one, other) = (0..members.len())
        .flat_map(others)
        .find(|(one, other)| is_same(one, other) || agree(one, other))?;
    let how = if is_same(one, other) { "" } else { " that both have" };
    Some(format!("{} and {} are the same to the last digit{how}.", one.name, other.name))
}

/// Whether two reports of one tool, of which one has more digits, as its JSON has, agree in all those that both have.
fn agree(one: &Member, other: &Member) -> bool {
    let (Some(work), Some(of_other)) = (&one.work, &other.work) else { return false };
    let printed = work.circumstances.is_none() && of_other.circumstances.is_none();
    let counts = |work: &Work| (work.tool, work.answered, work.statuses.clone(), work.body_bytes);
    // By it and the rate follows the mean, which no other run has to so many digits.
    let mean = |member: &Member, work: &Work| {
        let (low, high) = work.in_flight.filter(|_| member.rate_per_s > 0.0)?;
        Some((low / member.rate_per_s, high / member.rate_per_s))
    };
    let means = mean(one, work).zip(mean(other, of_other));
    let overlap = means.is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1);
    let rounded = decimals(one.rate_per_s).abs_diff(decimals(other.rate_per_s)) > 1;
    let taken = work.taken_s.zip(of_other.taken_s);
    printed
        && rounded
        && overlap
        && one.requests == other.requests
        && one.concurrency == other.concurrency
        && counts(work) == counts(of_other)
        && is_rounded(one.rate_per_s, other.rate_per_s)
        && taken.is_none_or(|(a, b)| is_rounded(a, b))
}

/// How many decimals a figure was printed with, at least.
fn decimals(figure: f64) -> u32 {
    let shown = figure.to_string();
    shown.split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32)
}

/// Whether the one with fewer decimals is the other, rounded or cut to as many.
fn is_rounded(a: f64, b: f64) -> bool {
    let step = 0.1_f64.powi(decimals(a).min(decimals(b)).min(9) as i32);
    (a - b).abs() < step
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D15;
    use crate::printed::read;
    use crate::rules::judge;

    /// What `vegeta report` prints of one file, as text and with -type=json.
    #[test]
    fn the_text_and_the_json_of_a_run_are_one_run() {
        let text = "Requests      [total, rate, throughput]         200, 100.64, 98.16\n\
                    Duration      [total, attack, wait]             2.037s, 1.987s, 50.289ms\n\
                    Latencies     [min, mean, 50, 90, 95, 99, max]  50.184ms, 51.015ms, 50.391ms, 51.663ms, 54.115ms, 60.152ms, 85.386ms\n\
                    Bytes In      [total, mean]                     20000, 100.00\n\
                    Bytes Out     [total, mean]                     0, 0.00\nSuccess       [ratio]                           100.00%\n\
                    Status Codes  [code:count]                      200:200  \nError Set:\n";
        let json = |mean: u64| {
            format!(
                "{{\"latencies\":{{\"total\":{},\"mean\":{mean},\"50th\":50391022,\"90th\":51663031,\"95th\":54115010,\
                 \"99th\":60152040,\"max\":85386011,\"min\":50184020}},\"bytes_in\":{{\"total\":20000,\"mean\":100}},\
                 \"bytes_out\":{{\"total\":0,\"mean\":0}},\"earliest\":\"2026-11-29T10:00:00Z\",\
                 \"latest\":\"2026-11-29T10:00:01.9872Z\",\"end\":\"2026-11-29T10:00:02.0375Z\",\"duration\":1987200000,\
                 \"wait\":50289000,\"requests\":200,\"rate\":100.64412238,\"throughput\":98.16017411,\"success\":1,\
                 \"status_codes\":{{\"200\":200}},\"errors\":[]}}\n",
                mean * 200
            )
        };
        let said = |mean| {
            let judgement = judge(&read(&format!("## a\n{text}\n## b\n{}", json(mean))));
            assert_eq!(judgement.reports.len(), 2);
            let findings = judgement.comparisons[0].findings.iter();
            findings.filter(|one| one.id == D15).map(|one| one.evidence.clone()).collect::<String>()
        };
        assert!(
            said(51_015_044).contains("the same to the last digit that both have"),
            "{}",
            said(51_015_044)
        );
        assert!(!said(51_115_044).contains("the same"), "{}", said(51_115_044));
    }
}
