//! D25: the ways to wait that a server was started with never had to wait. Told of `ablaze serve`
//! only: of other servers nobody knows what they were started for. Shown by sizes: TCP_INFO's time
//! with a full send buffer misses most of the writes that had to wait (`tcp_cwnd_validate` counts it
//! only where nothing is left to send).

use ablaze_model::Run;

use super::Rule;
use super::figures::{target, witness};
use crate::DiagnosisId::D25;
use crate::finding::{Finding, Severity};
use crate::words::grouped;

/// Models of `ablaze serve` that differ only where an answer has to wait.
const MODELS: [&str; 2] = ["epoll-lt", "epoll-et"];

pub const RULE: Rule = Rule { id: D25, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let (asked, answer_bytes, buffer_bytes) = figures(run)?;
    if answer_bytes > buffer_bytes {
        return None;
    }
    Some(Finding::new(
        D25,
        Severity::Note,
        format!(
            "The server was started with {asked}, and what a connection has to send at a time, {} B at \
             most, fits into its send buffer of {} B or more.",
            grouped(answer_bytes),
            grouped(buffer_bytes)
        ),
        "Each answer went out in one write that never had to wait, so that level-triggered and \
         edge-triggered waiting do the same here.",
        "To see them differ, ask for longer answers (/bytes/1000000), and start the server with \
         --sndbuf 64KiB.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let (asked, answer_bytes, buffer_bytes) = figures(run)?;
    Some(format!(
        "The server was started with {asked}, and what a connection has to send at a time, {} B, may \
         be more than its send buffer takes, {} B or more.",
        grouped(answer_bytes),
        grouped(buffer_bytes)
    ))
}

/// Whether answers are longer than what a connection's send buffer begins with, as far as that is
/// known: then writes may have had to wait.
pub(crate) fn outgrows_its_buffer(run: &Run) -> bool {
    figures(run).is_some_and(|(_, answer_bytes, buffer_bytes)| answer_bytes > buffer_bytes)
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
            let settings = &witness(run)?.environment.settings;
            settings.get("net.ipv4.tcp_wmem")?.split(' ').nth(1)?.parse().ok()?
        }
    };
    Some((asked, longest_answers(run)?, buffer_bytes))
}

/// Head and body of the longest answer, as many times as a connection may have them to send.
fn longest_answers(run: &Run) -> Option<u64> {
    let record = &run.record;
    let (longest, _) = record.body_lengths.last_key_value()?;
    if record.body_lengths_other > 0 {
        return None;
    }
    let heads_bytes = record.received_bytes.saturating_sub(record.body_bytes);
    let head_bytes = heads_bytes.div_ceil(record.answers.max(1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use std::collections::BTreeMap;

    fn started(words: &str, body_bytes: u64) -> Run {
        let mut run = sample::run();
        let record = &mut run.record;
        record.body_lengths = BTreeMap::from([(body_bytes, 20_000)]);
        record.body_bytes = 20_000 * body_bytes;
        record.received_bytes = 20_000 * (body_bytes + 150);
        let witness = sample::witness(&mut run);
        let wmem = ("net.ipv4.tcp_wmem".to_owned(), "4096 16384 4194304".to_owned());
        witness.environment.settings.extend([wmem]);
        witness.target.processes[0].command_line = words.split(' ').map(str::to_owned).collect();
        run
    }

    #[test]
    fn an_answer_that_fits_never_waits() {
        let run = started("/usr/bin/ablaze serve --model epoll-lt -t 2", 14);
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        let said = "--model epoll-lt, and what a connection has to send at a time, 164 B at most, fits \
                    into its send buffer of 16,384 B";
        assert!(finding.evidence.contains(said), "{}", finding.evidence);
        let long = started("ablaze serve --model=epoll-et", 1_000_000);
        assert_eq!(check(&long), None);
        assert!(seen(&long).unwrap().contains("1,000,150 B, may be more"), "{:?}", seen(&long));
        assert!(check(&started("ablaze serve --sndbuf 64KiB", 60_000)).is_some());
        assert_eq!(check(&started("ablaze serve --sndbuf 64KB", 64_000)), None);
        let mut pipelined = started("ablaze serve --io epoll-et", 10_000);
        assert!(check(&pipelined).is_some());
        pipelined.plan.load = ablaze_model::plan::Load::Closed { connections: 100, pipeline: 2 };
        assert_eq!(check(&pipelined), None);
    }

    #[test]
    fn nobody_asked_or_nobody_knows() {
        for words in ["ablaze serve", "ablaze serve --model blocking", "nginx --model epoll-lt"] {
            assert_eq!(check(&started(words, 14)), None, "{words}");
        }
        let mut many_lengths = started("ablaze serve --model epoll-lt", 14);
        many_lengths.record.body_lengths_other = 1;
        assert_eq!(check(&many_lengths), None);
        assert_eq!(check(&sample::run()), None);
    }
}
