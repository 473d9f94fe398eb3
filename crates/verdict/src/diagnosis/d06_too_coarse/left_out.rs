//! Responses that are in the rate and not in the times: wrk leaves out what took longer than its `--timeout`, hey what came
//! behind the first million.

use crate::DiagnosisId::D06;
use crate::finding::{Finding, Severity};
use crate::printed::{DIVIDED_BY_KEPT, HEY_KEEPS, NO_TIMES, Report, Tool};
use crate::rules::consistency::wrk::late_are_too_many;
use crate::words::{counted, grouped, time};

/// Of more than this share of the responses the 99th percentile is a wrong one.
const LEFT_OUT: f64 = 0.01;

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
    let evidence = format!(
        "{} of {} took longer than {timeout}: wrk has them in its rate, and leaves them out of its latencies.{batches}",
        grouped(late),
        counted(complete, "response")
    );
    let fix = &format!(
        "Raise wrk's --timeout above the longest response (`--timeout 1m`): it ends no request, and what takes longer is \
         only marked. Or use another tool. {fix}"
    );
    let cause = "What wrk prints under `timeout` are responses that came, too late for its table of times: mean, \
                 percentiles and maximum are those of the others.";
    let share = late as f64 / complete as f64;
    let severity = if share > LEFT_OUT { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D06, severity, evidence, cause, fix))
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
