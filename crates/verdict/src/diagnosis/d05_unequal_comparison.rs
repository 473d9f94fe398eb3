//! D05: rates of unequal work stand beside each other. Reports of equal work are put together as
//! one kind; every kind is then told apart from the kind nearest to it. Along a curve it is responses
//! alone: another concurrency is what a curve is of.

use std::collections::BTreeMap;

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D05;
use crate::finding::{Finding, Severity};
use crate::rules::comparison::{Comparison, Member};
use crate::rules::curve::{Curves, OtherWork};
use crate::rules::differences::{Difference, UNANSWERED, between};
use crate::words::{counted, grouped, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D05,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms { comparison: Some(on_comparison), curves: Some(on_curves), ..Forms::NONE },
};

fn on_comparison(comparison: &Comparison, _: Option<usize>) -> Option<Finding> {
    let kinds = kinds(&comparison.members);
    let mut severity = None;
    let mut evidence = Vec::new();
    for (index, kind) in kinds.iter().enumerate().skip(1) {
        let apart = |other: &&Vec<&Member>| {
            let found = between(other[0], kind[0]);
            let weight: usize = found.iter().map(|d| 1 + 10 * d.severity as usize).sum();
            (weight, found.len())
        };
        let nearest = kinds[..index].iter().min_by_key(apart)?;
        let found = between(nearest[0], kind[0]);
        severity = severity.max(found.iter().map(|difference| difference.severity).max());
        let texts = found.iter().map(|difference| difference.text.as_str()).collect::<Vec<_>>();
        let (one, other) = (names(nearest, kind), names(kind, nearest));
        let whose = whose_figures(nearest, kind, &texts);
        evidence.push(format!("{one} against {other}: {}{whose}", texts.join("; ")));
    }
    let severity = severity?;
    if are_of_one_target(&comparison.members) {
        return Some(Finding::new(
            D05,
            severity.min(Severity::Suspect),
            evidence.join("\n"),
            "These are runs of one target: in this they were asked otherwise, or it responded otherwise. A figure of all of them \
             mixes both.",
            "See what was found in these runs themselves, and measure again what is to be one figure.",
        ));
    }
    let fix = if evidence.iter().any(|text| text.contains(UNANSWERED)) {
        "See why requests got no response (D02). Then make the work equal (path, status, body, connections, number of \
         requests), and measure again."
    } else if kinds.len() < comparison.members.len() {
        "Compare only equal work, or make the work equal (path, status, body, connections, number \
         of requests) and measure again."
    } else {
        "Make the work equal (path, status, body, connections, number of requests), measure \
         again, and compare then."
    };
    let cause = match severity {
        Severity::Invalid => {
            "A ratio of these rates compares unequal work: it says nothing about the targets."
        }
        Severity::Suspect => {
            "As far as these differ, a ratio of the rates compares the work, not the targets."
        }
        Severity::Note => {
            "Status, body, connections and load are alike, as far as they are printed or saved: the rates may be \
             compared, and these differences may have a part in how far they are apart."
        }
    };
    Some(Finding::new(D05, severity, evidence.join("\n"), cause, fix))
}

/// Alike is what differs by little: where others of a kind have other figures, whose these are.
fn whose_figures(nearest: &[&Member], kind: &[&Member], texts: &[&str]) -> String {
    let said = |one: &Member, other: &Member| {
        let found = between(one, other);
        found.len() == texts.len() && found.iter().zip(texts).all(|(one, text)| one.text == **text)
    };
    let (first, second) = (nearest[0], kind[0]);
    let are_all = nearest.iter().all(|one| said(one, second));
    if are_all && kind.iter().all(|other| said(first, other)) {
        return String::new();
    }
    match (first.name.as_str(), second.name.as_str()) {
        (one, other) if one.starts_with("report ") && other.starts_with("report ") => {
            format!(" (figures of {one} and {other})")
        }
        _ => " (figures of one run of each)".to_owned(),
    }
}

