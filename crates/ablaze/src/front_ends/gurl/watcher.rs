//! gurl's lines while a run lasts: one for every tenth of the requests, or of the time.

use std::io::Write;

use ablaze_engine::Progress;
use ablaze_model::plan::Limits;

use crate::carry_out::Watcher;

/// Writes `Completed N requests`.
pub struct CompletedLines<W> {
    out: W,
    every: Every,
    /// Number of the line that comes next, from 1.
    next: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Every {
    /// Every this many requests.
    Requests(u64),
    /// Every this many nanoseconds.
    Time(u64),
    /// Never: too few requests.
    Never,
}

impl<W: Write + Send> CompletedLines<W> {
    /// For a run within these limits.
    pub fn new(limits: &Limits, out: W) -> Self {
        let every = match (limits.requests, limits.duration_ns) {
            // gurl: a tenth of the requests and at least 100, only for more than 150.
            (Some(requests), _) if requests > 150 => Every::Requests((requests / 10).max(100)),
            (Some(_), _) | (None, None) => Every::Never,
            (None, Some(duration_ns)) => Every::Time((duration_ns / 10).max(1)),
        };
        Self { out, every, next: 1 }
    }

    /// Writes the lines that are due after this many requests and this time.
    pub fn finished(&mut self, requests: u64, elapsed_ns: u64) {
        self.told(requests, elapsed_ns);
        if self.every != Every::Never {
            let _ = writeln!(self.out, "Finished {requests} requests");
        }
    }

    /// So many requests have finished after this time.
    fn told(&mut self, finished: u64, elapsed_ns: u64) {
        match self.every {
            Every::Requests(every) => self.completed_up_to(finished, every),
            Every::Time(every_ns) => {
                if self.next * every_ns <= elapsed_ns {
                    let _ = writeln!(self.out, "Completed {finished} requests");
                    self.next = elapsed_ns / every_ns + 1;
                }
            }
            Every::Never => {}
        }
    }

    fn completed_up_to(&mut self, requests: u64, every: u64) {
        while self.next * every <= requests {
            // With stdout closed there is no one left to tell.
            let _ = writeln!(self.out, "Completed {} requests", self.next * every);
            self.next += 1;
        }
    }
}

impl<W: Write + Send> Watcher for CompletedLines<W> {
    fn tick(&mut self, progress: &Progress) {
        self.told(progress.so_far.finished(), progress.elapsed_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(requests: Option<u64>, duration_ns: Option<u64>, ticks: &[(u64, u64)]) -> String {
        let limits = Limits {
            requests,
            duration_ns,
            warmup_ns: 0,
            timeout_ns: 0,
            max_head_bytes: 0,
            unreachable_after: 0,
        };
        let mut watcher = CompletedLines::new(&limits, Vec::new());
        for &(elapsed_ns, responses) in ticks {
            watcher.told(responses, elapsed_ns);
        }
        let (elapsed_ns, responses) = *ticks.last().unwrap();
        watcher.finished(responses, elapsed_ns);
        String::from_utf8(watcher.out).unwrap()
    }

    #[test]
    fn every_tenth_of_the_requests_is_told_even_if_many_pass_at_once() {
        let text = lines(Some(1000), None, &[(1, 50), (2, 230), (3, 1000)]);
        let told: Vec<&str> = text.lines().collect();
        assert_eq!(told.len(), 11);
        assert_eq!(told[0], "Completed 100 requests");
        assert_eq!(told[9], "Completed 1000 requests");
        assert_eq!(told[10], "Finished 1000 requests");
        assert_eq!(lines(Some(200), None, &[(1, 200)]).lines().count(), 3);
        assert_eq!(lines(Some(150), None, &[(1, 150)]), "");
    }

    #[test]
    fn with_a_duration_every_tenth_of_the_time_is_told() {
        let text =
            lines(None, Some(1000), &[(50, 1), (100, 2), (120, 3), (345, 4), (999, 8), (1000, 9)]);
        let expected = "Completed 2 requests\nCompleted 4 requests\nCompleted 8 requests\n\
                        Completed 9 requests\n\
                        Finished 9 requests\n";
        assert_eq!(text, expected);
    }
}
