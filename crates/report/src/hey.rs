//! The reports of hey: the summary with its lines in its order, with its labels and units, and the CSV of `-o csv`. The numbers
//! are those measured; what differs from hey's, and why, is in docs/hey.md.

use std::fmt::Write as _;

use ablaze_model::record::RequestLine;
use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

/// The percentiles that the summary lists.
const PERCENTS: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];

/// Bars of the histogram, and the longest one.
const BUCKETS: u32 = 10;
const BAR_LETTERS: u64 = 40;

/// The summary.
pub fn write(run: &Run) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = summary(run, &mut out);
    let _ = histogram(latency(run), &mut out);
    let _ = percentiles(latency(run), &mut out);
    let _ = details(run, &mut out);
    let _ = distributions(run, &mut out);
    out
}

/// Times as hey has them: from connecting or sending to the end of the response.
fn latency(run: &Run) -> &Latency {
    &run.record.answered.total
}

/// Seconds with four digits; without a value `NaN`, as Go prints 0 / 0 in that width.
fn seconds(ns: Option<f64>) -> String {
    ns.map_or_else(|| " NaN".to_owned(), |ns| format!("{:.4}", ns / 1e9))
}

fn edge(ns: Option<u64>) -> String {
    seconds(Some(ns.unwrap_or(0) as f64))
}

fn summary(run: &Run, out: &mut String) -> std::fmt::Result {
    let (latency, record) = (latency(run), &run.record);
    let total_s = run.elapsed_ns as f64 / 1e9;
    let rate = if total_s > 0.0 { record.finished() as f64 / total_s } else { 0.0 };
    writeln!(out, "\nSummary:")?;
    writeln!(out, "  Total:\t{total_s:.4} secs")?;
    writeln!(out, "  Slowest:\t{} secs", edge(latency.max_ns()))?;
    writeln!(out, "  Fastest:\t{} secs", edge(latency.min_ns()))?;
    writeln!(out, "  Average:\t{} secs", seconds(latency.mean_ns()))?;
    writeln!(out, "  Requests/sec:\t{rate:.4}")?;
    writeln!(out, "  ")?;
    let body_bytes = record.bytes_of_responses();
    if body_bytes > 0 && record.responses > 0 {
        writeln!(out, "  Total data:\t{body_bytes} bytes")?;
        writeln!(out, "  Size/request:\t{} bytes", body_bytes / record.responses)?;
    }
    writeln!(out)
}

