//! wrk and wrk2: the rates of the threads, the responses that came too late, and the spectrum of wrk2.

use super::Contradiction;
use super::figure::Figure::*;
use super::figure::{Column, Range, Row};
use super::spread::{self, Spread};
use crate::printed::{Printed, READS_ZERO, Report, Tool, WRK_DEVIATION, WRK_WITHIN};
use crate::words::{counted, decimal, grouped, time};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found: Vec<Contradiction> = spectrum(report).into_iter().chain(clock(report)).collect();
    found.extend(zero(report));
    found.extend(threads(report));
    if report.tool == Tool::Wrk {
        found.extend(parts_lie_apart(report));
        found.extend(above_its_parts(report));
        found.extend(late(report));
        found.extend(longer_than_its_share(report));
        found.extend(too_few_bytes(report));
        found.extend(within(report));
    }
    found
}

/// Each thread has a connection at least: wrk begins with no fewer.
fn threads(report: &Report) -> Option<Contradiction> {
    let (threads, connections) = (report.threads?, report.clients?);
    (threads > connections).then(|| {
        let said = format!(
            "{} are more than {}: wrk starts none without a connection.",
            counted(threads, "thread"),
            counted(connections, "connection")
        );
        Contradiction::new([Concurrency, Own("the number of threads")], said)
    })
}

/// wrk takes the rate of each thread ten times a second, or later where none of its requests ended: together the threads
/// are no faster than each at its maximum, and no faster than each in the mean, in which longer parts, with fewer requests
/// in the same time, count like others. The end of the run may be in no part.
fn above_its_parts(report: &Report) -> Option<Contradiction> {
    let threads = report.threads?;
    if report.taken_s?.value < 1.0 {
        return None;
    }
    let rate = Rate.range(report)?;
    let of = [("the mean of Req/Sec", 2.0), ("the maximum of Req/Sec", 1.5)];
    of.into_iter().find_map(|(name, apart)| {
        let each = Own(name);
        let most = each.range(report)?.high * threads as f64;
        (rate.low > most * apart).then(|| {
            let said = format!(
                "{} is {}, but {name} is {} {}.",
                Rate.name(report),
                Rate.digits(report),
                each.digits(report),
                match threads {
                    1 => "of the only thread".to_owned(),
                    threads => format!("of each of {} threads", grouped(threads)),
                }
            );
            Contradiction::new([Rate, each], said)
        })
    })
}

/// So many rates of a thread's parts wrk takes in a second at most, and each thread one more at its ends.
const PARTS_PER_S: f64 = 10.0;

/// The rates of the threads' parts, of which one is the highest.
fn parts_lie_apart(report: &Report) -> Option<Contradiction> {
    let (threads, taken) = (report.threads?, report.taken_s?);
    let parts = (taken.high() * PARTS_PER_S + 2.0) * threads as f64;
    let row = Spread {
        least: None,
        mean: Own("the mean of Req/Sec"),
        deviation: Own(WRK_DEVIATION),
        most: Own("the maximum of Req/Sec"),
        unit: "",
    };
    spread::contradiction(report, &row, Some(parts))
}

/// Percent that a percentile may be off of its place: by one request of many, and by these of few.
const OFF: f64 = 0.5;
const OFF_REQUESTS: f64 = 4.0;
const FEWEST: u64 = 100;

/// wrk counts the requests whose time is no farther from the mean than the deviation. Those between two percentiles that
/// are within it are among them, and those beyond one that is not are none.
fn within(report: &Report) -> Option<Contradiction> {
    let figure = Own(WRK_WITHIN);
    let (mean, sd) = (Cell(Row::Total, Column::Mean), Cell(Row::Total, Column::Deviation));
    let (share, mean_ms, sd_ms) =
        (figure.printed(report)?.value, mean.range(report)?, sd.range(report)?);
    // Those that came too late have no time.
    let late = report.socket_errors.map_or(0, |errors| errors.timeout);
    let timed = report.complete?.saturating_sub(late);
    if timed < FEWEST {
        return None;
    }
    let off = (OFF_REQUESTS * 100.0 / timed as f64).max(OFF);
    // For sure within, and for sure beyond.
    let inner = [mean_ms.high - sd_ms.low, mean_ms.low + sd_ms.low];
    let outer = [mean_ms.low - sd_ms.high, mean_ms.high + sd_ms.high];
    let ranges = || report.percentiles.iter().map(|(percent, ms)| (*percent, Range::of(*ms)));
    let is_in = |ms: &Range| ms.low >= inner[0] && ms.high <= inner[1];
    let percents_in: Vec<f64> = ranges().filter(|(_, ms)| is_in(ms)).map(|(p, _)| p).collect();
    let least = match percents_in.as_slice() {
        [first, .., last] => last - first,
        _ => 0.0,
    };
    let above = ranges().filter(|(_, ms)| ms.low > outer[1]).map(|(percent, _)| percent);
    let below = ranges().filter(|(_, ms)| ms.high < outer[0]).map(|(percent, _)| percent);
    let most = above.fold(100.0, f64::min) - below.fold(0.0, f64::max);
    (share + off < least || share - off > most).then(|| {
        let said = format!(
            "{} is {} %, but mean, deviation and percentiles leave {} to {} % to it.",
            figure.name(report),
            figure.digits(report),
            decimal(least, 0),
            decimal(most, 0)
        );
        let of = report.percentiles.iter().map(|(percent, _)| Percentile(*percent));
        Contradiction::new([figure, mean, sd].into_iter().chain(of).collect::<Vec<_>>(), said)
    })
}

