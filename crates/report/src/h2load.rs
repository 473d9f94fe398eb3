//! The report of h2load: its lines in its order, with its labels, columns and units. The numbers are those measured; what
//! differs from h2load's, and why, is in docs/h2load.md.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use ablaze_model::plan::Plan;
use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::plan::tls_names;
use ablaze_model::record::{Agreed, RequestLine};
use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

/// How connections are opened over time.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// So many at a time.
    pub connections: u32,
    /// The time between, ns.
    pub period_ns: u64,
}

/// What h2load prints before it starts: which thread has how many of the connections and requests.
pub fn heading(plan: &Plan, opening: Option<Opening>) -> String {
    let mut out = String::from("starting benchmark...\n");
    let threads = u64::from(plan.workers.count.max(1));
    let share = |all: u64, thread: u64| all / threads + u64::from(thread < all % threads);
    for thread in 0..threads {
        let clients = share(u64::from(plan.load.connections()), thread);
        let work = match plan.limits.requests {
            Some(requests) => format!("{} total requests", share(requests, thread)),
            None => format!(
                "Timing-based test with {}s of warm-up time and {}s of main duration for measurements.",
                plan.limits.warmup_ns as f64 / 1e9,
                plan.limits.duration_ns.unwrap_or(0) as f64 / 1e9
            ),
        };
        let opening = opening.map(|Opening { connections, period_ns }| {
            let period = time_us(period_ns / 1000).replace(".00", "");
            format!("Up to {connections} client(s) will be created every {period} ")
        });
        let opening = opening.unwrap_or_default();
        // Writing to a String cannot fail.
        let _ =
            writeln!(out, "spawning thread #{thread}: {clients} total client(s). {opening}{work}");
    }
    out
}

/// The report.
pub fn write(run: &Run) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = protocol(run, &mut out);
    let _ = counts(run, &mut out);
    let _ = times(run, &mut out);
    out
}

fn protocol(run: &Run, out: &mut String) -> std::fmt::Result {
    let agreed = run.record.tls.as_ref().and_then(|tls| tls.agreed.first());
    if let Some((Agreed { version, suite, group, .. }, _)) = agreed {
        let version = if *version == TlsVersion::V1_3 { "TLSv1.3" } else { "TLSv1.2" };
        writeln!(out, "TLS Protocol: {version}")?;
        writeln!(out, "Cipher: {}", tls_names::suite_name(*suite))?;
        if let Some(group) = group {
            writeln!(out, "Server Temp Key: {}", tls_names::group_name(*group))?;
        }
    }
    if run.record.responses > 0 {
        let protocol = match (run.plan.http2.is_some(), run.plan.tls.is_some()) {
            _ if run.plan.http3.is_some() => "h3",
            (true, true) => "h2",
            (true, false) => "h2c",
            (false, _) => "http/1.1",
        };
        writeln!(out, "Application protocol: {protocol}")?;
    }
    writeln!(out)
}

fn counts(run: &Run, out: &mut String) -> std::fmt::Result {
    let record = &run.record;
    let of = |statuses: RangeInclusive<u16>| -> u64 {
        record.statuses.range(statuses).map(|(_, count)| count).sum()
    };
    let classes = [of(200..=299), of(300..=399), of(400..=499), of(500..=599)];
    let succeeded = classes[0] + classes[1];
    let done = record.finished();
    let total = run.plan.limits.requests.unwrap_or(done).max(done);
    let sent = (done + record.unfinished).saturating_sub(record.never_sent);
    // Those that got no response: of a number of requests also what was given up.
    let errored = match run.plan.limits.requests {
        Some(_) => total - record.responses,
        None => record.failures_total(),
    };
    let failed = record.responses - succeeded + errored;
    let started = if run.plan.limits.requests.is_some() { sent.min(total) } else { done };
    let seconds = run.elapsed_ns as f64 / 1e9;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let taken = time_us((run.elapsed_ns + run.plan.limits.warmup_ns) / 1000);
    let bytes_per_s = bytes(per_second(record.received_bytes));
    writeln!(
        out,
        "finished in {taken}, {:.2} req/s, {bytes_per_s}B/s",
        per_second(record.responses)
    )?;
    writeln!(
        out,
        "requests: {total} total, {started} started, {done} done, {succeeded} succeeded, \
         {failed} failed, {errored} errored, {} timeout",
        record.failures_of(FailureKind::Timeout)
    )?;
    let [good, moved, refused, broken] = classes;
    writeln!(out, "status codes: {good} 2xx, {moved} 3xx, {refused} 4xx, {broken} 5xx")?;
    let heads = record.received_bytes.saturating_sub(record.body_bytes);
    let shown = |amount: u64| format!("{}B ({amount})", bytes(amount as f64));
    writeln!(
        out,
        "traffic: {} total, {} headers (space savings 0.00%), {} data",
        shown(record.received_bytes),
        shown(heads),
        shown(record.body_bytes)
    )
}

