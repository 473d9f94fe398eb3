//! Outputs of load testers that are no reports: named, with the way to one.

/// What to say if the first lines of a text are another output of a load tester than its report: a list or a chart.
pub fn no_report(text: &str) -> Option<&'static str> {
    if text.lines().take(LINES).any(is_result_of_vegeta) {
        return Some(VEGETA_S);
    }
    if text.lines().take(LINES).any(|line| is_of_loadtest(line.trim())) {
        return Some(LOADTEST);
    }
    text.lines().take(LINES).find_map(|line| {
        let line = line.trim();
        let is = |starts: &str, has: &[&str]| {
            line.starts_with(starts) && has.iter().all(|part| line.contains(part))
        };
        KINDS.iter().find(|(starts, has, _)| is(starts, has)).map(|(.., said)| *said)
    })
}

const VEGETA_S: &str = "it is vegeta's list of results (vegeta encode), one for each request; pass what `vegeta report` \
                        prints of them";

const LOADTEST: &str = "it is a report of loadtest (npm), which explain does not read; it reads reports of the tools in its --help";

/// `1795421749146184963,200,1692316,0,14,,…,GET,http://…`: when, status, latency.
fn is_result_of_vegeta(line: &str) -> bool {
    let cells: Vec<&str> = line.split(',').collect();
    let number = |at: usize, digits: usize| {
        cells[at].len() >= digits && cells[at].bytes().all(|byte| byte.is_ascii_digit())
    };
    cells.len() >= 10 && number(0, 18) && number(1, 1) && number(2, 1) && number(3, 1)
}

