//! What the counts of ab and h2load say of requests without a response: what the tool saw, and not which end was at fault.

use crate::printed::{Report, Tool};
use crate::words::{grouped, listed};

/// What was seen, where the tool's own counts tell more than that requests failed.
pub fn seen(report: &Report) -> Option<String> {
    match report.tool {
        Tool::Ab => of_ab(report),
        Tool::H2load => Some(of_h2load(report)),
        _ => None,
    }
}

/// ab ends when something times out, and looks at no byte of a response to count so.
fn of_ab(report: &Report) -> Option<String> {
    let parts = report.failed_parts.unwrap_or_default();
    let kinds = [
        (parts.connect, "under Connect connections that it could not open, and tried again"),
        (
            parts.receive,
            "under Receive reads that failed, as on a connection that is reset or was refused",
        ),
        (
            parts.exceptions,
            "under Exceptions connections that the system reported as broken or refused",
        ),
        (report.write_errors.unwrap_or(0), "under `Write errors` requests that it could not send"),
    ];
    let kinds: Vec<&str> =
        kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    (!kinds.is_empty()).then(|| {
        format!(
            "ab counts {}: it prints neither why nor which end they were ended by.",
            listed(kinds)
        )
    })
}

/// Its timeouts are those that the command asked for, and among the errored ones.
fn of_h2load(report: &Report) -> String {
    let own = |name| report.own(name).map(|count| count.value as u64);
    let errored = report.failed.unwrap_or(0);
    let timed_out = own("the number timed out").unwrap_or(0).min(errored);
    let all_started = own("the number started") == own("the number of requests in total");
    if timed_out > 0 && timed_out == errored {
        return "h2load ended them itself: no response came in the time that its -T or -N permits."
            .to_owned();
    }
    let unopened = if all_started { "" } else { ", or that none could be opened" };
    let what = if report.speaks_http1() { "a connection" } else { "a connection or a stream" };
    let seen = format!(
        "h2load counts as errored that {what} ended before the response did{unopened}, and does not \
         print which, nor which end ended it."
    );
    match timed_out {
        0 => seen,
        some => format!("{} of them h2load ended itself, by its -T or -N. {seen}", grouped(some)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::printed::on_report;
    use crate::printed::{FailedParts, read};
    use crate::rules::sample;

    fn h2load(requests: &str) -> (String, String) {
        let text = format!(
            "$ h2load -c 10 -n 1000 --h1 http://127.0.0.1:21001/\nstarting benchmark...\n\
             spawning thread #0: 10 total client(s). 1000 total requests\nApplication protocol: http/1.1\n\n\
             finished in 48.01ms, 18746.09 req/s, 4.87MB/s\nrequests: {requests}\n\
             status codes: 900 2xx, 0 3xx, 0 4xx, 0 5xx\n\
             traffic: 239.26KB (245000) total, 96.68KB (99000) headers (space savings 0.00%), 101.56KB (104000) data\n"
        );
        let finding = on_report(&read(&text).reports.remove(0)).unwrap();
        (finding.evidence, finding.cause)
    }

    #[test]
    fn what_h2load_counts_as_errored_is_no_reset_of_the_server() {
        let (evidence, cause) = h2load(
            "1000 total, 950 started, 900 done, 900 succeeded, 100 failed, 100 errored, 0 timeout",
        );
        assert!(evidence.contains("errored 100, 50 of which h2load never sent"), "{evidence}");
        for not_printed in ["server", "refused", "timed out", "no HTTP response"] {
            assert!(!cause.contains(not_printed), "{cause}");
        }
        assert!(cause.contains("ended before the response did, or that none could be opened"));
        let (_, cause) = h2load(
            "1000 total, 1000 started, 1000 done, 900 succeeded, 100 failed, 100 errored, 0 timeout",
        );
        assert!(!cause.contains("opened"), "each was started, on a connection: {cause}");
        let (_, cause) = h2load(
            "1000 total, 1000 started, 1000 done, 900 succeeded, 100 failed, 100 errored, 100 timeout",
        );
        assert!(cause.starts_with("h2load ended them itself"), "{cause}");
        let (_, cause) = h2load(
            "1000 total, 1000 started, 1000 done, 900 succeeded, 100 failed, 100 errored, 40 timeout",
        );
        assert!(cause.starts_with("40 of them h2load ended itself"), "{cause}");
    }

    #[test]
    fn ab_names_what_it_counted_and_no_timeout() {
        let mut report = sample::ab();
        (report.failed, report.body_bytes) = (Some(400_000), Some(800_000_000));
        report.failed_parts =
            Some(FailedParts { connect: 0, receive: 200_000, length: 0, exceptions: 200_000 });
        let cause = on_report(&report).unwrap().cause;
        assert!(cause.starts_with("ab counts under Receive reads that failed"), "{cause}");
        assert!(cause.contains("under Exceptions") && !cause.contains("under Connect"), "{cause}");
        assert!(!cause.contains("timed out") && !cause.contains("no HTTP"), "{cause}");
    }
}
