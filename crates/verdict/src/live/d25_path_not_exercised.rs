//! D25: the ways to wait that a server was started with never had to wait. Told of `ablaze serve`
//! only: of other servers nobody knows what they were started for.

use ablaze_engine::Run;

use super::Rule;
use super::figures::{target, witness};
use crate::DiagnosisId::D25;
use crate::finding::{Finding, Severity};
use crate::words::{amount, time};

/// Options of `ablaze serve` that make a difference only where an answer has to wait.
const MODELS: [&str; 2] = ["epoll-lt", "epoll-et"];

pub const RULE: Rule = Rule { id: D25, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let asked = asked(run)?;
    if waited_ns(run)? > 0 {
        return None;
    }
    let answer_bytes = run.record.received_bytes as f64 / run.record.answers.max(1) as f64;
    Some(Finding::new(
        D25,
        Severity::Note,
        format!(
            "The server was started with {asked}, and in all of the time in which its connections had \
             something to send, neither their send buffers nor the tester's receive windows were full \
             (0 ns); an answer has {} B.",
            amount(answer_bytes)
        ),
        "Each answer went out in one write that never had to wait, so that level-triggered and \
         edge-triggered waiting do the same here.",
        "To see them differ, ask for longer answers (/bytes/1000000), or start the server with --sndbuf \
         64KiB.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    let asked = asked(run)?;
    let waited_ms = waited_ns(run)? as f64 / 1e6;
    Some(format!(
        "The server was started with {asked}, and its connections waited for room to send for {} in all.",
        time(waited_ms)
    ))
}

/// What the server was asked for that matters only where writing has to wait.
fn asked(run: &Run) -> Option<String> {
    let words = &target(run)?.busiest()?.command_line;
    let (program, options) = words.split_first()?;
    let serves = program.rsplit('/').next() == Some("ablaze")
        && options.first().is_some_and(|word| word == "serve");
    if !serves {
        return None;
    }
    let value = |name: &str| {
        options.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(name) {
            Some("") => options.get(at + 1).map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        })
    };
    let model = value("--model").or(value("--io")).filter(|model| MODELS.contains(model));
    let buffer = value("--sndbuf");
    model
        .map(|model| format!("--model {model}"))
        .or_else(|| buffer.map(|buffer| format!("--sndbuf {buffer}")))
}

/// Time in which the server's connections could not send all there was. Of those that there were at
/// the last look; `None` where nobody looked at them.
fn waited_ns(run: &Run) -> Option<u64> {
    let last = witness(run)?.server_connections.as_ref()?.last;
    Some(last.window_limited_ns? + last.send_buffer_limited_ns?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn started(words: &str, waited_ns: Option<u64>) -> Run {
        let mut run = sample::run();
        run.record.received_bytes = 20_000 * 159;
        let witness = sample::witness(&mut run);
        witness.target.processes[0].command_line = words.split(' ').map(str::to_owned).collect();
        let mut connections = sample::connections();
        connections.last.send_buffer_limited_ns = waited_ns;
        witness.server_connections = Some(connections);
        run
    }

    #[test]
    fn it_is_told_where_it_was_asked_for_and_never_waited() {
        let run = started("/usr/bin/ablaze serve --model epoll-lt -t 2", Some(0));
        let finding = check(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(
            finding.evidence.contains("--model epoll-lt") && finding.evidence.contains("159 B")
        );
        let waited = started("ablaze serve --model=epoll-lt", Some(5_000));
        assert_eq!(check(&waited), None);
        assert!(
            seen(&waited).unwrap().contains("for room to send for 5.00 µs"),
            "{:?}",
            seen(&waited)
        );
        assert!(check(&started("ablaze serve --sndbuf 64KiB", Some(0))).is_some());
    }

    #[test]
    fn nobody_asked_or_nobody_knows() {
        for words in ["ablaze serve", "ablaze serve --model blocking", "nginx --model epoll-lt"] {
            assert_eq!(check(&started(words, Some(0))), None, "{words}");
        }
        assert_eq!(check(&started("ablaze serve --model epoll-lt", None)), None);
        assert_eq!(check(&sample::run()), None);
    }
}
