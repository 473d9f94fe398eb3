//! wrk with a script that sends several requests at once: it takes one time for all of them, and counts each.

use crate::DiagnosisId::D06;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, Tool, ZERO_PERCENTILE};
use crate::rules::arithmetic::in_flight;
use crate::words::{amount, decimal, grouped, time};

/// So much more than there are connections may be rounding.
const ROUNDED: f64 = 1.05;

pub(super) fn found(report: &Report, fix: &str) -> Option<Finding> {
    if report.tool != Tool::Wrk || report.is_of_ablaze() {
        return None;
    }
    let none = no_percentile(report);
    let more = more_in_flight(report);
    let severity = if none.is_some() { Severity::Suspect } else { Severity::Note };
    let evidence: Vec<String> = none.clone().into_iter().chain(more.clone()).collect();
    let cause = match (&none, &more) {
        (None, None) => return None,
        (_, Some(_)) => {
            "With a script (-s) that sends several requests at once wrk takes one time for each such batch, and counts each request; \
             and it adds times of requests that it did not send while one was late. Its times are then not those of requests, and the \
             report does not tell which it was."
        }
        (Some(_), None) => {
            "No response takes 0: wrk took fewer times than it counted, and prints 0 for what is beyond them. With a script (-s) that \
             sends several requests at once it takes one time for each such batch."
        }
    };
    Some(Finding::new(D06, severity, evidence.join(" "), cause, fix))
}

/// The highest percentile reads 0, and a lower one does not.
fn no_percentile(report: &Report) -> Option<String> {
    report.own(ZERO_PERCENTILE)?;
    let (lower, ms) = report.percentiles.last()?;
    Some(format!("99 % reads 0, and {lower} % {}.", time(ms.value)))
}

fn more_in_flight(report: &Report) -> Option<String> {
    let command = report.command.as_ref()?;
    command.value_of('s', "script")?;
    let (low, _) = in_flight(report)?;
    let (asked, mean) = (report.asked_connections()?, report.mean_ms()?);
    (low > asked as f64 * ROUNDED).then(|| {
        format!(
            "Rate × mean time is {}/s × {} = {} in flight, over {} connections.",
            decimal(report.rate_per_s.map_or(0.0, |rate| rate.value), 2),
            time(mean.value),
            amount(report.rate_per_s.map_or(0.0, |rate| rate.value) * mean.value / 1e3),
            grouped(asked)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D06;
    use crate::finding::Severity;
    use crate::printed::read;
    use crate::rules::judge;

    fn wrk(options: &str, mean: &str, last: &str) -> Option<(Severity, String)> {
        let text = format!(
            "$ wrk -t1 -c10 -d1s --latency {options} http://h/\nRunning 1s test @ http://h/\n  1 threads and 10 connections\n\
             \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     {mean}  755.80us   7.11ms   77.23%\n\
             \x20   Req/Sec    98.21k    17.20k  118.31k    81.82%\n  Latency Distribution\n     50%    0.92ms\n\
             \x20    75%    1.42ms\n     90%    2.32ms\n     99%    {last}\n\
             \x20 107187 requests in 1.10s, 16.35MB read\nRequests/sec:  97444.14\nTransfer/sec:     14.86MB\n"
        );
        let findings = judge(&read(&text)).reports.remove(0).findings;
        let found = findings.into_iter().find(|one| one.id == D06)?;
        Some((found.severity, found.evidence))
    }

    #[test]
    fn times_of_batches_are_no_times_of_requests() {
        let (severity, evidence) = wrk("-s pipe.lua", "1.01ms", "0.00us").unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert_eq!(
            evidence,
            "99 % reads 0, and 90 % 2.32 ms. Rate × mean time is 97,444.14/s × 1.01 ms = 98.4 in flight, over 10 connections."
        );
        let (severity, evidence) = wrk("-s pipe.lua", "1.01ms", "5.00ms").unwrap();
        assert_eq!(severity, Severity::Note);
        assert!(evidence.starts_with("Rate × mean"), "{evidence}");
        // As many as there are connections.
        assert_eq!(wrk("-s post.lua", "102.00us", "5.00ms"), None);
    }
}
