//! What programs put before every line that they pass on: the time, the name of a container or a host, a level.
//! Colours go, too. Lines keep their numbers.

mod hosts;
mod marks;

use std::borrow::Cow;

use hosts::hosts;
use marks::marks;

/// The text without all that.
pub fn bare(text: &str) -> Cow<'_, str> {
    match ends_lines_with_returns(text) {
        true => Cow::Owned(without_logs(&text.replace('\r', "\n")).into_owned()),
        false => without_logs(text),
    }
}

/// Carriage returns alone end the lines of a text, as on an old Mac: a program that draws its progress with them ends
/// others with a line feed.
fn ends_lines_with_returns(text: &str) -> bool {
    !text.trim_end().contains('\n') && text.trim_end().contains('\r')
}

fn without_logs(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let mut changed = false;
    let mut bare: Vec<Cow<'_, str>> = Vec::with_capacity(lines.len());
    for line in &lines {
        let line = without_escapes(line);
        changed |= matches!(line, Cow::Owned(_));
        bare.push(line);
    }
    let marks = marks(&bare);
    for (line, mark) in bare.iter_mut().zip(marks).filter(|(_, mark)| *mark > 0) {
        changed = true;
        let is_code = line[..mark].ends_with('`');
        let rest = line.get(mark..).unwrap_or_default();
        let rest = if is_code { rest.strip_suffix('`').unwrap_or(rest) } else { rest };
        *line = Cow::Owned(rest.to_owned());
    }
    let hosts = hosts(&bare);
    for (line, host) in bare.iter_mut().zip(hosts).filter(|(_, host)| *host > 0) {
        changed = true;
        *line = Cow::Owned(line[host..].to_owned());
    }
    let named: Vec<usize> = bare.iter().map(|line| name(line)).collect();
    let mut kept = Vec::with_capacity(bare.len());
    for (index, line) in bare.iter().enumerate() {
        let is_name = named[index] > 0 && (is_numbered(line) || stands_often(&bare, &named, index));
        let from = if is_name { named[index] } else { 0 };
        let rest = without_stamps(&line[from..]);
        changed |= rest.len() < line.len();
        kept.push(rest);
    }
    match changed {
        true => Cow::Owned(kept.join("\n")),
        false => Cow::Borrowed(text),
    }
}

/// Colours, titles and character sets of a terminal: ESC [ … letter, ESC ] … BEL, ESC ( letter.
fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\x1b' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('[') => {
                let _ = characters.by_ref().find(|next| ('@'..='~').contains(next));
            }
            Some(']') => {
                let _ = characters.by_ref().find(|next| matches!(next, '\x07' | '\\'));
            }
            Some('(' | ')') => drop(characters.next()),
            _ => {}
        }
    }
    Cow::Owned(text)
}

/// How many bytes a name and its bar take: `web-1  | `. 0 where there is none.
fn name(line: &str) -> usize {
    let Some(bar) = line.find('|') else { return 0 };
    let before = line[..bar].trim_end();
    let is_name = !before.is_empty()
        && before.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && before.starts_with(|c: char| c.is_ascii_alphabetic())
        && before.len() < bar;
    if !is_name {
        return 0;
    }
    bar + 1 + usize::from(line[bar + 1..].starts_with(' '))
}

