//! h2load, of which the clients, the counts, the rate, the bytes and the times of requests are read.

use std::borrow::Cow;

use super::{behind, kibibytes, time_ms, time_s};
use crate::printed::line::{cleaned, count, number};
use crate::printed::{Connections, Printed, Report, Times, Tool};

pub fn begins(line: &str) -> Option<Tool> {
    let begins = line == "starting benchmark..." || line.starts_with("finished in ");
    (begins && (line.len() < 30 || line.contains(" req/s"))).then_some(Tool::H2load)
}

/// The text with its long lines in one again, where a mail or a terminal wrapped them: each of them has an end that it is
/// known by. Lines keep their numbers.
pub fn unwrapped(text: &str) -> Cow<'_, str> {
    const LONG: [(&str, &str); 4] = [
        ("spawning thread #", " for measurements."),
        ("requests: ", " timeout"),
        ("status codes: ", " 5xx"),
        ("traffic: ", " data"),
    ];
    let broken = |line: &str, below: &str| {
        let line = cleaned(line);
        LONG.iter().find(|(start, _)| line.starts_with(start)).is_some_and(|(_, end)| {
            let is_more = below.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '(')
                && !LONG.iter().any(|(start, _)| below.starts_with(start));
            !line.ends_with(end) && line.contains(' ') && is_more && below.ends_with(end)
        })
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_broken =
        |at: usize| lines.get(at + 1).is_some_and(|below| broken(lines[at], &cleaned(below)));
    if !text.contains("finished in ") || !(0..lines.len()).any(is_broken) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    for at in 0..lines.len() {
        match at.checked_sub(1).is_some_and(is_broken) {
            true => {}
            false if is_broken(at) => {
                whole.extend([lines[at].trim_end(), " ", cleaned(lines[at + 1]).as_str()]);
            }
            false => whole.push_str(lines[at]),
        }
        whole.push('\n');
    }
    Cow::Owned(whole)
}