fn times(run: &Run, out: &mut String) -> std::fmt::Result {
    let answered = &run.record.answered;
    let connect = answered.tls.as_ref().map_or(&answered.connect, |tls| &tls.connected);
    let nothing = Latency::new(3);
    let each = run.record.each_connection.as_deref();
    let us = |ns: f64| time_us((ns / 1e3) as u64);
    let rate = |thousandths: f64| format!("{:.2}", thousandths / 1e3);
    writeln!(out, "{:21}min         max         mean         sd        +/- sd", "")?;
    row("time for request", &answered.processing, us, out)?;
    row("time for connect", connect, us, out)?;
    row("time to 1st byte", each.map_or(&nothing, |each| &each.first_byte), us, out)?;
    row("req/s           ", each.map_or(&nothing, |each| &each.rates), rate, out)
}

/// How near to a value the lowest of its bucket is.
const PRECISION: f64 = 0.001;

/// Shortest, longest, mean, standard deviation, and the share of values within one deviation of the mean.
fn row(
    name: &str,
    values: &Latency,
    format: impl Fn(f64) -> String,
    out: &mut String,
) -> std::fmt::Result {
    let (mean, deviation) = (values.mean_ns().unwrap_or(0.0), values.deviation_ns().unwrap_or(0.0));
    let cells =
        [values.min_ns().unwrap_or(0) as f64, values.max_ns().unwrap_or(0) as f64, mean, deviation];
    let cells = cells.map(|cell| format!("{:>10}", format(cell))).join("  ");
    // Values are known to three digits: those at the edge belong to it.
    let (low, high) =
        ((mean - deviation) * (1.0 - PRECISION), (mean + deviation) * (1.0 + PRECISION));
    let is_within = |value: u64| (low..=high).contains(&(value as f64));
    let within: u64 =
        values.recorded().filter(|(value, _)| is_within(*value)).map(|(_, count)| count).sum();
    let percent = within as f64 * 100.0 / values.count().max(1) as f64;
    writeln!(out, "{name}: {cells}{percent:>9.2}%")
}

/// `45us`, `3.34ms`, `1.04s`.
fn time_us(us: u64) -> String {
    match us {
        0..1_000 => format!("{us}us"),
        1_000..1_000_000 => format!("{:.2}ms", us as f64 / 1e3),
        _ => format!("{:.2}s", us as f64 / 1e6),
    }
}

/// Bytes without their `B`: `444`, `5.62K`.
fn bytes(amount: f64) -> String {
    const KIB: f64 = 1024.0;
    match amount {
        amount if amount < KIB => format!("{}", amount as u64),
        amount if amount < KIB * KIB => format!("{:.2}K", amount / KIB),
        amount if amount < KIB * KIB * KIB => format!("{:.2}M", amount / KIB / KIB),
        _ => format!("{:.2}G", amount / KIB / KIB / KIB),
    }
}

