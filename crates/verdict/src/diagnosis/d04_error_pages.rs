//! D04: responses that are no success: outside what was expected, or, where nothing was said about
//! that, redirects, which nobody followed.
//! In a printed report they are those without a status of 2xx, which ab counts as complete and not as
//! failed.

mod classes;
mod cut;
mod expected;
mod fields;
mod idle;
mod journeys;
mod kinds;
mod of_tools;
mod redirects;

use ablaze_model::{FailureKind, Run};

use self::expected::{are_by_default, is_success};
use self::kinds::Kind;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D03, D04};
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::printed::{Document, Report, Tool};
use crate::rules::arithmetic::{has_hardly_heads, nothing_came_back, url};
use crate::words::{counted, for_shell, grouped, listed, percent};

pub(super) use idle::fix as fix_of_idle;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D04,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[D03],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(while_it_runs),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// Fewer than this are accidents.
const SHARE: f64 = 0.001;
/// From here on the rate is no rate of the intended page.
const MOST: f64 = 0.5;

/// Those outside of what was expected are no success for the whole Run either.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    let so_far = run.so_far;
    let share = so_far.unexpected as f64 / so_far.responses.max(1) as f64;
    (share > SHARE).then(|| {
        let of = counted(so_far.responses, "response");
        format!("{} of {of} ({}) are unexpected", grouped(so_far.unexpected), percent(share))
    })
}

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let others = redirects::without_followed(run, |status| !is_success(run, status));
    let count: u64 = others.iter().map(|(_, responses)| responses).sum();
    let share = count as f64 / record.responses as f64;
    if record.responses == 0 || share <= SHARE {
        return journeys::failed(run);
    }
    // A few pages are not what matters where no journey gets through.
    let journeys = journeys::failed(run).filter(|found| found.severity == Severity::Invalid);
    if journeys.is_some() && share < MOST {
        return journeys;
    }
    let statuses =
        others.iter().map(|(status, responses)| format!("{status} ({}×)", grouped(*responses)));
    // Requests that are still under way, or timed out, may be those that were taken: where it permits few at once.
    let takes_a_part = count < record.responses || record.failures_of(FailureKind::Timeout) > 0;
    let refuses_a_part = takes_a_part && !expected::always_fail(run);
    let kind = Kind::of(others.iter().map(|(status, _)| *status), refuses_a_part);
    let kind = match kind {
        // What the steps of a journey send is not known here.
        Kind::Unnamed if are_by_default(run) && run.plan.journey.is_none() => Kind::NotModified,
        Kind::Errors if idle::are_all(run, &others) => Kind::Idle,
        kind => kind,
    };
    let evidence = format!(
        "{} of {} ({}) {}: {}.",
        grouped(count),
        counted(record.responses, "response"),
        percent(share),
        kind.verb(run),
        listed(statuses)
    ) + &fields::limit(run, &others)
        + &idle::may_be(run, &others)
        + &journeys::beside(run);
    let (cause, fix) = kind.in_words(run, share);
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, cause, fix))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let statuses = record.statuses.iter();
    let listed =
        listed(statuses.map(|(status, responses)| format!("{status} ({}×)", grouped(*responses))));
    (record.responses > 0).then(|| {
        format!("The statuses of {} were {listed}.", counted(record.responses, "response"))
    })
}

/// hey, oha and vegeta have requests without a response among all.
fn responses(report: &Report) -> Option<u64> {
    let among = matches!(report.tool, Tool::Hey | Tool::Oha | Tool::Vegeta);
    let sum = || report.statuses.values().copied().fold(0, u64::saturating_add);
    // h2load and bombardier print how many there were of each class.
    let of_classes = || {
        let sum = report.classes.values().copied().fold(0, u64::saturating_add);
        (sum > 0).then_some(sum)
    };
    if among { Some(sum()) } else { report.complete.or_else(of_classes) }
}