pub fn take(report: &mut Report, line: &str) -> bool {
    if let Some((_, clients)) = line.split_once("spawning thread #") {
        // Those of a run above that ended without a report are not this one's.
        if clients.starts_with("0:") {
            (report.clients, report.threads) = (None, None);
            report.own.retain(|(name, _)| ![UNCONNECTED, OF_THREADS].contains(name));
        }
        let share = clients.split_once("total client(s). ");
        let share = share.filter(|(_, rest)| rest.trim_end().ends_with(" total requests"));
        if let Some(share) = share.and_then(|(_, rest)| count(rest)) {
            let before = report.own(OF_THREADS).map_or(0, |count| count.value as u64);
            report.own.retain(|(name, _)| *name != OF_THREADS);
            own(report, OF_THREADS, Some(before.saturating_add(share)));
        }
        let clients = clients.split_once(": ").and_then(|(_, rest)| count(rest));
        report.clients = clients.map(|more| report.clients.unwrap_or(0).saturating_add(more));
        report.concurrency = report.clients;
        report.threads = Some(report.threads.unwrap_or(0) + 1);
        // Those that the server closes it opens again, and does not say so.
        report.connections = Connections::Unknown;
        main_duration(report, line);
    } else if line.starts_with(COULD_NOT_CONNECT) {
        // Threads write at once, and several stand on one line.
        let more = line.matches(COULD_NOT_CONNECT).count() as u64;
        let before = report.own(UNCONNECTED).map_or(0, |count| count.value as u64);
        report.own.retain(|(name, _)| *name != UNCONNECTED);
        own(report, UNCONNECTED, Some(before.saturating_add(more)));
    } else if let Some(protocol) = behind(line, "Application protocol:") {
        // How many streams a client has open is not printed.
        report.concurrency = report.concurrency.filter(|_| protocol.starts_with("http/1"));
        report.http2 = protocol.starts_with("h2");
        report.protocol = Some(protocol.trim().to_owned());
    } else if line.starts_with("TLS Protocol: ") {
        report.tls = true;
    } else if line.starts_with("finished in ") {
        finished(report, line);
    } else if let Some(counts) = behind(line, "requests:") {
        requests(report, counts);
    } else if let Some(counts) = behind(line, "status codes:") {
        let of = |class| counts.split(", ").find(|item| item.ends_with(class)).and_then(count);
        let classes = [" 2xx", " 3xx", " 4xx", " 5xx"].map(of);
        report.classes = super::classes(2, &classes);
        let [good, others @ ..] = classes;
        let others: u64 = others.into_iter().flatten().fold(0, u64::saturating_add);
        let beyond = beyond_classes(report);
        own(report, BEYOND, beyond);
        report.non_2xx = good.map(|_| others.saturating_add(beyond.unwrap_or(0)));
        own(report, "the number with a status", good.map(|good| good.saturating_add(others)));
    } else if let Some(traffic) = behind(line, "traffic:") {
        let data = traffic.rsplit(", ").next().filter(|item| item.ends_with(" data"));
        report.total_bytes = in_brackets(traffic);
        let saved = traffic.split_once("space savings ").and_then(|(_, saved)| number(saved));
        report.own.extend(saved.map(|(saved, _)| (SAVED, saved)));
        report.body_bytes = data.and_then(in_brackets);
        // `32.96MB (34563456) total`.
        let rounded = |name, text| kibibytes(text).map(|kilobytes| (name, kilobytes));
        report.own.extend(rounded("the total bytes, rounded", traffic));
        report.own.extend(data.and_then(|data| rounded("the bytes of data, rounded", data)));
        // `, 96.68KB (99000) headers (space savings 0.00%)`.
        let headers = traffic.split(", ").find(|item| item.contains(") headers"));
        report.own.extend(headers.and_then(|item| rounded("the bytes of headers, rounded", item)));
        let exact = headers.and_then(in_brackets).and_then(|bytes| bytes.try_into().ok());
        own(report, "the bytes of headers", exact);
    } else if let Some(cells) = behind_one(line, ["time for request:", "request     :"]) {
        report.total = times(cells);
        report.percentiles = percentiles(cells);
    } else if let Some(cells) = behind_one(line, ["req/s           :", "req/s       :"]) {
        let figures = super::super::line::numbers(cells);
        let columns: &[&str] =
            if figures.len() >= COLUMNS_LATER.len() { &COLUMNS_LATER } else { &COLUMNS };
        let names = columns.iter().map(|column| match *column {
            "min" => Some("the least req/s"),
            "max" => Some("the most req/s"),
            "mean" => Some("the mean req/s"),
            "sd" => Some(DEVIATION),
            _ => None,
        });
        report.own.extend(names.zip(figures).filter_map(|(name, figure)| Some((name?, figure))));
    } else if let Some(cells) = behind_one(line, ["time for connect:", "connect     :"]) {
        report.connect = times(cells);
    } else if let Some(cells) = behind_one(line, ["time to 1st byte:", "TTFB        :"]) {
        let row = times(cells).unwrap_or_default();
        let [least, mean, most] = FIRST_BYTES;
        for (name, ms) in [(least, row.min_ms), (mean, row.mean_ms), (most, row.max_ms)] {
            report.own.extend(ms.map(|ms| (name, ms)));
        }
        report.own.extend(row.deviation_ms.map(|ms| (FIRST_BYTE_DEVIATION, ms)));
    } else {
        let others = [
            "starting benchmark",
            "min ",
            "req/s ",
            "progress: ",
            "TLS ",
            "Cipher: ",
            "Server Temp Key",
            "UDP ",
            "Warm-up ",
            "Main benchmark",
            "Stopped all",
        ];
        return others.iter().any(|start| line.starts_with(start));
    }
    true
}

/// `Timing-based test with 1s of warm-up time and 1s of main duration`: the rate is that of the latter.
fn main_duration(report: &mut Report, line: &str) {
    let before = line.split_once(" of main duration").map(|(before, _)| before);
    let asked_s = before.and_then(|before| before.rsplit(' ').next()).and_then(time_s);
    // It divides by just that, and prints all its digits.
    report.asked_s = asked_s.map(|asked| Printed { step: asked.step.min(1e-3), ..asked });
    report.taken_s = report.asked_s.or(report.taken_s);
    let warm_up = line.split_once(" with ").and_then(|(_, rest)| rest.split_once(" of warm-up"));
    let warm_up_s = warm_up.and_then(|(time, _)| time_s(time)).filter(|_| asked_s.is_some());
    report.own.retain(|(name, _)| *name != WARM_UP);
    report.own.extend(warm_up_s.map(|warm_up_s| (WARM_UP, warm_up_s)));
}

/// What it prints on stderr for each client whose socket or whose connect() failed at once; it does not print why.
pub const COULD_NOT_CONNECT: &str = "client could not connect to host";

/// How many of them are there.
pub const UNCONNECTED: &str = "the number of clients that could not connect";

/// As its threads were told.
pub const OF_THREADS: &str = "the number of requests of its threads";

/// Before the main duration; nothing of it is counted.
pub const WARM_UP: &str = "the length of the warm-up";

/// All of it, in a run by time with its warm-up.
pub const FINISHED: &str = "the time that it finished in";

/// `finished in 31.26ms, 159964.17 req/s, 5.67MB/s`.
fn finished(report: &mut Report, line: &str) {
    let mut items = line["finished in ".len()..].split(", ");
    let taken_s = items.next().and_then(time_s);
    report.taken_s = report.taken_s.or(taken_s);
    report.own.extend(taken_s.map(|taken_s| (FINISHED, taken_s)));
    report.rate_per_s = items.next().and_then(number).map(|(rate, _)| rate);
    report.kilobytes_per_s = items.next().and_then(kibibytes);
}

