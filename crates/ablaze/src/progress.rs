//! The live line on a terminal: how far the run is, how fast, and when it will end. Written over
//! itself on stderr and erased at the end, so that nothing of it stays in the way.

use std::io::{IsTerminal, Write};

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_report::number::{grouped, rate, time};

use crate::carry_out::{Silent, Watcher};
use crate::error::note;
use crate::live::{Asked, LiveView, Saving, Steering};
use crate::report_options::ReportOptions;
use crate::terminal::colour_wanted;

/// Shows one line on stderr.
pub struct LiveLine {
    requests: Option<u64>,
    duration_ns: Option<u64>,
    colour: bool,
    shown: bool,
}

/// The watcher of `ablaze load`: the live view where there is room for it or it was asked for, else the line. The view shows
/// the address of the page for browsers.
pub fn native_watcher(
    plan: &Plan,
    report: &ReportOptions,
    steering: &Steering,
    address: Option<String>,
) -> Box<dyn Watcher> {
    let asked = if report.quiet || report.no_live {
        Asked::No
    } else if report.live {
        Asked::Yes
    } else {
        Asked::IfRoom
    };
    match LiveView::of(plan, asked, steering, Saving::beside(&report.outputs)) {
        Ok(mut view) => {
            view.show_address(address);
            return Box::new(view);
        }
        Err(reason) if asked == Asked::Yes => note(&format!("--live has no effect: {reason}")),
        Err(_) => {}
    }
    watcher(plan, report.quiet)
}

/// Says that a command with another tool's words has its own progress, if the view was asked for.
pub fn note_no_view(report: &ReportOptions) {
    if report.live {
        note("--live has no effect: only `ablaze load` has a live view");
    }
}

/// A live line if stderr is a terminal, else silence.
pub fn watcher(plan: &Plan, quiet: bool) -> Box<dyn Watcher> {
    let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    if quiet || dumb || !std::io::stderr().is_terminal() {
        return Box::new(Silent);
    }
    Box::new(LiveLine {
        // Of journeys it is not known how many requests they come to.
        requests: plan.limits.requests.filter(|_| plan.journey.is_none()),
        duration_ns: plan.limits.duration_ns,
        colour: colour_wanted(),
        shown: false,
    })
}

impl LiveLine {
    fn line(&self, progress: &Progress) -> String {
        if !progress.has_started() {
            return "connecting, warming up…".to_owned();
        }
        let recent = progress.recent();
        let mut pieces = vec![format!("{} /s", rate(recent.rate_per_s()))];
        if let Some(p99_ns) = recent.quantile_ns(0.99) {
            pieces.push(format!("p99 {}", time(p99_ns as f64)));
        }
        pieces.push(match (progress.so_far.failures_total(), self.colour) {
            (0, _) => "no errors".to_owned(),
            (failures, false) => format!("{} errors", grouped(failures)),
            (failures, true) => format!("\x1b[31m{} errors\x1b[0m", grouped(failures)),
        });
        pieces.push(format!("{} done", grouped(progress.so_far.finished())));
        if let Some(left_ns) = self.left_ns(progress, recent.rate_per_s()) {
            pieces.push(format!("{} left", whole_seconds(left_ns)));
        }
        pieces.join(" · ")
    }

    /// Time to the end that comes first, if it can be foreseen.
    fn left_ns(&self, progress: &Progress, rate_per_s: f64) -> Option<u64> {
        let by_time = self.duration_ns.map(|duration| duration.saturating_sub(progress.elapsed_ns));
        let by_count = self.requests.filter(|_| rate_per_s > 0.0).map(|requests| {
            let left = requests.saturating_sub(progress.so_far.finished());
            (left as f64 / rate_per_s * 1e9) as u64
        });
        [by_time, by_count].into_iter().flatten().min()
    }
}

impl Watcher for LiveLine {
    fn tick(&mut self, progress: &Progress) {
        self.shown = true;
        let line = self.line(progress);
        // Erased to its end after writing, so that it does not flicker; without wrapping (?7l), so
        // that a narrow terminal clips it instead of scrolling.
        let _ = write!(std::io::stderr(), "\r\x1b[?7l{line}\x1b[K\x1b[?7h");
    }

    fn finish(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn whole_seconds(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::progress::{Interval, Stage};
    use ablaze_stats::{Latency, touched};

    use super::*;

    fn line(requests: Option<u64>, duration_s: Option<u64>) -> LiveLine {
        let duration_ns = duration_s.map(|seconds| seconds * 1_000_000_000);
        LiveLine { requests, duration_ns, colour: false, shown: false }
    }

    /// 4 s into a run that gives 100,000 responses a second, 99 of 100 within 1 ms.
    fn half_way() -> Progress {
        let mut progress = Progress::default();
        for slice in 0..40 {
            progress.hear(second_tenth(slice));
        }
        (progress.stage, progress.elapsed_ns) = (Stage::Measuring, 4_000_000_000);
        progress
    }

    fn second_tenth(slice: u64) -> Interval {
        let mut times = Latency::new(touched::DIGITS);
        times.record_many(1_000_000, 9_900);
        times.record_many(5_000_000, 100);
        let mut interval = Interval {
            from_ns: slice * 100_000_000,
            to_ns: (slice + 1) * 100_000_000,
            responses: 10_000,
            max_ns: 5_000_000,
            ..Interval::default()
        };
        interval.failures[0] = 30;
        touched::append(&times, &mut interval.times);
        interval
    }

    #[test]
    fn the_line_tells_rate_p99_errors_and_time_left() {
        // The p99 is the highest value of a bucket that is 1 % wide at most.
        let expected = "100,000 /s · p99 1.00 ms · 1,200 errors · 401,200 done · 6 s left";
        assert_eq!(line(None, Some(10)).line(&half_way()), expected);
    }

    #[test]
    fn what_ends_first_counts_for_the_time_left() {
        let left = |requests, duration| line(requests, duration).left_ns(&half_way(), 100_000.0);
        assert_eq!(left(None, Some(3)), Some(0));
        assert_eq!(left(None, None), None);
        assert_eq!(left(Some(501_200), Some(10)), Some(1_000_000_000));
    }

    #[test]
    fn time_left_is_rounded_up_in_the_unit_that_fits() {
        assert_eq!(whole_seconds(1), "1 s");
        assert_eq!(whole_seconds(100_000_000), "1 s");
        assert_eq!(whole_seconds(119_500_000_000), "2 min");
        assert_eq!(whole_seconds(3_600_000_000_000), "60 min");
    }
}