/// A script that sends several requests at once leaves the highest percentiles at 0, and never one below another that is
/// not.
fn zero(report: &Report) -> Option<Contradiction> {
    let percent = report.own(READS_ZERO)?.value;
    let (above, ms) = report.percentiles.iter().find(|(above, _)| *above > percent)?;
    let said = format!("{percent} % reads 0, and {above} % {}.", time(ms.value));
    let zero = Own(READS_ZERO);
    Some(Contradiction::new([zero], said))
}

/// What is under way when the time is up may take so much longer, and looks at the clock so much.
const LAST_S: f64 = 60.0;
const CLOCK_S: f64 = 1.0;

/// wrk ends when the time is up that it was told, or sooner, and no response took longer than the whole run.
fn clock(report: &Report) -> Option<Contradiction> {
    let taken = report.taken_s?;
    let told = "the length that it was told";
    if let Some(asked) =
        report.asked_s.filter(|asked| taken.value > (asked.value + asked.step) * 1.5 + LAST_S)
    {
        let said = format!(
            "{} is {} s, but {told} {} s.",
            Taken.name(report),
            Taken.digits(report),
            decimal(asked.value, 0)
        );
        return Some(Contradiction::new([Taken, Own(told)], said));
    }
    let max = Cell(Row::Total, Column::Max);
    let longest_s = max.range(report)?.low / 1e3;
    (longest_s > taken.value + taken.step + CLOCK_S).then(|| {
        let said = format!(
            "{} is {} ms, more than {} ({} s).",
            max.name(report),
            max.digits(report),
            Taken.name(report),
            Taken.digits(report)
        );
        Contradiction::new([max, Taken], said)
    })
}

/// Whether the length of the run is not what its clock could have measured. What else it measured is as wrong.
pub fn clock_is_wrong(report: &Report) -> bool {
    matches!(report.tool, Tool::Wrk | Tool::Wrk2) && clock(report).is_some()
}

/// Before the clock starts the threads have begun already.
const BEGUN_S: f64 = 0.1;
/// Older versions look at all connections so often, and count those that have waited for longer than `--timeout`.
const LOOKS_S: f64 = 2.0;

/// On a connection one request follows the other: so many that take longer than `--timeout` fit into the run.
fn late(report: &Report) -> Option<Contradiction> {
    let late = report.socket_errors?.timeout;
    let command = report.command.as_ref().filter(|_| late > 0 && !report.is_of_ablaze())?;
    let timeout_s = command.value_of('T', "timeout").map_or(Some(2.0), whole_seconds)?;
    let (connections, taken) = (report.clients?, report.taken_s?);
    let room_s = taken.value + taken.step + BEGUN_S;
    let each = (room_s / timeout_s).max(room_s / LOOKS_S).floor();
    let most = connections as f64 * each;
    (late as f64 > most).then(|| {
        let said = format!(
            "timeout is {}, but in {} s {} carry no more than {} that take longer than {} s.",
            grouped(late),
            Taken.digits(report),
            counted(connections, "connection"),
            counted(most as u64, "response"),
            decimal(timeout_s, 0)
        );
        Contradiction::new([Own("the number of timeouts"), Taken, Concurrency], said)
    })
}

/// Each connection has one request under way: so each takes no longer on average than the run by the requests of a
/// connection. Beside a longer one wrk adds values, which go down from it by that interval (stats_correct): their mean is
/// above the middle of both ends by no more than half of it. What a script sends at once shares its time.
fn longer_than_its_share(report: &Report) -> Option<Contradiction> {
    let command = report.command.as_ref().filter(|_| !report.is_of_ablaze())?;
    let of_script = command.value_of('s', "script").is_some();
    let (mean, max) = (Cell(Row::Total, Column::Mean), Cell(Row::Total, Column::Max));
    let (mean_ms, max_ms) = (mean.range(report)?, max.range(report)?);
    let (n, connections, taken) = (report.complete?, report.clients?, report.taken_s?);
    let of_each = n.checked_div(connections).filter(|of_each| *of_each > 0)?;
    let interval_ms = (taken.high() + BEGUN_S) * 1e3 / of_each as f64;
    let most = (max_ms.high / 2.0 + interval_ms).max(2.0 * interval_ms) * ROUNDED;
    (!of_script && mean_ms.low > most).then(|| {
        let said = format!(
            "{} in {} s leave {} ms to each on {}, but {} is {} ms and {} {} ms.",
            counted(n, "request"),
            Taken.digits(report),
            decimal(interval_ms, 2),
            counted(connections, "connection"),
            mean.name(report),
            mean.digits(report),
            max.name(report),
            max.digits(report)
        );
        Contradiction::new([mean, max, Complete, Taken, Concurrency], said)
    })
}

