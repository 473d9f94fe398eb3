//! wrk, and wrk2, which has its form.

use super::{behind, kibibytes, percentile, scaled, time_ms, time_s};
use crate::printed::line::{count, number};
use crate::printed::{Connections, Printed, Report, SocketErrors, Times, Tool};

/// Its table of times is there, and has none in it.
pub const NO_TIMES: &str = "the mean of no times";

/// Of the rates of the parts of each thread's run.
pub const DEVIATION: &str = "the deviation of Req/Sec";
/// Percent of the requests.
pub const WITHIN: &str = "the share within a deviation";

/// The report begins as one of a version before 2.0, which ended after a number of requests.
pub const OLD_HEAD: &str = "the head of an old version";

/// `Making 100000 requests to http://…`: the URL.
fn old_head(line: &str) -> Option<&str> {
    let (requests, url) = line.strip_prefix("Making ")?.split_once(" requests to ")?;
    (count(requests).is_some() && url.contains("://") && !url.contains(' ')).then_some(url)
}

/// `Running 10s test @ http://…`.
pub fn begins(line: &str) -> Option<Tool> {
    let first = line.starts_with("Running ") && line.contains(" test @ ");
    // The line below, where that one was left out.
    let second = line.split_once(" threads and ").is_some_and(|(threads, rest)| {
        count(threads).is_some()
            && rest.split_once(' ').is_some_and(|(_, rest)| rest == "connections")
    });
    (first || second || old_head(line).is_some()).then_some(Tool::Wrk)
}

/// Whether a line is one of those that `tail` leaves of a report, and of wrk's alone.
pub fn is_of_end(line: &str) -> bool {
    let cells = |rest: &str| rest.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let is_row = |rest: &str, is_cell: &dyn Fn(&str) -> bool| {
        let cells = cells(rest);
        cells.len() == 4 && cells[..3].iter().all(|cell| is_cell(cell)) && cells[3].ends_with('%')
    };
    let is_time = |cell: &str| time_ms(cell).is_some();
    let is_rate = |cell: &str| thousands(cell).is_some();
    line.strip_prefix("Latency ").is_some_and(|rest| is_row(rest, &is_time))
        || line.strip_prefix("Req/Sec ").is_some_and(|rest| is_row(rest, &is_rate))
        || is_counts(line)
        || line.starts_with("Socket errors: connect ")
        || line.starts_with("Non-2xx or 3xx responses: ")
}

/// `170177 requests in 2.00s, 23.86MB read`; autocannon has a blank before its unit.
pub fn is_counts(line: &str) -> bool {
    let Some((requests, rest)) = line.split_once(" requests in ") else { return false };
    let Some((taken, read)) = rest.split_once(", ") else { return false };
    let is_size = read.strip_suffix(" read").is_some_and(|size| {
        !size.contains(' ') && number(size).is_some() && kibibytes(size).is_some()
    });
    count(requests).is_some_and(|_| requests.bytes().all(|byte| byte.is_ascii_digit()))
        && time_s(taken).is_some()
        && is_size
}

/// Where the percentiles begin that `tail` left above the counts, of reports whose other lines are lost: `90%  2.52ms`.
pub fn tails(lines: &[&str]) -> Vec<usize> {
    let is_percentile = |line: &str| {
        let line = line.trim();
        let cells: Vec<&str> = line.split_whitespace().collect();
        matches!(cells[..], [percent, ms] if percent.ends_with('%') && number(percent).is_some() && time_ms(ms).is_some())
    };
    let counts = (0..lines.len()).filter(|at| is_counts(lines[*at].trim()));
    let begins = counts.filter_map(|at| {
        let above = lines[..at].iter().rev().take_while(|line| is_percentile(line)).count();
        (above > 0).then_some(at - above + 1)
    });
    begins.collect()
}

/// Whether a line below wrk's first shows that it was autocannon's, which begins alike: `10 connections`, a table of boxes,
/// `276k requests in 11.01s, …`.
pub fn is_of_autocannon(report: &Report, line: &str) -> bool {
    // What stands below wrk's own lines is no part of them.
    if report.tool != Tool::Wrk || report.clients.is_some() || report.complete.is_some() {
        return false;
    }
    let behind_number = number(line).map(|(_, rest)| rest);
    let words = |rest: &str| rest.starts_with(" connections") || rest.starts_with("k requests in ");
    line.starts_with(['┌', '│', '├', '└']) || behind_number.is_some_and(words)
}

