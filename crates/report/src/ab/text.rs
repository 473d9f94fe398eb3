//! ab's text report: the labels, widths and order that scripts parse.

use std::io::{self, Write};
use std::net::IpAddr;

use ablaze_model::Run;
use ablaze_model::certificate::Certificate;
use ablaze_model::plan::tls_names::{group, suite};
use ablaze_stats::Latency;

use super::Layout;
use super::figures::{Figures, Times, at_rank_ns, milliseconds};

/// The percentages of ab's table; 100 is the longest request.
const PERCENTAGES: [u64; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Writes the report as ab does after its `..done` line.
///
/// # Errors
/// Those of writing.
pub fn write(run: &Run, layout: &Layout, out: &mut dyn Write) -> io::Result<()> {
    let figures = Figures::of(run, layout.variable_length);
    write!(out, "\n\n")?;
    subject(run, layout, &figures, out)?;
    counts(run, &figures, out)?;
    if figures.has_rates() {
        rates(run, &figures, out)?;
    }
    if figures.complete > 0 {
        connection_times(&figures.times, layout.confidence, out)?;
    }
    if layout.percentiles && figures.complete > 1 {
        percentiles(&figures.times.total, out)?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, label: &str, value: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "{label:<24}{value}")
}

fn subject(run: &Run, layout: &Layout, figures: &Figures, out: &mut dyn Write) -> io::Result<()> {
    let target = &run.plan.target;
    line(out, "Server Software:", &figures.server_software)?;
    line(out, "Server Hostname:", &target.host)?;
    line(out, "Server Port:", target.port)?;
    tls(run, out)?;
    writeln!(out)?;
    line(out, "Document Path:", &target.path)?;
    if layout.variable_length {
        line(out, "Document Length:", "Variable")?;
    } else {
        line(out, "Document Length:", format_args!("{} bytes", figures.document_bytes))?;
    }
    writeln!(out)
}

/// What ab says of TLS: version, suite, bits of the server's key and of the cipher; the group; the
/// name that was sent.
fn tls(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let (Some(asked), Some(facts)) = (&run.plan.tls, &run.record.tls) else { return Ok(()) };
    if let Some((agreed, _)) = facts.agreed.first() {
        let key_bits = Certificate::read(&facts.certificate).and_then(|c| c.key_bits).unwrap_or(0);
        let (name, bits) = suite(agreed.suite).map_or(("", 0), |s| (s.openssl, s.bits));
        let version = agreed.version.name();
        line(out, "SSL/TLS Protocol:", format_args!("{version},{name},{key_bits},{bits}"))?;
        if let Some(group) = agreed.group.and_then(group) {
            line(out, "Server Temp Key:", group.ab)?;
        }
    }
    if asked.send_server_name && asked.server_name.parse::<IpAddr>().is_err() {
        line(out, "TLS Server Name:", &asked.server_name)?;
    }
    Ok(())
}

fn counts(run: &Run, figures: &Figures, out: &mut dyn Write) -> io::Result<()> {
    let record = &run.record;
    line(out, "Concurrency Level:", crate::concurrency(run))?;
    line(out, "Time taken for tests:", format_args!("{:.3} seconds", figures.taken_s))?;
    line(out, "Complete requests:", figures.complete)?;
    line(out, "Failed requests:", figures.failed.total())?;
    if figures.failed.total() > 0 {
        let failed = &figures.failed;
        writeln!(
            out,
            "   (Connect: {}, Receive: {}, Length: {}, Exceptions: {})",
            failed.connect, failed.receive, failed.length, failed.exceptions
        )?;
    }
    if figures.non_2xx > 0 {
        line(out, "Non-2xx responses:", figures.non_2xx)?;
    }
    if run.plan.connections.keep_alive {
        line(out, "Keep-Alive requests:", record.reused)?;
    }
    line(out, "Total transferred:", format_args!("{} bytes", record.received_bytes))?;
    if run.plan.requests.has_body {
        line(out, "Total body sent:", record.sent_bytes)?;
    }
    line(out, "HTML transferred:", format_args!("{} bytes", record.body_bytes))
}

fn rates(run: &Run, figures: &Figures, out: &mut dyn Write) -> io::Result<()> {
    let each_ms = figures.taken_s * 1000.0 / figures.complete as f64;
    let concurrency = f64::from(crate::concurrency(run));
    let per_second = figures.per_second(figures.complete);
    line(out, "Requests per second:", format_args!("{per_second:.2} [#/sec] (mean)"))?;
    line(out, "Time per request:", format_args!("{:.3} [ms] (mean)", concurrency * each_ms))?;
    line(
        out,
        "Time per request:",
        format_args!("{each_ms:.3} [ms] (mean, across all concurrent requests)"),
    )?;
    let received = figures.per_second(run.record.received_bytes) / 1024.0;
    line(out, "Transfer rate:", format_args!("{received:.2} [Kbytes/sec] received"))?;
    if run.plan.requests.has_body {
        let sent = figures.per_second(run.record.sent_bytes) / 1024.0;
        line(out, "", format_args!("{sent:.2} kb/s sent"))?;
        line(out, "", format_args!("{:.2} kb/s total", received + sent))?;
    }
    Ok(())
}

// ab's two warnings, that mean and median are one or two standard deviations apart, have no place
// here: of the same unrounded values they never are (Hotelling and Solomons, The Limits of a
// Measure of Skewness, 1932). ab prints them only because it compares rounded milliseconds.
fn connection_times(times: &Times, confidence: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nConnection Times (ms)")?;
    let rows = [
        ("Connect:", &times.connect),
        ("Processing:", &times.processing),
        ("Waiting:", &times.waiting),
        ("Total:", &times.total),
    ];
    if !confidence {
        writeln!(out, "              min   avg   max")?;
        for (label, row) in rows {
            let [min, mean, max] = min_mean_max(row);
            writeln!(out, "{label:<12}{min:>5} {mean:>5}{max:>5}")?;
        }
        return Ok(());
    }
    writeln!(out, "              min  mean[+/-sd] median   max")?;
    for (label, row) in rows {
        let [min, mean, max] = min_mean_max(row);
        let deviation = row.deviation_ns().unwrap_or(0.0) / 1e6;
        let median = milliseconds(median_ns(row));
        writeln!(out, "{label:<12}{min:>5} {mean:>4} {deviation:>5.1} {median:>6} {max:>7}")?;
    }
    Ok(())
}

/// Smallest, mean and largest, in whole milliseconds.
pub(super) fn min_mean_max(row: &Latency) -> [u64; 3] {
    [
        milliseconds(row.min_ns().unwrap_or(0)),
        milliseconds(row.mean_ns().unwrap_or(0.0) as u64),
        milliseconds(row.max_ns().unwrap_or(0)),
    ]
}

/// The textbook's: the middle value, or the mean of the two in the middle.
fn median_ns(row: &Latency) -> u64 {
    let count = row.count();
    at_rank_ns(row, count.div_ceil(2)).midpoint(at_rank_ns(row, count / 2 + 1))
}

fn percentiles(total: &Latency, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nPercentage of the requests served within a certain time (ms)")?;
    for percentage in PERCENTAGES {
        // ab's rule: the element of index n·p/100 of the sorted times, from 0.
        let rank = total.count() * percentage / 100 + 1;
        let value = milliseconds(at_rank_ns(total, rank));
        if percentage == 100 {
            writeln!(out, " 100%  {value:>5} (longest request)")?;
        } else {
            writeln!(out, "  {percentage}%  {value:>5}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ablaze_model::Run;
    use ablaze_stats::Latency;

    use super::super::{Layout, sample};

    fn text(run: &Run, layout: &Layout) -> String {
        let mut out = Vec::new();
        super::write(run, layout, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Worked out by hand from the formats of ab 2.4: totals are 3 to 12 ms, of which the first
    /// connects in 2 ms and the second in 1 ms.
    #[test]
    fn the_report_is_ab_s_to_the_byte() {
        let expected = "\n\n\
Server Software:        demo/1
Server Hostname:        localhost
Server Port:            8080

Document Path:          /a?b=1
Document Length:        14 bytes

Concurrency Level:      2
Time taken for tests:   0.040 seconds
Complete requests:      10
Failed requests:        0
Keep-Alive requests:    10
Total transferred:      1024 bytes
HTML transferred:       140 bytes
Requests per second:    250.00 [#/sec] (mean)
Time per request:       8.000 [ms] (mean)
Time per request:       4.000 [ms] (mean, across all concurrent requests)
Transfer rate:          25.00 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.7      0       2
Processing:     1    7   3.5      8      12
Waiting:        1    7   3.5      7      12
Total:          3    8   3.0      8      12

Percentage of the requests served within a certain time (ms)
  50%      8
  66%      9
  75%     10
  80%     11
  90%     12
  95%     12
  98%     12
  99%     12
 100%     12 (longest request)
";
        assert_eq!(text(&sample::run(), &Layout::default()), expected);
    }

    #[test]
    fn failures_statuses_and_bodies_have_their_lines() {
        let mut run = sample::run();
        run.record.failures[0] = 2;
        run.record.statuses = [(200, 4), (404, 6)].into();
        run.plan.requests.has_body = true;
        run.plan.connections.keep_alive = false;
        let text = text(&run, &Layout { variable_length: true, ..Layout::default() });
        let expected = "\
Document Length:        Variable

Concurrency Level:      2
Time taken for tests:   0.040 seconds
Complete requests:      12
Failed requests:        2
   (Connect: 2, Receive: 0, Length: 0, Exceptions: 0)
Non-2xx responses:      6
Total transferred:      1024 bytes
Total body sent:        2048
HTML transferred:       140 bytes
Requests per second:    300.00 [#/sec] (mean)
Time per request:       6.667 [ms] (mean)
Time per request:       3.333 [ms] (mean, across all concurrent requests)
Transfer rate:          25.00 [Kbytes/sec] received
                        50.00 kb/s sent
                        75.00 kb/s total
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn without_confidence_and_percentiles_the_table_is_short() {
        let layout = Layout { confidence: false, percentiles: false, ..Layout::default() };
        let text = text(&sample::run(), &layout);
        let expected = "
Connection Times (ms)
              min   avg   max
Connect:        0     0    2
Processing:     1     7   12
Waiting:        1     7   12
Total:          3     8   12
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn nothing_done_ends_after_the_counts() {
        let mut run = sample::run();
        run.record.responses = 0;
        assert!(text(&run, &Layout::default()).ends_with("HTML transferred:       140 bytes\n"));
    }

    #[test]
    fn one_request_has_no_percentiles() {
        let mut run = sample::run();
        run.record.responses = 1;
        assert!(!text(&run, &Layout::default()).contains("Percentage of"));
    }

    #[test]
    fn the_median_is_the_textbook_s_for_odd_and_even_numbers() {
        let median_ms = |values_ms: &[u64]| {
            let mut row = Latency::new(4);
            values_ms.iter().for_each(|ms| row.record(ms * 1_000_000));
            crate::ab::figures::milliseconds(super::median_ns(&row))
        };
        assert_eq!(median_ms(&[100, 200, 300]), 200);
        assert_eq!(median_ms(&[100, 200]), 150);
        assert_eq!(median_ms(&[100, 100, 300, 500]), 200);
        assert_eq!(median_ms(&[7]), 7);
        assert_eq!(median_ms(&[]), 0);
    }

    #[test]
    fn mean_and_median_are_never_a_deviation_apart() {
        let mut random = ablaze_random::SplitMix64::new(1);
        for count in 2..200 {
            let mut row = Latency::new(4);
            for _ in 0..count {
                let bits = random.next_u64();
                // Mostly short, now and then very long, as latencies are.
                let long = if bits >> 61 == 0 { 1000 } else { 1 };
                row.record(((bits >> 24) % 100_000 + 1) * long);
            }
            let distance = (row.mean_ns().unwrap() - super::median_ns(&row) as f64).abs();
            assert!(distance <= row.deviation_ns().unwrap() * 1.001, "{count}: {distance}");
        }
    }
}