/// The shortest head that wrk's parser takes for one: `HTTP/1.1 200` with two bare line ends.
const SHORTEST_BYTES: f64 = 14.0;

/// wrk counts a response when its head and body were read, and all that it read.
fn too_few_bytes(report: &Report) -> Option<Contradiction> {
    let (read, complete) = (Kilobytes.range(report)?, report.complete?);
    let least = complete as f64 * SHORTEST_BYTES;
    (read.high * 1024.0 < least).then(|| {
        let said = format!(
            "{} have {} B at least, {} each, but {} are {}.",
            counted(complete, "response"),
            grouped(least as u64),
            decimal(SHORTEST_BYTES, 0),
            Kilobytes.name(report),
            Kilobytes.digits(report)
        );
        Contradiction::new([Kilobytes, Complete], said)
    })
}

/// Its histogram has whole µs, and the clocks are several.
const ROUNDED: f64 = 1.05;

/// Whether more responses came too late than fit into the run.
pub fn late_are_too_many(report: &Report) -> bool {
    report.tool == Tool::Wrk && late(report).is_some()
}

/// wrk takes whole seconds, minutes and hours.
pub fn whole_seconds(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_lowercase().as_str() {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let whole: u32 = digits.parse().ok().filter(|whole| *whole > 0)?;
    Some(f64::from(whole) * unit)
}

/// More of the requests took longer. The list above it counts to a percentile in another way.
fn spectrum(report: &Report) -> Option<Contradiction> {
    let name = "the spectrum";
    let row =
        |(percent, ms): &(f64, Printed)| format!("{} ms at {percent} %", decimal(ms.value, 3));
    let falls = report.spectrum.windows(2).find(|pair| pair[1].1.value < pair[0].1.value)?;
    let said = format!("In {name} times fall from {} to {}.", row(&falls[0]), row(&falls[1]));
    Some(Contradiction::new([Own(name)], said))
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D43;
    use crate::printed::read;
    use crate::rules::judge;

    fn said(text: &str) -> String {
        let findings = judge(&read(text)).reports.remove(0).findings;
        findings.into_iter().filter(|one| one.id == D43).map(|one| one.evidence).collect()
    }

    /// 480 requests.
    fn of_few(row: &str) -> String {
        format!(
            "$ wrk -t2 -c10 -d1s --latency http://h/\nRunning 1s test @ http://h/\n  2 threads and 10 connections\n  \
             Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    {row}\n    \
             Req/Sec   240.70     20.65   252.00     80.00%\n  Latency Distribution\n     50%   20.37ms\n     \
             75%   20.42ms\n     90%   20.50ms\n     99%   22.10ms\n  480 requests in 1.00s, 68.91KB read\n\
             Requests/sec:    479.39\nTransfer/sec:     68.82KB\n"
        )
    }

    #[test]
    fn mean_and_deviation_of_few_requests_lie_among_their_percentiles() {
        assert_eq!(said(&of_few("20.43ms  346.21us  22.11ms   94.58%")), "");
        for row in ["12.43ms  346.21us  22.11ms   94.58%", "20.43ms  346.21us  22.11ms    4.58%"] {
            let said = said(&of_few(row));
            assert!(said.contains("mean, deviation and percentiles leave"), "{said}");
        }
    }

    #[test]
    fn each_response_has_a_head() {
        let row = "20.43ms  346.21us  22.11ms   94.58%";
        let text = |read: &str, per_s: &str| {
            of_few(row).replace("68.91KB", read).replace("68.82KB", per_s)
        };
        assert_eq!(said(&text("6.60KB", "6.59KB")), "");
        let said = said(&text("2.91KB", "2.91KB"));
        let expected =
            "480 responses have 6,720 B at least, 14 each, but the kilobytes received are 2.91.";
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn requests_take_no_longer_than_their_connections_have() {
        let text = |connections: u64, script: &str| {
            format!(
                "$ wrk -t2 -c{connections} -d1s{script} http://h/\nRunning 1s test @ http://h/\n  2 threads and {connections} connections\n  \
                 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    20.43ms  346.21us  22.11ms   94.58%\n    \
                 Req/Sec   240.70     20.65   252.00     80.00%\n  480 requests in 1.00s, 68.91KB read\n\
                 Requests/sec:    479.39\nTransfer/sec:     68.82KB\n"
            )
        };
        assert_eq!(said(&text(10, "")), "");
        assert_eq!(said(&text(2, " -s pipeline.lua")), "");
        let expected = "480 requests in 1.00 s leave 4.60 ms to each on 2 connections";
        assert!(said(&text(2, "")).contains(expected), "{}", said(&text(2, "")));
    }
}
