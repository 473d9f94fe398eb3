//! D25: the ways to wait that a server was started with never had to wait. Told of `ablaze serve`
//! only: of other servers nobody knows what they were started for. Shown by sizes: TCP_INFO's time
//! with a full send buffer misses most of the writes that had to wait (`tcp_cwnd_validate` counts it
//! only where nothing is left to send).
//!
//! Beside each other: servers that differ in how they wait for a socket to take more (level-triggered
//! or edge-triggered) are compared with a load under which no socket ever was full.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D25;
use crate::finding::{Finding, Severity};
use crate::live::figures::{monitor, target};
use crate::live::whose::over_loopback;
use crate::rules::comparison::Comparison;
use crate::rules::differences::bytes;
use crate::rules::work::Server;
use crate::words::{grouped, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D25,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        comparison: Some(on_comparison),
        ..Forms::NONE
    },
};

/// Models of `ablaze serve` that differ only where a response has to wait.
const MODELS: [&str; 2] = ["epoll-lt", "epoll-et"];
/// Words of a command line that name a way of waiting, and nothing else that serves.
const WAYS: [&str; 8] =
    ["epoll-lt", "epoll-et", "lt", "et", "level", "edge", "level-triggered", "edge-triggered"];
/// What the send buffer of a connection over loopback takes at least as soon as it stands: room for twice the
/// first window of 10 segments of 64 KiB (`tcp_sndbuf_expand` of Linux: 2.6 MB), half of it for overhead.
const ON_LOOPBACK_BYTES: u64 = 1_300_000;
/// A body that fits into what every connection has, unless it was told otherwise.
const FITS_BYTES: f64 = 65_536.0;