pub fn take(report: &mut Report, line: &str) -> bool {
    if let Some((length, url)) = line.split_once(" test @ ") {
        report.asked_s = length.rsplit(' ').next().and_then(time_s);
        crate::printed::native::url(report, url.trim());
        // Those that the server closes it opens again, and does not say so.
        report.connections = Connections::Unknown;
        return true;
    }
    if let Some(url) = old_head(line) {
        crate::printed::native::url(report, url);
        report.own.push((OLD_HEAD, Printed { value: 0.0, step: 0.0 }));
        report.connections = Connections::Unknown;
        return true;
    }
    threads(report, line)
        || latency(report, line)
        || percentile(report, line)
        || counts(report, line)
        || is_of_wrk2(report, line)
        || line.starts_with("Thread Stats ")
        || per_thread(report, line)
        || line.starts_with("Latency Distribution")
        || of_script(report, line)
}

/// Below the rate a script printed percentiles, in a form and a unit of its own.
pub const SCRIPTED: &str = "percentiles of a script";

/// `99%,1234`, as in wrk's examples; `99th percentile: 1.2`. wrk's own have a unit, and stand above the counts.
fn of_script(report: &mut Report, line: &str) -> bool {
    let Some((percent, rest)) = number(line) else { return false };
    let (Some(behind), true) = (
        rest.strip_prefix('%').or_else(|| rest.strip_prefix("th percentile")),
        report.rate_per_s.is_some() && (0.0..=100.0).contains(&percent.value),
    ) else {
        return false;
    };
    let value = behind.trim_start_matches(|c: char| c.is_whitespace() || ",:=;".contains(c));
    let is_value = value.len() < behind.len() && number(value).is_some();
    if is_value && report.own(SCRIPTED).is_none() {
        report.own.push((SCRIPTED, percent));
    }
    is_value
}

/// `2 threads and 10 connections`.
fn threads(report: &mut Report, line: &str) -> bool {
    let Some((threads, rest)) = line.split_once(" threads and ") else { return false };
    (report.threads, report.clients) = (count(threads), count(rest));
    report.concurrency = report.clients;
    true
}

/// `Latency   635.91us    0.89ms  12.92ms   93.69%`: mean, deviation, longest; some builds of wrk2 have the 99 %
/// there, and say so above.
fn latency(report: &mut Report, line: &str) -> bool {
    if line.starts_with("Thread Stats ") && line.contains(" 99% ") {
        report.total = Some(Times::default());
        (report.tool, report.open_loop) = (Tool::Wrk2, true);
        return true;
    }
    let Some(rest) = line.strip_prefix("Latency ") else { return false };
    let cells: Vec<_> = rest.split_whitespace().map_while(time_ms).collect();
    // Without a response wrk2 prints `-nanus    -nanus   0.00us`.
    let [mean, deviation, third] = cells.as_slice() else { return rest.contains("nan") };
    let max_ms = report.total.is_none().then_some(*third);
    // Without a response all are 0.
    if mean.value > 0.0 || third.value > 0.0 {
        let (mean_ms, deviation_ms) = (Some(*mean), Some(*deviation));
        report.total = Some(Times { mean_ms, deviation_ms, max_ms, ..Times::default() });
        let share = rest.split_whitespace().nth(3).and_then(|cell| cell.strip_suffix('%'));
        let share = share.and_then(number).filter(|(_, rest)| rest.is_empty());
        report.own.extend(share.map(|(share, _)| (WITHIN, share)));
    } else {
        report.own.push((NO_TIMES, *mean));
    }
    true
}

/// `Req/Sec     2.87k     0.90k    4.00k    60.00%`: of the parts of a thread's run.
fn per_thread(report: &mut Report, line: &str) -> bool {
    let Some(cells) = line.strip_prefix("Req/Sec ") else { return false };
    let cells: Vec<Printed> = cells.split_whitespace().map_while(thousands).collect();
    if let [mean, deviation, max, ..] = cells[..] {
        report.own.extend([
            ("the mean of Req/Sec", mean),
            (DEVIATION, deviation),
            ("the maximum of Req/Sec", max),
        ]);
    }
    true
}

fn thousands(cell: &str) -> Option<Printed> {
    let (printed, unit) = number(cell)?;
    let by = match unit {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        _ => return None,
    };
    Some(scaled(printed, by))
}