/// `--log-file`: for each request its start, µs since 1970, its status, -1 without a response, and its time, µs.
pub fn log(run: &Run) -> String {
    let mut lines: Vec<&RequestLine> = run.record.every_request.iter().collect();
    lines.sort_by_key(|line| line.started_ns + line.total_ns);
    let mut out = String::new();
    for line in lines {
        let began_ns = run.started_unix_ns + line.started_ns + line.connect_ns;
        let status = if line.failure.is_some() { -1 } else { i32::from(line.status) };
        let taken_us = line.total_ns.saturating_sub(line.connect_ns) / 1000;
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}\t{status}\t{taken_us}", began_ns / 1000);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Printed by h2load 1.52 for `h2load --h1 -n 20 -c 2 http://127.0.0.1:18765/`, without its progress.
    const OF_H2LOAD: &str = "\
starting benchmark...
spawning thread #0: 2 total client(s). 20 total requests
Application protocol: http/1.1

finished in 402.90ms, 49.64 req/s, 5.62KB/s
requests: 20 total, 20 started, 20 done, 20 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 20 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 2.27KB (2320) total, 1.56KB (1600) headers (space savings 0.00%), 100B (100) data
                     min         max         mean         sd        +/- sd
time for request:     3.34ms     47.66ms     40.21ms     12.67ms    90.00%
time for connect:       45us       138us        92us        66us   100.00%
time to 1st byte:     3.40ms      3.48ms      3.44ms        60us   100.00%
req/s           :      24.83       24.86       24.84        0.02   100.00%
";

    fn run() -> Run {
        let mut run = sample::ordinary();
        run.plan.limits.requests = Some(20);
        run.plan.limits.duration_ns = None;
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 2, pipeline: 1 };
        run.elapsed_ns = 402_900_000;
        let record = &mut run.record;
        (record.responses, record.statuses) = (20, [(200, 20)].into());
        (record.received_bytes, record.body_bytes) = (2320, 100);
        record.answered.processing.clear();
        record.answered.processing.record_many(3_340_000, 2);
        record.answered.processing.record(47_660_000);
        record.answered.processing.record_many(42_000_000, 17);
        record.answered.connect.record(45_000);
        record.answered.connect.record(138_000);
        let mut each = ablaze_model::record::EachConnection::default();
        each.first_byte.record(3_400_000);
        each.first_byte.record(3_480_000);
        each.rates.record(24_830);
        each.rates.record(24_860);
        record.each_connection = Some(Box::new(each));
        run
    }

    #[test]
    fn figures_stand_where_h2load_has_them() {
        let run = run();
        let text = heading(&run.plan, None) + &write(&run);
        let lines: Vec<(&str, &str)> = text.lines().zip(OF_H2LOAD.lines()).collect();
        for (own, theirs) in &lines {
            let is_equal = own == theirs;
            // The same but for the figures in it: columns begin and end where h2load's do.
            let columns = |line: &str| {
                let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
                line.chars().map(digits).collect::<String>()
            };
            assert!(is_equal || columns(own) == columns(theirs), "{own}\n{theirs}");
        }
        assert_eq!(lines.len(), OF_H2LOAD.lines().count(), "{text}");
        assert!(text.contains("\nfinished in 402.90ms, 49.64 req/s, 5.62KB/s\n"), "{text}");
        assert!(
            text.contains("time for connect:       45us       138us        91us        65us"),
            "{text}"
        );
        assert!(text.contains("req/s           :      24.83       24.86       24.84"), "{text}");
    }

    #[test]
    fn requests_without_a_response_are_errored_and_failed() {
        let mut run = run();
        let record = &mut run.record;
        (record.responses, record.statuses) = (15, [(200, 10), (302, 2), (404, 3)].into());
        record.failures[FailureKind::Timeout as usize] = 4;
        let text = write(&run);
        let line = "requests: 20 total, 19 started, 19 done, 12 succeeded, 8 failed, 5 errored, 4 timeout\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("status codes: 10 2xx, 2 3xx, 3 4xx, 0 5xx\n"), "{text}");
    }

    #[test]
    fn a_single_value_is_within_its_deviation() {
        let shares = |values: &[u64]| {
            let mut times = Latency::new(3);
            values.iter().for_each(|value| times.record(*value));
            let mut out = String::new();
            row("time", &times, |ns| format!("{ns}"), &mut out).unwrap();
            out.rsplit(' ').next().unwrap().trim().to_owned()
        };
        assert_eq!(shares(&[1_234_567]), "100.00%");
        assert_eq!(shares(&[1_234_567; 9]), "100.00%");
        // Of 1, 1, 1, 1 and 11 the mean is 3 and the deviation 4.
        assert_eq!(shares(&[1_000, 1_000, 1_000, 1_000, 11_000]), "80.00%");
    }

    #[test]
    fn a_run_by_time_says_so_and_threads_share_the_clients() {
        let mut run = run();
        run.plan.limits.requests = None;
        (run.plan.limits.duration_ns, run.plan.limits.warmup_ns) =
            (Some(1_000_000_000), 1_500_000_000);
        run.plan.workers.count = 2;
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 3, pipeline: 1 };
        let opening = Opening { connections: 2, period_ns: 1_000_000_000 };
        let text = heading(&run.plan, Some(opening));
        let expected = "spawning thread #0: 2 total client(s). Up to 2 client(s) will be created every 1s \
                        Timing-based test with 1.5s of warm-up time and 1s of main duration for measurements.\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("spawning thread #1: 1 total client(s)."), "{text}");
    }

    #[test]
    fn the_log_has_a_line_for_each_request() {
        let mut run = crate::ab::sample::run();
        run.record.every_request[0].failure = Some(FailureKind::Reset);
        let text = log(&run);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[0], "1781524800000000\t200\t12000");
        assert!(lines[9].contains("\t-1\t"), "{text}");
    }
}
