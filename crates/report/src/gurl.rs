//! The report of `gurl -bench`: its lines in its order under its labels, so that what reads them
//! goes on working, but with numbers that are right. What differs from gurl, and why, is in
//! docs/gurl.md; each difference is marked here.

use std::fmt::Write as _;

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_wire::http1::response::field;

/// The shares of requests whose times are listed, in percent.
const PERCENTS: [u32; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

/// What gurl prints before it starts.
pub fn heading(host: &str) -> String {
    format!("Benchmarking {host} (be patient)\n")
}

/// The report, from the two empty lines after the progress on.
pub fn write(run: &Run) -> String {
    let mut out = String::from("\n\n");
    // Writing to a String cannot fail.
    let _ = lines(run, &mut out);
    out
}

fn lines(run: &Run, out: &mut String) -> std::fmt::Result {
    let (target, record) = (&run.plan.target, &run.record);
    let server = field(&record.first_head, "Server").unwrap_or_default();
    writeln!(out, "Server Software:        {}", String::from_utf8_lossy(server))?;
    // gurl cuts these three out of the URL as typed: blank for `:12345`. Here they are what was
    // asked for.
    writeln!(out, "Server Hostname:        {}", target.host)?;
    writeln!(out, "Server Port:            {}", target.port)?;
    writeln!(out)?;
    writeln!(out, "Document Path:          {}", target.path)?;
    // gurl shows the length of whichever response came last; this is the first one's, as ab has it.
    writeln!(out, "Document Length:        {} bytes", record.first_body_bytes.unwrap_or(0))?;
    writeln!(out)?;
    write!(out, "Status Codes:          ")?;
    // In ascending order; gurl's changes from run to run.
    for (status, count) in &record.statuses {
        write!(out, " {status}:{count}  ")?;
    }
    writeln!(out, "[code:count]")?;
    counts_and_rates(run, out)?;
    percentages(run, out)
}

fn counts_and_rates(run: &Run, out: &mut String) -> std::fmt::Result {
    let record = &run.record;
    let seconds = run.elapsed_ns as f64 / 1e9;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let responses = record.responses as f64;
    writeln!(out, "Concurrency Level:      {}", crate::concurrency(run))?;
    if let Load::Open { rate, .. } = &run.plan.load {
        // gurl does not say it: without it the concurrency above looks as if it was not reached.
        writeln!(out, "Requested rate:         {} [#/sec]", rate.from_per_s)?;
    }
    writeln!(out, "Time taken for tests:   {seconds:.3} seconds")?;
    writeln!(out, "Complete requests:      {}", record.responses)?;
    // gurl subtracts two counts of the same responses here, always 0, and puts what failed below.
    writeln!(out, "Failed requests:        {}", record.failures_total())?;
    if record.failures_total() > 0 {
        writeln!(out, "Write errors:           {}", record.failures_total())?;
    }
    // gurl adds up header names and values as parsed, in 32 bits, which wrap at 2 GiB. These are
    // the bytes as they came.
    writeln!(out, "Total transferred:      {} bytes", record.received_bytes)?;
    writeln!(out, "HTML transferred:       {} bytes", record.body_bytes)?;
    writeln!(out, "Requests per second:    {:.2} [#/sec] (mean)", per_second(responses))?;
    // gurl multiplies the line below with the concurrency, which is only the mean if all
    // connections were busy all the time. This is the mean of the times measured.
    let mean_ms = record.answered.total.mean_ns().unwrap_or(0.0) / 1e6;
    writeln!(out, "Time per request:       {mean_ms:.3} [ms] (mean)")?;
    let apart_ms = if responses > 0.0 { seconds * 1e3 / responses } else { 0.0 };
    writeln!(
        out,
        "Time per request:       {apart_ms:.3} [ms] (mean, across all concurrent requests)"
    )?;
    // 1 Kbyte is 1000 bytes, as in gurl (in ab it is 1024).
    let kilobytes_per_s = per_second(record.received_bytes as f64 / 1e3);
    writeln!(out, "Transfer rate:          {kilobytes_per_s:.2} [Kbytes/sec] received")
}

fn percentages(run: &Run, out: &mut String) -> std::fmt::Result {
    let total = &run.record.answered.total;
    let Some(longest_ns) = total.max_ns().filter(|_| total.count() > 1) else { return Ok(()) };
    writeln!(out, "Percentage of the requests served within a certain time (ms)")?;
    let mut line =
        |percent: u32, ns: u64| writeln!(out, "{percent:>4}%    {:.2}ms", ns as f64 / 1e6);
    for percent in PERCENTS {
        let ns = total.quantile_ns(f64::from(percent) / 100.0).unwrap_or(0);
        line(percent, ns)?;
    }
    line(100, longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn labels_and_order_are_gurls() {
        // From the published comparison with ab, with the last version's line of statuses.
        let labels = [
            "Server Software:        nginx/1.24.0",
            "Server Hostname:        ",
            "Server Port:            ",
            "Document Path:          ",
            "Document Length:        14 bytes",
            "Status Codes:           200:20000  [code:count]",
            "Concurrency Level:      100",
            "Time taken for tests:   10.000 seconds",
            "Complete requests:      20000",
            "Failed requests:        0",
            "Total transferred:      3120000 bytes",
            "HTML transferred:       280000 bytes",
            // 20,000 in 10 s.
            "Requests per second:    2000.00 [#/sec] (mean)",
            "Time per request:       ",
            // 10 s / 20,000.
            "Time per request:       0.500 [ms] (mean, across all concurrent requests)",
            // 3,120,000 B / 1000 / 10 s.
            "Transfer rate:          312.00 [Kbytes/sec] received",
            "Percentage of the requests served within a certain time (ms)",
            "  50%    ",
            "  66%    ",
            "  75%    ",
            "  80%    ",
            "  90%    ",
            "  95%    ",
            "  98%    ",
            "  99%    ",
            " 100%    ",
        ];
        let text = write(&sample::ordinary());
        assert!(text.starts_with("\n\nServer Software:"));
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), labels.len(), "{text}");
        for (line, label) in lines.iter().zip(labels) {
            assert!(line.starts_with(label), "{line:?} is not {label:?}");
        }
    }

    #[test]
    fn a_schedule_is_told() {
        let mut run = sample::ordinary();
        assert!(!write(&run).contains("Requested rate"));
        run.plan.load = Load::Open {
            rate: ablaze_model::plan::RateProfile::constant(300.0),
            arrivals: ablaze_model::plan::Arrivals::Constant,
            connections: 10,
            bounded: true,
        };
        assert!(write(&run).contains("Requested rate:         300 [#/sec]\n"));
    }

    #[test]
    fn the_mean_is_that_of_the_times_measured_and_the_last_percentage_the_longest() {
        let mut run = sample::ordinary();
        run.record.answered.total.clear();
        for ns in [1_000_000, 2_000_000, 9_000_000] {
            run.record.answered.total.record(ns);
        }
        let text = write(&run);
        assert!(text.contains("Time per request:       4.000 [ms] (mean)\n"), "{text}");
        assert!(
            text.contains("  50%    2.00ms\n") && text.ends_with(" 100%    9.00ms\n"),
            "{text}"
        );
    }

    #[test]
    fn failures_are_counted_and_no_response_divides_nothing() {
        let mut run = sample::ordinary();
        run.record.failures[0] = 7;
        let text = write(&run);
        assert!(text.contains("Failed requests:        7\nWrite errors:           7\n"), "{text}");
        run.record.responses = 0;
        run.record.answered.total.clear();
        run.elapsed_ns = 0;
        let text = write(&run);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(!text.contains("Percentage"), "{text}");
    }
}