fn counts(report: &mut Report, line: &str) -> bool {
    let is_count = |text: &str| number(text).is_some_and(|(_, rest)| rest.is_empty());
    let requests = line.split_once(" requests in ").filter(|(requests, _)| is_count(requests));
    if let Some((requests, rest)) = requests {
        report.complete = count(requests);
        report.taken_s = time_s(rest);
        report.failed = report.failed.or(Some(0));
        report.non_2xx = report.non_2xx.or(Some(0));
        let read = rest.split_once(", ").and_then(|(_, read)| kibibytes(read));
        report.received_kilobytes = read;
    } else if let Some(errors) = behind(line, "Socket errors:") {
        let of = |name: &str| {
            let kind = errors.split(", ").find_map(|kind| kind.trim().strip_prefix(name));
            kind.and_then(count).unwrap_or(0)
        };
        let [connect, read, write, timeout] = ["connect ", "read ", "write ", "timeout "].map(of);
        // `read 40,89`: no number as wrk prints them.
        let is_whole = |kind: &str| kind.rsplit(' ').next().is_some_and(is_count);
        if !errors.trim().split(", ").all(is_whole) {
            report.impossible.push(line.trim().to_owned());
        }
        // A connection that ends behind a response, or with it, is a read error, too.
        let without = read.saturating_sub(report.complete.unwrap_or(0));
        report.failed = Some(connect.saturating_add(write).saturating_add(without));
        report.socket_errors = Some(SocketErrors { connect, read, write, timeout });
    } else if let Some(others) = behind(line, "Non-2xx or 3xx responses:") {
        report.non_2xx = count(others);
    } else if let Some(rate) = behind(line, "Requests/sec:") {
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if let Some(rate) = behind(line, "Transfer/sec:") {
        report.kilobytes_per_s = kibibytes(rate);
    } else {
        return false;
    }
    true
}

/// The end of the spectrum, and what it says there.
const SPECTRUM: [(&str, &str); 3] = [
    ("Mean", "the mean of the spectrum"),
    ("StdDeviation", "the deviation of the spectrum"),
    ("Max", "the maximum of the spectrum"),
];

/// The lines that only wrk2 prints: what it adjusted, and its percentiles once more.
fn is_of_wrk2(report: &mut Report, line: &str) -> bool {
    let starts = ["Thread calibration:", "Initialised ", "Detailed Percentile spectrum", "Value "];
    let is_own = starts.iter().any(|start| line.starts_with(start)) || line.starts_with("#[");
    if is_own {
        (report.tool, report.open_loop) = (Tool::Wrk2, true);
    }
    // `#[Mean    =        6.460, StdDeviation   =        1.930]`, in ms.
    if let Some(items) = line.strip_prefix("#[") {
        for (name, own) in SPECTRUM {
            let figure = items.split(',').find(|item| item.trim_start().starts_with(name));
            let figure = figure.and_then(|item| number(item.split_once('=')?.1));
            report.own.extend(figure.map(|(figure, _)| (own, figure)));
        }
    }
    is_own || line.starts_with("----") || of_spectrum(report, line)
}

/// `7.143     0.900000        35572        10.00`: ms, share, count. With `-U` a second spectrum follows, of other times.
fn of_spectrum(report: &mut Report, line: &str) -> bool {
    let cells = line.split_whitespace().collect::<Vec<_>>();
    if cells.len() < 3 || !cells.iter().all(|cell| cell.parse::<f64>().is_ok()) {
        return false;
    }
    if let (Some((ms, "")), Some((share, ""))) = (number(cells[0]), number(cells[1])) {
        // `0.999` × 100 is not quite 99.9.
        let percent = (share.value * 1e8).round() / 1e6;
        if report.spectrum.last().is_none_or(|(last, _)| *last < percent) {
            report.spectrum.push((percent, ms));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D06;
    use crate::printed::read;
    use crate::rules::judge;

    /// The second is that of wrk's own example, in µs.
    #[test]
    fn percentiles_of_a_script_are_no_figures_and_no_absence() {
        for script in ["99%,1234\n", "50%,1003\n99.9%,5003\n", "90th percentile: 1.25\n"] {
            let text = format!(
                "$ wrk -t2 -c20 -d2 -s report.lua http://127.0.0.1:8312/\nRunning 2s test @ http://127.0.0.1:8312/\n  \
                 2 threads and 20 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                 Latency   202.84us  340.29us   5.08ms   97.24%\n    Req/Sec    48.80k    14.29k  103.40k    73.17%\n  \
                 198723 requests in 2.10s, 27.86MB read\nRequests/sec:  94648.79\nTransfer/sec:     13.27MB\n{script}"
            );
            let judged = judge(&read(&text));
            assert_eq!(judged.reports[0].subject.percentiles, [], "{script}");
            let said = judged.reports[0].findings.iter().find(|one| one.id == D06).unwrap();
            let expected = "wrk itself printed no percentiles, only the mean, the deviation and the maximum. Those that its script";
            assert!(said.evidence.starts_with(expected), "{said:?}");
        }
    }
}
