//! The figures that people look for, and what came back: the rate, percentiles and errors in a line, responses by
//! status, throughput and cost in the next; then what was unexpected, what failed and how, and what stayed open.

use ablaze_model::plan::{Load, statuses_in_words};
use ablaze_model::record::Record;
use ablaze_model::run::Ended;
use ablaze_model::{FailureKind, Run};

use super::Style;
use super::latency::interval_text;
use crate::effort::{self, Effort, cpu_time};
use crate::number::{bytes_rate, counted, grouped, length, percent, rate, time};
use crate::system_error::reason;
use crate::table::{Table, sentence, wrapped};

/// Width of the label and the figure, so that what follows them stands in one column.
const LABEL: usize = 12;
const FIGURE: usize = 11;

/// The lines on what came back.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let mut lines = key_figures(run, style);
    lines.extend(responses(run, style));
    lines.extend(journeys(run, style));
    lines.extend(super::checks::lines(run, style));
    lines.extend(unexpected(run, style));
    lines.extend(errors(run, style));
    lines.extend(open_ends(run, style));
    lines
}

/// `208,914 requests/s    p50 462 µs   p95 702 µs   p99 843 µs [841–846]   max 6.02 ms    errors 0`.
/// In an open loop the times are response times, from when each request was due.
fn key_figures(run: &Run, style: &Style) -> Vec<String> {
    let figure = run.rate_per_s().map_or("-".to_string(), rate);
    let latency = run.record.answered.latency();
    let mut items = Vec::new();
    if run.record.responses > 0 {
        let quantile = |q| latency.supported_quantile_ns(q).map(|ns| ns as f64);
        let shown = |value: Option<f64>| value.map_or("-".to_string(), time);
        items.push(format!("p50 {}", shown(quantile(0.5))));
        items.push(format!("p95 {}", shown(quantile(0.95))));
        let p99 = quantile(0.99);
        let interval = p99.zip(latency.quantile_interval_ns(0.99));
        let interval = interval.map(|(value, ends)| format!(" {}", interval_text(value, ends)));
        items.push(format!("p99 {}{}", shown(p99), interval.unwrap_or_default()));
        items.push(format!("max {}", shown(latency.max_ns().map(|ns| ns as f64))));
    }
    items.push(format!("errors {}", grouped(run.record.failures_total())));
    let mut lines = wrapped(&format!("  {figure} requests/s    "), &items, "   ", style.width);
    if let Some(line) = lines.first_mut() {
        *line = line.replacen(&figure, &style.strong(&figure), 1);
    }
    lines
}

/// `2,089,140 responses in 10.0 s · 200: 2,089,140 · 31.1 MiB/s · CPU per request: server 4.6 µs, client 3.6 µs`.
fn responses(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let time = match run.elapsed_ns {
        0 => String::new(),
        ns => format!(" in {}", length(ns as f64)),
    };
    let mut items = vec![format!("{}{time}", counted(record.responses, "response"))];
    let statuses = record.statuses.iter().map(|(status, n)| format!("{status}: {}", grouped(*n)));
    items.extend(statuses);
    if run.elapsed_ns > 0 && record.received_bytes > 0 {
        items.push(bytes_rate(record.received_bytes as f64 * 1e9 / run.elapsed_ns as f64));
    }
    items.extend(cost(run));
    wrapped("  ", &items, " · ", style.width)
}

fn cost(run: &Run) -> Option<String> {
    let server = effort::of_the_server(run)
        .map(|(server_ns, _)| format!("{} {}", crate::proxy::watched(run), cpu_time(server_ns)));
    let client = Effort::of(run).filter(|effort| effort.work_ns() > 0.0);
    let client = client.map(|effort| format!("client {}", cpu_time(effort.work_ns())));
    let sides: Vec<String> = server.into_iter().chain(client).collect();
    (!sides.is_empty()).then(|| format!("CPU per request: {}", sides.join(", ")))
}

/// A label, its figure and what belongs to it, padded so that every line goes on in one column.
pub(super) fn start(label: &str, figure: &str) -> String {
    format!("  {label:<LABEL$}{figure:>FIGURE$}    ")
}

fn unexpected(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    if record.unexpected == 0 {
        return Vec::new();
    }
    let is_expected = |status: &u16| run.plan.expect.iter().any(|range| range.contains(status));
    let expected: Vec<String> = run.plan.expect.iter().map(statuses_in_words).collect();
    let judged = run.statuses_judged();
    let unexpected = judged.iter().filter(|(status, _)| !is_expected(status));
    let mut items =
        vec![format!("{} of the responses", share(record.unexpected, record.responses))];
    items.extend(unexpected.map(|(status, n)| format!("{status}: {}", grouped(*n))));
    items.push(format!("expected: {}", expected.join(", ")));
    let start = start("unexpected", &grouped(record.unexpected));
    let lines = wrapped(&start, &items, "    ", style.width);
    lines.into_iter().map(|line| style.warning(&line)).collect()
}