/// Rates and times are rounded, and requests at the edges of a run count in one of them alone.
const MORE_IN_FLIGHT: f64 = 1.25;

/// Over HTTP/1 clients pipeline as many requests as `-m` says, which is not printed: where rate and times show more in flight than
/// there are clients, these are not the concurrency.
pub fn finish(report: &mut Report) {
    let mean_ms = report.total.and_then(|times| times.mean_ms);
    let in_flight = report.rate_per_s.zip(mean_ms).map(|(rate, ms)| rate.low() * ms.low() / 1e3);
    let clients = report.clients.zip(in_flight);
    if clients.is_some_and(|(clients, mean)| mean > clients as f64 * MORE_IN_FLIGHT) {
        report.concurrency = report.concurrency.filter(|asked| Some(*asked) != report.clients);
    }
}

/// `5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout`. Failed are those with
/// another status than 2xx and 3xx, and those that got no response, which alone are errored; only some of the latter
/// are among those that are done. The rate is that of the responses.
fn requests(report: &mut Report, counts: &str) {
    let named = |name: &str| {
        let item = counts.split(", ").find(|item| item.trim_end().ends_with(name))?;
        count(item)
    };
    let (succeeded, failed, errored) = (named(" succeeded"), named(" failed"), named(" errored"));
    let bad = failed.zip(errored).map_or(0, |(failed, errored)| failed.saturating_sub(errored));
    // Cut off within them, how many got a response is not known.
    let is_whole = failed.is_some() && errored.is_some();
    report.complete = succeeded.filter(|_| is_whole).map(|good| good.saturating_add(bad));
    let started_more = named(" started") > named(" total");
    if report.clients.is_none() && (started_more || is_of_a_part(report)) {
        // In a run by time the total is what was done, and the rate that of the main duration, which stands above, where
        // nothing was read.
        report.taken_s = None;
    }
    report.failed = errored;
    own(report, "the number succeeded", succeeded);
    own(report, "the number failed", failed);
    own(report, "the number of requests in total", named(" total"));
    own(report, "the number started", named(" started"));
    own(report, "the number done", named(" done"));
    own(report, "the number timed out", named(" timeout"));
}

/// Responses that are in none of the classes: with a status of 600 or more (src/h2load.cc, `on_status_field`). It counts them
/// as failed. At the edges of a run by time some of the classes are counted, and not yet as failed, or the other way
/// round.
fn beyond_classes(report: &Report) -> Option<u64> {
    let exact = |name| report.own(name).map(|figure| figure.value as u64);
    let with_status = exact("the number failed")?.saturating_sub(report.failed?);
    let bad = [4, 5].iter().filter_map(|class| report.classes.get(class)).sum::<u64>();
    let in_classes = report.classes.values().copied().fold(0, u64::saturating_add);
    let left = report.complete?.saturating_sub(in_classes);
    let beyond = with_status.saturating_sub(bad).min(left);
    let at_edges = report.asked_s.is_some() && beyond <= with_status / 10;
    (beyond > 0 && !at_edges).then_some(beyond)
}

/// Those of which no class is printed.
pub const BEYOND: &str = "the number with a status of no class";

/// Whether the rate is that of less time than the whole, as in a run by time with a warm-up.
fn is_of_a_part(report: &Report) -> bool {
    let whole = report.rate_per_s.zip(report.taken_s).zip(report.complete);
    whole.is_some_and(|((rate, taken), complete)| rate.low() * taken.low() > complete as f64)
}

fn own(report: &mut Report, name: &'static str, count: Option<u64>) {
    report.own.extend(count.map(|count| (name, Printed { value: count as f64, step: 0.0 })));
}

/// Whether HTTP/2 was spoken where the report does not say what was agreed upon: old versions do not, and the line may be
/// lost. Bytes of fields are saved in no HTTP/1.1; and without TLS h2load agrees on nothing, but speaks what it is told to.
pub fn speaks_http2(report: &Report) -> bool {
    let command = report.command.as_ref();
    let asks = |of: &dyn Fn(&str) -> bool| {
        command.is_some_and(|line| line.words().flat_map(|word| word.split(['=', ','])).any(of))
    };
    if report.protocol.is_some() || asks(&|word| matches!(word, "h3" | "--h3" | "--h1")) {
        return false;
    }
    let saved = report.own(SAVED).is_some_and(|percent| percent.value > 0.0);
    let otherwise = |word: &str| word.starts_with("-p") || word == "--no-tls-proto";
    let in_clear = command.is_some_and(|line| !line.tls && !line.host.is_empty());
    saved || in_clear && !asks(&otherwise)
}

