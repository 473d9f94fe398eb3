//! The native report: what a person reads on the terminal after a run. Turns an assessed run into lines. What people
//! look for comes first: the verdict (`verdict`), what was asked (`load`), the figures that matter most and what
//! came back (`outcome`); then what the verdict stands on, how long it took (`latency`, by group in `groups`, by machine in `fleet`), and what
//! else there is to know (`details`, `profile`).

mod checks;
mod details;
mod first_rows;
mod fleet;
mod groups;
mod latency;
mod load;
mod outcome;
mod profile;
mod style;
mod verdict;

use ablaze_model::plan::Load;
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, Run};

use crate::number::{grouped, time};
use crate::table::sentence;

pub use latency::edges;
pub(crate) use latency::figures as latency_table;
pub(crate) use load::in_words as load_in_words;
pub use load::{of_plan, what as what_was_loaded};
pub use style::Style;
pub(crate) use verdict::SAID_BY_THE_LIMIT;

/// The report, ending in a newline.
pub fn write(assessed: &Assessed, style: &Style) -> String {
    let Assessed { run, judged } = assessed;
    let mut lines = verdict::first(judged, style);
    lines.extend(load::lines(run, style));
    lines.extend(ended(run, style));
    let changed = crate::rate_changes::in_words(run);
    lines.extend(changed.into_iter().flat_map(|text| {
        let lines = sentence("", &text, style.width);
        lines.into_iter().map(|line| style.warning(&line)).collect::<Vec<_>>()
    }));
    lines.push(String::new());
    lines.extend(outcome::lines(run, style));
    lines.push(String::new());
    lines.extend(verdict::findings(judged, style));
    lines.push(String::new());
    lines.extend(checks::sample(run, style));
    lines.push(String::new());
    lines.extend(latency::lines(run, style));
    lines.push(String::new());
    lines.extend(groups::lines(run, style));
    lines.push(String::new());
    lines.extend(fleet::lines(run, style));
    lines.push(String::new());
    lines.extend(details::lines(run, judged.little, style));
    lines.extend(profile::lines(run, style));
    if style.explain {
        lines.extend(remark_on_load(run, style));
    }
    lines.dedup_by(|second, first| second.is_empty() && first.is_empty());
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// Why the figures are not of all that was asked for.
fn ended(run: &Run, style: &Style) -> Option<String> {
    let after = time(run.elapsed_ns as f64);
    match run.ended {
        Ended::Complete => None,
        // While connecting, or making the first request ready.
        Ended::Interrupted if run.elapsed_ns == 0 => {
            Some(style.warning(match run.plan.sends_before_clock() {
                true => "interrupted before the clock started",
                false => "interrupted before the first request",
            }))
        }
        Ended::Interrupted => {
            Some(style.warning(&format!("interrupted after {after}: results up to then")))
        }
        Ended::Unreachable => {
            Some(style.error(&format!("gave up: {}", crate::gave_up::in_words(run))))
        }
        Ended::Failed => {
            let text = format!("failed after {after}, a bug in ablaze: results up to then");
            Some(style.error(&text))
        }
    }
}

/// What the shape of the load means for the figures.
fn remark_on_load(run: &Run, style: &Style) -> Vec<String> {
    if run.record.responses == 0 {
        return Vec::new();
    }
    let asks = match run.plan.load {
        Load::Closed { connections: 1, .. } => "the connection waits".to_string(),
        Load::Closed { connections, .. } => {
            format!("each of the {} connections waits", grouped(connections.into()))
        }
        Load::Open { .. } => {
            let remark = "Open loop: response is measured from when a request was due, service \
                          from when it was sent or started to connect; lag is the difference.";
            let lines = sentence("  ", remark, style.width.min(100));
            return lines.into_iter().map(|line| style.dim(&line)).collect();
        }
    };
    let remark = format!(
        "Closed loop: {asks} for its response before it sends the next request, so a slower server gets \
         fewer. Users who do not wait would see longer times."
    );
    let lines = sentence("  ", &remark, style.width.min(100));
    lines.into_iter().map(|line| style.dim(&line)).collect()
}

#[cfg(test)]
mod tests;
