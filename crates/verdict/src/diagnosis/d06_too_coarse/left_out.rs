//! Responses that are in the rate and not in the times: wrk leaves out what took longer than its `--timeout`, hey what came
//! behind the first million. Before 4.0 wrk left none out, and counted under `timeout` how often, in looks at all connections,
//! one was found to wait that long.

use crate::DiagnosisId::D06;
use crate::finding::{Finding, Severity};
use crate::printed::{DIVIDED_BY_KEPT, HEY_KEEPS, NO_TIMES, OLD_HEAD, Printed, Report, Tool};
use crate::rules::consistency::wrk::{late_are_too_many, whole_seconds};
use crate::words::{counted, decimal, grouped, percent, time};

/// Of more than this share of the responses the 99th percentile is a wrong one.
const LEFT_OUT: f64 = 0.01;
/// From this share of the time of all connections on, what was left out says more of the server than what was not.
const HELD: f64 = 0.05;

/// wrk takes no time above `--timeout` among its latencies, and has the response in its rate. `ablaze wrk` ends what has not
/// come by then: there it is no response.
pub(super) fn by_wrk(report: &Report, fix: &str) -> Option<Finding> {
    let late = report.socket_errors?.timeout;
    // More than all are connections that waited (D02), or fit into no run (D43).
    let complete = report.complete.filter(|complete| late > 0 && *complete >= late)?;
    if report.tool != Tool::Wrk || report.is_of_ablaze() || late_are_too_many(report) {
        return None;
    }
    let asked = report.command.as_ref().map(|command| command.value_of('T', "timeout"));
    match beyond_timeout(report, asked) {
        Beyond::No => {}
        Beyond::Proven => return by_another_wrk(report, late, complete, fix),
        Beyond::Possible(max) => {
            let evidence = format!(
                "`timeout` is {} of {}, and the longest latency {}.",
                grouped(late),
                counted(complete, "response"),
                time(max.value)
            );
            let cause = "--timeout was longer than that, and so many responses took longer still: wrk has them in its rate, and \
                         leaves them out of its latencies. Or this is a wrk before 4.0, which leaves none out: there `timeout` counts \
                         how often a connection was found to wait for longer.";
            let fix =
                &format!("See which it is with `wrk -v` and the --timeout of the command. {fix}");
            return Some(Finding::new(D06, Severity::Note, evidence, cause, fix));
        }
    }
    let timeout = match asked {
        Some(Some(asked)) => format!("the --timeout of the command, {asked}"),
        Some(None) => "2 s, wrk's --timeout where the command has none".to_owned(),
        None => "--timeout (2 s unless the command says otherwise)".to_owned(),
    };
    // No response takes 0 µs.
    if report.own(NO_TIMES).is_some() {
        return Some(none_recorded(late, complete, &timeout, fix));
    }
    let scripted =
        report.command.as_ref().is_some_and(|line| line.value_of('s', "script").is_some());
    let batches = match scripted {
        true => {
            " If the script (-s) sends several requests at once, these are batches: wrk takes one time for all of them."
        }
        false => "",
    };
    let held = held(report, late, asked).filter(|_| !scripted);
    let evidence = format!(
        "{} of {} took longer than {timeout}: wrk has them in its rate, and leaves them out of its latencies.{batches}{}",
        grouped(late),
        counted(complete, "response"),
        held.as_ref().map_or("", |(_, said)| said)
    );
    let fix = &format!(
        "Raise wrk's --timeout above the longest response (`--timeout 1m`): it ends no request, and what takes longer is \
         only marked. Or use another tool. {fix}"
    );
    let cause = "What wrk prints under `timeout` are responses that came, too late for its table of times: mean, \
                 percentiles and maximum are those of the others.";
    let share = late as f64 / complete as f64;
    let counts = share > LEFT_OUT || held.is_some_and(|(share, _)| share >= HELD);
    let severity = if counts { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D06, severity, evidence, cause, fix))
}

/// Which share of the time of all connections the late ones took at least, and what to say of it: each held its connection for
/// longer than the timeout.
fn held(report: &Report, late: u64, asked: Option<Option<&str>>) -> Option<(f64, String)> {
    let each_s = asked?.map_or(Some(TIMEOUT_MS / 1e3), whole_seconds)?;
    let (connections, taken_s) = (report.asked_connections()?, report.taken_s?.value);
    let share = late as f64 * each_s / (connections as f64 * taken_s);
    (share > 0.0 && share <= 1.0).then(|| {
        let said = format!(
            " {} × more than {} s is more than {} of the time of {} in {} s.",
            grouped(late),
            decimal(each_s, 0),
            percent(share),
            counted(connections, "connection"),
            decimal(taken_s, 1)
        );
        (share, said)
    })
}

