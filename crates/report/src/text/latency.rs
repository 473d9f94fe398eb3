//! How long it took: one row per phase, and the shape of the total as one line of bars.

use ablaze_model::Run;
use ablaze_stats::{Latency, order};

use super::Style;
use crate::number::{grouped, time, time_exact, time_in, time_unit};
use crate::table::{Table, wrapped};

/// The percentiles of the table, and the one that gets its interval.
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];
/// Those that narrow terminals do without.
const IN_BETWEEN: [&str; 2] = ["p75", "p95"];
const WITH_INTERVAL: &str = "p99";

/// Which columns a table has beside mean, p50, p90, p99, p99.9 and max.
#[derive(Clone, Copy)]
struct Columns {
    /// Minimum and standard deviation.
    spread: bool,
    /// p75 and p95.
    in_between: bool,
    /// The interval of the p99.
    interval: bool,
}

impl Columns {
    const ALL: Self = Self { spread: true, in_between: true, interval: true };
    /// From the fullest to the fewest.
    const FORMS: [Self; 4] = [
        Self::ALL,
        Self { spread: true, in_between: true, interval: false },
        Self { spread: false, in_between: true, interval: false },
        Self { spread: false, in_between: false, interval: false },
    ];

    fn percentiles(self) -> impl Iterator<Item = (&'static str, f64)> {
        let shown = move |(name, _): &(&str, f64)| self.in_between || !IN_BETWEEN.contains(name);
        PERCENTILES.into_iter().filter(shown)
    }
}

/// The receive row is shown when its median is at least this share of the total's.
const RECEIVE_MATTERS_FROM: f64 = 0.05;

/// Fewer responses than this have no shape.
const SHAPE_FROM: u64 = 20;

struct Row<'a> {
    label: &'static str,
    latency: &'a Latency,
    /// What its times are part of. No percentile of a part exceeds that of the whole, which is recorded in finer buckets.
    within: Option<&'a Latency>,
    note: String,
}

/// The lines on latency.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    if run.record.responses == 0 {
        let what = match run.record.received_bytes {
            // Responses of a warm-up may have come.
            _ if run.elapsed_ns == 0 && run.plan.sends_before_clock() => {
                "No response came that counts"
            }
            0 => "No response came",
            _ => "No valid response came",
        };
        return vec![format!("  {what}, so there is no latency to show.")];
    }
    let rows = rows(run);
    let mut lines = narrowest_that_shows_most(&rows, style.width);
    lines.extend(shape(run.record.answered.latency(), style.width));
    lines.extend(too_few(&rows, &lines, style.width).iter().map(|line| style.dim(line)));
    lines
}

/// The head, the rows and a sentence below the table, for exporters of tables; no rows without a response. What the
/// connects were stands in that sentence: beside the figures it would make the table wider than its page.
pub(crate) fn figures(run: &Run) -> (Vec<String>, Vec<Vec<String>>, String) {
    let rows = if run.record.responses == 0 { Vec::new() } else { rows(run) };
    let connects = rows.iter().filter(|row| !row.note.is_empty()).count();
    let mut when = ["before", "during"].into_iter().take(if connects > 1 { 2 } else { 0 });
    let mut of_connect = None;
    let row = |row: &Row<'_>| {
        let mut cells = cells(row, Columns::ALL);
        if !row.note.is_empty() {
            of_connect = when.next();
        }
        if let Some(when) = of_connect.filter(|_| matches!(row.label, "connect" | "tls" | "quic")) {
            cells[0] = format!("{}, {when}", row.label);
        }
        cells
    };
    let cells = rows.iter().map(row).collect();
    let caption = notes_below(&rows, false).unwrap_or_default();
    (head(Columns::ALL), cells, caption.trim_start().to_owned())
}