/// A line that only npm's loadtest prints: `INFO Max requests:        20`, `Mean latency:  1099.5 ms`.
pub fn is_of_loadtest(line: &str) -> bool {
    const LABELS: [&str; 5] = [
        "Max requests:",
        "Completed requests:",
        "Total errors:",
        "Mean latency:",
        "Effective rps:",
    ];
    let rest = line.split_once(" INFO ").map_or(line, |(_, rest)| rest);
    let rest = rest.strip_prefix("INFO ").unwrap_or(rest).trim_start();
    LABELS.iter().any(|label| {
        let value = rest.strip_prefix(label).map(str::trim_start);
        value.is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// A command or a heading may stand above.
pub const LINES: usize = 20;

/// How a line begins, what else it has, and what the text is.
const KINDS: [(&str, &[&str], &str); 20] = [
    (
        "response-time,",
        &["DNS+dialup", "status-code"],
        "it is hey's CSV (-o csv), a line for each request; pass what hey prints without -o",
    ),
    ("{\"attack\":", &["\"latency\":", "\"timestamp\":"], VEGETA_S),
    (
        "Bucket ",
        &["Histogram"],
        "it is vegeta's histogram (-type=hist); pass what `vegeta report` prints, or its -type=json",
    ),
    (
        "Value(ms)",
        &["Percentile", "TotalCount"],
        "it is vegeta's plot of percentiles (-type=hdrplot); pass what `vegeta report` prints, or its -type=json",
    ),
    (
        "starttime\tseconds\tctime",
        &["ttime", "wait"],
        "it is ab's list of requests (-g); pass what ab prints on the terminal",
    ),
    (
        "Percentage served,Time in ms",
        &[],
        "it is ab's table of percentiles (-e); pass what ab prints on the terminal",
    ),
    (
        "timeStamp,elapsed,label",
        &[],
        "it is JMeter's list of samples, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Type,Name,Request Count,Failure Count",
        &[],
        "it is Locust's CSV, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "http_req_duration",
        &["avg=", "p(95)="],
        "it is a summary of k6, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "{\"type\":\"Metric\"",
        &[],
        "it is k6's JSON, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "{\"type\":\"Point\"",
        &[],
        "it is k6's JSON, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "metric_name,timestamp,metric_value",
        &[],
        "it is k6's CSV, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "│ Stat",
        &["2.5%", "Stdev"],
        "it is a report of autocannon, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Summary report @",
        &[],
        "it is a report of Artillery, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Test run id:",
        &[],
        "it is a report of Artillery, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Fortio ",
        &["running at ", "queries per second"],
        "it is a report of Fortio, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "---- Global Information ---",
        &[],
        "it is a report of Gatling, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Simulation ",
        &["started"],
        "it is a report of Gatling, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "httperf --",
        &["--client="],
        "it is a report of httperf, which explain does not read; it reads reports of the tools in its --help",
    ),
    (
        "Total: connections ",
        &["requests ", "test-duration "],
        "it is a report of httperf, which explain does not read; it reads reports of the tools in its --help",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_requests_are_named() {
        for (text, tool) in [
            (
                "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
                 0.0061,0.0043,0.0000,0.0005,0.0008,0.0002,200,0.0006\n",
                "hey's CSV",
            ),
            (
                "{\"attack\":\"\",\"seq\":0,\"code\":200,\"timestamp\":\"2026-11-23T08:15:49.146184963Z\",\
                 \"latency\":1692316,\"bytes_out\":0}\n{\"attack\":\"\"}\n",
                "`vegeta report`",
            ),
            (
                "1795421749146184963,200,1692316,0,14,,aGk=,,0,GET,http://h/,Q29\n",
                "`vegeta report`",
            ),
            (
                "$ vegeta report -type=hist f\nBucket         #    %       Histogram\n",
                "vegeta's histogram",
            ),
            ("     http_req_duration..............: avg=1ms min=1ms p(95)=3ms\n", "k6"),
            (
                "Running 10s test @ http://localhost:3000\n10 connections\n\n┌─────────┬──────┐\n\
                 │ Stat    │ 2.5% │ 50%  │ 97.5% │ 99%  │ Avg     │ Stdev   │ Max      │\n\
                 │ Latency │ 0 ms │ 0 ms │ 0 ms  │ 1 ms │ 0.02 ms │ 0.16 ms │ 16.45 ms │\n\
                 └─────────┴──────┴──────┴───────┴──────┴─────────┴─────────┴──────────┘\n\n\
                 276k requests in 11.01s, 49.5 MB read\n",
                "autocannon",
            ),
            (
                "All VUs finished. Total time: 1 second\n\n-----\nSummary report @ 14:07:10(+0000)\n",
                "Artillery",
            ),
            (
                "Fortio 1.60.3 running at 8 queries per second, 2->2 procs, for 5s: http://h/\n",
                "Fortio",
            ),
            (
                "====\n2026-11-26 07:00:00 GMT      1s elapsed\n---- Global Information -----\n\
                 > request count      | 10 | 10 | -\n",
                "Gatling",
            ),
            (
                "[Mon Oct 31 2016 21:23:05 GMT-0400 (EDT)] INFO Max requests:        20\n\
                 [Mon Oct 31 2016 21:23:05 GMT-0400 (EDT)] INFO Completed requests:  20\n\
                 [Mon Oct 31 2016 21:23:05 GMT-0400 (EDT)] INFO Requests per second: 1\n\
                 [Mon Oct 31 2016 21:23:05 GMT-0400 (EDT)] INFO Percentage of the requests served within a certain time\n\
                 [Mon Oct 31 2016 21:23:05 GMT-0400 (EDT)] INFO   50%      1118 ms\n",
                "loadtest",
            ),
            (
                "Max requests:        1000\nConcurrent clients:  100\nRequests per second: 350\n\n\
                 Completed requests:  1000\nTotal errors:        0\nTotal time:          3.001 s\n\
                 Requests per second: 333\nMean latency:        7.8 ms\n",
                "loadtest",
            ),
            (
                "httperf --client=0/1 --server=h --port=80 --uri=/ --num-conns=10\n\
                 Total: connections 10 requests 10 replies 10 test-duration 0.1 s\n",
                "httperf",
            ),
        ] {
            assert!(no_report(text).unwrap().contains(tool), "{text}");
            let text = crate::printed::read(text);
            assert!(text.reports.is_empty() && text.begun.is_empty(), "{text:?}");
        }
        // Below wrk's own lines the same words are anyone's.
        let wrk = "Running 10s test @ http://h/\n  2 threads and 10 connections\n  100 requests in 10.00s, 1.00MB read\n\
                   Requests/sec:     10.00\n\n";
        for below in ["20 connections\n", "┌──┐\n"] {
            let text = crate::printed::read(&format!("{wrk}{below}{wrk}"));
            assert_eq!(text.reports.len(), 2, "{below}");
        }
        // What is left of autocannon's without its tables.
        for text in [
            "Running 10s test @ http://h/\n10 connections\n\n276 requests in 10.01s, 49.5 kB read\n",
            "Running 10s test @ http://h/\n\n276k requests in 11.01s, 49.5 MB read\n",
        ] {
            let text = crate::printed::read(text);
            assert!(text.reports.is_empty() && text.begun.is_empty(), "{text:?}");
        }
        assert_eq!(no_report("Running 10s test @ http://h/\n"), None);
    }
}
