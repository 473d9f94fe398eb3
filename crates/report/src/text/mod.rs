//! The native report: what a person reads on the terminal after a run. Turns an assessed run into lines;
//! `verdict` says whether they are to be believed, `outcome` says what came back, `latency` how long it took, `effort` what it cost here.

mod effort;
mod latency;
mod outcome;
mod profile;
mod style;
mod verdict;

use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, Run};

use crate::number::{counted, grouped, rate, time};
use crate::table::{sentence, wrapped};

pub(crate) use latency::figures as latency_table;
pub use style::Style;
pub(crate) use verdict::SAID_BY_THE_LIMIT;

/// The report, ending in a newline.
pub fn write(assessed: &Assessed, style: &Style) -> String {
    let Assessed { run, judged } = assessed;
    let mut lines = verdict::lines(judged, style);
    lines.extend(head(run, style));
    lines.push(String::new());
    lines.extend(outcome::lines(run, style));
    lines.push(String::new());
    lines.extend(latency::lines(run, style));
    lines.push(String::new());
    lines.extend(effort::lines(run, judged.little, style));
    lines.extend(profile::lines(run, style));
    lines.extend(remark_on_load(run, style));
    lines.dedup_by(|second, first| second.is_empty() && first.is_empty());
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// What was asked for and with what, in a line.
pub(crate) fn load_in_words(run: &Run) -> String {
    let mut items = head_items(run)[1..].to_vec();
    items.extend(crate::proxy::in_words(run).unwrap_or_default());
    items.extend(crate::tls::in_words(run).unwrap_or_default());
    items.join(" · ")
}

/// What was asked for, of whom, and with what.
fn head(run: &Run, style: &Style) -> Vec<String> {
    let items = head_items(run);
    let mut lines = wrapped("", &items, " · ", style.width);
    if let Some(items) = crate::proxy::in_words(run) {
        lines.extend(wrapped("", &items, " · ", style.width));
    }
    if let Some(items) = crate::tls::in_words(run) {
        lines.extend(wrapped("", &items, " · ", style.width));
    }
    if let Some(items) = crate::http2::in_words(run) {
        lines.extend(wrapped("", &items, " · ", style.width));
    }
    if let Some(text) = particulars(run) {
        lines.extend(sentence("", &text, style.width).iter().map(|line| style.dim(line)));
    }
    if let Some(reason) = &run.backend.fallback_reason {
        let name = run.backend.name;
        let text = format!("{name} instead of io_uring: {reason}");
        lines.extend(sentence("", &text, style.width).iter().map(|line| style.warning(line)));
    }
    let after = time(run.elapsed_ns as f64);
    match run.ended {
        Ended::Complete => {}
        Ended::Interrupted => {
            lines
                .push(style.warning(&format!("interrupted after {after}: the results up to then")));
        }
        Ended::Hopeless => {
            lines.push(style.error("given up: not one connection could be made"));
        }
        Ended::Failed => {
            let text = format!("failed after {after}, a bug in ablaze: the results up to then");
            lines.push(style.error(&text));
        }
    }
    lines
}

fn head_items(run: &Run) -> [String; 4] {
    let plan = &run.plan;
    let keep = match (plan.connections.keep_alive, plan.connections.requests_per_connection) {
        (false, _) => "a connection per request".to_string(),
        (true, Some(requests)) => format!("keep-alive, {} per connection", grouped(requests)),
        (true, None) => "keep-alive".to_string(),
    };
    let load = load(plan);
    [
        format!("{} {}", plan.requests.method, plan.target.url),
        format!("HTTP/{} {keep}", plan.http_version()),
        load,
        format!("{}, {}", counted(plan.workers.count.into(), "thread"), run.backend.name),
    ]
}

/// The shape of the load in words.
fn load(plan: &Plan) -> String {
    match plan.load {
        Load::Closed { connections, pipeline } => {
            let mut text = format!("closed loop, {}", counted(connections.into(), "connection"));
            if pipeline > 1 {
                let what = if plan.http2.is_some() { "streams" } else { "pipelined requests" };
                text.push_str(&format!(" × {pipeline} {what}"));
            }
            text
        }
        Load::Open { rate, arrivals, connections, bounded } => {
            let spacing = match arrivals {
                Arrivals::Constant => "evenly spaced",
                Arrivals::Poisson => "Poisson",
            };
            let mut text = format!("open loop, {}", asked_rate(rate));
            text.push_str(&format!(" {spacing}"));
            if bounded {
                text.push_str(&format!(", at most {}", counted(connections.into(), "connection")));
            }
            if let Some(http2) = plan.http2 {
                text.push_str(&format!(", up to {} each", counted(http2.streams.into(), "stream")));
            }
            text
        }
    }
}

fn asked_rate(asked: RateProfile) -> String {
    let RateProfile { from_per_s, to_per_s, steps } = asked;
    match steps {
        _ if asked.is_constant() => format!("{}/s", rate(from_per_s)),
        0 | 1 => format!("{}/s to {}/s", rate(from_per_s), rate(to_per_s)),
        steps => format!("{}/s to {}/s in {steps} steps", rate(from_per_s), rate(to_per_s)),
    }
}

/// Where the connections really went, where the URL does not show it, and why so many threads.
fn particulars(run: &Run) -> Option<String> {
    let plan = &run.plan;
    let mut items = Vec::new();
    let named = run.connected_to.trim_start_matches('[').starts_with(&plan.target.host);
    if !run.connected_to.is_empty() && !named && plan.target.proxy.is_none() {
        items.push(format!("connected to {}", run.connected_to));
    }
    if !plan.workers.count_reason.is_empty() && plan.workers.count_reason != "as asked" {
        let threads = counted(plan.workers.count.into(), "thread");
        items.push(format!("{threads}: {}", plan.workers.count_reason));
    }
    (!items.is_empty()).then(|| items.join(" · "))
}

/// What the shape of the load means for the figures.
fn remark_on_load(run: &Run, style: &Style) -> Vec<String> {
    if run.record.answers == 0 {
        return Vec::new();
    }
    let asks = match run.plan.load {
        Load::Closed { connections: 1, .. } => "the connection waits".to_string(),
        Load::Closed { connections, .. } => {
            format!("each of the {} connections waits", grouped(connections.into()))
        }
        Load::Open { .. } => {
            let remark = "Open loop: response counts from when a request was due, service from \
                          when it was sent or began to connect; lag lies between the two.";
            let lines = sentence("  ", remark, style.width.min(100));
            return lines.into_iter().map(|line| style.dim(&line)).collect();
        }
    };
    let remark = format!(
        "Closed loop: {asks} for its answer before it asks again, so a slower server is asked less \
         often. Users who do not wait would see longer times."
    );
    let lines = sentence("  ", &remark, style.width.min(100));
    lines.into_iter().map(|line| style.dim(&line)).collect()
}

#[cfg(test)]
mod tests;