/// The rows of making connections, with a note on the first. Over QUIC it is one: the socket is there at once, and the handshake
/// has TLS in it.
fn making<'a>(
    run: &Run,
    connect: &'a Latency,
    handshakes: Option<&'a Latency>,
    note: &str,
) -> Vec<Row<'a>> {
    let row =
        |label, latency, note: &str| Row { label, latency, within: None, note: note.to_string() };
    match (run.plan.http3, handshakes) {
        (Some(_), Some(handshakes)) => vec![row("quic", handshakes, note)],
        (_, handshakes) => std::iter::once(row("connect", connect, note))
            .chain(handshakes.map(|handshakes| row("tls", handshakes, "")))
            .collect(),
    }
}

/// The phases worth a row.
fn rows(run: &Run) -> Vec<Row<'_>> {
    let record = &run.record;
    let answered = &record.answered;
    let mut rows = Vec::new();
    let row =
        |label, latency, note: &str| Row { label, latency, within: None, note: note.to_string() };
    let handshakes = record.setup_tls.as_deref();
    let made = record.setup_connect.count().max(handshakes.map_or(0, Latency::count));
    if made > 0 {
        let note = format!("{}×, before the clock", grouped(made));
        rows.extend(making(run, &record.setup_connect, handshakes, &note));
    }
    let made = answered.connections();
    if made > 0 {
        let note = if made == answered.total.count() {
            "every request".to_string()
        } else {
            format!("{}×, during the run", grouped(made))
        };
        let handshakes = answered.tls.as_ref().map(|tls| &tls.handshake);
        rows.extend(making(run, &answered.connect, handshakes, &note));
    }
    if let Some(waited) = record.stream_wait.as_deref() {
        rows.push(row("stream", waited, ""));
    }
    let within = Some(&answered.total);
    rows.push(Row { within, ..row("wait", &answered.wait, "") });
    let p50 = |latency: &Latency| latency.quantile_ns(0.5).unwrap_or(0) as f64;
    if p50(&answered.receive) >= p50(&answered.total) * RECEIVE_MATTERS_FROM {
        rows.push(Row { within, ..row("receive", &answered.receive, "") });
    }
    match &answered.intended {
        None => rows.push(row("total", &answered.total, "")),
        Some(intended) => {
            rows.push(row("service", &answered.total, ""));
            rows.push(row("lag", &intended.lag, ""));
            rows.push(row("response", &intended.response, ""));
        }
    }
    rows.retain(|row| row.latency.count() > 0);
    rows
}

