//! Reports of other load generators, each in a form of its own.

pub(super) mod bombardier;
pub(super) mod h2load;
pub(super) mod hey;
pub(super) mod json;
pub(super) mod siege;
pub(super) mod vegeta;
pub(super) mod wrk;

use std::collections::BTreeMap;

use ablaze_model::printable::printable;

use super::line::{number, number as number_of};
use super::{Command, Errors, LoneRate, Printed, Program, Report, Tool};

/// Whether a line that may begin a report does so below one that has this already. Lines may be exchanged.
pub fn is_over(report: &Report, line: &str) -> bool {
    report.rate_per_s.is_some() && !(report.complete.is_none() && wrk::is_counts(line))
}

/// The tool whose report begins with this cleaned line.
pub fn begins(line: &str) -> Option<Tool> {
    let tools = [
        wrk::begins,
        h2load::begins,
        hey::begins,
        bombardier::begins,
        vegeta::begins,
        siege::begins,
    ];
    tools.iter().find_map(|find| find(line))
}

/// Takes what a cleaned line of such a report says; whether it is one of its lines.
pub fn take(report: &mut Report, line: &str) -> bool {
    match report.tool {
        Tool::Wrk | Tool::Wrk2 => wrk::take(report, line),
        Tool::H2load => h2load::take(report, line),
        Tool::Hey | Tool::Oha => hey::take(report, line),
        Tool::Bombardier => bombardier::take(report, line),
        Tool::Vegeta => vegeta::take(report, line),
        Tool::Siege => siege::take(report, line),
        Tool::Ab | Tool::AblazeAb | Tool::Gurl | Tool::AblazeGurl | Tool::Ablaze => false,
    }
}

/// `Requests/sec:  45197.11` alone, as `grep` leaves it below a command of wrk, hey or oha, or a loop over one.
pub fn lone_rate(
    line: &str,
    number: usize,
    command: Option<&Command>,
    in_loop: bool,
) -> Option<LoneRate> {
    let prints = |program| matches!(program, Program::Wrk | Program::Hey | Program::Oha);
    let command = command.filter(|command| prints(command.program)).cloned();
    if command.is_none() && !in_loop {
        return None;
    }
    let (rate_per_s, rest) = number_of(line.strip_prefix("Requests/sec:")?)?;
    let (label, of_several, looped) = (None, false, None);
    rest.is_empty().then_some(LoneRate {
        line: number,
        label,
        rate_per_s,
        command,
        of_several,
        looped,
    })
}

/// So many characters of an error are kept, and so many kinds.
const ERROR_CHARACTERS: usize = 80;
const ERRORS_MOST: usize = 100;

/// Adds up failed requests by what the client says of them, the most frequent first.
fn error(errors: &mut Errors, text: &str, count: Option<u64>) {
    let words = printable(last_words(text.trim()));
    // A timeout of the name's server is none of the target.
    let words = match text.contains("lookup ") && !is_of_name(&words) {
        true => format!("{LOOKUP}{words}"),
        false => words.into_owned(),
    };
    let words: String = words.chars().take(ERROR_CHARACTERS).collect();
    let kinds = errors.len();
    match errors.iter_mut().find(|(known, _)| *known == words) {
        Some((_, sum)) => *sum = sum.zip(count).map(|(sum, count)| sum.saturating_add(count)),
        None if kinds < ERRORS_MOST => errors.push((words, count)),
        None => {}
    }
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
}

/// Before words that do not tell themselves that they are of looking up a name.
const LOOKUP: &str = "lookup: ";

/// Whether these words of a client say that the name of the host was not resolved.
pub fn is_of_name(words: &str) -> bool {
    const SAID: [&str; 9] = [
        "no such host",
        "server misbehaving",
        "name or service not known",
        "temporary failure in name resolution",
        "no address associated with hostname",
        "nodename nor servname provided",
        "failed to lookup address information",
        "name does not resolve",
        "could not resolve host",
    ];
    let lower = words.to_lowercase();
    words.starts_with(LOOKUP) || SAID.iter().any(|said| lower.contains(said))
}

/// Tools in Go have the URL and the addresses before what went wrong, and siege the place in its source, so that one
/// cause stands on many lines: `Get "http://…": read tcp 127.0.0.1:42942->127.0.0.1:80: read: connection reset by peer`.
/// In sentences a colon stands for itself.
fn last_words(text: &str) -> &str {
    match text.contains(". ") {
        true => text,
        false => text.rsplit(": ").next().unwrap_or(text),
    }
}

