//! The live line on a terminal: how far the run is, how fast, and when it will end. Written over
//! itself on stderr and erased at the end, so that nothing of it stays in the way.

use std::io::{IsTerminal, Write};

use ablaze_engine::Progress;
use ablaze_model::Plan;
use ablaze_report::number::{grouped, rate, time};

use crate::carry_out::{Silent, Watcher};
use crate::outputs::colour_wanted;

/// Shows one line on stderr.
pub struct LiveLine {
    requests: Option<u64>,
    duration_ns: Option<u64>,
    colour: bool,
    shown: bool,
}

/// The native watcher: a live line if stderr is a terminal, else silence.
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
        if !progress.measuring {
            return "connecting, warming up…".to_owned();
        }
        let mut pieces = vec![format!("{} /s", rate(progress.recent_rate_per_s))];
        if progress.recent_p99_ns > 0 {
            pieces.push(format!("p99 {}", time(progress.recent_p99_ns as f64)));
        }
        pieces.push(match (progress.failures, self.colour) {
            (0, _) => "no errors".to_owned(),
            (failures, false) => format!("{} errors", grouped(failures)),
            (failures, true) => format!("\x1b[31m{} errors\x1b[0m", grouped(failures)),
        });
        pieces.push(format!("{} done", grouped(progress.responses + progress.failures)));
        if let Some(left_ns) = self.left_ns(progress) {
            pieces.push(format!("{} left", whole_seconds(left_ns)));
        }
        pieces.join(" · ")
    }

    /// Time to the end that comes first, if it can be foreseen.
    fn left_ns(&self, progress: &Progress) -> Option<u64> {
        let by_time = self.duration_ns.map(|duration| duration.saturating_sub(progress.elapsed_ns));
        let by_count = self.requests.filter(|_| progress.recent_rate_per_s > 0.0).map(|requests| {
            let left = requests.saturating_sub(progress.responses + progress.failures);
            (left as f64 / progress.recent_rate_per_s * 1e9) as u64
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
    use super::*;

    fn line(requests: Option<u64>, duration_s: Option<u64>) -> LiveLine {
        let duration_ns = duration_s.map(|seconds| seconds * 1_000_000_000);
        LiveLine { requests, duration_ns, colour: false, shown: false }
    }

    const HALF_WAY: Progress = Progress {
        measuring: true,
        elapsed_ns: 4_000_000_000,
        responses: 400_000,
        failures: 1_234,
        recent_rate_per_s: 100_000.4,
        recent_p99_ns: 1_234_567,
    };

    #[test]
    fn the_line_tells_rate_p99_errors_and_time_left() {
        let expected = "100,000 /s · p99 1.23 ms · 1,234 errors · 401,234 done · 6 s left";
        assert_eq!(line(None, Some(10)).line(&HALF_WAY), expected);
    }

    #[test]
    fn what_ends_first_counts_for_the_time_left() {
        let left = |requests, duration| line(requests, duration).left_ns(&HALF_WAY);
        assert_eq!(left(None, Some(3)), Some(0));
        assert_eq!(left(None, None), None);
        let by_count = left(Some(501_234), Some(10)).unwrap();
        assert!((990_000_000..1_000_000_000).contains(&by_count), "{by_count}");
    }

    #[test]
    fn time_left_is_rounded_up_in_the_unit_that_fits() {
        assert_eq!(whole_seconds(1), "1 s");
        assert_eq!(whole_seconds(100_000_000), "1 s");
        assert_eq!(whole_seconds(119_500_000_000), "2 min");
        assert_eq!(whole_seconds(3_600_000_000_000), "60 min");
    }
}
