//! D01: fewer requests were in flight than were asked for, on average over the window; or users failed in their setup; or the
//! number in flight and the times contradict each other, so that neither is to be believed.
//! Of a printed report rate × mean time is what was in flight (Little's law, Operations Research
//! 9(3), 1961); it does not know what was asked for.

use ablaze_model::Run;

mod idle;
mod setup;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D01, D02, D20, D21, D29, D40};
use crate::finding::{Finding, Severity};
use crate::live::figures::{self, asked_in_flight, elapsed_s};
use crate::live::little;
use crate::printed::{Command, Report, Tool};
use crate::rules::arithmetic::{self, nothing_came_back};
use crate::words::{amount, counted, decimal, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D01,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect, Severity::Invalid],
    explained_by: &[D02, D20, D21, D29, D40],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// Below this share of what was asked for it is noticed.
pub(super) const MISSED: f64 = 0.5;
/// Below this one the number belongs to another experiment.
pub(super) const ANOTHER_EXPERIMENT: f64 = 0.1;
/// A run with fewer requests for each place in flight is all beginning and end.
pub(super) const FEWEST_EACH: u64 = 10;
/// The usual limit of open files is 1,024; fewer connections than this do not meet it.
const NEAR_A_LIMIT: u64 = 1000;

fn on_run(run: &Run) -> Option<Finding> {
    contradiction(run).or_else(|| setup::found(run)).or_else(|| shortage(run))
}

/// Rate × mean time is the number in flight (Little's law), and no more are than have a place.
fn contradiction(run: &Run) -> Option<Finding> {
    let little = little::gap(run).map(|gap| {
        format!(
            "{} requests were in flight on average, but the times of all requests, divided by {} \
             s, give {}.",
            amount(gap.measured),
            decimal(elapsed_s(run), 2),
            amount(gap.expected)
        )
    });
    let evidence = little.or_else(|| {
        let (reached, asked) = little::more_than_fit(run)?;
        Some(format!(
            "The times of all requests, divided by {} s, imply {} in flight on average, but at \
             most {} are possible.",
            decimal(elapsed_s(run), 2),
            amount(reached),
            grouped(asked)
        ))
    })?;
    Some(Finding::new(
        D01,
        Severity::Suspect,
        evidence,
        "Rate times mean time is the number in flight, in any system (Little's law): times are \
         missing, were counted twice, or the file was edited.",
        "Trust neither the times nor the concurrency of this run, and measure again.",
    ))
}

fn shortage(run: &Run) -> Option<Finding> {
    let asked = asked_in_flight(run)?;
    let reached = figures::in_flight(run)?;
    let record = &run.record;
    if record.responses == 0 {
        // There is no rate to be read as that of fewer: nobody answered (D02).
        return None;
    }
    let ramping = run.plan.connections.ramp_ns.saturating_mul(asked) > run.elapsed_ns / 10;
    let few = run.plan.limits.requests.is_some_and(|requests| requests < asked * FEWEST_EACH);
    // Connections that all stand and never break always have a request each: a shortage has a cause.
    let connections = run.plan.connections_max();
    let steady = record.failures_total() == 0
        && record.connections_opened == connections
        && !figures::held_by_warmup(run);
    let at_most = figures::in_flight_at_most(run)?;
    if at_most >= asked as f64 * MISSED || steady || ramping || few {
        return None;
    }
    let evidence = format!(
        "On average {} requests were in flight over {} s, while {} were requested; {} connections \
         were opened and {} requests failed.",
        amount(reached),
        decimal(elapsed_s(run), 2),
        grouped(asked),
        grouped(record.connections_opened),
        grouped(record.failures_total())
    );
    let (cause, check) = idle::because(run, connections);
    let about = grouped(reached.max(1.0).round() as u64);
    let fix = format!("Read the rate as that of about {about} in flight{check}.");
    Some(Finding::new(D01, gravity(reached, asked), evidence, cause, fix))
}

fn seen(run: &Run) -> Option<String> {
    let asked = asked_in_flight(run)?;
    Some(format!(
        "{} of {} requested were in flight on average: the times of all requests, divided by {} s.",
        amount(figures::in_flight(run)?),
        grouped(asked),
        decimal(elapsed_s(run), 2)
    ))
}

