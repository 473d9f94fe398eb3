//! D14: a run too short, or with too few requests per connection, to have left its beginning
//! behind; or one whose beginning ran at another rate than the rest.

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_stats::change_point;

use super::Rule;
use super::figures::elapsed_s;
use crate::DiagnosisId::D14;
use crate::finding::{Finding, Severity};
use crate::words::{amount, counted, percent, time};

/// Runs shorter than this are noted, and than this suspected, in seconds.
const SHORT_S: f64 = 5.0;
const TOO_SHORT_S: f64 = 1.0;
/// The same for requests per connection.
const FEW: f64 = 100.0;
const TOO_FEW: f64 = 10.0;

pub const RULE: Rule = Rule { id: D14, check, seen };

fn check(run: &Run) -> Option<Finding> {
    if run.record.answers == 0 || run.elapsed_ns == 0 {
        return None;
    }
    let length_s = elapsed_s(run);
    let mut severity = None;
    let mut evidence = Vec::new();
    if length_s < SHORT_S {
        severity = Some(gravity(length_s < TOO_SHORT_S));
        evidence.push(format!("The run took {}.", time(length_s * 1e3)));
    }
    if let Load::Closed { connections, .. } = run.plan.load {
        let each = run.record.finished() as f64 / f64::from(connections);
        if each < FEW {
            severity = severity.max(Some(gravity(each < TOO_FEW)));
            evidence.push(format!(
                "{} requests per connection, with {}.",
                amount(each),
                counted(connections.into(), "connection")
            ));
        }
    }
    let beginning = warm_up(run);
    if let Some(beginning) = &beginning {
        // Never more than a note: what changed may be a neighbour on the same machine.
        severity = severity.max(Some(Severity::Note));
        evidence.push(beginning.evidence());
    }
    let severity = severity?;
    let too_short = length_s < SHORT_S || evidence.len() > usize::from(beginning.is_some());
    let (cause, remedy) = match beginning.filter(|_| !too_short) {
        Some(beginning) => (beginning.cause(), beginning.remedy()),
        None => (
            "Opening connections, filling caches and finding a steady state take their share of a short \
             run, and one disturbance weighs as much as a change worth finding.",
            "Let it run for 10 s or more, with 100 requests or more for each connection."
                .to_owned(),
        ),
    };
    Some(Finding::new(D14, severity, evidence.join(" "), cause, remedy))
}

fn seen(run: &Run) -> Option<String> {
    let length = time(elapsed_s(run) * 1e3);
    match run.plan.load {
        _ if run.record.answers == 0 => None,
        Load::Closed { connections, .. } => Some(format!(
            "The run took {length}, no part of it at a rate of its own; {} requests fell to each of {}.",
            amount(run.record.finished() as f64 / f64::from(connections)),
            counted(connections.into(), "connection")
        )),
        Load::Open { .. } => Some(format!("The run took {length}.")),
    }
}

/// A beginning that ran at another rate than the rest.
struct Beginning {
    length_s: f64,
    before_per_s: f64,
    after_per_s: f64,
    /// The rate of the whole run against that of the rest.
    moved: f64,
}

/// Looked for where the rate is the server's to decide: a closed loop, and without what the run
/// itself does at its beginning.
fn warm_up(run: &Run) -> Option<Beginning> {
    let slices = &run.record.slices;
    if run.plan.load.is_open() || run.plan.connections.ramp_ns > 0 || slices.slice_ns == 0 {
        return None;
    }
    // The last slice may be cut short.
    let whole = (run.elapsed_ns / slices.slice_ns) as usize;
    let counts: Vec<u64> = slices.slices.iter().take(whole).map(|slice| slice.answers).collect();
    let shift = change_point::warm_up(&counts)?;
    let per_s = |per_slice: f64| per_slice * 1e9 / slices.slice_ns as f64;
    let after = counts.get(shift.index..).filter(|after| !after.is_empty())?;
    let mean = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    if mean(after) <= 0.0 {
        // What comes before silence is no beginning of anything.
        return None;
    }
    Some(Beginning {
        length_s: shift.index as f64 * slices.slice_ns as f64 / 1e9,
        before_per_s: per_s(shift.before),
        after_per_s: per_s(shift.after),
        moved: mean(&counts) / mean(after) - 1.0,
    })
}