/// A figure that no run can have, in a line that was taken: below 0, or a share of more than all.
pub fn is_impossible(line: &str) -> bool {
    // `[60] 500 responses`: a status has three digits.
    let status = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((Ok(status), rest)) = status.map(|(code, rest)| (code.parse::<u64>(), rest)) {
        let responses = number(rest).is_some_and(|(_, after)| after.trim() == "responses");
        return responses && !(100..1000).contains(&status);
    }
    // Errors quote anything, and URLs have what they have.
    if line.starts_with('[') || line.contains("://") {
        return false;
    }
    // A dynamic table may cost more than it saves, and saves no more than all.
    if let Some((_, saved)) = line.split_once("space savings ") {
        return number(saved).is_some_and(|(saved, _)| saved.value > 100.0);
    }
    if line.contains("1xx - ") && bombardier::has_no_count(line) {
        return true;
    }
    const SHARES: [&str; 6] =
        ["Latency ", "Req/Sec ", "time for ", "time to 1st ", "req/s  ", "Success "];
    let of_shares = SHARES.iter().any(|start| line.starts_with(start));
    // `200:-6000`, of which others are the time of day or of a URL.
    let of_statuses = line.starts_with("Status Codes ");
    let parts = line.split(|c: char| [' ', ',', '(', '['].contains(&c) || of_statuses && c == ':');
    parts.into_iter().any(|word| {
        let Some((figure, unit)) = number(word) else { return false };
        let below = word.starts_with('-') && figure.value < 0.0;
        below || of_shares && unit == "%" && figure.value > 100.0
    })
}

/// Responses by the first digit of their status, of counts that begin with those of `first`.
fn classes(first: u16, counts: &[Option<u64>]) -> BTreeMap<u16, u64> {
    let numbered = (first..).zip(counts);
    numbered.filter_map(|(class, count)| Some((class, (*count)?))).collect()
}

fn scaled(printed: Printed, by: f64) -> Printed {
    Printed { value: printed.value * by, step: printed.step * by }
}

/// A time with its unit in ms: `635.91us`, `1.10m`.
fn time_ms(text: &str) -> Option<Printed> {
    let (printed, rest) = number(text)?;
    let unit = rest.trim_start();
    let letters = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
    let ms = match &unit[..letters] {
        "ns" => 1e-6,
        "us" | "µs" | "μs" => 1e-3,
        "ms" => 1.0,
        "s" | "sec" | "secs" => 1e3,
        "m" | "min" => 60e3,
        "h" => 3600e3,
        _ => return None,
    };
    Some(scaled(printed, ms))
}

/// `1m40s`, as Go writes times: in units that follow each other, of which the last has the step.
fn of_go_ms(text: &str) -> Option<Printed> {
    let mut sum: Option<Printed> = None;
    let mut rest = text.trim_start();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let part = time_ms(rest)?;
        let before = sum.map_or(0.0, |sum| sum.value);
        sum = Some(Printed { value: before + part.value, step: part.step });
        rest = number(rest)?.1.trim_start_matches(char::is_alphabetic);
    }
    sum
}

/// A time with its unit in seconds.
fn time_s(text: &str) -> Option<Printed> {
    time_ms(text).map(|ms| scaled(ms, 1e-3))
}

/// Kilobytes of 1024 bytes: `264.43KB`, `1.29MB/s`.
fn kibibytes(text: &str) -> Option<Printed> {
    let (printed, rest) = number(text)?;
    let unit = rest.split([',', ' ']).find(|word| !word.is_empty())?;
    let by = match unit.trim_end_matches("/s") {
        "B" => 1.0 / 1024.0,
        "K" | "KB" => 1.0,
        "M" | "MB" => 1024.0,
        "G" | "GB" => 1024.0 * 1024.0,
        "T" | "TB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(scaled(printed, by))
}

/// The number behind a label: `Requests/sec: 11110.1234`.
fn behind<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.strip_prefix(label).map(str::trim_start)
}

/// wrk's highest percentile, where it reads 0.
pub const ZERO_PERCENTILE: &str = "the 99th percentile of 0";

/// The lowest percentile that is printed as 0.
pub const READS_ZERO: &str = "the percentile that reads 0";

/// `50%  250.00us`; a bar of progress has a percentage too, and no time behind it.
fn percentile(report: &mut Report, line: &str) -> bool {
    let Some((percent, rest)) = number(line) else { return false };
    let Some(ms) = rest.strip_prefix('%').and_then(time_ms) else { return false };
    // Where no time was recorded, wrk prints 0.00us.
    let some = ms.value > 0.0;
    report.own.extend((!some && percent.value == 99.0).then_some((ZERO_PERCENTILE, ms)));
    let lowest = report.own(READS_ZERO).is_none_or(|lowest| percent.value < lowest.value);
    if !some && lowest {
        report.own.retain(|(name, _)| *name != READS_ZERO);
        report.own.push((READS_ZERO, percent));
    }
    // Lines may be exchanged; wrk2 prints the same percentiles of other times below.
    let at = report.percentiles.partition_point(|(other, _)| *other < percent.value);
    let is_new = report.percentiles.get(at).is_none_or(|(other, _)| *other > percent.value);
    if some && is_new {
        report.percentiles.insert(at, (percent.value, ms));
    }
    true
}
