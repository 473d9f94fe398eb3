//! The labels of ab's report, which gurl's and many others' share: finding one in a line, and
//! taking its figure.

use super::line::{QUOTES, count, number, numbers, signed, word};
use super::{Connections, Document, FailedParts, Printed, Report, Times};

/// A label of ab's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Label {
    Server,
    Host,
    Port,
    Tls,
    Path,
    Document,
    Statuses,
    Concurrency,
    /// `ablaze gurl`: requests per second on a schedule.
    Schedule,
    Taken,
    Complete,
    Failed,
    FailedParts,
    WriteErrors,
    Non2xx,
    KeepAlive,
    TotalBytes,
    SentBytes,
    BodyBytes,
    Rate,
    PerRequest,
    PerRequestAcross,
    Kilobytes,
    Connect,
    Processing,
    Waiting,
    Total,
    Percentages,
}

use Label::*;

const TEXTS: [(&str, Label); 26] = [
    ("Server Software", Server),
    ("Server Hostname", Host),
    ("Server Port", Port),
    ("SSL/TLS Protocol", Tls),
    ("Document Path", Path),
    ("Document Length", Document),
    ("Status Codes", Statuses),
    ("Concurrency Level", Concurrency),
    ("Requested rate", Schedule),
    ("Time taken for tests", Taken),
    ("Complete requests", Complete),
    ("Failed requests", Failed),
    ("Write errors", WriteErrors),
    ("Non-2xx responses", Non2xx),
    ("Keep-Alive requests", KeepAlive),
    ("Total transferred", TotalBytes),
    ("Total body sent", SentBytes),
    ("Total POSTed", SentBytes),
    ("Total PUT", SentBytes),
    ("HTML transferred", BodyBytes),
    ("Requests per second", Rate),
    ("Time per request", PerRequest),
    ("Transfer rate", Kilobytes),
    ("Connect", Connect),
    ("Processing", Processing),
    ("Waiting", Waiting),
];

impl Label {
    /// Which part of the report it stands in; the parts always come in this order.
    pub fn part(self) -> u8 {
        match self {
            Server | Host | Port | Tls => 1,
            Path | Document | Statuses => 2,
            Concurrency | Schedule | Taken | Complete | Failed | FailedParts | WriteErrors
            | Non2xx | KeepAlive | TotalBytes | SentBytes | BodyBytes => 3,
            Rate | PerRequest | PerRequestAcross | Kilobytes => 4,
            Connect | Processing | Waiting | Total => 5,
            Percentages => 6,
        }
    }

    /// As printed.
    pub fn text(self) -> &'static str {
        let of = if self == PerRequestAcross { PerRequest } else { self };
        TEXTS.iter().find(|(_, label)| *label == of).map_or("Total", |(text, _)| text)
    }

    /// A row of times.
    fn is_row(self) -> bool {
        self.part() == 5
    }
}

/// A label found in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled<'a> {
    pub label: Label,
    /// What stands before it.
    pub before: &'a str,
    /// What stands behind its colon.
    pub value: &'a str,
}

/// The first label of a cleaned line whose value can be one.
pub fn find(line: &str) -> Option<Labelled<'_>> {
    if line.contains("Percentage of the requests served within") {
        return Some(Labelled { label: Percentages, before: "", value: "" });
    }
    if line.contains("Length:") && line.contains("Exceptions:") {
        return Some(Labelled { label: FailedParts, before: "", value: line });
    }
    let all = TEXTS.iter().copied().chain([("Total", Total)]);
    let mut found: Vec<(usize, Labelled<'_>)> = all
        .filter_map(|(text, label)| at(line, text, label))
        .filter(|(_, labelled)| is_plausible(labelled))
        .collect();
    found.sort_by_key(|(position, _)| *position);
    found.first().map(|(_, labelled)| *labelled)
}