fn on_run(run: &Run) -> Option<Finding> {
    // Over QUIC what is sent is cut into datagrams: no write is partial.
    if run.plan.http3.is_some() {
        return None;
    }
    let (asked, response_bytes, buffer_bytes) = figures(run)?;
    if response_bytes > buffer_bytes {
        return None;
    }
    Some(Finding::new(
        D25,
        Severity::Note,
        format!(
            "The server was started with {asked}, and what a connection has to send at once, at \
             most {} B, fits into its send buffer of {} B or more.",
            grouped(response_bytes),
            grouped(buffer_bytes)
        ),
        "No write of a response had to wait for buffer space, so level-triggered and edge-triggered waiting do the same here.",
        "To see a difference, start the server with --sndbuf 64KiB, and request longer responses \
         (/bytes/1000000).",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let (asked, response_bytes, buffer_bytes) = figures(run)?;
    Some(format!(
        "The server was started with {asked}, and what a connection has to send at once, {} B, \
         may exceed its send buffer of {} B or more.",
        grouped(response_bytes),
        grouped(buffer_bytes)
    ))
}

/// Whether responses are longer than what a connection's send buffer begins with, as far as that is
/// known: then writes may have had to wait.
pub(crate) fn outgrows_its_buffer(run: &Run) -> bool {
    figures(run).is_some_and(|(_, response_bytes, buffer_bytes)| response_bytes > buffer_bytes)
}

/// What the server was asked for, the most that a connection has to send at a time, and the least
/// that its send buffer takes.
fn figures(run: &Run) -> Option<(String, u64, u64)> {
    let words = options(run)?;
    let buffer = value(words, "--sndbuf");
    let model = value(words, "--model").or(value(words, "--io"));
    let asked = match (model.filter(|model| MODELS.contains(model)), buffer) {
        (Some(model), _) => format!("--model {model}"),
        (None, Some(buffer)) => format!("--sndbuf {buffer}"),
        (None, None) => return None,
    };
    let buffer_bytes = match buffer {
        Some(size) => size_bytes(size)?,
        // `least default most`. A connection's buffer begins with the default and only grows.
        None => {
            let settings = &monitor(run)?.environment.settings;
            let sizes = settings.get("net.ipv4.tcp_wmem")?.split_ascii_whitespace();
            let sizes: Vec<u64> = sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?;
            let [_, default, most] = sizes[..] else { return None };
            match over_loopback(run) {
                true => default.max(most.min(ON_LOOPBACK_BYTES)),
                false => default,
            }
        }
    };
    Some((asked, longest_responses(run)?, buffer_bytes))
}

/// Head and body of the longest response, as many times as a connection may have them to send.
fn longest_responses(run: &Run) -> Option<u64> {
    let record = &run.record;
    let (longest, _) = record.body_lengths.last_key_value()?;
    if record.body_lengths_other > 0 {
        return None;
    }
    let heads_bytes = record.received_bytes.saturating_sub(record.body_bytes);
    let head_bytes = heads_bytes.div_ceil(record.responses.max(1));
    Some((longest + head_bytes) * u64::from(run.plan.load.pipeline().max(1)))
}

/// What follows `ablaze serve` in the command line of the server.
fn options(run: &Run) -> Option<&[String]> {
    let [program, first, options @ ..] = target(run)?.busiest()?.command_line.as_slice() else {
        return None;
    };
    let serves = program.rsplit('/').next() == Some("ablaze") && first == "serve";
    serves.then_some(options)
}

/// The value of an option: `--name value` or `--name=value`.
fn value<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(name)? {
        "" => words.get(at + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
}

/// A size as `ablaze serve` takes it: `65536`, `64KiB`, `64KB`.
fn size_bytes(size: &str) -> Option<u64> {
    let digits = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "k" | "kib" => 1024,
        "mb" => 1_000_000,
        "m" | "mib" => 1 << 20,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

fn on_comparison(comparison: &Comparison, _: Option<usize>) -> Option<Finding> {
    let members = &comparison.members;
    let servers: Vec<&Server> =
        members.iter().map(|member| member.work.as_ref()?.server()).collect::<Option<_>>()?;
    let ways = ways_apart(&servers)?;
    let waited_ns: u64 =
        servers.iter().map(|server| server.write_waited_ns).sum::<Option<u64>>()?;
    let bodies = members.iter().map(|member| member.work.as_ref()?.body_bytes);
    let largest = bodies.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
    if waited_ns > 0 || servers.iter().any(|server| sets_its_buffer(server)) {
        return None;
    }
    let evidence = format!(
        "The servers' command lines differ only in {}, and in none of the {} runs did TCP hold \
         back what a server had written: its buffers were full for 0 ms. The largest body was {} \
         B.",
        listed(ways.iter().map(|way| format!("`{way}`"))),
        members.len(),
        bytes(largest)
    );
    let (severity, cause) = if largest <= FITS_BYTES {
        (
            Severity::Suspect,
            "If no write has to wait for buffer space, the code in which these ways of waiting \
             differ never runs: the measured difference comes from elsewhere.",
        )
    } else {
        (
            Severity::Note,
            "Linux lets a connection's send buffer grow to several megabytes, so even such a body \
             may have fitted at once; in that case the code in which these ways of waiting differ \
             never ran. Waits shorter than a timer tick (1 to 10 ms) do not show here.",
        )
    };
    Some(Finding::new(
        D25,
        severity,
        evidence,
        cause,
        "Use bodies larger than the server's send buffer, or a smaller buffer (ablaze's own servers: \
         `ablaze serve --size 1MiB --sndbuf 65536`), and compare again.",
    ))
}

/// Whether it was told how large its send buffer is to be: then it may have been full, for less than
/// TCP counts.
fn sets_its_buffer(server: &Server) -> bool {
    words(server).iter().any(|word| word.contains("sndbuf"))
}

/// What the only word is in which these command lines differ, if it names ways of waiting.
fn ways_apart(servers: &[&Server]) -> Option<Vec<String>> {
    let lines: Vec<Vec<String>> = servers.iter().map(|server| words(server)).collect();
    let (first, others) = lines.split_first()?;
    if others.iter().any(|line| line.len() != first.len()) {
        return None;
    }
    let differs = |at: &usize| others.iter().any(|line| line[*at] != first[*at]);
    let places: Vec<usize> = (0..first.len()).filter(differs).collect();
    let [place] = places[..] else { return None };
    let mut ways: Vec<String> = lines.into_iter().map(|mut line| line.swap_remove(place)).collect();
    ways.sort_unstable();
    ways.dedup();
    ways.iter().all(|way| WAYS.contains(&way.as_str())).then_some(ways)
}

/// Words in lower case, `--model=x` as two.
fn words(server: &Server) -> Vec<String> {
    server.command_line.iter().flat_map(|word| word.split('=')).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests_on_runs {
    use super::*;
    use crate::live::sample;
    use std::collections::BTreeMap;

    fn started(words: &str, body_bytes: u64) -> Run {
        let mut run = sample::run();
        let record = &mut run.record;
        record.body_lengths = BTreeMap::from([(body_bytes, 20_000)]);
        record.body_bytes = 20_000 * body_bytes;
        record.received_bytes = 20_000 * (body_bytes + 150);
        let monitor = sample::monitor(&mut run);
        let wmem = ("net.ipv4.tcp_wmem".to_owned(), "4096 16384 4194304".to_owned());
        monitor.environment.settings.extend([wmem]);
        monitor.target.processes[0].command_line = words.split(' ').map(str::to_owned).collect();
        run
    }

    #[test]
    fn a_response_that_fits_never_waits() {
        let run = started("/usr/bin/ablaze serve --model epoll-lt -t 2", 14);
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        let said = "--model epoll-lt, and what a connection has to send at once, at most 164 B, fits \
                    into its send buffer of 1,300,000 B";
        assert!(finding.evidence.contains(said), "{}", finding.evidence);
        // With `--write split` there are two of them, with TLS one for each record.
        assert!(!finding.cause.contains("one write"), "{}", finding.cause);
        assert!(on_run(&started("ablaze serve --model=epoll-et", 48_576)).is_some());
        let mut long = started("ablaze serve --model=epoll-et", 2_000_000);
        assert_eq!(on_run(&long), None);
        assert!(seen(&long).unwrap().contains("2,000,150 B, may exceed"), "{:?}", seen(&long));
        // Elsewhere the segments are shorter, and so is the buffer at first.
        long = started("ablaze serve --model=epoll-et", 48_576);
        long.plan.target.addresses = vec!["192.0.2.1:8080".parse().unwrap()];
        assert_eq!(on_run(&long), None);
        assert!(on_run(&started("ablaze serve --sndbuf 64KiB", 60_000)).is_some());
        assert_eq!(on_run(&started("ablaze serve --sndbuf 64KB", 64_000)), None);
        let mut pipelined = started("ablaze serve --io epoll-et", 900_000);
        assert!(on_run(&pipelined).is_some());
        pipelined.plan.load = ablaze_model::plan::Load::Closed { connections: 100, pipeline: 2 };
        assert_eq!(on_run(&pipelined), None);
    }

    #[test]
    fn nobody_asked_or_nobody_knows() {
        for words in ["ablaze serve", "ablaze serve --model blocking", "nginx --model epoll-lt"] {
            assert_eq!(on_run(&started(words, 14)), None, "{words}");
        }
        let mut many_lengths = started("ablaze serve --model epoll-lt", 14);
        many_lengths.record.body_lengths_other = 1;
        assert_eq!(on_run(&many_lengths), None);
        assert_eq!(on_run(&sample::run()), None);
    }
}

#[cfg(test)]
mod tests_beside_each_other {
    use super::*;

    fn server(line: &str) -> Server {
        Server {
            command_line: line.split(' ').map(str::to_owned).collect(),
            threads: Some(1),
            busiest: 0.9,
            write_waited_ns: Some(0),
        }
    }

    #[test]
    fn only_the_way_of_waiting_may_differ() {
        let ways = |lines: &[&str]| {
            let servers: Vec<Server> = lines.iter().map(|line| server(line)).collect();
            ways_apart(&servers.iter().collect::<Vec<_>>())
        };
        let (lt, et) = ("serve --model epoll-lt -s 9", "serve --model=epoll-et -s 9");
        let both = Some(vec!["epoll-et".to_owned(), "epoll-lt".to_owned()]);
        assert_eq!(ways(&[lt, et]), both);
        assert_eq!(ways(&[et, lt, lt, et]), both);
        assert_eq!(ways(&["./sylar LT", "./sylar ET"]).map(|ways| ways.len()), Some(2));
        assert_eq!(ways(&[lt, lt]), None);
        assert_eq!(ways(&[lt, "serve --model epoll-et -s 8"]), None);
        assert_eq!(ways(&[lt, "serve --model uring -s 9"]), None);
        assert_eq!(ways(&[lt, "serve"]), None);
        assert_eq!(ways(&[]), None);
    }
}
