//! D34: at the beginning or the end of a closed loop fewer than 95 % of the requests that were asked
//! for were in flight, for a noticeable share of the run.

use ablaze_model::Run;
use ablaze_model::plan::ClockStarts;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D14, D34};
use crate::finding::{Finding, Severity};
use crate::live::figures::{asked_in_flight, elapsed_s};
use crate::live::options::{Opt, number_asked, spelled};
use crate::words::{amount, grouped, listed, percent, time};

/// A smaller share of the run is no matter.
const NOTICEABLE: f64 = 0.05;
/// From this share on the rate is that of the edges as much as of the load.
const LARGE: f64 = 0.33;
/// A shorter run is in doubt as a whole.
const SHORT_S: f64 = 1.0;
/// So many of the requests asked for make up a full load.
const FULL: f64 = 0.95;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D34,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D14],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// How long the load was not full.
struct Edges {
    asked: u64,
    /// Each has its own part of these in flight: the end begins where the first of them runs out.
    threads: usize,
    start_up_s: f64,
    drain_s: f64,
}

impl Edges {
    fn share(&self, run: &Run) -> f64 {
        (self.start_up_s + self.drain_s) / elapsed_s(run)
    }
}

fn on_run(run: &Run) -> Option<Finding> {
    let edges = edges(run)?;
    let share = edges.share(run);
    if share <= NOTICEABLE {
        return None;
    }
    let full_s = elapsed_s(run) - edges.start_up_s - edges.drain_s;
    let rate = if full_s > elapsed_s(run) * NOTICEABLE && run.record.responses > 0 {
        format!(
            " Without the edges the rate would be at most {}/s.",
            amount(run.record.responses as f64 / full_s)
        )
    } else {
        String::new()
    };
    let (cause, fix) = if edges.drain_s >= edges.start_up_s {
        (
            "All requests had been sent, and the run waited for the last ones: the slowest of \
             them decides how long.",
            format!(
                "End the run by time ({}) instead of by {}, or increase the number.",
                spelled(run, Opt::Duration),
                number_asked(run)
            ),
        )
    } else {
        (
            "Connections are opened one after another while the clock runs.",
            format!(
                "Exclude the beginning with {}, as long as the opening or longer.",
                spelled(run, Opt::Warmup)
            ),
        )
    };
    let evidence = format!("{}: {} of the run.{rate}", described(&edges), percent(share));
    let severity = if share >= LARGE { Severity::Suspect } else { Severity::Note };
    let finding = Finding::new(D34, severity, evidence, cause, fix);
    // One slow response at the end does the same to a run of minutes.
    let explained = severity == Severity::Note || elapsed_s(run) < SHORT_S;
    Some(if explained { finding } else { finding.not_explained_by(D14) })
}

fn seen(run: &Run) -> Option<String> {
    let edges = edges(run)?;
    if edges.start_up_s + edges.drain_s == 0.0 {
        return Some(format!(
            "For {} requests in flight, no time of the run went to opening connections one after another (--ramp), or to \
             waiting for the last requests.",
            grouped(edges.asked)
        ));
    }
    Some(format!("{}: {} of the run.", described(&edges), percent(edges.share(run))))
}

fn described(edges: &Edges) -> String {
    // An edge that the run does not have has no length.
    let edges_s = [(edges.start_up_s, "at the beginning"), (edges.drain_s, "at the end")];
    let there = edges_s.into_iter().filter(|(length_s, _)| *length_s > 0.0);
    let lengths = listed(there.map(|(length_s, at)| format!("{} {at}", time(length_s * 1e3))));
    let asked = grouped(edges.asked);
    match edges.threads {
        0 | 1 => format!("Fewer than 95 % of {asked} requests were in flight for {lengths}"),
        threads => format!(
            "A thread, of {threads}, had fewer than 95 % of its part of {asked} requests in flight for {lengths}"
        ),
    }
}

fn edges(run: &Run) -> Option<Edges> {
    let asked = asked_in_flight(run)?;
    let connections = &run.plan.connections;
    // Otherwise they all stand before the clock starts.
    let opens_in_the_window =
        connections.clock_starts == ClockStarts::BeforeConnecting || !connections.keep_alive;
    let ramp_s = if opens_in_the_window && run.plan.limits.warmup_ns == 0 {
        connections.ramp_ns as f64 / 1e9 * f64::from(run.plan.load.connections()) * FULL
    } else {
        0.0
    };
    (run.elapsed_ns > 0 && run.record.finished() > 0).then(|| Edges {
        asked,
        threads: run.workers.len(),
        start_up_s: ramp_s.min(elapsed_s(run)),
        drain_s: run.record.drain_ns.unwrap_or(0) as f64 / 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_long_end_is_noted_with_the_rate_without_it() {
        let mut run = sample::run();
        assert_eq!(on_run(&run), None);
        run.workers.truncate(1);
        run.record.drain_ns = Some(500_000_000);
        assert_eq!(on_run(&run), None);
        run.record.drain_ns = Some(2_000_000_000);
        let finding = on_run(&run).unwrap();
        let said = "requests were in flight for 2.00 s at the end: 20 % of the run.";
        assert!(finding.evidence.contains(said), "{finding:?}");
        // 20,000 responses in the other 8 s.
        assert!(finding.evidence.contains("at most 2,500/s"), "{finding:?}");
        assert!(finding.fix.contains("-d"), "{finding:?}");
        assert_eq!(finding.severity, Severity::Note);
        // All that the rate says is how long the last one took.
        run.record.drain_ns = Some(9_600_000_000);
        assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
        run.record.drain_ns = Some(2_000_000_000);
        sample::open_loop(&mut run, 2_000.0);
        assert_eq!(on_run(&run), None);
    }

    /// The end is counted from where the first of them runs out, when the others may have all of theirs.
    #[test]
    fn the_end_of_several_threads_is_said_to_be_of_one() {
        let mut run = sample::run();
        run.workers = vec![run.workers[0]; 4];
        run.record.drain_ns = Some(2_000_000_000);
        let finding = on_run(&run).unwrap();
        let said = "A thread, of 4, had fewer than 95 % of its part of";
        assert!(finding.evidence.starts_with(said), "{finding:?}");
        assert!(seen(&run).unwrap().starts_with(said));
    }

    #[test]
    fn no_edges_are_not_told_as_a_shortage() {
        let run = sample::run();
        let said = seen(&run).unwrap();
        assert!(!said.contains("Fewer"), "{said}");
        // How many were in flight in between is not looked at here.
        assert!(!said.contains("were in flight"), "{said}");
    }

    #[test]
    fn a_ramp_counts_only_while_the_clock_runs() {
        let mut run = sample::run();
        run.plan.connections.ramp_ns = 20_000_000;
        run.plan.connections.clock_starts = ClockStarts::AfterConnecting;
        assert_eq!(on_run(&run), None);
        run.plan.connections.keep_alive = false;
        // 100 connections, 20 ms apart, 95 of them.
        let evidence = on_run(&run).unwrap().evidence;
        assert!(evidence.contains("for 1.90 s at the beginning: 19 %"), "{evidence}");
        let mut with_drain = run.clone();
        with_drain.record.drain_ns = Some(100_000_000);
        let evidence = on_run(&with_drain).unwrap().evidence;
        assert!(evidence.contains("1.90 s at the beginning and 100 ms at the end"), "{evidence}");
        run.plan.limits.warmup_ns = 2_000_000_000;
        assert_eq!(on_run(&run), None);
    }
}