fn at<'a>(line: &'a str, text: &str, label: Label) -> Option<(usize, Labelled<'a>)> {
    let position = line.find(text)?;
    let before = &line[..position];
    if before.ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = line[position + text.len()..].trim_start();
    let value = rest.strip_prefix(':').or_else(|| rest.strip_prefix('：'))?;
    let label = match label {
        PerRequest if value.contains("across all") => PerRequestAcross,
        other => other,
    };
    Some((position, Labelled { label, before, value }))
}

/// In running text the same words may stand before something else.
fn is_plausible(labelled: &Labelled<'_>) -> bool {
    match labelled.label {
        Server | Host | Path | Tls | Statuses => labelled.before.len() <= 60,
        Document => {
            count(labelled.value).is_some() || labelled.value.trim_start().starts_with("Variable")
        }
        label if label.is_row() => columns(labelled.value).len() >= 3,
        _ => number(labelled.value).is_some() || is_no_number(labelled),
    }
}

/// What C prints for a quotient that is no number, or more digits than any counter has.
fn is_no_number(labelled: &Labelled<'_>) -> bool {
    let figure = labelled.label.part() == 3 || labelled.label.part() == 4;
    let word = labelled.value.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches('-');
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    figure && (matches!(word, "nan" | "inf") || digits > COUNTER_DIGITS)
}

/// Those of a signed counter of 64 bits.
const COUNTER_DIGITS: usize = 19;

/// A figure that no run can have. Old ab divides by the number of requests even if there were none.
pub fn is_impossible(report: &Report, labelled: &Labelled<'_>) -> bool {
    let by_none =
        report.complete == Some(0) && matches!(labelled.label, PerRequest | PerRequestAcross);
    is_below_zero(labelled) || is_no_number(labelled) && !by_none
}

/// A count, a time or a rate below 0. Of bytes a counter of 32 bits may have wrapped.
fn is_below_zero(labelled: &Labelled<'_>) -> bool {
    let value = labelled.value;
    match labelled.label {
        Server | Host | Port | Path | Tls | Statuses | FailedParts | Percentages | TotalBytes
        | BodyBytes | SentBytes | Kilobytes => false,
        label if label.is_row() => columns(value).iter().any(|cell| cell.value < 0.0),
        _ => number(value).is_some_and(|(figure, _)| figure.value < 0.0),
    }
}

/// `Finished 1000 requests`: what ab says to have done before it prints its report.
pub fn finished(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("Finished ")?;
    rest.split_once(" requests")?.0.parse().ok()
}

/// By that line.
pub const FINISHED: &str = "the number finished";

/// `50%    -51`, `150%     51`.
pub fn percentage_is_impossible(line: &str) -> bool {
    let Some((before, after)) = line.split_once('%') else { return false };
    let Some((percent, "")) = number(before) else { return false };
    let Some((ms, _)) = number(after) else { return false };
    percent.value > 100.0 || ms.value < 0.0
}

/// Takes the figure into the report.
pub fn take(report: &mut Report, labelled: &Labelled<'_>) {
    let value = labelled.value;
    match labelled.label {
        Server => report.server = word(value),
        Host => report.host = word(value).map(|host| host.trim_end_matches(QUOTES).to_owned()),
        Port => report.port = count(value).and_then(|port| port.try_into().ok()),
        Tls => report.tls = true,
        Path => report.path = path(value),
        Document => report.document = Some(document(value)),
        Statuses => statuses(report, value),
        Concurrency => report.concurrency = count(value),
        Schedule => report.open_loop = true,
        Taken => report.taken_s = in_seconds(value),
        Complete => report.complete = count(value),
        Failed => report.failed = count(value),
        FailedParts => report.failed_parts = Some(failed_parts(value, report.failed)),
        WriteErrors => report.write_errors = count(value),
        Percentages => {}
        Non2xx => report.non_2xx = count(value),
        KeepAlive => report.connections = Connections::Kept(count(value)),
        TotalBytes => report.total_bytes = signed(value),
        SentBytes => report.sent_bytes = count(value),
        BodyBytes => report.body_bytes = signed(value),
        Rate => report.rate_per_s = printed(value),
        PerRequest => report.per_request_ms = in_ms(value),
        PerRequestAcross => report.across_ms = in_ms(value),
        Kilobytes => report.kilobytes_per_s = printed(value),
        Connect => report.connect = Some(times(value)),
        Processing => report.processing = Some(times(value)),
        Waiting => report.waiting = Some(times(value)),
        Total => report.total = Some(times(value)),
    }
}