fn on_report(report: &Report) -> Option<Finding> {
    if !is_missed(report) {
        return None;
    }
    let asked = report.asked()?;
    let (_, high) = arithmetic::in_flight(report)?;
    let mut evidence = match arithmetic::printed_in_flight(report) {
        Some(printed) => format!(
            "{} prints {} in flight on average (the times of all transactions, divided by the length), while {} \
             were requested.",
            report.tool.name(),
            decimal(printed.value, 2),
            grouped(asked)
        ),
        None => format!(
            "Rate × mean time is the number in flight{}: {} × less than {} ms is less than {}, while \
             {} were requested.",
            match report.failed {
                None | Some(0) => "",
                Some(_) if report.tool.is_ab_like() => "",
                Some(_) => " of what was answered",
            },
            rate_in_words(report)?,
            below(report.mean_ms()?.high()),
            below(high),
            grouped(asked)
        ),
    };
    let under_way = arithmetic::under_way_at_end(report)?;
    if under_way > 0.0 {
        evidence.push_str(&format!(
            " The requests that had no response at the end were {} more at most, if none of them had waited for longer than \
             the longest that came.",
            below(under_way)
        ));
    }
    if let (Some(per_request), true) = (report.per_request_ms, report.tool.is_ab_like()) {
        evidence.push_str(&format!(
            " The {} ms printed as `Time per request` is {} × length / requests, which is not how long requests took.",
            decimal(per_request.value, 3),
            grouped(asked)
        ));
    }
    let cause = if nothing_came_back(report) && report.tool.is_ab_like() {
        "ab (since httpd 2.4.33) opens one connection, and the others only after reading the head \
         of a response. None ever came, so the whole run used one connection at a time."
            .to_owned()
    } else if report.asked_connections().is_some_and(|connections| connections < asked) {
        let fewer = match report.speaks_http1() {
            true => "requests of a connection were sent one by one",
            false => "the server permits fewer streams",
        };
        format!(
            "Each connection was to have several in flight. It had fewer: connections were never opened, or ended before the \
             run did, or {fewer}, or requests waited for something that the times do not include. The report does not tell which."
        )
    } else if has_script(report) {
        "For most of the time of most connections no response is in the report: the script (-s) made them pause, as it does with a `delay()`, or they were \
         never opened, or they waited for something that the times do not include, such as a response that never came. The \
         report does not tell which."
            .to_owned()
    } else {
        "For most of the time of most connections no response is in the report: they were never opened, they ended before \
         the run did, or they waited for something that the times do not include, such as a response that never came."
            .to_owned()
    };
    let about = match arithmetic::printed_in_flight(report) {
        Some(printed) => format!("about {}", grouped(printed.value.max(1.0).round() as u64)),
        None => format!("at most {}", below(high)),
    };
    let fix = match report.asked_connections() {
        _ if has_script(report) => format!(
            "If the script has a `delay()`, the rate is that of users who pause, about as many in flight as it says: {about}. \
             Without one, try the target once with `curl -v`: it may show what held the others back."
        ),
        Some(connections) if connections >= NEAR_A_LIMIT => format!(
            "Read the rate as that of {about} in flight. Then try the target once with `curl -v`, \
             and check that `ulimit -n` is above the number of connections: one of the two may \
             show what held the others back."
        ),
        _ => format!(
            "Read the rate as that of {about} in flight. Then try the target once with `curl -v`: it may show \
             what held the others back."
        ),
    };
    // Pauses on purpose are no fault of the run.
    let severity =
        if has_script(report) { Severity::Suspect } else { gravity(high + under_way, asked) };
    Some(Finding::new(D01, severity, evidence, cause, fix))
}

/// A bound that is not below the value: three digits, rounded up.
fn below(bound: f64) -> String {
    if bound <= 0.0 || !bound.is_finite() {
        return amount(bound);
    }
    let unit = 10f64.powf(bound.log10().floor() - 2.0);
    amount((bound / unit).ceil() * unit)
}

/// `9,000.00/s`; where only whole seconds are printed, what it is at most, and of what.
fn rate_in_words(report: &Report) -> Option<String> {
    if let Some(rate) = arithmetic::rate_over_all(report) {
        return Some(format!("{}/s", decimal(rate, 2)));
    }
    let whole = arithmetic::by_whole_seconds(report)?;
    Some(format!(
        "at most {}/s ({} in {} s or more, by the progress)",
        decimal(whole.rates.1, 2),
        counted(whole.requests, "request"),
        decimal(whole.seconds, 0)
    ))
}

/// wrk's script may make connections pause.
fn has_script(report: &Report) -> bool {
    let of_wrk = matches!(report.tool, Tool::Wrk | Tool::Wrk2);
    let has = |line: &Command| line.value_of('s', "script").is_some();
    of_wrk && report.command.as_ref().is_some_and(has)
}

/// Fewer than half of the requests asked for were ever in flight, even by the upper bound.
pub(super) fn is_missed(report: &Report) -> bool {
    let asked = report.asked().unwrap_or(1);
    let in_flight = arithmetic::most_in_flight(report);
    // On a schedule the connections are a bound at most.
    let is_seen = report.tool != Tool::Siege
        || report.taken_s.is_none_or(|taken| taken.value >= SIEGE_SEES_S);
    asked > 1
        && is_seen
        && !report.is_paced()
        && in_flight.is_some_and(|most| most < asked as f64 * MISSED)
}

