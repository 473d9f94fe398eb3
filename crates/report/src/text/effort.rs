//! What the run cost this machine, and whether the tester stood in its own way.

use ablaze_model::Run;
use ablaze_model::finding::LittleGap;

use super::Style;
use crate::effort::{self, Effort};
use crate::number::{grouped, percent, significant, time, time_in, time_unit};
use crate::table::sentence;

/// More threads than this are summed up.
const THREADS_LISTED: usize = 8;

/// The lines on the tester's own effort.
pub(super) fn lines(run: &Run, gap: Option<LittleGap>, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let facts = [
        ("CPU per request", cpu(run)),
        ("tester busy", busy(run)),
        ("client delay", delay(run)),
        ("connections idle", resting(run)),
    ];
    for (label, text) in facts {
        lines.extend(text.map(|text| labelled(label, &text, style)).unwrap_or_default());
    }
    if let Some(text) = gap.map(little) {
        lines.extend(labelled("in flight", &text, style).iter().map(|line| style.warning(line)));
    }
    lines
}

fn labelled(label: &str, text: &str, style: &Style) -> Vec<String> {
    sentence(&format!("  {label:<17}  "), text, style.width)
}

/// `server 4.6 µs (nginx, pid 4711)    tester 3.6 µs (0.2 user, 3.4 kernel)`.
fn cpu(run: &Run) -> Option<String> {
    let effort = Effort::of(run)?;
    let (unit_ns, unit) = time_unit(effort.cpu_ns);
    let part = |ns: f64| significant(ns / unit_ns, if ns < unit_ns { 1 } else { 2 });
    let parts = format!("{} user, {} kernel", part(effort.user_ns), part(effort.system_ns));
    let text = if effort.spun_ns > 0.0 {
        let work = time_in(effort.work_ns(), unit_ns);
        let spun = time_in(effort.spun_ns, unit_ns);
        format!("tester {work} {unit} of work and {spun} {unit} of active waiting ({parts})")
    } else {
        format!("tester {} {unit} ({parts})", time_in(effort.cpu_ns, unit_ns))
    };
    let server = effort::of_the_server(run)
        .map(|(server_ns, name)| {
            format!("{} {} ({name})    ", crate::proxy::watched(run), time(server_ns))
        })
        .unwrap_or_default();
    Some(format!("{server}{text}"))
}

/// How much of their time the threads worked.
fn busy(run: &Run) -> Option<String> {
    let shares: Vec<f64> = run
        .workers
        .iter()
        .filter(|worker| worker.window_ns > 0)
        .map(|worker| worker.busy_ns as f64 / worker.window_ns as f64)
        .collect();
    let text = match shares.as_slice() {
        [] => return None,
        [one] => format!("{} of its one thread's time", percent(*one, 1.0)),
        some if some.len() <= THREADS_LISTED => {
            let listed: Vec<String> = some.iter().map(|share| percent(*share, 1.0)).collect();
            format!("{} of its threads' time", listed.join(" · "))
        }
        many => {
            let least = many.iter().copied().fold(f64::INFINITY, f64::min);
            let most = many.iter().copied().fold(0.0, f64::max);
            let (least, most) = (percent(least, 1.0), percent(most, 1.0));
            format!("{least} to {most} of its {} threads' time", grouped(many.len() as u64))
        }
    };
    Some(text)
}

/// How long an answer that had arrived lay in the tester, and what share of the times that is.
fn delay(run: &Run) -> Option<String> {
    let age = &run.record.event_age;
    let p50_ns = age.quantile_ns(0.5)?;
    let p99 = age.supported_quantile_ns(0.99).map(|ns| format!(", p99 {}", time(ns as f64)));
    let total_ns = run.record.answered.total.quantile_ns(0.5).filter(|ns| *ns > 0);
    let share = total_ns.map(|total_ns| {
        format!(" ({} of the median time)", percent(p50_ns as f64, total_ns as f64))
    });
    Some(format!(
        "at most p50 {}{}{} from an answer's arrival to its handling",
        time(p50_ns as f64),
        share.unwrap_or_default(),
        p99.unwrap_or_default()
    ))
}

/// How long the tester left connections without a request: in no latency, but in the rate.
fn resting(run: &Run) -> Option<String> {
    let share = effort::resting(run)?;
    Some(format!("{} of the time, between an answer and the next request", percent(share, 1.0)))
}

/// Only when the requests in flight and their times do not fit together.
fn little(LittleGap { measured, expected }: LittleGap) -> String {
    format!(
        "{} measured, {} by rate × mean time (Little's law): they should agree, so doubt the times",
        significant(measured, 3),
        significant(expected, 3)
    )
}
