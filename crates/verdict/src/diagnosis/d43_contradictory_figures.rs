//! D43: figures of one printed report that cannot all be right. `rules::consistency` recomputes each from
//! the others, within its rounding.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D43;
use crate::finding::{Finding, Severity};
use crate::printed::{ERRORS_LISTED, Report, Tool};
use crate::rules::consistency::figure::Figure;
use crate::rules::consistency::{Contradiction, contradictions, culprits};
use crate::words::grouped;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D43,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms { report: Some(on_report), ..Forms::NONE },
};

/// So many contradictions are shown; the others are counted.
const SHOWN: usize = 3;

fn on_report(report: &Report) -> Option<Finding> {
    let found = contradictions(report);
    if found.is_empty() {
        return None;
    }
    if let Some(finding) = errors_left_out(report, &found) {
        return Some(finding);
    }
    let of_h2load = report.tool == Tool::H2load;
    let is_aside = |one: &Contradiction| one.is_aside() && (of_h2load || report.tool == Tool::Wrk);
    let leaves_rate = |one: &Contradiction| one.is_of_bytes() || is_aside(one);
    let severity =
        if found.iter().all(leaves_rate) { Severity::Suspect } else { Severity::Invalid };
    let mut evidence: Vec<String> = found.iter().take(SHOWN).map(|one| one.said.clone()).collect();
    match found.len().saturating_sub(SHOWN) {
        0 => {}
        1 => evidence.push("One more contradiction follows from them.".to_owned()),
        more => {
            evidence.push(format!("{} more contradictions follow from them.", grouped(more as u64)))
        }
    }
    let alone = found.iter().all(|one| one.figures.contains(&Figure::Line));
    let which = if alone { String::new() } else { wrong_ones(report, &found) };
    let follow = match alone {
        true => "No tool computes such a figure from what it counted",
        false => "These figures follow from each other, and no rounding explains the difference",
    };
    let bytes = match severity {
        Severity::Suspect if found.iter().any(is_aside) => {
            " Nothing contradicts the rate of the run and the times of requests."
        }
        Severity::Suspect => " Nothing contradicts the rate and the times.",
        _ => "",
    };
    Some(Finding::new(
        D43,
        severity,
        evidence.join(" "),
        format!(
            "{follow}: the \
             report was edited or cut off, lost a line, was put together from several runs, or was computed \
             wrongly.{which}{bytes}"
        ),
        "Take the report again from the output of the run, unchanged; if that prints the same, \
         measure with another tool.",
    ))
}

/// Which figure is wrong, as far as the contradictions tell: one that all of them have in common may explain them alone.
/// An impossible figure is one of them, and the line does not say which.
fn wrong_ones(report: &Report, found: &[Contradiction]) -> String {
    let (impossible, others): (Vec<_>, Vec<_>) =
        found.iter().cloned().partition(|one| one.figures.contains(&Figure::Line));
    // What h2load prints are the counts that its responses are computed from.
    let is_computed = |figure: &Figure| report.tool == Tool::H2load && *figure == Figure::Complete;
    let culprits = culprits(&others).into_iter().filter(|figure| !is_computed(figure));
    let mut names: Vec<String> = Vec::new();
    for name in culprits.map(|figure| figure.name(report)) {
        names.extend((!names.contains(&name)).then_some(name));
    }
    match names.as_slice() {
        [] => " More than one of them is wrong.".to_owned(),
        [one] if impossible.is_empty() => {
            format!(" All of them have {one} in common: it is the wrong one, or several are.")
        }
        [before @ .., last] if impossible.is_empty() => {
            format!(" At least one of {} and {last} is wrong.", before.join(", "))
        }
        several => format!(
            " If the impossible figure is {}, it alone is wrong; otherwise more than one is.",
            several.join(" or ")
        ),
    }
}

