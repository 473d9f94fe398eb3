//! One line of a text that somebody may have quoted, indented, coloured, escaped or logged, and
//! the numbers in it.

use std::borrow::Cow;

use super::Printed;

/// The line without what people and programs put around it: quote marks, table bars, colours,
/// Markdown's escapes.
pub fn cleaned(line: &str) -> String {
    let line = without_table_tags(without_code_tags(line));
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' if characters.peek() == Some(&'[') => {
                // A colour: ESC [ parameters and a letter.
                for next in characters.by_ref() {
                    if next.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            '\\' if characters.peek().is_some_and(char::is_ascii_punctuation) => {}
            '\r' | '\u{feff}' | '\u{200b}' => {}
            '\t' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => text.push(' '),
            _ => text.push(character),
        }
    }
    let quoted = |c: char| c.is_whitespace() || matches!(c, '>' | '|' | '*');
    let stripped = text.trim_start_matches(quoted).trim_end();
    // In a comment of a program.
    let stripped = stripped.strip_prefix("// ").map_or(stripped, str::trim_start);
    match text.trim_start().starts_with('|') {
        true => stripped.trim_end_matches('|').trim_end().to_owned(),
        false => stripped.to_owned(),
    }
}

/// How lines begin whose figure every tool prints with decimals.
const WITH_DECIMALS: [&str; 12] = [
    "Requests per second:",
    "Time taken for tests:",
    "Time per request:",
    "Requests/sec:",
    "Transfer/sec:",
    "finished in ",
    "Reqs/sec",
    "Average:",
    "Elapsed time:",
    "Transaction rate:",
    "\"elapsed_time\":",
    "\"transaction_rate\":",
];

/// That figure, and what follows it.
pub fn with_decimals(line: &str) -> Option<&str> {
    let (_, figure) = WITH_DECIMALS.iter().find_map(|label| line.split_once(label))?;
    Some(figure.trim_start())
}

/// The text with points where another locale has written decimal commas: figures that every tool prints with
/// decimals show that. `94,865` alone is ambiguous, and shows nothing.
pub fn with_points(text: &str) -> Cow<'_, str> {
    let behind = |line: &str| {
        let value = with_decimals(line)?.trim_end().trim_end_matches(',');
        let end = value.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(value.len());
        let (whole, decimals) = value[..end].split_once(',')?;
        let own =
            decimals.bytes().all(|byte| byte.is_ascii_digit()) && !value[end..].starts_with('.');
        Some(own && !decimals.is_empty() && (whole == "0" || decimals.len() != 3))
    };
    // vegeta's columns have commas between them, with a blank behind each.
    let of_vegeta = |line: &str| {
        let cells = line.split_once("[total, rate").and_then(|(_, rest)| rest.split_once(']'));
        let cells = cells.map_or("", |(_, cells)| cells).split(", ").map(str::trim);
        let mut decimals = cells.filter_map(|cell| cell.split_once(','));
        decimals.any(|(whole, decimals)| {
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            digits(whole) && digits(decimals) && !decimals.is_empty() && decimals.len() != 3
        })
    };
    if !text.lines().any(|line| behind(line) == Some(true) || of_vegeta(line)) {
        return Cow::Borrowed(text);
    }
    let characters: Vec<char> = text.chars().collect();
    let digit =
        |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_digit);
    let point = |(at, character): (usize, &char)| match character {
        ',' if digit(at.checked_sub(1)) && digit(Some(at + 1)) => '.',
        other => *other,
    };
    Cow::Owned(characters.iter().enumerate().map(point).collect())
}

/// What stands between the tags with which HTML begins and ends what a program printed: `<pre><code>Running 30s test …`. Tags
/// alone on their line stay.
fn without_code_tags(line: &str) -> &str {
    const TAGS: [&str; 4] = ["pre", "code", "samp", "tt"];
    let is_tag = |inner: &str| {
        let name = inner.trim_start_matches('/').split([' ', '>']).next().unwrap_or_default();
        TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
    };
    let mut inner = line.trim();
    while let Some((tag, rest)) = inner.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        if !is_tag(tag) {
            break;
        }
        inner = rest;
    }
    while let Some((rest, tag)) = inner.strip_suffix('>').and_then(|rest| rest.rsplit_once("</")) {
        if !is_tag(tag) {
            break;
        }
        inner = rest;
    }
    let has_tags = inner.len() < line.trim().len();
    if has_tags && !inner.trim().is_empty() { inner } else { line }
}

/// The cells of an HTML table as words: `ab -w` prints its report so.
fn without_table_tags(line: &str) -> Cow<'_, str> {
    if !line.contains("<t") {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let tag = rest[at + 1..].trim_start_matches('/');
        if !tag.starts_with('t') {
            text.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        // Without an end to this one there is none to any behind it.
        let Some(end) = rest[at..].find('>') else { break };
        text.extend([&rest[..at], " "]);
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The number a text begins with, and what follows it. Thousands may be set apart by commas.
pub fn number(text: &str) -> Option<(Printed, &str)> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let mut digits = String::new();
    let mut end = 0;
    let bytes = unsigned.as_bytes();
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' => digits.push(char::from(*byte)),
            b',' if end > 0 && three_digits_follow(&bytes[end + 1..]) => {}
            _ => break,
        }
        end += 1;
    }
    // More digits than any counter has.
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut step = 1.0;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        digits.push('.');
        end += 1;
        while let Some(digit) = bytes.get(end).filter(|byte| byte.is_ascii_digit()) {
            digits.push(char::from(*digit));
            step /= 10.0;
            end += 1;
        }
    }
    let size: f64 = digits.parse().ok()?;
    let value = if unsigned.len() < text.len() { -size } else { size };
    Some((Printed { value, step }, &unsigned[end..]))
}

