//! D06: the times were printed in steps too coarse for what they measure, or not at all.

use super::d01_concurrency_not_reached::is_missed;
use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D06;
use crate::finding::{Finding, Severity};
use crate::printed::{Connections, Printed, Report, Tool};
use crate::rules::arithmetic::{cuts_times, nothing_came_back, url};
use crate::words::{decimal, grouped, listed, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D06,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { report: Some(on_report), ..Forms::NONE },
};

/// Steps of more than this share of the median hide what is looked for.
const SHARE: f64 = 0.1;

fn on_report(report: &Report) -> Option<Finding> {
    let fix = fix(report);
    let Some(median) = report.median_ms() else { return absent(report, &fix) };
    if median.step <= SHARE * median.value {
        return None;
    }
    let shown = decimal(median.value, if median.step < 1.0 { 2 } else { 0 });
    let mut evidence = format!(
        "Times are printed in steps of {} and the median reads {shown} ms.",
        if median.step == 1.0 { "1 ms".to_owned() } else { time(median.step) }
    );
    if let Some(text) = mean_by_littles_law(report) {
        evidence.push_str(&text);
    }
    if report.warned {
        evidence.push_str(
            " ab's warning that median and mean differ comes from the same rounding: unrounded, \
             they never differ by more than one standard deviation.",
        );
    }
    let cause = match median.step {
        step if step < 1.0 => {
            format!("The tool rounds times to {} before printing them.", time(step))
        }
        _ if cuts_times(report) => {
            "The tool truncates times to whole milliseconds before printing them.".to_owned()
        }
        _ => "The tool rounds times to whole milliseconds before printing them.".to_owned(),
    };
    // ablaze has judged the run by times that are finer than ab's form shows them.
    let judged = matches!(report.tool, Tool::Ablaze | Tool::AblazeAb | Tool::AblazeGurl);
    let hidden = median.step >= median.value && !judged;
    let severity = if hidden { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D06, severity, evidence, cause, fix))
}

/// The same load, with times that can be read.
fn fix(report: &Report) -> String {
    let asked = report.asked().map_or(String::new(), |asked| format!(" -c {asked}"));
    let closes = report.connections == Connections::PerRequest;
    let close = if closes { " --no-keepalive" } else { "" };
    let url = url(report).unwrap_or_else(|| "URL".to_owned());
    format!(
        "Measure the times with `ablaze{asked}{close} {url}`: it prints percentiles in microseconds, each with \
         its interval."
    )
}

fn absent(report: &Report, fix: &str) -> Option<Finding> {
    report.complete.filter(|complete| *complete > 0)?;
    let evidence = match (report.mean_ms(), report.per_request_ms) {
        (Some(_), _) => {
            let times = report.total.unwrap_or_default();
            let printed = [
                ("the minimum", times.min_ms),
                ("the mean", times.mean_ms),
                ("the deviation", times.deviation_ms),
                ("the maximum", times.max_ms),
            ];
            let printed = printed.into_iter().filter(|(_, ms)| ms.is_some());
            format!("No percentiles are printed, only {}.", listed(printed.map(|(name, _)| name)))
        }
        (None, Some(Printed { value, .. })) => format!(
            "No percentiles and no maximum are printed. {} ms is a mean, computed from the rate.",
            decimal(value, 3)
        ),
        (None, None) => "No request times are printed.".to_owned(),
    };
    let cause = "A mean cannot distinguish a target that always takes the same time from one that \
                 occasionally takes a hundred times longer.";
    Some(Finding::new(D06, Severity::Note, evidence, cause, fix))
}

/// The mean that the rate implies.
fn mean_by_littles_law(report: &Report) -> Option<String> {
    let rate = report.rate().filter(|rate| *rate > 0.0)?;
    let (in_flight, why) = match is_missed(report) {
        // On a schedule that is the asked rate's.
        false if report.is_paced() => return None,
        false => (report.asked()?, "By Little's law the mean is"),
        // ab's one connection.
        true if nothing_came_back(report) => (1, "One after another, each took"),
        true => return None,
    };
    Some(format!(
        " {why} {} / {}/s = {}.",
        grouped(in_flight),
        decimal(rate, 2),
        time(in_flight as f64 * 1e3 / rate)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    fn with_median(ms: f64) -> Option<Severity> {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(ms, 1.0))];
        on_report(&report).map(|finding| finding.severity)
    }

    #[test]
    fn a_step_is_held_against_the_median() {
        assert_eq!(with_median(10.0), None);
        assert_eq!(with_median(9.0), Some(Severity::Note));
        assert_eq!(with_median(2.0), Some(Severity::Note));
        assert_eq!(with_median(1.0), Some(Severity::Suspect));
        assert_eq!(with_median(0.0), Some(Severity::Suspect));
    }

    #[test]
    fn the_mean_behind_the_zeros_is_computed() {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(0.0, 1.0))];
        report.total = None;
        report.rate_per_s = Some(sample::printed(1_000_000.0, 0.01));
        // 200 / 1,000,000/s.
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("200 / 1,000,000.00/s = 200 µs"), "{evidence}");
    }

    #[test]
    fn finer_steps_are_not_called_milliseconds() {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(0.05, 0.01))];
        let finding = on_report(&report).unwrap();
        assert!(finding.cause.contains("rounds times to 10.0 µs"), "{}", finding.cause);
    }

    #[test]
    fn no_times_at_all_are_a_note() {
        let mut report = sample::ab();
        (report.percentiles, report.total) = (Vec::new(), None);
        assert_eq!(on_report(&report).unwrap().severity, Severity::Note);
    }
}
