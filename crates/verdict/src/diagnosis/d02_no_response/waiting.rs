//! wrk2's `timeout`: from time to time it looks at all connections, and counts those whose latest request was begun longer ago
//! than `--timeout`. One that waits is counted at each look, so these are no requests, and one that has nothing to send
//! counts as well.

use super::SHARE;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, Tool};
use crate::words::{decimal, grouped, percent, seconds, time};

/// It looks every 2 s, for the first time that long after it has begun, and later by this for each connection of a thread.
const LOOK_S: f64 = 2.0;
const PER_CONNECTION_S: f64 = 0.005;
/// `--timeout` where the command has none.
const TIMEOUT_S: f64 = 2.0;

/// Connections that were found to wait at more than a hundredth of the looks.
pub fn found(report: &Report, timeouts: u64) -> Option<Finding> {
    if report.tool != Tool::Wrk2 || report.is_of_ablaze() || timeouts == 0 {
        return None;
    }
    let asked = report.command.as_ref().and_then(|command| command.value_of('T', "timeout"));
    let timeout_s = match asked {
        Some(asked) => seconds(asked)?,
        None => TIMEOUT_S,
    };
    let connections = report.asked().filter(|connections| *connections > 0)?;
    // Each is to send as often as the others. More than was reached may have been asked for, never less.
    let per_s = report.asked_per_s().or_else(|| report.rate()).filter(|per_s| *per_s > 0.0)?;
    let every_s = connections as f64 / per_s;
    if every_s >= timeout_s {
        return None;
    }
    let taken_s = report.taken_s?.value;
    let share = timeouts as f64 / (connections as f64 * looks(report, connections, taken_s));
    if share <= SHARE {
        return None;
    }
    let evidence = format!(
        "wrk2 counted {} under `timeout`: each time that it looked at all {} connections, every 2 s, those whose latest request \
         had been begun more than {} s before (--timeout). In {} s these are {} of what it looked at.",
        grouped(timeouts),
        grouped(connections),
        decimal(timeout_s, if timeout_s.fract() == 0.0 { 0 } else { 2 }),
        decimal(taken_s, 2),
        percent(share.min(1.0))
    );
    let cause = format!(
        "A connection that waits is counted again at each look, so this is no number of requests. At {}/s each has a request to \
         send every {}: these had no response, or no connection to send it on, for longer than --timeout. What came in the end \
         is in the rate, and in the times unless wrk2's calibration, at 10 s, discarded it; what did not is in neither.",
        decimal(per_s, 2),
        time(every_s * 1e3)
    );
    let fix = "See in the server's log what became of these requests, and run for longer than the longest response; `ablaze \
               --rate` counts each request that has no response.";
    Some(Finding::new(D02, Severity::Suspect, evidence, cause, fix))
}

fn looks(report: &Report, connections: u64, taken_s: f64) -> f64 {
    let each_thread_s =
        PER_CONNECTION_S * connections as f64 / report.threads.unwrap_or(1).max(1) as f64;
    ((taken_s - each_thread_s) / LOOK_S).floor().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use crate::finding::{Finding, Severity};
    use crate::printed::read;

    fn wrk2(options: &str, requests: u64, timeouts: u64) -> Option<Finding> {
        let text = format!(
            "$ wrk2 -t2 -c100 -d30s {options} http://10.0.0.5:8080/\nRunning 30s test @ http://10.0.0.5:8080/\n  2 threads and \
             100 connections\n  Thread calibration: mean lat.: 2.391ms, rate sampling interval: 10ms\n  Thread Stats   Avg      \
             Stdev     Max   +/- Stdev\n    Latency    2.10ms     1.11ms    9.10ms    65.11%\n    Req/Sec     1.04k   190.81     \
             1.48k    75.81%\n  {requests} requests in 30.00s, 12.87MB read\n  Socket errors: connect 0, read 0, write 0, \
             timeout {timeouts}\nRequests/sec:   {:.2}\nTransfer/sec:    439.35KB\n",
            requests as f64 / 30.0
        );
        on_report(&read(&text).reports[0])
    }

    /// At 100 connections, and 14 looks in 30 s.
    #[test]
    fn connections_that_wait_at_wrk2_s_looks_are_a_doubt() {
        let finding = wrk2("-R2000", 58_002, 140).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("In 30.00 s these are 10 % of"), "{finding:?}");
        assert!(!finding.evidence.contains("140 of"), "{finding:?}");
        assert!(finding.cause.contains("no number of requests"), "{finding:?}");
        assert!(
            finding.cause.contains("2,000.00/s each has a request to send every 50.0 ms"),
            "{finding:?}"
        );
        assert_eq!(wrk2("-R2000", 58_002, 14), None, "one of a hundred, or one look");
        assert_eq!(wrk2("-R2000", 58_002, 0), None);
    }

    /// Each connection sends every 5 s: most of the time the latest request is older than 2 s, whether or not it was answered.
    #[test]
    fn connections_with_nothing_to_send_do_not_wait() {
        assert_eq!(wrk2("-R20", 600, 840), None);
        assert!(wrk2("-R20 --timeout 10s", 600, 840).is_some());
    }
}