impl Beginning {
    fn evidence(&self) -> String {
        let moved = if self.moved.abs() < 0.001 {
            String::new()
        } else {
            let way = if self.moved < 0.0 { "lower" } else { "higher" };
            format!("; that makes the rate of the whole {} {way}", percent(self.moved.abs()))
        };
        format!(
            "The first {} ran at {}/s, the rest at {}/s{moved}. Nothing was left out.",
            time(self.length_s * 1e3),
            amount(self.before_per_s),
            amount(self.after_per_s)
        )
    }

    fn cause(&self) -> &'static str {
        if self.after_per_s > self.before_per_s {
            "Something had to warm up: caches, a compiler within the server, processors' clock rates; or \
             something else ran on the machine in the beginning."
        } else {
            "Something gave way after a while: a queue, a burst of processor time that was granted, a \
             cooler clock; or something else began to run on the machine."
        }
    }

    fn remedy(&self) -> String {
        let seconds = (self.length_s * 1.5).ceil().max(1.0);
        format!(
            "If it is there each time, leave it out with --warmup {seconds:.0}s; if not, measure again on \
             a quiet machine."
        )
    }
}

fn gravity(too_short: bool) -> Severity {
    if too_short { Severity::Suspect } else { Severity::Note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn seconds_and_requests_per_connection_decide() {
        let severity = |length_ns, answers| {
            let mut run = sample::run();
            run.elapsed_ns = length_ns;
            run.record.answers = answers;
            check(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(5_000_000_000, 10_000), None);
        assert_eq!(severity(4_900_000_000, 10_000), Some(Severity::Note));
        assert_eq!(severity(990_000_000, 10_000), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 9_999), Some(Severity::Note));
        assert_eq!(severity(5_000_000_000, 999), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 0), None);
    }

    #[test]
    fn the_connections_of_an_open_loop_are_no_measure() {
        let mut run = sample::run();
        sample::open_loop(&mut run, 10.0);
        run.record.answers = 100;
        assert_eq!(check(&run), None);
    }

    /// Answers per slice that vary by a few percent around a level.
    fn around(level: u64, number: usize) -> impl Iterator<Item = u64> {
        (0..number as u64).map(move |n| level + n * 7919 % 97 * level / 2000)
    }

    fn with_slices(counts: impl Iterator<Item = u64>) -> Run {
        let mut run = sample::run();
        for (slice, answers) in run.record.slices.slices.iter_mut().zip(counts) {
            slice.answers = answers;
        }
        run
    }

    #[test]
    fn a_slower_beginning_is_told_and_stays_a_note() {
        assert_eq!(check(&with_slices(around(18_800, 100))), None);
        let run = with_slices(around(6_100, 6).chain(around(18_800, 94)));
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.starts_with("The first 600 ms ran at 6"), "{}", finding.evidence);
        assert!(finding.evidence.contains("lower. Nothing was left out"), "{}", finding.evidence);
        assert!(finding.remedy.contains("--warmup 1s"), "{}", finding.remedy);
        // In an open loop the rate is what was asked for.
        let mut open = run.clone();
        sample::open_loop(&mut open, 2_000.0);
        assert_eq!(check(&open), None);
    }

    #[test]
    fn a_last_slice_cut_short_is_no_change_of_level() {
        let mut run = with_slices(around(18_800, 100));
        run.elapsed_ns -= 90_000_000;
        run.record.slices.slices[99].answers = 1_880;
        assert_eq!(check(&run), None);
    }

    #[test]
    fn a_short_run_keeps_its_own_advice() {
        let mut run = with_slices(around(6_100, 6).chain(around(18_800, 94)));
        run.elapsed_ns = 4_900_000_000;
        let finding = check(&run).unwrap();
        assert!(
            finding.evidence.contains("The run took 4.90 s. The first"),
            "{}",
            finding.evidence
        );
        assert!(finding.remedy.contains("10 s or more"), "{}", finding.remedy);
    }
}
