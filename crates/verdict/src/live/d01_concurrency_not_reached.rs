//! D01: fewer requests were in flight than were asked for, on average over the window; or the
//! number in flight and the times contradict each other, so that neither is to be believed.

use ablaze_model::Run;

use super::Rule;
use super::figures::{asked_in_flight, elapsed_s, in_flight};
use super::little::{self, LittleGap};
use crate::DiagnosisId::D01;
use crate::finding::{Finding, Severity};
use crate::words::{amount, decimal, grouped};

/// Below this share of what was asked for it is noticed.
pub(super) const MISSED: f64 = 0.5;
/// Below this one the number belongs to another experiment.
pub(super) const ANOTHER_EXPERIMENT: f64 = 0.1;
/// A run with fewer requests for each place in flight is all beginning and end.
pub(super) const FEWEST_EACH: u64 = 10;

pub const RULE: Rule = Rule { id: D01, check, seen };

fn check(run: &Run) -> Option<Finding> {
    contradiction(run).or_else(|| shortage(run))
}

/// Rate × mean time is the number in flight (Little's law), and no more are than have a place.
fn contradiction(run: &Run) -> Option<Finding> {
    let little = LittleGap::of(run).map(|gap| {
        format!(
            "{} requests were in flight on average, but their times together, divided by {} s, give {}.",
            amount(gap.measured),
            decimal(elapsed_s(run), 2),
            amount(gap.expected)
        )
    });
    let evidence = little.or_else(|| {
        let (reached, asked) = little::more_than_fit(run)?;
        Some(format!(
            "The times of all requests together, divided by {} s, say that {} were in flight on \
             average, and there are places for {}.",
            decimal(elapsed_s(run), 2),
            amount(reached),
            grouped(asked)
        ))
    })?;
    Some(Finding::new(
        D01,
        Severity::Suspect,
        evidence,
        "The rate times the mean time is the number in flight, in any system (Little's law): times are \
         missing, were counted twice, or the file was changed.",
        "Believe neither the times nor the concurrency of this run, and measure again.",
    ))
}

fn shortage(run: &Run) -> Option<Finding> {
    let asked = asked_in_flight(run)?;
    let reached = in_flight(run)?;
    let record = &run.record;
    let ramping = run.plan.connections.ramp_ns.saturating_mul(asked) > run.elapsed_ns / 10;
    let few = run.plan.limits.requests.is_some_and(|requests| requests < asked * FEWEST_EACH);
    // Connections that all stand and never break always have a request each: a shortage has a cause.
    let connections = u64::from(run.plan.load.connections());
    let steady = record.failures_total() == 0 && record.connections_opened == connections;
    if reached >= asked as f64 * MISSED || steady || ramping || few {
        return None;
    }
    let evidence = format!(
        "On average {} requests were in flight over {} s, and {} were asked for; {} connections were \
         opened and {} requests failed.",
        amount(reached),
        decimal(elapsed_s(run), 2),
        grouped(asked),
        grouped(record.connections_opened),
        grouped(record.failures_total())
    );
    let severity = if reached < asked as f64 * ANOTHER_EXPERIMENT {
        Severity::Invalid
    } else {
        Severity::Suspect
    };
    Some(Finding::new(
        D01,
        severity,
        evidence,
        "Most of the connections were not at work: they could not be opened, or broke and were opened \
         again.",
        format!(
            "Read the rate as that of about {} in flight, and look at the errors to see why the \
             others were not at work.",
            amount(reached.max(1.0).ceil())
        ),
    ))
}

fn seen(run: &Run) -> Option<String> {
    let asked = asked_in_flight(run)?;
    Some(format!(
        "{} of {} asked for were in flight on average: the times of all requests together, divided \
         by {} s.",
        amount(in_flight(run)?),
        grouped(asked),
        decimal(elapsed_s(run), 2)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

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
        run.record.connections_opened = 60;
        // Opening them was to take most of the run.
        run.plan.connections.ramp_ns = 90_000_000;
        assert_eq!(with(&mut run, 9), None);
        run.plan.connections.ramp_ns = 0;
        run.plan.limits.requests = Some(999);
        assert_eq!(with(&mut run, 9), None);
        sample::open_loop(&mut run, 1e6);
        assert_eq!(with(&mut run, 9), None);
    }

    #[test]
    fn times_and_numbers_that_contradict_each_other_are_found() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        // 20,000 answers of 500 µs in 10 s.
        assert!(finding.evidence.contains("100 requests were in flight"), "{}", finding.evidence);
        assert!(
            finding.evidence.ends_with("divided by 10.00 s, give 1.00."),
            "{}",
            finding.evidence
        );
    }
}