/// The share of the fields' bytes that compression saved.
const SAVED: &str = "the space savings";

/// `181.64KB (186000) total`.
fn in_brackets(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once('(')?;
    count(rest).and_then(|bytes| bytes.try_into().ok())
}

/// From the start of a client on; one of each.
pub const FIRST_BYTE: &str = "the longest time to 1st byte";
pub const FIRST_BYTES: [&str; 3] =
    ["the shortest time to 1st byte", "the mean time to 1st byte", FIRST_BYTE];

pub const FIRST_BYTE_DEVIATION: &str = "the deviation of the time to 1st byte";
/// Of the clients' rates.
pub const DEVIATION: &str = "the deviation of req/s";

/// Since March 2026 the rows have shorter names.
fn behind_one<'a>(line: &'a str, labels: [&str; 2]) -> Option<&'a str> {
    labels.iter().find_map(|label| behind(line, label))
}

/// The columns; later versions have percentiles among them.
const COLUMNS: [&str; 4] = ["min", "max", "mean", "sd"];
const COLUMNS_LATER: [&str; 7] = ["min", "max", "median", "p95", "p99", "mean", "sd"];

/// A row by the names of its columns; without a response all are 0, and nothing is said.
fn row(cells: &str) -> Vec<(&'static str, Printed)> {
    let cells: Vec<Printed> = cells.split_whitespace().map_while(time_ms).collect();
    let columns: &[&str] =
        if cells.len() == COLUMNS_LATER.len() { &COLUMNS_LATER } else { &COLUMNS };
    let row = columns.iter().copied().zip(cells).collect::<Vec<_>>();
    if row.iter().all(|(_, ms)| ms.value == 0.0) { Vec::new() } else { row }
}

fn times(cells: &str) -> Option<Times> {
    let row = row(cells);
    let cell = |name: &str| row.iter().find(|(column, _)| *column == name).map(|(_, ms)| *ms);
    (!row.is_empty()).then(|| Times {
        min_ms: cell("min"),
        mean_ms: cell("mean"),
        deviation_ms: cell("sd"),
        median_ms: cell("median"),
        max_ms: cell("max"),
    })
}

fn percentiles(cells: &str) -> Vec<(f64, Printed)> {
    let percent = |name: &str| match name {
        "median" => Some(50.0),
        name => name.strip_prefix('p')?.parse().ok(),
    };
    row(cells).into_iter().filter_map(|(name, ms)| Some((percent(name)?, ms))).collect()
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    const REPORT: &str = "$ h2load --h1 -n 300 -c 10 http://127.0.0.1:8311/mix\nstarting benchmark...\n\
        spawning thread #0: 10 total client(s). 300 total requests\nApplication protocol: http/1.1\n\n\
        finished in 1.32s, 226.98 req/s, 47.27KB/s\n\
        requests: 300 total, 300 started, 300 done, 215 succeeded, 85 failed, 0 errored, 0 timeout\n\
        status codes: 215 2xx, 0 3xx, 0 4xx, 85 5xx\n\
        traffic: 62.49KB (63985) total, 24.17KB (24755) headers (space savings 0.00%), 29.30KB (30000) data\n";

    /// At 80 columns, as mails are.
    #[test]
    fn lines_that_a_mail_wrapped_are_one() {
        let whole = read(REPORT);
        let wrapped = REPORT
            .replace("failed, 0 errored", "failed, 0\nerrored")
            .replace("(space savings 0.00%), 29.30KB", "(space savings\n0.00%), 29.30KB");
        let reports = read(&wrapped).reports;
        assert_eq!(reports, whole.reports);
        let quoted: String = wrapped.lines().map(|line| format!("> {line}\n")).collect();
        assert_eq!(read(&quoted).reports, whole.reports);
        // One by time: its head tells what the rate is of.
        let by_time = "starting benchmark...\nspawning thread #0: 5 total client(s). Timing-based test with 1s of warm-up time and 2s \
                       of main duration for measurements.\nspawning thread #1: 5 total client(s). Timing-based test with 1s of warm-up \
                       time and 2s of main duration for measurements.\n\nfinished in 3.00s, 50.00 req/s, 1.00KB/s\n\
                       requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout\n";
        let wrapped = by_time.replace("warm-up time and", "warm-up\ntime and");
        assert_eq!(read(&wrapped).reports[0].asked_s, read(by_time).reports[0].asked_s);
        assert!(read(by_time).reports[0].asked_s.is_some());
        // Cut off within its counts.
        let cut = &REPORT[..REPORT.find(" failed, 0 errored").unwrap()];
        assert_eq!(read(&format!("{cut}\n")).reports[0].complete, None);
    }
}