/// The table in the fullest form that fits, with its notes below it if not beside.
fn narrowest_that_shows_most(rows: &[Row<'_>], width: usize) -> Vec<String> {
    let fits = |lines: &[String]| lines.iter().all(|line| line.chars().count() <= width);
    let beside = Columns::FORMS[..3].iter().map(|columns| (*columns, true));
    let below = Columns::FORMS[2..].iter().map(|columns| (*columns, false));
    for (columns, notes_beside) in beside.chain(below) {
        let lines = table(rows, columns, notes_beside);
        if fits(&lines) {
            return lines.into_iter().chain(notes_below(rows, notes_beside)).collect();
        }
    }
    let mut lines = table(rows, Columns::FORMS[3], false);
    lines.extend(notes_below(rows, false));
    lines
}

fn notes_below(rows: &[Row<'_>], notes_beside: bool) -> Option<String> {
    let noted = || rows.iter().filter(|row| !notes_beside && !row.note.is_empty());
    let what = noted().next()?.label;
    let notes: Vec<&str> = noted().map(|row| row.note.as_str()).collect();
    Some(format!("     {what}: {}", notes.join("; then ")))
}

fn table(rows: &[Row<'_>], columns: Columns, notes: bool) -> Vec<String> {
    let head = head(columns);
    let is_interval = |column: &usize| head[*column].starts_with('[');
    let flush_left: Vec<usize> =
        std::iter::once(0).chain((1..head.len()).filter(is_interval)).collect();
    let mut table = Table::new(&flush_left);
    table.row(head, "");
    for row in rows {
        table.row(cells(row, columns), if notes { &row.note } else { "" });
    }
    table.lines()
}

fn head(columns: Columns) -> Vec<String> {
    let spread = |name: &str| columns.spread.then(|| name.to_string());
    let mut head = vec![String::new()];
    head.extend(spread("min"));
    head.push("mean".to_string());
    head.extend(spread("sd"));
    for (name, _) in columns.percentiles() {
        head.push(name.to_string());
        if columns.interval && name == WITH_INTERVAL {
            head.push("[95 % interval]".to_string());
        }
    }
    head.push("max".to_string());
    head
}

fn cells(row: &Row<'_>, columns: Columns) -> Vec<String> {
    let latency = row.latency;
    let cell = |ns: Option<f64>| ns.map_or("-".to_string(), time);
    let spread = |ns: Option<f64>| columns.spread.then(|| cell(ns));
    let mut cells = vec![row.label.to_string()];
    cells.extend(spread(latency.min_ns().map(|ns| ns as f64)));
    cells.push(cell(latency.mean_ns()));
    // One value has none.
    let deviation_ns = latency.deviation_ns().filter(|_| latency.count() > 1);
    cells.extend(spread(deviation_ns));
    for (name, q) in columns.percentiles() {
        let most_ns = row.within.and_then(|whole| whole.quantile_ns(q)).unwrap_or(u64::MAX);
        let value = latency.supported_quantile_ns(q).map(|ns| ns.min(most_ns) as f64);
        cells.push(cell(value));
        if columns.interval && name == WITH_INTERVAL {
            let interval = value.zip(latency.quantile_interval_ns(q));
            cells.push(interval.map_or(String::new(), |(value, ends)| interval_text(value, ends)));
        }
    }
    cells.push(cell(latency.max_ns().map(|ns| ns as f64)));
    cells
}

/// Both ends in the unit of the value they belong to.
pub(super) fn interval_text(value_ns: f64, (low_ns, high_ns): (u64, u64)) -> String {
    let (unit_ns, _) = time_unit(value_ns);
    format!("[{}–{}]", time_in(low_ns as f64, unit_ns), time_in(high_ns as f64, unit_ns))
}

/// What a `-` in the table means, once for each percentile that the table shows.
fn too_few(rows: &[Row<'_>], table: &[String], width: usize) -> Vec<String> {
    let lacks = |row: &Row<'_>, q| row.latency.supported_quantile_ns(q).is_none();
    let head = table.first().map_or("", String::as_str);
    let shown = |name: &str| head.split_whitespace().any(|column| column == name);
    let lacking = || PERCENTILES.iter().filter(|(name, _)| shown(name));
    let mut needs: Vec<String> = lacking()
        .filter(|(_, q)| rows.iter().any(|row| lacks(row, *q)))
        .map(|(name, q)| format!("{name} {}", grouped(order::count_needed(*q, order::CONFIDENCE))))
        .collect();
    let Some(first) = needs.first_mut() else { return Vec::new() };
    *first = first.replacen(' ', " needs ", 1);
    let last = needs.len() - 1;
    for need in &mut needs[..last] {
        need.push(',');
    }
    wrapped("  -  too few values in that row: ", &needs, " ", width)
}

/// The shape of a distribution: how many values fall between round edges, as bars.
fn shape(total: &Latency, width: usize) -> Vec<String> {
    let (Some(low), Some(high)) = (total.quantile_ns(0.01), total.quantile_ns(0.99)) else {
        return Vec::new();
    };
    if total.count() < SHAPE_FROM || low == high {
        return Vec::new();
    }
    let edges = edges(low, high);
    let at_most: Vec<u64> = edges.iter().map(|edge| total.count_at_most(*edge)).collect();
    let mut counts: Vec<u64> = Vec::with_capacity(edges.len() + 1);
    let mut before = 0;
    for up_to in at_most.into_iter().chain([total.count()]) {
        counts.push(up_to.saturating_sub(before));
        before = up_to;
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let labels = edges.iter().map(|edge| format!("≤ {}", time_exact(*edge)));
    let items: Vec<String> = labels
        .chain(["more".to_string()])
        .zip(counts)
        .map(|(label, count)| format!("{label} {}", bar(count, most)))
        .collect();
    wrapped("     ", &items, "  ", width)
}

/// A bar of up to 16 characters, in eighths. What exists is seen, what does not is `0`.
fn bar(count: u64, most: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if count == 0 || most == 0 {
        return "0".to_string();
    }
    let eighths = (count as f64 / most as f64 * 128.0).round().max(1.0) as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Round edges that cover `low` to `high`: equal steps, or, when the values span more than a
/// power of ten, steps that grow.
pub fn edges(low: u64, high: u64) -> Vec<u64> {
    if high / 10 > low {
        const SERIES: [&[u64]; 3] = [&[1, 2, 5], &[1, 3], &[1]];
        let growing = |mantissas: &[u64]| -> Vec<u64> {
            let powers = (0..19).map(|exponent| 10u64.pow(exponent));
            let all = powers.flat_map(|power| mantissas.iter().map(move |m| m * power));
            let mut edges: Vec<u64> = all.skip_while(|edge| *edge < low).collect();
            let needed = edges.iter().position(|edge| *edge >= high).unwrap_or(0);
            edges.truncate(needed + 1);
            edges
        };
        let candidates = SERIES.map(growing);
        let fitting = candidates.iter().find(|edges| edges.len() <= 6);
        return fitting.unwrap_or(&candidates[2]).clone();
    }
    let step = round_step((high - low).div_ceil(4).max(1));
    let first = (low / step + 1) * step;
    (0..).map(|number| first + number * step).take_while(|edge| *edge < high + step).collect()
}

/// The smallest of 1, 2, 2.5, 5 × a power of ten that is at least `least`.
fn round_step(least: u64) -> u64 {
    let powers = (0..19).map(|exponent| 10u64.pow(exponent));
    powers
        .flat_map(|power| [power, 2 * power, 5 * power / 2, 5 * power])
        .find(|step| *step >= least && *step > 0)
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_round_and_cover_the_values() {
        let us = |values: &[u64]| -> Vec<u64> { values.iter().map(|v| v * 1000).collect() };
        assert_eq!(edges(210_000, 843_000), us(&[400, 600, 800, 1000]));
        assert_eq!(edges(100_050_000, 100_900_000), us(&[100_250, 100_500, 100_750, 101_000]));
        assert_eq!(edges(90_000, 4_000_000), us(&[100, 200, 500, 1000, 2000, 5000]));
        assert_eq!(
            edges(90_000, 4_000_000_000),
            us(&[100, 1000, 10_000, 100_000, 1_000_000, 10_000_000])
        );
        for (low, high) in [(1, 2), (1, 11), (1, 3_600_000_000_000), (999, 1000)] {
            let edges = edges(low, high);
            assert!(edges.len() <= 14 && *edges.last().unwrap() >= high, "{low} {high} {edges:?}");
            assert!(edges.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(16, 16), "████████████████");
        assert_eq!(bar(9, 16), "█████████");
        assert_eq!(bar(1, 32), "▌");
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(0, 16), "0");
    }

    #[test]
    fn an_interval_has_the_unit_of_its_value() {
        assert_eq!(interval_text(835_000.0, (833_000, 838_000)), "[833–838]");
        assert_eq!(interval_text(990_000.0, (980_000, 1_200_000)), "[980–1,200]");
        assert_eq!(interval_text(1_300_000.0, (1_297_000, 1_310_000)), "[1.30–1.31]");
    }

    #[test]
    fn a_part_does_not_take_longer_than_the_whole() {
        let (mut wait, mut total) = (Latency::new(3), Latency::new(4));
        for number in 0..20_000 {
            wait.record(29_500_000 + number * 2_000);
            total.record(29_500_000 + number * 2_000 + 2_000);
        }
        assert!(wait.quantile_ns(0.9) > total.quantile_ns(0.9), "the buckets differ");
        let row = |latency, within| Row { label: "", latency, within, note: String::new() };
        let columns = Columns::FORMS[0];
        let at = head(columns).iter().position(|name| name == "p90").unwrap();
        let of_part = &cells(&row(&wait, Some(&total)), columns)[at];
        assert_eq!(of_part, &cells(&row(&total, None), columns)[at]);
    }
}
