//! The parts of the page of a run, in the order of the finished page.

use ablaze_chart::number::{grouped, rate, time_exact};
use ablaze_engine::Progress;
use ablaze_load::carry_out::WorkerProgress;
use ablaze_model::progress::Interval;
use ablaze_model::{Plan, Run};
use ablaze_monitor::{Present, Side};
use ablaze_report::page::live::{Bar, Part, State};

use crate::live::{Findings, Steering, limited_now, so_far};

/// The places of the page, from the top down.
pub const PLACES: [&str; 9] = [
    "state",
    "figures",
    "found",
    "over-time",
    "percentiles",
    "distribution",
    "outcome",
    "groups",
    "workers",
];

/// With this share of a core a thread has hardly any left.
const FULL: f64 = 0.95;

/// What the plan says of how far a run is.
#[derive(Debug)]
pub struct Facts {
    requests: Option<u64>,
    duration_ns: Option<u64>,
    /// Requests are the steps of journeys.
    walks: bool,
}

impl Facts {
    /// Of a plan.
    pub fn of(plan: &Plan) -> Self {
        Self {
            // Of journeys it is not known how many requests they come to.
            requests: plan.limits.requests.filter(|_| plan.journey.is_none()),
            duration_ns: plan.limits.duration_ns,
            walks: plan.journey.is_some(),
        }
    }

    /// How far it is, how busy both sides are, and what bounds the rate by now.
    pub fn state(
        &self,
        progress: &Progress,
        steering: &Steering,
        present: Option<&Present>,
    ) -> State {
        let mut state = State {
            text: self.how_far(progress),
            share: self.share(progress),
            is_paused: steering.is_paused(),
            ..State::default()
        };
        if progress.has_started() {
            let requested = steering.requested_per_s(progress.elapsed_ns);
            if let Some((lately, all)) = requested {
                let paused = if state.is_paused { "paused by hand · " } else { "" };
                let text = format!(
                    "{paused}{}/s in the last second, {}/s so far",
                    rate(lately),
                    rate(all)
                );
                state.rows.push(("requested".to_owned(), text));
            }
            let recent = progress.recent();
            state.rows.push(("last second".to_owned(), lately(&recent)));
            if let Some(present) = present {
                let requested = requested.map(|(lately, _)| lately).filter(|_| !self.walks);
                add_machine(&mut state, present, requested, &recent);
            }
        }
        state
    }

    fn how_far(&self, progress: &Progress) -> String {
        let elapsed = format!("{:.1} s", progress.elapsed_ns as f64 / 1e9);
        if !progress.has_started() {
            return "Connecting, warming up…".to_owned();
        }
        match (progress.stage, self.duration_ns, self.requests) {
            (ablaze_model::progress::Stage::Over, ..) => {
                "The run is over; its report is being written…".to_owned()
            }
            (_, Some(duration_ns), _) => format!("{elapsed} of {}", time_exact(duration_ns)),
            (_, None, Some(requests)) => {
                let done = grouped(progress.so_far.finished());
                format!("{elapsed}, {done} of {} requests", grouped(requests))
            }
            (_, None, None) => elapsed,
        }
    }

    /// By what ends it first.
    fn share(&self, progress: &Progress) -> Option<f64> {
        let share = |part: u64, whole: u64| (part as f64 / whole.max(1) as f64).clamp(0.0, 1.0);
        let by_time = self.duration_ns.map(|whole_ns| share(progress.elapsed_ns, whole_ns));
        let by_count = self.requests.map(|whole| share(progress.so_far.finished(), whole));
        let far = by_time.into_iter().chain(by_count).reduce(f64::max)?;
        progress.has_started().then_some(far)
    }
}

fn lately(recent: &Interval) -> String {
    let mut items = vec![format!("{}/s", rate(recent.rate_per_s()))];
    for (name, q) in [("p50", 0.5), ("p99", 0.99)] {
        let ns = recent.quantile_ns(q).map(|ns| ns as f64);
        items.extend(ns.map(|ns| format!("{name} {}", ablaze_chart::number::time(ns))));
    }
    items.push(match recent.failures_total() {
        0 => "no errors".to_owned(),
        failures => format!("{} errors", grouped(failures)),
    });
    items.join(" · ")
}

fn add_machine(state: &mut State, present: &Present, requested: Option<f64>, recent: &Interval) {
    let bar = |name: &str, side: &Side| Bar {
        name: name.to_owned(),
        share: side.busiest,
        text: match side.threads {
            1 => format!("{}, its one thread", side.name),
            threads => format!(
                "{}, the busiest of {threads} threads; {:.2} cores in all",
                side.name, side.cores
            ),
        },
        is_full: name.starts_with("server") && side.busiest >= FULL,
    };
    state.bars.extend(present.client.as_ref().map(|side| bar("client CPU", side)));
    state.bars.extend(present.server.as_ref().map(|side| bar("server CPU", side)));
    let text = match limited_now(present, requested, recent) {
        _ if state.is_paused => "paused by hand".to_owned(),
        Some(limited) => limited.to_string(),
        None => "not shown by the last second; the finished page says more".to_owned(),
    };
    state.rows.push(("limit now".to_owned(), text));
}

/// Everything below the state.
pub fn of_run(run: &Run, workers: &[WorkerProgress], findings: &Findings) -> Vec<Part> {
    let remark = "Figures of a run that goes on are those of buckets 1 % wide; the finished page has them exactly.";
    let sections = so_far::sections(run, workers, findings, remark);
    sections.into_iter().map(|(place, sections)| Part::of(place, &sections)).collect()
}