fn printed(value: &str) -> Option<Printed> {
    number(value).map(|(printed, _)| printed).filter(|printed| printed.value >= 0.0)
}

/// `1.108 seconds`; what converts reports writes other units.
fn in_seconds(value: &str) -> Option<Printed> {
    let unit = number(value).map_or("", |(_, rest)| rest).trim_start_matches([' ', '[']);
    let end = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
    let by = match unit[..end].to_lowercase().as_str() {
        "us" | "µs" | "μs" | "microseconds" => 1e-6,
        "ms" | "msec" | "millisecond" | "milliseconds" => 1e-3,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        _ => 1.0,
    };
    printed(value).map(|s| Printed { value: s.value * by, step: s.step * by })
}

/// `25.000 [ms] (mean)`: ab and gurl print no other unit.
fn in_ms(value: &str) -> Option<Printed> {
    let unit = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let by = match unit.map(|(unit, _)| unit) {
        Some("s") => 1e3,
        Some("us" | "µs" | "μs") => 1e-3,
        _ => 1.0,
    };
    printed(value).map(|ms| Printed { value: ms.value * by, step: ms.step * by })
}

/// As ab was told it, blanks and all; before a remark in brackets or in another script.
fn path(value: &str) -> Option<String> {
    let value = value.trim();
    let is_quoted = value.trim_end_matches(',').ends_with('"');
    let value = if is_quoted { value.trim_end_matches(QUOTES) } else { value };
    const REMARKS: [&str; 6] = ["  ", " (", " |", " #", " //", " <"];
    let signs = REMARKS.iter().filter_map(|sign| value.find(sign));
    let end = signs.chain(value.find(|c: char| !c.is_ascii())).min().unwrap_or(value.len());
    Some(value[..end].trim_end().to_owned()).filter(|path| !path.is_empty())
}

fn document(value: &str) -> Document {
    count(value).map_or(Document::Variable, Document::Bytes)
}

/// `404:90   200:19900  [code:count]`.
fn statuses(report: &mut Report, value: &str) {
    for item in value.split_whitespace() {
        let Some((status, number)) = item.split_once(':') else { continue };
        let (Ok(status), Some(number)) = (status.parse(), count(number)) else { continue };
        report.statuses.insert(status, number);
    }
}

/// `(Connect: 0, Receive: 0, Length: 3, Exceptions: 0)`. In HTML and in old versions `Receive` is not
/// printed: it is what the others leave of all failures.
fn failed_parts(value: &str, failed: Option<u64>) -> FailedParts {
    let part = |name: &str| value.split_once(name).and_then(|(_, rest)| count(rest));
    let [connect, length, exceptions] =
        ["Connect:", "Length:", "Exceptions:"].map(|name| part(name).unwrap_or(0));
    let others = connect.saturating_add(length).saturating_add(exceptions);
    let left = failed.map_or(0, |failed| failed.saturating_sub(others));
    FailedParts { connect, receive: part("Receive:").unwrap_or(left), length, exceptions }
}

/// The line behind the transfer rate, which has no label of its own: `5344.86 kb/s sent`.
pub fn sent(report: &mut Report, line: &str) -> bool {
    let figure = |before: &str| before.split_whitespace().next_back().and_then(printed);
    if let Some((before, _)) = line.split_once("kb/s sent") {
        report.sent_kilobytes_per_s = figure(before);
        return report.sent_kilobytes_per_s.is_some();
    }
    let Some((before, _)) = line.split_once("kb/s total") else { return false };
    report.both_kilobytes_per_s = figure(before);
    report.both_kilobytes_per_s.is_some()
}

