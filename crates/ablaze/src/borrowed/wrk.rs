//! wrk's options, and what they ask for in native words. `ablaze wrk` has its own parser, which knows scripts.

use ablaze_load::planning::OptionNames;
use ablaze_model::spec::FrontEnd;

use super::asked::last_of_each;
use super::{Asked, Grammar, Known, Tool, Words};

const fn known(letter: char, name: &'static str, value: &'static str) -> Known {
    Known::new(Some(letter), name, value, "")
}

/// wrk 4.2.
pub const WRK: Tool = Tool {
    name: "wrk",
    command: "",
    grammar: Grammar::Getopt,
    known: &[
        known('c', "connections", "N"),
        known('d', "duration", "TIME"),
        known('t', "threads", "N"),
        known('s', "script", "FILE"),
        known('H', "header", "FIELD"),
        known('L', "latency", ""),
        known('T', "timeout", "TIME"),
        known('R', "rate", "RATE"),
        known('v', "version", ""),
    ],
    asked,
    unread_status: 1,
    usage_status: 1,
    front_end: FrontEnd::Wrk,
    names: OptionNames::WRK,
};

fn asked(words: &Words) -> Result<Asked, String> {
    let url = words.operands.first().ok_or("missing URL: wrk's line has it behind its options")?;
    let mut asked = Asked::of(url);
    let threads = words.last("threads").map(|text| count(text, "-t")).transpose()?;
    let connections = words.last("connections").map_or(Ok(10), |text| count(text, "-c"))?;
    let length = words.last("duration").unwrap_or("10s");
    let length_s = seconds(length, "-d")?;
    check(threads.unwrap_or(THREADS), connections, length_s)?;
    asked.option_if("-t", threads);
    asked.option("-c", connections);
    asked.option("-d", native_time(length, length_s));
    // wrk2's.
    asked.option_if("--rate", words.last("rate"));
    match words.last("timeout") {
        Some(time) => asked.option("--timeout", native_time(time, seconds(time, "--timeout")?)),
        None => asked.note("wrk gives up on a request after 2 s: add --timeout 2s for the same"),
    }
    for line in last_of_each(words.all("header")) {
        asked.option("-H", line);
    }
    asked.switch("--insecure", url.starts_with("https://"));
    if let Some(script) = words.last("script") {
        asked.note(format!(
            "-s {script}: scripts are `ablaze wrk`'s: write `ablaze` before the line"
        ));
    }
    Ok(asked)
}

/// Threads where none are asked for.
pub const THREADS: u32 = 2;

/// What wrk refuses, beyond words that it cannot read.
///
/// # Errors
/// When it would.
pub fn check(threads: u32, connections: u32, duration_s: u64) -> Result<(), String> {
    if threads == 0 || duration_s == 0 {
        let option = if threads == 0 { "-t" } else { "-d" };
        return Err(format!("{option} 0 measures nothing: use 1 or more"));
    }
    if connections < threads {
        return Err(format!(
            "number of connections must be >= threads: use -c {threads} or more, or a lower -t"
        ));
    }
    Ok(())
}

/// A time of wrk's as native options have it: their units are in small letters.
fn native_time(text: &str, seconds: u64) -> String {
    let text = text.trim().to_ascii_lowercase();
    if text.contains(char::is_whitespace) { format!("{seconds}s") } else { text }
}

/// A number with wrk's units.
///
/// # Errors
/// When it is none.
pub fn count(text: &str, option: &str) -> Result<u32, String> {
    let number = scan(text, "", 1000, &["k", "m", "g", "t", "p"]);
    let number = number.and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("{option} {text}: use a number such as 100, 2k or 1M"))
}

/// A whole time with wrk's units, s.
///
/// # Errors
/// When it is none, or longer than a run can be.
pub fn seconds(text: &str, option: &str) -> Result<u64, String> {
    let seconds = scan(text, "s", 60, &["m", "h"]);
    seconds
        .filter(|seconds| *seconds <= u64::MAX / 1_000_000_000)
        .ok_or_else(|| format!("{option} {text}: use a time such as 30, 30s, 2m or 1h"))
}

/// Digits and, behind them, at most one unit: each of `units` is `scale` times the one before.
fn scan(text: &str, base: &str, scale: u64, units: &[&str]) -> Option<u64> {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    if unit.is_empty() || unit == base {
        return Some(number);
    }
    let power = units.iter().position(|known| *known == unit)? as u32 + 1;
    number.checked_mul(scale.checked_pow(power)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_have_wrks_units() {
        let table =
            [("7", Some(7)), ("7s", Some(7)), ("7M", Some(420)), ("7ms", None), ("1.5m", None)];
        for (text, expected) in table.into_iter().chain([("s", None), ("-1", None), ("", None)]) {
            assert_eq!(scan(text, "s", 60, &["m", "h"]), expected, "{text}");
        }
    }
}