/// How many journeys per second, how long they took, and where others failed.
fn journeys(run: &Run, style: &Style) -> Vec<String> {
    let Some(journeys) = &run.record.journeys else { return Vec::new() };
    let figure = crate::journeys::rate_text(run, journeys);
    let mut items = crate::journeys::durations(journeys).to_vec();
    items.extend(crate::journeys::counts(journeys));
    let mut lines = wrapped(&format!("  {figure} journeys/s    "), &items, "   ", style.width);
    let mut told = |text: &str, is_warning: bool| {
        let text = sentence("  ", text, style.width);
        lines.extend(
            text.iter().map(|line| if is_warning { style.warning(line) } else { line.clone() }),
        );
    };
    if let Some(text) = crate::users::over_time(run) {
        told(&text, false);
    }
    if let Some((text, is_warning)) = crate::users::setup(run) {
        told(&text, is_warning);
    }
    for step in crate::journeys::failed(journeys) {
        let name = ablaze_model::printable::printable(&step.name);
        let count = grouped(step.failed);
        let text =
            format!("failed in {name}: {count}, the first at {}", crate::journeys::reason(step));
        told(&text, true);
    }
    if let Some((head, rows)) = crate::users::table(run) {
        let mut table = Table::new(&[0]);
        table.row(head, "");
        rows.into_iter().for_each(|row| table.row(row, ""));
        lines.extend(table.lines());
    }
    lines
}

fn errors(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let total = record.failures_total();
    if total == 0 {
        return Vec::new();
    }
    let mut items = vec![format!("{} of the requests", share(total, record.finished()))];
    for kind in FailureKind::ALL {
        let number = record.failures_of(kind);
        if number > 0 {
            items.push(format!("{}: {}", kind.label(), grouped(number)));
        }
    }
    let start = start("errors", &grouped(total));
    let mut lines = wrapped(&start, &items, "    ", style.width);
    let indent = " ".repeat(start.chars().count());
    if let Some(first) = record.first_failure {
        let connecting = if first.connecting { " while connecting" } else { "" };
        let system = match first.errno {
            0 => String::new(),
            errno => format!(": {}", reason(&std::io::Error::from_raw_os_error(errno))),
        };
        let text = format!("first error{connecting}: {}{system}", first.kind.label());
        lines.extend(sentence(&indent, &text, style.width));
    }
    let failed = record.failed.latency();
    if let Some(max) = failed.max_ns().filter(|max| *max > 0) {
        // Zero is counted as 1 ns.
        let p50 = failed.supported_quantile_ns(0.5).filter(|p50| *p50 > 1);
        let p50 = p50.map_or(String::new(), |p50| format!("p50 {}, ", time(p50 as f64)));
        let max = time(max as f64);
        let since = if run.plan.load.is_open() { " from when they were due" } else { "" };
        let text = format!("they took {p50}max {max}{since}; not included in the table below");
        lines.extend(sentence(&indent, &text, style.width));
    }
    lines.into_iter().map(|line| style.error(&line)).collect()
}

/// What is neither response nor error, and what was done twice.
fn open_ends(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let mut lines = Vec::new();
    if unfinished_matters(run) {
        let start = start("unfinished", &grouped(record.unfinished));
        // Of what was due or sent at the very end there is no age to tell.
        let age = match record.unfinished_oldest_ns {
            0 => None,
            ns => Some(time(ns as f64)),
        };
        let since = |what: &str| {
            age.as_ref().map_or(String::new(), |age| format!(", the oldest {what} at least {age}"))
        };
        let in_flight = record.unfinished.saturating_sub(record.never_sent);
        let streamless = record.without_stream().unfinished;
        let text = match (in_flight, record.never_sent) {
            _ if streamless > 0 && streamless >= record.unfinished => {
                format!("not sent at the end, as no stream is permitted{}", since("for"))
            }
            _ if streamless > 0 => format!(
                "{} of them not sent at the end, as no stream is permitted{}",
                grouped(streamless),
                since("for")
            ),
            (_, 0) => format!("in flight at the end{}", since("for")),
            (0, _) => format!("due but not sent at the end{}", since("for")),
            (in_flight, never_sent) => format!(
                "{} in flight and {} not sent at the end{}",
                grouped(in_flight),
                grouped(never_sent),
                since("due for")
            ),
        };
        lines.extend(sentence(&start, &text, style.width));
    }
    if record.repeated > 0 {
        let start = start("repeated", &grouped(record.repeated));
        let why = match (run.plan.http2, run.plan.http3) {
            (None, None) => why_repeated(record),
            (Some(_), _) => "the server had not processed them (GOAWAY, REFUSED_STREAM)".to_owned(),
            (None, Some(_)) => {
                "the server had not processed them (GOAWAY, H3_REQUEST_REJECTED)".to_owned()
            }
        };
        let text = &format!("sent again because {why}; timed from the first attempt");
        lines.extend(sentence(&start, text, style.width));
    }
    lines.extend(answered_early(run, style));
    lines.extend(left_open(record, style));
    lines
}