/// hey and oha print what failed last, and have it in their rates: without those lines the counts are too few.
fn errors_left_out(report: &Report, found: &[Contradiction]) -> Option<Finding> {
    let of_count =
        [Figure::Rate, Figure::Taken, Figure::Complete, Figure::Statuses, Figure::Failed];
    let is_of_count =
        |one: &Contradiction| one.figures.iter().all(|figure| of_count.contains(figure));
    // What is there, with whatever entries, was not left out.
    let is_listed = report.own(ERRORS_LISTED).is_some() || !report.errors.is_empty();
    let may_lack =
        matches!(report.tool, Tool::Hey | Tool::Oha) && report.failed == Some(0) && !is_listed;
    let (counted_in_all, complete) =
        (report.rate_per_s?.value * report.taken_s?.value, report.complete? as f64);
    // Where times are printed, responses came.
    if complete == 0.0 && report.total.is_some_and(|row| row.max_ms.is_some()) {
        return None;
    }
    if !may_lack || !found.iter().all(is_of_count) || counted_in_all <= complete {
        return None;
    }
    // All that the command asks for have a response.
    let command = report.command.as_ref().filter(|command| !command.timed);
    if command.and_then(|command| command.requests).is_some_and(|all| all <= complete as u64) {
        return None;
    }
    let evidence: Vec<&str> = found.iter().map(|one| one.said.as_str()).collect();
    let tool = report.tool.name();
    let missing = grouped((counted_in_all - complete).round() as u64);
    Some(Finding::new(
        D43,
        Severity::Suspect,
        evidence.join(" "),
        format!(
            "{tool} counts failed requests in its rate, and prints them last, under `Error distribution`. That is not here: \
             about {missing} requests may have failed. Or one of the figures is wrong."
        ),
        format!(
            "Take all of the output, up to its last line. If {tool} printed no errors, one of the figures was changed."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;
    use crate::printed::read;
    use crate::rules::{judge, sample};

    fn found(spoil: impl Fn(&mut Report)) -> Finding {
        let mut report = sample::ab();
        spoil(&mut report);
        on_report(&report).unwrap()
    }

    #[test]
    fn the_wrong_figure_is_named() {
        assert_eq!(on_report(&sample::ab()), None);
        let finding = found(|report| report.complete = Some(100_000));
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.contains("100,000 / 100.000 makes"), "{}", finding.evidence);
        assert!(finding.cause.contains("have `Complete requests` in common"), "{}", finding.cause);
        // 200 / 10,000.00 in s are 20 ms.
        let finding = found(|report| report.concurrency = Some(20));
        assert!(finding.cause.contains("`Concurrency Level`"), "{}", finding.cause);
        let finding = found(|report| report.rate_per_s = Some(sample::printed(50_000.0, 0.01)));
        assert!(finding.cause.contains("`Requests per second`"), "{}", finding.cause);
    }

    #[test]
    fn wrong_bytes_leave_the_rate() {
        let finding = found(|report| report.kilobytes_per_s = Some(sample::printed(5.0, 0.01)));
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.cause.contains("`Transfer rate`"), "{}", finding.cause);
        // Kilobytes of 1000 bytes are D31's.
        let mut report = sample::ab();
        report.kilobytes_per_s = Some(sample::printed(12_000.0, 0.01));
        assert_eq!(on_report(&report), None);
    }

    #[test]
    fn times_out_of_order_are_found() {
        let finding = found(|report| report.percentiles[2].1 = sample::printed(10.0, 1.0));
        assert!(finding.evidence.contains("95 % is 25 ms, more than 99 % (10 ms)"), "{finding:?}");
        let total = sample::times(12.0, 70.0, 3.0, 20.0, 60.0);
        let finding = found(|report| report.total = Some(total));
        assert!(finding.evidence.contains("`Total` mean is 70 ms, more than"), "{finding:?}");
    }

    #[test]
    fn no_request_takes_longer_than_both_of_its_parts() {
        let with = |longest: f64| {
            let mut report = sample::ab();
            report.processing = Some(sample::times(12.0, 19.0, 3.0, 19.0, longest));
            on_report(&report)
        };
        assert_eq!(with(50.0), None);
        let finding = with(45.0).unwrap();
        let expected = "`Connect` takes 9 ms and `Processing` 45 ms at most, but `Total` 60 ms.";
        assert_eq!(finding.evidence, expected);
    }

    /// hey's own report, of which one count was edited.
    #[test]
    fn times_of_no_response_are_no_errors_that_were_left_out() {
        use crate::DiagnosisId::D02;
        let hey = |count: u64, status: u16| {
            let text = format!(
                "Summary:\n  Total:\t2.1680 secs\n  Slowest:\t0.0500 secs\n  Fastest:\t0.0010 secs\n  \
                 Average:\t0.0420 secs\n  Requests/sec:\t230.6273\n\nStatus code distribution:\n  [{status}]\t{count} responses\n"
            );
            judge(&read(&text)).reports.remove(0).findings
        };
        let of = |id, found: &[Finding]| found.iter().find(|one| one.id == id).cloned();
        let none = hey(0, 200);
        assert_eq!(of(D43, &none).unwrap().severity, Severity::Invalid, "{none:?}");
        assert_eq!(of(D02, &none), None, "{none:?}");
        assert_eq!(of(D43, &hey(400, 200)).unwrap().severity, Severity::Suspect);
        // No response has such a status.
        assert_eq!(of(D43, &hey(500, 60)).unwrap().severity, Severity::Invalid);
        assert_eq!(of(D43, &hey(500, 200)), None);
    }

    #[test]
    fn a_report_that_contradicts_itself_is_not_valid() {
        let mut report = sample::ab();
        report.complete = Some(100_000);
        let findings = crate::rules::report(&report);
        assert_eq!(Verdict::of(&findings), Verdict::Invalid);
        let nothing = "Complete requests:      0\nFailed requests:        0\n\
                       Time taken for tests:   3.000 seconds\nRequests per second:    12.50\n";
        assert!(judge(&read(nothing)).reports.iter().all(|one| one.verdict() != Verdict::Valid));
    }
}