/// A latency above `--timeout` is none of wrk 4: what its `timeout` counts the report does not tell.
fn by_another_wrk(report: &Report, late: u64, complete: u64, fix: &str) -> Option<Finding> {
    // Of a version that is known to leave nothing out there is nothing to be said.
    let max = report.total.and_then(|row| row.max_ms).filter(|_| report.own(OLD_HEAD).is_none())?;
    let evidence = format!(
        "`timeout` is {} beside {}, and the longest latency {}, more than the --timeout of the command.",
        grouped(late),
        counted(complete, "response"),
        time(max.value)
    );
    let cause = "wrk 4 has no such latency in its table. This is a wrk before 4.0, which leaves no response out and counts under \
                 `timeout` how often a connection was found to wait for longer; or the command or the report was changed.";
    let fix = format!("See with `wrk -v` which version it is. {fix}");
    Some(Finding::new(D06, Severity::Note, evidence, cause, fix))
}

/// Whether a latency is above `--timeout`, which none is that wrk has recorded since 4.0.
enum Beyond {
    No,
    Proven,
    /// The command is not known.
    Possible(Printed),
}

/// wrk's `--timeout` where the command has none.
const TIMEOUT_MS: f64 = 2e3;

fn beyond_timeout(report: &Report, asked: Option<Option<&str>>) -> Beyond {
    if report.own(OLD_HEAD).is_some() {
        return Beyond::Proven;
    }
    let Some(max) = report.total.and_then(|row| row.max_ms) else { return Beyond::No };
    let timeout_ms = match asked.flatten() {
        Some(asked) => whole_seconds(asked).map_or(f64::INFINITY, |asked_s| asked_s * 1e3),
        None => TIMEOUT_MS,
    };
    match max.value - max.step > timeout_ms {
        false => Beyond::No,
        true if asked.is_some() => Beyond::Proven,
        true => Beyond::Possible(max),
    }
}

fn none_recorded(late: u64, complete: u64, timeout: &str, fix: &str) -> Finding {
    let evidence = format!(
        "All times read 0: wrk recorded none. `timeout` is {}, with {}.",
        grouped(late),
        counted(complete, "response")
    );
    let cause = match late < complete {
        true => format!(
            "wrk leaves out of its latencies what took longer than {timeout}. Here its timeouts are fewer than the responses, and \
             none of the others has a time: with a script that sends several requests at once (-s) wrk takes one time for each \
             such batch, and its timeouts are batches."
        ),
        false => format!(
            "wrk leaves out of its latencies what took longer than {timeout}: all of them did."
        ),
    };
    let fix = format!(
        "Send fewer requests at once, or raise wrk's --timeout above the longest time (`--timeout 1m`): it ends no request, and \
         what takes longer is only marked. {fix}"
    );
    Finding::new(D06, Severity::Suspect, evidence, cause, fix)
}

/// hey keeps the first million results. Whatever else is to be said of its times comes first.
pub(super) fn by_hey(report: &Report, besides: Option<Finding>) -> Option<Finding> {
    let Some(all) = report.responses_beyond_kept() else { return besides };
    let mut said = format!(
        "{} came, as rate and length tell: hey keeps the first {}, of which its percentiles, its histogram and its counts by \
         status are.",
        counted(all, "response"),
        grouped(HEY_KEEPS)
    );
    if let (Some(printed), Some(mean)) = (report.own(DIVIDED_BY_KEPT), report.mean_ms()) {
        said.push_str(&format!(
            " Its `Average` is the sum of all times divided by {}: {} × {} / {} = {} is the mean.",
            grouped(HEY_KEEPS),
            time(printed.value),
            grouped(HEY_KEEPS),
            grouped(all),
            time(mean.value)
        ));
    }
    if let Some(mut finding) = besides {
        finding.evidence = format!("{} {said}", finding.evidence);
        return Some(finding);
    }
    let cause = "Of more responses than it keeps, hey counts all in its rate, its bytes and the sums behind its averages, and \
                 divides these by the number of those that it keeps.";
    let fix = format!(
        "Do not take `Average`, `Size/request` and the averages under `Details` as printed. With fewer than {} responses in a run \
         (-n, -z, -q) they are right.",
        grouped(HEY_KEEPS)
    );
    Some(Finding::new(D06, Severity::Note, said, cause, fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::read;

    /// 0.25 % of the responses, and half of the time of all connections.
    #[test]
    fn few_responses_that_were_left_out_count_by_the_time_that_they_took() {
        let with = |timeouts: u64| {
            let text = format!(
                "$ wrk -t1 -c20 -d2s --latency --timeout 1s http://10.0.0.5/\nRunning 2s test @ http://10.0.0.5/\n  1 threads and \
                 20 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   435.91us    1.44ms  15.34ms   \
                 92.97%\n    Req/Sec    11.19k     6.86k   20.37k    57.14%\n  Latency Distribution\n     50%   63.00us\n     75%  \
                 178.00us\n     90%  388.00us\n     99%    7.97ms\n  7980 requests in 2.02s, 670.20KB read\n  Socket errors: \
                 connect 0, read 0, write 0, timeout {timeouts}\nRequests/sec:   3959.52\nTransfer/sec:    332.54KB\n"
            );
            by_wrk(&read(&text).reports[0], "").unwrap()
        };
        let half = with(20);
        assert_eq!(half.severity, Severity::Suspect);
        let said = "20 × more than 1 s is more than 50 % of the time of 20 connections in 2.0 s.";
        assert!(half.evidence.ends_with(said), "{}", half.evidence);
        assert_eq!(with(1).severity, Severity::Note);
    }
}