/// Docker's names end in a number: `web-1`, `shop_web_1`.
fn is_numbered(line: &str) -> bool {
    let name = line.split(['|', ' ']).next().unwrap_or_default();
    let number = name.rsplit(['-', '_']).next().filter(|number| number.len() < name.len());
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// So many lines in a row begin alike: the rows of a table do not.
const IN_A_ROW: usize = 4;

fn stands_often(lines: &[Cow<'_, str>], named: &[usize], at: usize) -> bool {
    let prefix = &lines[at][..named[at]];
    let alike = |index: usize| {
        let line = lines.get(index)?;
        (named[index] == prefix.len() && line.starts_with(prefix)).then_some(())
    };
    let below = (at + 1..at + IN_A_ROW).map_while(alike).count();
    let above = (1..IN_A_ROW).map_while(|up| alike(at.checked_sub(up)?)).count();
    below + above + 1 >= IN_A_ROW
}

/// The line behind what a log writes before it: times, a host and a program, a pod, a level.
fn without_stamps(line: &str) -> &str {
    let mut rest = line;
    // `gh run view --log`: the job and the step before the time.
    let cells: Vec<&str> = rest.splitn(3, '\t').collect();
    if let [_, _, last] = cells[..]
        && date_and_time(last).is_some()
    {
        rest = last;
    }
    if let Some(pod) = rest.strip_prefix("[pod/").and_then(|rest| rest.split_once("] ")) {
        rest = pod.1;
    }
    let Some(after) = stamp(rest) else { return rest };
    level(after)
}

/// The line behind a time that it begins with.
fn stamp(line: &str) -> Option<&str> {
    let inner = without_priority(line);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    let of_clock = || Some(fraction(clock(inner)?));
    let of_month =
        || of_syslog(inner).or_else(|| Some(without_year(of_syslog(without_day(inner)?)?)));
    let after = date_and_time(inner).or_else(of_month).or_else(of_clock)?;
    let after = after.strip_prefix([']', ':']).unwrap_or(after);
    match after.strip_prefix(' ') {
        Some(after) => Some(program(after)),
        // `[10:00:00][bench-1] `.
        None => (after.is_empty() || after.starts_with('[')).then_some(after),
    }
}

/// The line behind a host and a program with its number, as syslog writes them behind each kind of time: `host app[123]: `.
fn program(line: &str) -> &str {
    // An empty line may have lost its blank.
    let parts = line.split_once("]: ").or_else(|| Some((line.strip_suffix("]:")?, "")));
    let before = parts.filter(|(before, _)| {
        let words: Vec<&str> = before.split_whitespace().collect();
        words.len() == 2
            && words[1].split_once('[').is_some_and(|(name, number)| {
                !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    });
    before.map_or(line, |(_, rest)| rest)
}

/// `<14>` of syslog's own form.
fn without_priority(line: &str) -> &str {
    let rest = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let is_number = |text: &str| {
        (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    rest.filter(|(number, _)| is_number(number)).map_or(line, |(_, rest)| rest)
}

/// Behind the `Fri ` before a month.
fn without_day(line: &str) -> Option<&str> {
    const DAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    DAYS.iter().find_map(|day| line.strip_prefix(day))
}

/// `2026-11-23T07:45:01.1234567Z`, `2026-11-23 07:45:01,123`, `…+01:00`.
fn date_and_time(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('\u{feff}');
    let rest = digits(rest, 4)?.strip_prefix(['-', '/'])?;
    let rest = digits(rest, 2)?.strip_prefix(['-', '/'])?;
    let rest = digits(rest, 2)?.strip_prefix(['T', ' '])?;
    let rest = fraction(clock(rest)?);
    let zone = rest.strip_prefix(['+', '-']).and_then(|zone| {
        let zone = digits(zone, 2)?;
        digits(zone.strip_prefix(':').unwrap_or(zone), 2)
    });
    Some(zone.unwrap_or_else(|| rest.strip_prefix('Z').unwrap_or(rest)))
}

/// `Nov 23 07:45:01`.
fn of_syslog(text: &str) -> Option<&str> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().find_map(|month| text.strip_prefix(month))?;
    let day = month.trim_start();
    let rest = digits(day, 2).or_else(|| digits(day, 1))?.strip_prefix(' ')?;
    Some(fraction(clock(rest)?))
}

/// `date` writes the year behind the time, and the zone between them.
fn without_year(text: &str) -> &str {
    let behind = text.strip_prefix(' ').unwrap_or(text);
    let zone = behind.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let zones = [Some(behind), zone.strip_prefix(' ').filter(|_| zone.len() < behind.len())];
    let year = zones.into_iter().flatten().find_map(|rest| digits(rest, 4));
    year.filter(|rest| rest.is_empty() || rest.starts_with([' ', ':'])).unwrap_or(text)
}

/// `07:45:01`.
fn clock(text: &str) -> Option<&str> {
    let rest = digits(text, 2)?.strip_prefix(':')?;
    digits(digits(rest, 2)?.strip_prefix(':')?, 2)
}

/// Behind the digits of a fraction, if there are any.
fn fraction(text: &str) -> &str {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return text };
    let more = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if more.len() < rest.len() { more } else { text }
}

fn digits(text: &str, count: usize) -> Option<&str> {
    let (digits, rest) = text.split_at_checked(count)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
}

/// The line behind `INFO ` or `[WARN] `.
fn level(line: &str) -> &str {
    const LEVELS: [&str; 6] = ["INFO", "DEBUG", "WARNING", "WARN", "ERROR", "TRACE"];
    let text = line.trim_start();
    let inner = text.strip_prefix('[').unwrap_or(text);
    let Some(rest) = LEVELS.iter().find_map(|level| inner.strip_prefix(level)) else { return line };
    let rest = rest.strip_prefix(']').unwrap_or(rest);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(' ').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_puts_before_each_line_goes() {
        for prefix in [
            "2026-11-23T07:45:01.1234567Z ",
            "2026-11-23T07:45:01+01:00 ",
            "2026-11-23 07:45:01,123 INFO ",
            "[2026-11-23 07:45:01] ",
            "[07:45:01] ",
            "07:45:01.123 ",
            "Nov  3 07:45:01 ",
            "Nov 23 07:45:01 host bench[123]: ",
            "build\tRun wrk\t2026-11-23T07:45:01.1234567Z ",
            "[pod/bench-x7/wrk] ",
            "web-1  | ",
            "web-1  | 2026-11-23T07:45:01.123Z ",
            "\x1b[36mshop_web_1  |\x1b[0m ",
        ] {
            for line in ["Running 10s test @ http://h/", "  2 threads and 10 connections", ""] {
                assert_eq!(bare(&format!("{prefix}{line}")), line, "{prefix:?}");
            }
        }
        // A host behind the time, in front of all lines alike.
        let host = "2024-05-01T12:00:00Z bench-1  $ a\n2024-05-01T12:00:01Z bench-1  Running b\n\
                    2024-05-01T12:00:02Z bench-1    c\n2024-05-01T12:00:03Z bench-1      d";
        assert_eq!(bare(host), "$ a\nRunning b\n  c\n    d");
        let words = "07:45:01 a b\n07:45:01 a c\n07:45:01 a d\n07:45:01 e f";
        assert_eq!(bare(words), "a b\na c\na d\ne f");
        let text = "bench | a\nbench |   b\nbench | c\nbench | d";
        assert_eq!(bare(text), "a\n  b\nc\nd");
    }

    #[test]
    fn returns_alone_end_lines() {
        let text = "Running 2s test @ http://h/\n  1 threads and 8 connections\n  100 requests in 2.00s, 1.00MB read\n\
                    Requests/sec:     50.00\nTransfer/sec:      0.50MB\n";
        let read = crate::printed::read;
        assert_eq!(read(&text.replace('\n', "\r")), read(text));
        assert_eq!(read(&text.replace('\n', "\r\n")), read(text));
    }

    #[test]
    fn figures_and_tables_are_no_logs() {
        for text in [
            "c | 1 | 2\nmuduo | 10 | 20\nother | 10 | 20\nmine | 3 | 4",
            "  0.001 [20]    |■■",
            "10:5",
            "2024 requests in 1.00s",
            "1795421749146184963,200,1692316",
            "May the best win",
            "[200] 500 responses",
        ] {
            assert!(matches!(bare(text), Cow::Borrowed(_)), "{text}: {}", bare(text));
        }
        assert_eq!(bare("\x1b[1mok\x1b[0m \x1b]0;title\x07x\x1b(B."), "ok x.");
    }
}