/// Responses that were complete before their requests had been sent whole, and what became of the rest.
fn answered_early(run: &Run, style: &Style) -> Vec<String> {
    let early = run.record.answered_early;
    if early.count == 0 {
        return Vec::new();
    }
    let text = match (run.plan.http2, run.plan.http3) {
        (None, None) => {
            let closed = match early.closed {
                0 => String::new(),
                closed => format!(
                    "; {} were closed, as the rest had not left within 1 s",
                    grouped(closed)
                ),
            };
            let waited = match early.waited_ns {
                0 => String::new(),
                waited_ns => format!(
                    "; their connections carried no other request while they waited for the rest to leave, {} in total",
                    time(waited_ns as f64)
                ),
            };
            format!("responses came before the server had taken the whole request{waited}{closed}")
        }
        _ => "responses were complete before the server had taken the whole request; the rest of the request was not sent"
            .to_owned(),
    };
    let start = start("answered early", &grouped(early.count));
    sentence(&start, &text, style.width)
}

/// For so long a server is waited for that was to close.
const LEFT_NS: u64 = 1_000_000_000;

/// What became of connections that the server was to close and did not.
fn left_open(record: &Record, style: &Style) -> Vec<String> {
    let of = match record.awaited_close {
        0 => String::new(),
        // Only so many at a time are.
        awaited => format!(
            "of {} left to the server to close (only so many at a time are; the client closes the others): ",
            grouped(awaited)
        ),
    };
    let mut lines = Vec::new();
    if record.left_open > 0 {
        let start = start("left open", &grouped(record.left_open));
        // What waited for all of that time took as long.
        let longest_ns = record.answered.total.max_ns().unwrap_or(0);
        let nobody = record.failures_total() == 0 && longest_ns < LEFT_NS;
        let waited = if nobody { "; the next requests were sent meanwhile" } else { "" };
        let text = format!("{of}not closed by it within 1 s of the last response{waited}");
        lines.extend(sentence(&start, &text, style.width));
    }
    if record.closed_early > 0 {
        let start = start("closed early", &grouped(record.closed_early));
        let text = format!(
            "{of}nothing came from it while it left them open and requests waited, so the client closed them, as a server may \
             wait for that which serves one connection at a time"
        );
        lines.extend(sentence(&start, &text, style.width));
    }
    lines
}

/// How the connections had ended of requests that were sent again, with counts where it was in several ways.
fn why_repeated(record: &Record) -> String {
    let (reset, surplus) = (record.repeated_after_reset, record.repeated_after_surplus);
    let after_failure = record.repeated_after_failure;
    let announced = record.repeated_after_announced;
    let closed = record.repeated.saturating_sub(announced + reset + surplus + after_failure);
    let ways = [
        ("they were pipelined behind a response that announced the close", announced),
        ("the server had closed the connection", closed),
        ("the connection had been reset", reset),
        ("the client had closed the connection for surplus bytes", surplus),
        ("a request before them on the connection failed", after_failure),
    ];
    let ways: Vec<(&str, u64)> = ways.into_iter().filter(|(_, count)| *count > 0).collect();
    match ways.as_slice() {
        [(way, _)] => (*way).to_owned(),
        ways => {
            let each = ways.iter().map(|(way, count)| format!("{way} ({})", grouped(*count)));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// At the end of its time a closed loop always leaves what is in flight. Unfinished requests tell something in an open
/// loop, when there are more of them, when the run did not come to its end, and when the oldest had waited for longer
/// than any response took.
fn unfinished_matters(run: &Run) -> bool {
    let record = &run.record;
    let in_flight = match run.plan.load {
        Load::Closed { connections, pipeline } => u64::from(connections) * u64::from(pipeline),
        Load::Open { .. } => 0,
    };
    let longest_ns = record.answered.latency().max_ns().unwrap_or(0);
    let tells = record.unfinished > in_flight
        || run.ended != Ended::Complete
        || record.unfinished_oldest_ns > longest_ns;
    record.unfinished > 0 && tells
}

fn share(part: u64, whole: u64) -> String {
    percent(part as f64, whole as f64)
}

#[cfg(test)]
mod tests {
    use super::why_repeated;
    use ablaze_model::plan::statuses_in_words;
    use ablaze_model::record::Record;

    #[test]
    fn a_reset_is_not_told_as_a_close() {
        let mut record = Record { repeated: 4, ..Record::new() };
        assert_eq!(why_repeated(&record), "the server had closed the connection");
        record.repeated_after_reset = 4;
        assert_eq!(why_repeated(&record), "the connection had been reset");
        (record.repeated_after_reset, record.repeated_after_surplus) = (1, 3);
        let both = "the connection had been reset (1), the client had closed the connection for \
                    surplus bytes (3)";
        assert_eq!(why_repeated(&record), both);
    }

    #[test]
    fn expected_statuses_are_named_as_they_are_typed() {
        let texts =
            [200..=399, 200..=299, 204..=204, 200..=204].map(|range| statuses_in_words(&range));
        assert_eq!(texts, ["2xx, 3xx", "2xx", "204", "200–204"]);
    }
}