fn three_digits_follow(bytes: &[u8]) -> bool {
    bytes.len() >= 3
        && bytes[..3].iter().all(u8::is_ascii_digit)
        && !bytes.get(3).is_some_and(u8::is_ascii_digit)
}

/// The whole number a text begins with.
pub fn count(text: &str) -> Option<u64> {
    let (printed, _) = number(text)?;
    (printed.value >= 0.0 && printed.step == 1.0).then_some(printed.value as u64)
}

/// The same, of which some tools print negative ones.
pub fn signed(text: &str) -> Option<i64> {
    let (printed, _) = number(text)?;
    (printed.step == 1.0).then_some(printed.value as i64)
}

/// The numbers at the beginning of a text, blanks between them.
pub fn numbers(mut text: &str) -> Vec<Printed> {
    let mut found = Vec::new();
    while let Some((value, rest)) = number(text) {
        // `5x` is no number of a table.
        if rest.starts_with(|c: char| !c.is_whitespace() && c != '|' && !QUOTES.contains(&c)) {
            break;
        }
        found.push(value);
        text = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '|');
    }
    found
}

/// What programs put behind a line that they quote.
pub const QUOTES: [char; 4] = ['"', '\'', ',', '\\'];

/// A time with its unit, in ms, and what follows it: `1.30 ms`, `472 µs`.
pub fn time_ms(text: &str) -> Option<(Printed, &str)> {
    let (printed, rest) = number(text)?;
    let rest = rest.trim_start();
    let units = [("ns", 1e-6), ("µs", 1e-3), ("μs", 1e-3), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (unit, length) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
    let after = &rest[unit.len()..];
    if after.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let printed = Printed { value: printed.value * length, step: printed.step * length };
    Some((printed, after))
}

/// The first word, if there is one before a remark in brackets or in another script.
pub fn word(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let end = word.find(|c: char| !c.is_ascii_graphic()).unwrap_or(word.len());
    let word = &word[..end];
    (!word.is_empty() && !word.starts_with('(')).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_line_is_taken_away() {
        for line in [
            "Failed requests:        0",
            "\t  > Failed requests:        0",
            "\u{2009}\u{202f}Failed requests:\u{2009}\u{2009}\u{a0}     0\u{200b}",
            "| Failed requests:        0 |",
            "> > * Failed requests:        0\r",
            "\x1b[1mFailed requests:        0\x1b[0m",
            "Failed requests\\:        0",
            "<tr ><th colspan=2 x>Failed requests:</th><td>      0</td></tr>",
        ] {
            assert_eq!(cleaned(line), "Failed requests:        0", "{line:?}");
        }
    }

    #[test]
    fn numbers_carry_their_step() {
        let printed = |value, step| Printed { value, step };
        assert_eq!(number(" 12,345.60 x"), Some((printed(12345.6, 0.1 / 10.0), " x")));
        assert_eq!(number("-5"), Some((printed(-5.0, 1.0), "")));
        // A comma that sets no thousands apart ends the number.
        assert_eq!(number("200,40"), Some((printed(200.0, 1.0), ",40")));
        assert_eq!(number("none"), None);
        assert_eq!(count("1.5"), None);
        assert_eq!(numbers("0    1   3.9      0      41 (note)").len(), 5);
        assert_eq!(numbers("3 requests").len(), 1);
    }

    #[test]
    fn another_locale_s_decimals_are_read() {
        let text =
            "Time taken for tests:   0,064 seconds\nRequests per second:    7837,42 [#/sec]\n";
        assert_eq!(with_points(text), text.replace(',', "."));
        let vegeta = "Requests      [total, rate, throughput]  300, 300,87, 300,8\n\
                      Duration      [total, attack, wait]      997,123ms, 997ms, 123,4µs\n";
        let points = "Requests      [total, rate, throughput]  300, 300.87, 300.8\n\
                      Duration      [total, attack, wait]      997.123ms, 997ms, 123.4µs\n";
        assert_eq!(with_points(vegeta), points);
        // The line has nothing behind the figure, or the comma of JSON.
        for text in [
            "  Requests/sec:\t4,9939\n",
            "\"elapsed_time\":\t 2,00,\n",
            "\"transaction_rate\":\t 2658,50,\n",
        ] {
            assert_eq!(with_points(text), text.replacen(',', ".", 1), "{text}");
        }
        for text in [
            "Requests      [total, rate, throughput]  300, 300.87, 300.80",
            "  94,865 requests/s",
            "Requests/sec: 1,234,567.89",
            "Requests/sec: 12,345",
            "a, b: 1,5",
        ] {
            assert_eq!(with_points(text), text);
        }
    }

    #[test]
    fn times_become_ms() {
        let of = |text| time_ms(text).map(|(printed, _)| (printed.value * 1e6).round());
        assert_eq!(of("472 µs"), Some(472_000.0));
        assert_eq!(of("1.30 ms"), Some(1_300_000.0));
        assert_eq!(of("6.5s"), Some(6.5e9));
        assert_eq!(of("3 seconds"), None);
    }
}