/// Five columns; with `-S` three, without deviation and median.
fn times(value: &str) -> Times {
    let columns = columns(value);
    let column = |index: usize| columns.get(index).copied();
    match columns.len() {
        // Of five, without the last.
        4 => Times {
            min_ms: column(0),
            mean_ms: column(1),
            deviation_ms: column(2),
            median_ms: column(3),
            max_ms: None,
        },
        0..4 => {
            Times { min_ms: column(0), mean_ms: column(1), max_ms: column(2), ..Times::default() }
        }
        _ => Times {
            min_ms: column(0),
            mean_ms: column(1),
            deviation_ms: column(2),
            median_ms: column(3),
            max_ms: column(4),
        },
    }
}

/// The columns of a row. With `-S` nothing stands between mean and longest, both five wide, so
/// that from 10 s on they run together.
fn columns(value: &str) -> Vec<Printed> {
    let mut columns = numbers(value);
    if let [_, together] = columns.as_slice()
        && together.step == 1.0
        && (1e5..1e10).contains(&together.value)
    {
        let (mean, max) = ((together.value / 1e5).floor(), together.value % 1e5);
        columns.truncate(1);
        columns.extend([mean, max].map(|value| Printed { value, step: 1.0 }));
    }
    columns
}

/// A line of the table of percentages: percent and ms. Later versions of gurl name the unit.
pub fn percentage(line: &str) -> Option<(f64, Printed)> {
    let (before, after) = line.split_once('%')?;
    let digits = before.rsplit(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let (percent, rest) = number(digits)?;
    let (ms, _) = number(after)?;
    let in_range = rest.is_empty() && 0.0 < percent.value && percent.value <= 100.0;
    (in_range && ms.value >= 0.0).then_some((percent.value, ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_where_it_may_stand() {
        let label = |line| find(line).map(|labelled| labelled.label);
        assert_eq!(label("LT: Requests per second: 42.56 [#/sec] (mean)"), Some(Rate));
        assert_eq!(label("12:00:01 INFO Complete requests:      10"), Some(Complete));
        assert_eq!(label("Requests per second： 12.5"), Some(Rate));
        assert_eq!(label("Total:         30   63   6.1     62      88"), Some(Total));
        assert_eq!(label("Total: 3 errors"), None);
        assert_eq!(label("Document Length: see below"), None);
        assert_eq!(label("HTML transferred:       0 bytes"), Some(BodyBytes));
        let parts = "   (Connect: 1, Receive: 2, Length: 3, Exceptions: 4)";
        let expected = FailedParts { connect: 1, receive: 2, length: 3, exceptions: 4 };
        assert_eq!(label(parts), Some(Label::FailedParts));
        assert_eq!(failed_parts(parts, None), expected);
        let without = failed_parts("   (Connect: 1, Length: 3, Exceptions: 4)", Some(10));
        assert_eq!(without, expected);
    }

    #[test]
    fn the_length_of_the_run_is_read_with_its_unit() {
        let of = |value| in_seconds(value).map(|s| (s.value * 1e6).round());
        let same = ["1.108 seconds", "1.108 s", "1.108", "1108 ms", "1,108 [ms]"];
        assert_eq!(same.map(of), [Some(1.108e6); 5]);
        assert_eq!(["1.5 minutes", "2 hours"].map(of), [Some(90e6), Some(7_200e6)]);
    }

    #[test]
    fn percentages_are_read_with_and_without_a_unit() {
        let of = |line| percentage(line).map(|(percent, ms)| (percent, ms.value));
        assert_eq!(of("50%     62"), Some((50.0, 62.0)));
        assert_eq!(of("100%   3615 (longest request)"), Some((100.0, 3615.0)));
        assert_eq!(of("99%    0.84ms"), Some((99.0, 0.84)));
        assert_eq!(of("INFO   50%     62"), Some((50.0, 62.0)));
        assert_eq!(of("10% more than 5"), None);
    }
}