/// Curves: points of other work, and what differs between targets at the same concurrency.
fn on_curves(curves: &Curves<'_>) -> Option<Finding> {
    let between_targets = at_one_concurrency(curves);
    let Some(mut finding) = along(curves.others) else { return between_targets };
    if let Some(other) = between_targets {
        finding.evidence = format!("{}\n{}", finding.evidence, other.evidence);
        finding.cause = format!("{} {}", finding.cause, other.cause);
    }
    Some(finding)
}

/// Points that were left out of their curves.
fn along(others: &[OtherWork]) -> Option<Finding> {
    let mut kinds: Vec<(&OtherWork, Vec<String>)> = Vec::new();
    for other in others {
        let same =
            |kind: &OtherWork| (&kind.curve, &kind.difference) == (&other.curve, &other.difference);
        match kinds.iter_mut().find(|(kind, _)| same(kind)) {
            Some((_, points)) => points.push(grouped(other.asked)),
            None => kinds.push((other, vec![grouped(other.asked)])),
        }
    }
    let said = |(kind, points): (&OtherWork, Vec<String>)| {
        format!(
            "{}: the other points against c = {}: {}",
            kind.curve,
            listed(points),
            kind.difference
        )
    };
    let evidence: Vec<String> = kinds.into_iter().map(said).collect();
    let (cause, fix) = match others.len() {
        0 => return None,
        1 => (
            "The rate at this point is that of other work: it is no point of the curve, and left out of what is said of \
             the curve's shape.",
            "Fix what the report of this point shows, and measure it again.",
        ),
        _ => (
            "The rates at these points are those of other work: they are no points of the curve, and left out of what is \
             said of the curve's shape.",
            "Fix what the reports of these points show, and measure them again.",
        ),
    };
    Some(Finding::new(D05, Severity::Invalid, evidence.join("\n"), cause, fix))
}

/// What differs between targets at the same concurrency, where it is gravest.
fn at_one_concurrency(curves: &Curves<'_>) -> Option<Finding> {
    let mut levels: BTreeMap<u64, Vec<Member>> = BTreeMap::new();
    for member in curves.members {
        levels.entry(member.concurrency?).or_default().push(member.clone());
    }
    let at = |(asked, members)| {
        let mut finding = on_comparison(&Comparison { members }, None)?;
        finding.evidence = format!("At c = {}: {}", grouped(asked), finding.evidence);
        Some(finding)
    };
    let mut found: Vec<Finding> = levels.into_iter().filter_map(at).collect();
    // Of equally grave ones the first, as sorting keeps their order.
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found.into_iter().next()
}

/// Runs whose rates are compared with nothing but each other.
fn are_of_one_target(members: &[Member]) -> bool {
    let mut all = members.iter().filter(|member| member.work.is_some());
    all.all(|member| member.circumstances().is_some() && member.identity == members[0].identity)
}

/// Members that differ in nothing.
fn kinds(members: &[Member]) -> Vec<Vec<&Member>> {
    let mut kinds: Vec<Vec<&Member>> = Vec::new();
    for member in members.iter().filter(|member| member.work.is_some()) {
        match kinds.iter_mut().find(|kind| between(kind[0], member).is_empty()) {
            Some(kind) => kind.push(member),
            None => kinds.push(vec![member]),
        }
    }
    kinds
}

/// `reports 1, 2 and 3`, or the names themselves; `2 runs of b` where others of b are among the `others`.
fn names(kind: &[&Member], others: &[&Member]) -> String {
    let numbers: Option<Vec<&str>> =
        kind.iter().map(|member| member.name.strip_prefix("report ")).collect();
    match numbers.as_deref() {
        Some([one]) => format!("report {one}"),
        Some(numbers) => format!("reports {}", listed(numbers)),
        None => {
            let mut names: Vec<&str> = Vec::new();
            for member in kind {
                if !names.contains(&member.name.as_str()) {
                    names.push(&member.name);
                }
            }
            let count =
                |of: &[&Member], name: &str| of.iter().filter(|one| one.name == name).count();
            listed(names.into_iter().map(|name| match count(others, name) {
                0 => name.to_owned(),
                _ => format!("{} of {name}", counted(count(kind, name) as u64, "run")),
            }))
        }
    }
}