fn on_report(report: &Report) -> Option<Finding> {
    let others = report.non_2xx?;
    let Some(complete) = responses(report) else { return cut::found(report, others) };
    let share = others as f64 / complete as f64;
    if complete == 0 || share <= SHARE || nothing_came_back(report) || has_hardly_heads(report) {
        return None;
    }
    // What came back and was no HTTP is for siege a transaction without success, and a failed one as well.
    if report.tool == Tool::Siege && Some(others) <= report.failed {
        return None;
    }
    let which = classes::which(report);
    let body = match report.document {
        Some(Document::Bytes(bytes)) if bytes > 0 => {
            format!(" The body of the first was {}.", counted(bytes, "byte"))
        }
        _ => String::new(),
    };
    let evidence = if others == complete {
        format!("None of {} had a 2xx status{which}.{body}", counted(complete, "response"))
    } else if others > complete {
        // ab counts a status with the head, and the request when it is over.
        format!(
            "{} had a status other than 2xx{which}; {} complete.{body}",
            counted(others, "response"),
            match complete {
                1 => "1 request was".to_owned(),
                complete => format!("{} were", counted(complete, "request")),
            }
        )
    } else {
        format!(
            "{} of {} ({}) had a status other than 2xx{which}.{body}",
            grouped(others),
            // ab counts as complete what broke off or got nothing, too.
            counted(complete, if classes::has_broken(report) { "request" } else { "response" }),
            percent(share)
        )
    };
    let counted_so = "Load generators count such responses as complete, not as failed.";
    let cause = if others >= complete && report.body_bytes == Some(0) {
        let no_page = "What came back is not a page: it has no body and no success status.";
        format!("{no_page} {counted_so}")
    } else if let Some(cause) = of_tools::cause(report.tool) {
        cause.to_owned()
    } else if let Some(cause) = classes::cause(report, share > MOST) {
        cause
    } else if share >= MOST {
        format!("{} {counted_so}", redirects::of_most(report, share))
    } else {
        redirects::of_some(report).to_owned()
    };
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, cause, fix(report)))
}

/// What to do about such responses.
fn fix(report: &Report) -> String {
    match url(report) {
        // ab prints that it sent bodies; whether by POST or PUT it does not.
        Some(url) if report.sent_bytes.is_some() => format!(
            "Look at one response to the same request, with its body, method and type (`curl -i --data-binary @FILE {}`; behind \
             `ab -u` with `-X PUT`), fix the URL or the server, and measure again.",
            for_shell(&url)
        ),
        Some(url) => format!(
            "Look at one response with `curl -i {}`, fix the URL or the server, and measure \
             again.",
            for_shell(&url)
        ),
        None if report.command.as_ref().is_some_and(|command| command.has_more_urls) => {
            "Look at one response of each URL of the command with `curl -i`, fix the URL or the server, and measure again."
                .to_owned()
        }
        None => "Look at one response with `curl -i` and the URL, fix the URL or the server, and \
                 measure again."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests_on_runs;

#[cfg(test)]
mod tests_of_words;

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn what_was_posted_is_looked_at_with_its_body() {
        let mut report = sample::ab();
        (report.non_2xx, report.sent_bytes) = (report.complete, None);
        assert!(on_report(&report).unwrap().fix.contains("`curl -i http"));
        report.sent_bytes = Some(150_006_750);
        let fix = on_report(&report).unwrap().fix;
        assert!(fix.contains("`curl -i --data-binary @FILE http"), "{fix}");
        assert!(!fix.contains("`curl -i http"), "{fix}");
    }

    #[test]
    fn a_thousandth_is_an_accident_and_half_another_experiment() {
        let with_others = |others| {
            let mut report = sample::ab();
            report.non_2xx = Some(others);
            on_report(&report).map(|finding| finding.severity)
        };
        assert_eq!(with_others(0), None);
        assert_eq!(with_others(1000), None);
        assert_eq!(with_others(1001), Some(Severity::Suspect));
        assert_eq!(with_others(500_001), Some(Severity::Invalid));
    }

    #[test]
    fn statuses_are_named_where_they_were_printed() {
        let mut report = sample::ab();
        report.non_2xx = Some(1_000_000);
        assert!(on_report(&report).unwrap().evidence.contains("None of 1,000,000 responses"));
        report.statuses = [(404, 999_000), (503, 1000)].into();
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("404 (999,000×) and 503 (1,000×)"), "{evidence}");
    }
}