/// Eleven marks from the shortest to the longest time, each with what lies up to it and above the one before.
fn histogram(latency: &Latency, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Response time histogram:")?;
    if let (Some(low), Some(high)) = (latency.min_ns(), latency.max_ns()) {
        let step = (high - low) as f64 / f64::from(BUCKETS);
        let marks: Vec<u64> =
            (0..=BUCKETS).map(|number| low + (step * f64::from(number)) as u64).collect();
        let up_to = |mark: u64| match mark < high {
            true => latency.count_at_most(mark),
            false => latency.count(),
        };
        let mut below = 0;
        let mut counts = Vec::new();
        for mark in &marks {
            let at_most = up_to(*mark).max(below);
            counts.push(at_most - below);
            below = at_most;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        for (mark, count) in marks.iter().zip(&counts) {
            let bar = "■".repeat(((count * BAR_LETTERS + most / 2) / most) as usize);
            writeln!(out, "  {:.3} [{count}]\t|{bar}", *mark as f64 / 1e9)?;
        }
    }
    writeln!(out, "\n")
}

fn percentiles(latency: &Latency, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Latency distribution:")?;
    for percent in PERCENTS.iter().filter(|_| latency.count() > 0) {
        // hey: the first value with at least this share of all before it; of few, it has none at the end.
        let rank = (percent * latency.count()).div_ceil(100) + 1;
        let ns = latency.value_at_rank_ns(rank.min(latency.count()));
        writeln!(out, "  {percent}% in {} secs", edge(ns))?;
    }
    writeln!(out)
}

fn details(run: &Run, out: &mut String) -> std::fmt::Result {
    let answered = &run.record.answered;
    let connect = answered.tls.as_ref().map_or(&answered.connect, |tls| &tls.connected);
    let responses = run.record.responses;
    let of_all =
        |values: &Latency| (responses > 0).then(|| values.sum_ns() as f64 / responses as f64);
    // A request on a connection that stood connected in no time.
    let least = if connect.count() < responses { Some(0) } else { connect.min_ns() };
    let nothing = Latency::new(3);
    let rows = [
        ("DNS+dialup", connect, least),
        ("DNS-lookup", &nothing, None),
        ("req write", &nothing, None),
        ("resp wait", &answered.wait, answered.wait.min_ns()),
        ("resp read", &answered.receive, answered.receive.min_ns()),
    ];
    writeln!(out, "Details (average, fastest, slowest):")?;
    for (name, values, least) in rows {
        let (mean, most) = (seconds(of_all(values)), edge(values.max_ns()));
        writeln!(out, "  {name}:\t{mean} secs, {} secs, {most} secs", edge(least))?;
    }
    writeln!(out)
}

fn distributions(run: &Run, out: &mut String) -> std::fmt::Result {
    let record = &run.record;
    writeln!(out, "Status code distribution:")?;
    for (status, count) in &record.statuses {
        writeln!(out, "  [{status}]\t{count} responses")?;
    }
    writeln!(out)?;
    if record.failures_total() == 0 {
        return writeln!(out, "\n");
    }
    writeln!(out, "Error distribution:")?;
    for kind in FailureKind::ALL.into_iter().filter(|kind| record.failures_of(*kind) > 0) {
        let (count, method) = (record.failures_of(kind), &run.plan.requests.method);
        let what = format!("{method} \"{}\": {}", run.plan.target.url, kind.label());
        writeln!(out, "  [{count}]\t{}", ablaze_model::printable::printable(&what))?;
    }
    writeln!(out)
}

/// A line for each response, in the order in which they were complete, times in seconds.
pub fn csv(run: &Run) -> String {
    let mut out = String::from(
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n",
    );
    let answered = run.record.every_request.iter().filter(|line| line.failure.is_none());
    let mut lines: Vec<&RequestLine> = answered.collect();
    lines.sort_by_key(|line| line.started_ns + line.total_ns);
    for line in lines {
        let s = |ns: u64| ns as f64 / 1e9;
        let read_ns = line.total_ns.saturating_sub(line.connect_ns + line.wait_ns);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:.4},{:.4},0.0000,0.0000,{:.4},{:.4},{},{:.4}",
            s(line.total_ns),
            s(line.connect_ns),
            s(line.wait_ns),
            s(read_ns),
            line.status,
            s(line.started_ns)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// What hey 0.1.4 prints for 20,000 responses of 14 bytes, but for digits and the bars.
    const OF_HEY: &str = "
Summary:
  Total:\t0 secs
  Slowest:\t0 secs
  Fastest:\t0 secs
  Average:\t0 secs
  Requests/sec:\t0
  
  Total data:\t0 bytes
  Size/request:\t0 bytes

Response time histogram:
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|
  0 [0]\t|


Latency distribution:
  0% in 0 secs
  0% in 0 secs
  0% in 0 secs
  0% in 0 secs
  0% in 0 secs
  0% in 0 secs
  0% in 0 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0 secs, 0 secs, 0 secs
  DNS-lookup:\t0 secs, 0 secs, 0 secs
  req write:\t0 secs, 0 secs, 0 secs
  resp wait:\t0 secs, 0 secs, 0 secs
  resp read:\t0 secs, 0 secs, 0 secs

Status code distribution:
  [0]\t0 responses



";

    fn shape(text: &str) -> String {
        let mut shape = String::new();
        for letter in text.chars().filter(|letter| *letter != '■') {
            let is_number = letter.is_ascii_digit() || (letter == '.' && shape.ends_with('0'));
            match is_number {
                true if shape.ends_with('0') => {}
                true => shape.push('0'),
                false => shape.push(letter),
            }
        }
        shape
    }

    #[test]
    fn lines_and_labels_are_heys() {
        let text = write(&sample::ordinary());
        assert_eq!(shape(&text), OF_HEY, "{text}");
        // 20,000 in 10 s, of 14 bytes, each in 29.5 to 69.5 ms but for 20.
        assert!(text.contains("  Total:\t10.0000 secs\n"), "{text}");
        assert!(text.contains("  Requests/sec:\t2000.0000\n"), "{text}");
        assert!(
            text.contains("  Total data:\t280000 bytes\n  Size/request:\t14 bytes\n"),
            "{text}"
        );
        assert!(text.contains("  [200]\t20000 responses\n"), "{text}");
        // Three that timed out had brought a part of theirs.
        let mut run = sample::ordinary();
        run.record.failures[ablaze_model::FailureKind::Timeout as usize] = 3;
        run.record.body_bytes += 1_277_952;
        run.record.body_lengths = [(14, 20_000)].into();
        assert!(write(&run).contains("  Size/request:\t14 bytes\n"), "{}", write(&run));
        let counts = text.lines().filter_map(|line| line.split_once("]\t|")?.0.split_once(" ["));
        let sum: u64 = counts.map(|(_, count)| count.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, 20_000, "{text}");
    }

    #[test]
    fn errors_have_a_line_for_each_kind_and_nothing_has_no_mean() {
        let text = write(&sample::troubled());
        assert!(text.contains("Error distribution:\n  [12]\tGET \"http://"), "{text}");
        assert!(text.contains("  [90]\t") || text.contains("  [404]\t90 responses\n"), "{text}");
        let mut run = sample::ordinary();
        run.record = ablaze_model::Record::new();
        let text = write(&run);
        assert!(text.contains("  Average:\t NaN secs\n"), "{text}");
        assert!(text.contains("Response time histogram:\n\n\nLatency distribution:\n\n"), "{text}");
    }

    #[test]
    fn percentiles_have_heys_rank() {
        let mut values = Latency::new(4);
        for ms in 1..=20 {
            values.record(ms * 1_000_000);
        }
        let mut text = String::new();
        percentiles(&values, &mut text).unwrap();
        // Of 20 values the third has two, 10 %, before it; there is none with 99 %.
        assert!(text.contains("  10% in 0.0030 secs\n"), "{text}");
        assert!(text.contains("  50% in 0.0110 secs\n"), "{text}");
        assert!(text.contains("  99% in 0.0200 secs\n"), "{text}");
    }

    #[test]
    fn the_csv_has_a_line_for_each_response_in_their_order() {
        let mut run = crate::ab::sample::run();
        run.record.every_request[3].failure = Some(FailureKind::Reset);
        let text = csv(&run);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10);
        // Of 12 ms, 0.5 ms are for the body; it did not connect.
        assert_eq!(lines[1], "0.0120,0.0000,0.0000,0.0000,0.0115,0.0005,200,0.0000");
    }
}