/// Whether all did the same work, as far as it is known: otherwise no ranking of their rates says
/// anything on the targets. Notes do not count.
pub fn is_equal_work(members: &[Member]) -> bool {
    let grave = |difference: &Difference| difference.severity > Severity::Note;
    let equal = |a, b| !between(a, b).iter().any(grave);
    let mut pairs = members.iter().enumerate();
    pairs.all(|(index, one)| members[..index].iter().all(|other| equal(other, one)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::{Report, Text};
    use crate::rules::{comparison, sample};

    fn compared(change: impl FnOnce(&mut Report)) -> (Option<Finding>, bool) {
        let (one, mut other) = (sample::ab(), sample::ab());
        change(&mut other);
        let text = Text { reports: vec![one.clone(), one, other], ..Text::default() };
        let members = comparison::members(&text, 1);
        let equal = is_equal_work(&members);
        (on_comparison(&Comparison { members }, None), equal)
    }

    #[test]
    fn equal_work_is_left_alone() {
        assert_eq!(compared(|_| {}), (None, true));
        assert_eq!(compared(|report| report.path = Some("/other".into())), (None, true));
    }

    #[test]
    fn a_target_whose_runs_are_of_two_kinds_is_told_so() {
        let text = Text { reports: vec![sample::ab()], ..Text::default() };
        let of = |name: &str| {
            let mut member = comparison::members(&text, 1).remove(0);
            member.name = name.to_owned();
            member
        };
        let (a, b) = (of("a"), of("b"));
        assert_eq!(names(&[&a, &a, &b], &[&b, &b]), "a and 1 run of b");
        assert_eq!(names(&[&b, &b], &[&a, &a, &b]), "2 runs of b");
        assert_eq!(names(&[&b, &b], &[&a]), "b");
    }

    /// One byte more in each body is the same work, and another figure.
    #[test]
    fn figures_of_one_of_many_are_said_to_be_its_own() {
        let (mut near, mut far) = (sample::ab(), sample::ab());
        near.body_bytes = Some(1_001_000_000);
        near.total_bytes = Some(1_201_000_000);
        (far.body_bytes, far.total_bytes) = (Some(3_000_000_000), Some(3_200_000_000));
        let evidence = |reports: Vec<Report>| {
            let text = Text { reports, ..Text::default() };
            let members = comparison::members(&text, 1);
            on_comparison(&Comparison { members }, None).unwrap().evidence
        };
        let one = evidence(vec![sample::ab(), near, far.clone()]);
        assert!(one.starts_with("reports 1 and 2 against report 3: bodies of 1,000 B"), "{one}");
        assert!(one.ends_with(" (figures of report 1 and report 3)"), "{one}");
        let alike = evidence(vec![sample::ab(), sample::ab(), far]);
        assert!(!alike.contains("figures of"), "{alike}");
    }

    #[test]
    fn the_gravest_difference_decides() {
        let (finding, equal) = compared(|report| {
            report.non_2xx = report.complete;
            report.concurrency = Some(100);
        });
        let finding = finding.unwrap();
        assert_eq!((finding.severity, equal), (Severity::Invalid, false));
        let expected = "reports 1 and 2 against report 3: status 2xx against no status of 2xx; \
                        a concurrency of 200 against 100";
        assert_eq!(finding.evidence, expected);
        // Another head is told, and is no reason to compare nothing.
        let (finding, equal) = compared(|report| report.total_bytes = Some(1_300_000_000));
        assert_eq!((finding.unwrap().severity, equal), (Severity::Note, true));
    }
}
