//! A run by a number of requests of which one took most of the run: while it was waited for, there may have been no other to send.

use crate::printed::Report;
use crate::rules::arithmetic;
use crate::words::{amount, grouped, time};

/// Of this share of the run and more, one response is most of it.
const MOST: f64 = 0.5;

/// So many times as long as that one a run has to be.
const TIMES: f64 = 10.0;
/// Below this share of what was asked for few were in flight.
const FEW: f64 = 0.5;
/// Of fewer requests for each place any may take most of the run.
const FEWEST_EACH: u64 = 10;

/// In words, and how long the run has to be.
pub(super) fn found(report: &Report) -> Option<(String, f64)> {
    let (asked, complete) = (report.asked()?, report.complete?);
    let timed = report.asked_s.is_some() || report.command.as_ref().is_some_and(|line| line.timed);
    let counts = report.tool.has_ab_labels() && !timed && !report.is_paced();
    if !counts || asked < 2 || complete < asked.saturating_mul(FEWEST_EACH) {
        return None;
    }
    let (_, high) = arithmetic::in_flight(report)?;
    let (longest_ms, taken_ms) = (report.max_ms()?.value, report.taken_s?.value * 1e3);
    if high >= asked as f64 * FEW || longest_ms < taken_ms * MOST {
        return None;
    }
    let said = format!(
        "One response took {} of the {} of the run, with less than {} in flight on average, while {} were requested: once no request \
         is left to send, the others wait for the last.",
        time(longest_ms),
        time(taken_ms),
        amount(high),
        grouped(asked),
    );
    Some((said, longest_ms / 1e3 * TIMES))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::{D01, D14, D18};
    use crate::finding::Severity;
    use crate::printed::read;
    use crate::rules::judge;

    /// 10,000 requests in 5.4 s, of which one took 5 s, and 69 connections that were closed.
    fn ab(command: &str, longest: &str) -> String {
        format!(
            "$ ab {command} http://h/\nServer Software:        Apache\nServer Hostname:        h\nServer Port:            80\n\n\
             Document Path:          /\nDocument Length:        2 bytes\n\nConcurrency Level:      100\n\
             Time taken for tests:   5.414 seconds\nComplete requests:      10000\nFailed requests:        1\n\
             \x20  (Connect: 0, Receive: 0, Length: 1, Exceptions: 0)\nKeep-Alive requests:    9931\n\
             Total transferred:      2296877 bytes\nHTML transferred:       19998 bytes\n\
             Requests per second:    1846.98 [#/sec] (mean)\nTime per request:       54.143 [ms] (mean)\n\n\
             Connection Times (ms)\n              min  mean[+/-sd] median   max\n\
             Total:          0   15 206.6      3    {longest}\n\n\
             Percentage of the requests served within a certain time (ms)\n  50%      3\n  99%     30\n 100%   {longest} (longest request)\n"
        )
    }

    #[test]
    fn one_response_that_takes_most_of_the_run_leaves_the_others_idle() {
        let found = |text: &str| judge(&read(text)).reports.remove(0).findings;
        let findings = found(&ab("-k -c 100 -n 10000", "5001"));
        let finding = findings.iter().find(|one| one.id == D14).unwrap();
        let said = "One response took 5.00 s of the 5.41 s of the run, with less than 28.6 in flight on average, while 100 were";
        assert!(finding.evidence.contains(said), "{finding:?}");
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.fix.contains("(-t 51 -n 1000000,"), "{finding:?}");
        assert!(findings.iter().all(|one| one.id != D01), "{findings:?}");
        // The page whose length differs is whole.
        assert!(
            findings
                .iter()
                .any(|one| one.id == D18 && one.evidence.contains("69 closes, one in 144.9")),
            "{findings:?}"
        );
        // A run by time goes on with the others: then they were not used.
        let by_time = found(&ab("-k -c 100 -t 5", "5001"));
        assert!(by_time.iter().any(|one| one.id == D01) && by_time.iter().all(|one| one.id != D14));
    }
}