/// siege's clock goes in steps of 10 ms: of so few of them the times of its transactions may all be 0.
const SIEGE_SEES_S: f64 = 0.1;

fn gravity(reached: f64, asked: u64) -> Severity {
    if reached < asked as f64 * ANOTHER_EXPERIMENT { Severity::Invalid } else { Severity::Suspect }
}

#[cfg(test)]
mod tests_on_runs {
    use ablaze_model::FailureKind;

    use super::*;
    use crate::live::sample;

    #[test]
    fn a_run_without_a_response_has_no_rate_to_be_read_otherwise() {
        let mut run = sample::run();
        run.record.in_flight_ns /= 2;
        run.record.failures[FailureKind::Refused as usize] = 10;
        assert!(shortage(&run).is_some());
        run.record.responses = 0;
        assert_eq!(shortage(&run), None);
    }

    #[test]
    fn half_of_what_was_asked_for_is_missed() {
        let mut run = sample::run();
        run.record.connections_opened = 60;
        let with = |run: &mut Run, reached: u128| {
            run.record.in_flight_ns = reached * u128::from(run.elapsed_ns);
            shortage(run).map(|finding| finding.severity)
        };
        assert_eq!(with(&mut run, 100), None);
        assert_eq!(with(&mut run, 50), None);
        assert_eq!(with(&mut run, 49), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 9), Some(Severity::Invalid));
        run.record.connections_opened = 100;
        assert_eq!(with(&mut run, 9), None, "all of them stand");
        // The requests of the others began in the warm-up, and hang.
        run.record.silent.of_warmup = 91;
        assert_eq!(with(&mut run, 9), Some(Severity::Invalid));
        run.record.silent.of_warmup = 1;
        assert_eq!(with(&mut run, 9), None, "one of 91 accounts for nothing");
        run.record.silent.of_warmup = 0;
        run.record.connections_opened = 60;
        // Opening them was to take most of the run.
        run.plan.connections.ramp_ns = 90_000_000;
        assert_eq!(with(&mut run, 9), None);
        run.plan.connections.ramp_ns = 0;
        run.plan.limits.requests = Some(999);
        assert_eq!(with(&mut run, 9), None);
        // Of more requests each the last, which took nine of the ten seconds: alone, while no other was left to send.
        run.plan.limits.requests = Some(20_000);
        assert_eq!(with(&mut run, 9), Some(Severity::Invalid));
        run.record.answered.total.record(9_000_000_000);
        assert_eq!(with(&mut run, 9), None);
        sample::open_loop(&mut run, 1e6);
        assert_eq!(with(&mut run, 9), None);
    }

    #[test]
    fn only_what_was_seen_is_said_of_idle_connections() {
        let mut run = sample::run();
        run.record.connections_opened = 20_000;
        run.record.reused = 0;
        run.record.in_flight_ns = 48_800_000 * u128::from(run.elapsed_ns) / 1_000_000;
        let finding = shortage(&run).unwrap();
        assert!(!finding.cause.contains("broke"), "{}", finding.cause);
        assert!(finding.cause.contains("20,000 connections for 20,000 responses"), "{finding:?}");
        assert!(finding.fix.contains("about 49 in flight"), "{}", finding.fix);
        assert!(!finding.fix.contains("errors"), "{}", finding.fix);
        // A few failures among thousands of new connections did not empty the places.
        run.record.failures[FailureKind::Reset as usize] = 5;
        assert!(shortage(&run).unwrap().cause.contains("opened again and again"));
        run.record.failures[FailureKind::Reset as usize] = 15_000;
        let finding = shortage(&run).unwrap();
        assert!(finding.cause.starts_with("15,000 requests failed: 15,000 reset."), "{finding:?}");
        assert!(finding.fix.contains("why they failed"), "{}", finding.fix);
        // What came back was no HTTP: every connection was opened, and none broke.
        run.record.failures[FailureKind::Reset as usize] = 0;
        run.record.failures[FailureKind::Malformed as usize] = 15_000;
        let cause = shortage(&run).unwrap().cause;
        assert!(cause.starts_with("15,000 requests failed: 15,000 malformed."), "{cause}");
        assert!(!cause.contains("broke") && !cause.contains("not be opened"), "{cause}");
    }

    #[test]
    fn times_and_numbers_that_contradict_each_other_are_found() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        // 20,000 responses of 500 µs in 10 s.
        assert!(finding.evidence.contains("100 requests were in flight"), "{}", finding.evidence);
        assert!(
            finding.evidence.ends_with("divided by 10.00 s, give 1.00."),
            "{}",
            finding.evidence
        );
    }
}

#[cfg(test)]
mod tests_on_reports;
