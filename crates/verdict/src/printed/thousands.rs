//! Thousands that another locale sets apart: `51.384,82`, `9 522.96`, `9'522.96`. As the tools print them, numbers have none
//! of these.

use std::borrow::Cow;

/// The text with such numbers written plainly, where a figure that every tool prints with decimals shows how they are set
/// apart.
pub fn joined(text: &str) -> Cow<'_, str> {
    let shown = text.lines().find_map(|line| {
        let figure = super::line::with_decimals(line)?;
        let found = grouped(figure)?;
        // With points between thousands there must be a comma before the decimals: `51.384` alone has three of them.
        let has_comma = figure[found.whole_bytes..].starts_with(',');
        (found.separator != '.' || has_comma).then_some(found)
    });
    let Some(first) = shown else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match first.separator {
            // Columns of a table have blanks between them, too: only what follows a label.
            separator if BLANKS.contains(&separator) => of_label(line, separator, &mut plain),
            separator => everywhere(line, separator, &mut plain),
        }
    }
    Cow::Owned(plain)
}

/// Blanks that are written there.
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];
/// And what else.
const MARKS: [char; 3] = ['.', '\'', '’'];

/// A number whose thousands are set apart, at the beginning of a text.
struct Grouped {
    separator: char,
    /// Up to its decimals.
    whole_bytes: usize,
}

fn grouped(text: &str) -> Option<Grouped> {
    let first = text.bytes().take_while(u8::is_ascii_digit).count();
    let separator =
        text[first..].chars().next().filter(|c| BLANKS.contains(c) || MARKS.contains(c))?;
    let mut whole_bytes = first;
    while let Some(rest) = text[whole_bytes..].strip_prefix(separator) {
        if rest.bytes().take_while(u8::is_ascii_digit).count() != 3 {
            break;
        }
        whole_bytes += separator.len_utf8() + 3;
    }
    let is_one = (1..=3).contains(&first) && whole_bytes > first;
    is_one.then_some(Grouped { separator, whole_bytes })
}

fn of_label(line: &str, separator: char, plain: &mut String) {
    let behind = line.split_once(':').map(|(label, rest)| (label, rest.trim_start()));
    let figure = behind.and_then(|(label, rest)| Some((label, rest, grouped(rest)?)));
    match figure.filter(|(_, _, figure)| figure.separator == separator) {
        Some((label, rest, figure)) => {
            let (whole, decimals) = rest.split_at(figure.whole_bytes);
            plain.extend([label, ": ", &whole.replace(separator, ""), decimals]);
        }
        None => plain.push_str(line),
    }
}

/// Each number of a line. An address has points, too, but its parts are not all of three digits, or they are four.
fn everywhere(line: &str, separator: char, plain: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let figure = grouped(rest).filter(|figure| {
            let whole = &rest[..figure.whole_bytes];
            figure.separator == separator && whole.matches(separator).count() < 3
        });
        let (whole_bytes, whole) = match figure {
            Some(figure) => (figure.whole_bytes, rest[..figure.whole_bytes].replace(separator, "")),
            None => (digits, rest[..digits].to_owned()),
        };
        plain.push_str(&whole);
        rest = &rest[whole_bytes..];
        // Behind the points of thousands a comma begins the decimals.
        let decimals = rest.strip_prefix(',').filter(|_| separator == '.');
        if let Some(after) =
            decimals.filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))
        {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            plain.extend([".", &after[..end]]);
            rest = &after[end..];
        } else if rest.starts_with('.') && figure_is_plain(rest) {
            // What else has points stays as it is: addresses, versions.
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    plain.push_str(rest);
}

fn figure_is_plain(rest: &str) -> bool {
    rest[1..].starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::read;

    const REPORT: &str = "Server Hostname:        127.0.0.1\nServer Port:            8080\n\
        Concurrency Level:      10\nTime taken for tests:   0.584 seconds\n\
        Complete requests:      30000\nFailed requests:        0\n\
        Total transferred:      4980000 bytes\n\
        Requests per second:    51384.82 [#/sec] (mean)\nTime per request:       0.195 [ms] (mean)\n";

    #[test]
    fn a_rate_is_read_however_its_thousands_are_set_apart() {
        let rate = |text: &str| read(text).reports[0].rate_per_s.map(|rate| rate.value);
        assert_eq!(rate(REPORT), Some(51384.82));
        let as_elsewhere = [
            REPORT
                .replace("51384.82", "51.384,82")
                .replace("0.584", "0,584")
                .replace("0.195", "0,195"),
            REPORT.replace("51384.82", "51 384.82").replace("30000", "30 000"),
            REPORT
                .replace("51384.82", "51 384,82")
                .replace("0.584", "0,584")
                .replace("0.195", "0,195"),
            REPORT.replace("51384.82", "51'384.82").replace("30000", "30'000"),
            REPORT.replace("51384.82", "51\u{202f}384,82").replace("0.584", "0,584"),
        ];
        for text in as_elsewhere {
            assert_eq!(rate(&text), Some(51384.82), "{text}");
            let report = &read(&text).reports[0];
            assert_eq!(report.complete, Some(30_000), "{text}");
            assert_eq!(report.taken_s.map(|taken| taken.value), Some(0.584), "{text}");
            assert_eq!(report.host.as_deref(), Some("127.0.0.1"), "{text}");
        }
    }

    #[test]
    fn what_shows_no_such_locale_stays_as_it_is() {
        let three_decimals = REPORT.replace("51384.82", "51.384");
        for text in [REPORT, &three_decimals] {
            assert_eq!(joined(text), text);
        }
        let addresses = "Requests per second:    51.384,82\n10.200.100.300 127.0.0.1 HTTP/1.1\n";
        let plain = "Requests per second:    51384.82\n10.200.100.300 127.0.0.1 HTTP/1.1\n";
        assert_eq!(joined(addresses), plain);
    }
}
