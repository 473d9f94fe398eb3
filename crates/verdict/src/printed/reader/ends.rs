//! Where a report, or what began as one, ends: what is kept of it, and which command and which words beside it are its own.

use super::super::current::Current;
use super::super::finish::{finish, fits, says_that_it_runs};
use super::super::repeated::repeats;
use super::super::{AB_FINISHED, Begun, Command, LoneRate, Printed, PrintedVerdict, Report, Tool};
use super::{Beside, Reader};

impl Reader {
    /// Takes a report that was read already.
    pub(super) fn whole(&mut self, report: Report) {
        self.close();
        self.ended();
        self.begin(report, None);
        self.close();
    }

    /// An empty line: what follows is no part of a finding above.
    pub(super) fn ends_a_finding(&mut self) {
        let current = self.current.as_mut().and_then(|current| current.report.said.as_mut());
        self.said.iter_mut().chain(current).for_each(PrintedVerdict::ends_a_finding);
    }

    /// Takes an error for the end of its run: no report has come.
    pub(super) fn ended(&mut self) {
        if let Some(mut abort) = self.abort.take() {
            abort.command = self.command.take().filter(|above| fits(above.program, abort.tool));
            self.text.aborts.push(abort);
        }
    }

    /// Gives what was said beside a report to the one it is of.
    pub(super) fn told(&mut self) {
        let Beside { said, handshakes, of } = std::mem::take(&mut self.beside);
        let Some(report) = of.and_then(|of| self.text.reports.get_mut(of)) else { return };
        // In the form of the others it does not say who printed it; in that of ab its first lines do, which may be left out.
        let may_be_of_ablaze = report.command.as_ref().is_none_or(Command::is_of_ablaze);
        let in_form_of_a_peer = !report.tool.has_ab_labels() && may_be_of_ablaze;
        if report.tool == Tool::Ab && !report.announced && may_be_of_ablaze && said.is_some() {
            report.tool = Tool::AblazeAb;
        }
        if report.tool.is_ablaze_in_other_form() || in_form_of_a_peer {
            report.said = report.said.take().or(said);
        } else if report.tool == Tool::Ab {
            report.handshakes = handshakes;
        }
    }

    /// Ends the report that is being read, and keeps what it is.
    pub(super) fn close(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        let command = current.command.take();
        let is_above_heading = command.is_some();
        self.command = command.or(self.command.take());
        self.keep(current);
        if is_above_heading {
            self.command = None;
        }
    }

    pub(super) fn keep(&mut self, current: Current) {
        let mut report = current.report;
        // It says nothing else.
        if let [finished] = current.finished[..]
            && Some(finished) != report.complete
        {
            report.own.push((AB_FINISHED, Printed { value: finished as f64, step: 0.0 }));
        }
        if report.rate().is_none() && report.complete.is_none() {
            let is_labelled = !current.seen.is_empty();
            // wrk prints its table of times before its counts.
            let has_head = is_labelled || report.total.is_some() || !report.percentiles.is_empty();
            let begun = if is_labelled { report.announced } else { says_that_it_runs(report.tool) };
            if begun && self.abort.is_none() {
                let (line, tool) = (report.line, report.tool);
                let command = self.command.take().filter(|above| fits(above.program, tool));
                self.text.begun.push(Begun { line, tool, has_head, command });
            }
            return;
        }
        let last = self.text.reports.last().filter(|_| self.command.is_none());
        if last.is_some_and(|last| repeats(&report, last)) {
            return;
        }
        let lone = current.seen.len() == 1;
        let command = match lone {
            true => self.command.clone().filter(|command| fits(command.program, report.tool)),
            false => self.listed.of_report(self.command.take(), &report, &current.seen),
        };
        match report.rate_per_s {
            Some(rate_per_s) if lone => {
                let (line, label) = (report.line, report.label);
                let (of_several, looped) = (false, None);
                let rate = LoneRate { line, label, rate_per_s, command, of_several, looped };
                self.text.rates.push(rate);
            }
            _ => {
                report.command = command;
                self.abort = None;
                finish(&mut report, &current.seen);
                if self.beside.of.is_some() {
                    // What is said between two may be of either; it is said behind the report.
                    self.told();
                }
                self.beside.of = Some(self.text.reports.len());
                self.text.reports.push(report);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    /// A journey's report has one of the responses that failed below its findings.
    #[test]
    fn what_failed_is_no_part_of_the_finding_above() {
        let text = "SUSPECT · limit unknown: of 2 CPUs the server used 0.562\n\
                    journey j.hurl, 3 steps, to http://127.0.0.1:19301/\nHTTP/1.1 keep-alive · closed loop, 4 users · 1 thread\n\n  \
                    276 requests/s    p50 436 µs   p95 50.9 ms   p99 -   max 55.9 ms   errors 0\n  \
                    276 responses in 1.000 s · 200: 256 · 503: 20 · 42.3 KiB/s\n\n  \
                    D04  error pages: 20 of 276 responses (7.2 %) did not succeed: 503\n       (20×).\n  \
                    note D14 too short: The run took 1.00 s.\n\n1 of 20 responses that failed\n  \
                    GET /#2: request 0, status 503, after 1.20 ms, 1.77 ms after the start:\n    \
                    line 7: the status is 503, not 200\n  > GET / HTTP/1.1\n  < HTTP/1.1 503 No\n  <\n  < busy\n\n              \
                    mean     p50      p75      p90      p95  p99  p99.9      max\n  \
                    total    14.3 ms  436 µs  50.2 ms  50.7 ms  50.9 ms    -      -  55.9 ms\n";
        let report = read(text).reports.remove(0);
        let said = report.said.unwrap();
        let words: Vec<&str> = said.findings.iter().map(|finding| finding.text.as_str()).collect();
        let first = "20 of 276 responses (7.2 %) did not succeed: 503 (20×).";
        assert_eq!(words, [first, "The run took 1.00 s."]);
        assert!(report.total.is_some());
    }
}
