//! The charts of Runs: what is drawn from what. Each is a pure function from Runs to a
//! [`Chart`]; where a Run does not have the figures there is `None`.

use ablaze_chart::{Axis, Chart, Mark, Plot, Series, Unit};
use ablaze_model::Run;
use ablaze_model::record::Slice;
use ablaze_stats::Latency;

use super::ShownRun;
use crate::rate_changes;

mod cpu;
mod phases;

pub use cpu::cpu;
pub(crate) use cpu::{CpuParts, bars as cpu_bars, client_parts, drop_unused_parts, server_parts};
pub use phases::phases;

/// At most this many points over time are drawn; slices are combined until they fit.
const MOST_POINTS: usize = 240;
/// Bins of a distribution.
const BINS: u32 = 48;
/// Fewer values have no line on the axis of percentiles.
pub(crate) const PERCENTILES_FROM: u64 = 10;
/// Fewer values have no distribution.
pub(crate) const DISTRIBUTION_FROM: u64 = 20;
/// Points per power of ten on the axis of percentiles.
const PER_NINE: u32 = 16;

/// The one chart of a Run where there is room for one: over time, or what a run too short for that
/// has. A Run without a response has an empty one.
pub fn main(run: &Run) -> Chart {
    let subjects = [ShownRun::new("all responses", 0, run)];
    let chart = over_time(run).or_else(|| distribution(&subjects)).unwrap_or_else(|| {
        let x = Axis::between("time", Unit::TimeNs, 0.0, run.elapsed_ns as f64);
        let rate = Plot::new(x, Axis::linear("responses per second", Unit::PerSecond));
        Chart::of("Too few responses to draw", rate)
    });
    let title = format!("{}: {}", chart.title, crate::text::what_was_loaded(run));
    Chart { title, ..chart }
}

/// Rate and latency over time, one above the other. `None` for a run of fewer than two slices.
pub fn over_time(run: &Run) -> Option<Chart> {
    let slices = &run.record.slices;
    let whole = &slices.slices[..whole_slices(run)];
    if whole.len() < 2 {
        return None;
    }
    let together = whole.len().div_ceil(MOST_POINTS);
    let piece_ns = slices.slice_ns as f64 * together as f64;
    let pieces: Vec<Piece> = whole.chunks_exact(together).map(Piece::of).collect();
    let middle = |index: usize| (index as f64 + 0.5) * piece_ns;
    let x = || Axis::between("time", Unit::TimeNs, 0.0, run.elapsed_ns as f64);
    let mut rate = Plot::new(x(), Axis::linear("responses per second", Unit::PerSecond));
    let per_s = |count: u64| count as f64 * 1e9 / piece_ns;
    let line = |name: &str, slot: usize, y: &dyn Fn(&Piece) -> f64| {
        Series::line(name, slot, pieces.iter().enumerate().map(|(i, piece)| (middle(i), y(piece))))
    };
    rate.series.push(line("responses", 0, &|piece| per_s(piece.responses)));
    if pieces.iter().any(|piece| piece.failures > 0) {
        rate.series.push(line("errors", 1, &|piece| per_s(piece.failures)));
    }
    let stalls = stalls(&pieces, piece_ns);
    rate.marks.extend(rate_changes::outside_of_pauses(run, stalls));
    rate.marks.extend(rate_changes::marks(run));
    let mut latency = Plot::new(x(), Axis::linear(latency_name(run), Unit::TimeNs));
    latency.series.push(line("p99", 1, &|piece| piece.p99_ns));
    latency.series.push(line("p50", 0, &|piece| piece.p50_ns));
    if spread(pieces.iter().flat_map(|piece| [piece.p50_ns, piece.p99_ns])) > 20.0 {
        latency.y = Axis::log(latency_name(run), Unit::TimeNs);
    }
    let piece = crate::number::time_exact(piece_ns as u64);
    Some(Chart::of("Rate and latency over time", rate).above(latency).described(&format!(
        "Responses per second, and the median and the 99th percentile of their latency, in \
         intervals of {piece}."
    )))
}

/// The longest stretches without a response, where there usually are some in every piece.
fn stalls(pieces: &[Piece], piece_ns: f64) -> Vec<Mark> {
    /// Fewer responses per piece than this leave pieces empty by chance.
    const USUALLY: u64 = 10;
    const MOST: usize = 3;
    let responses: u64 = pieces.iter().map(|piece| piece.responses).sum();
    if responses < USUALLY * pieces.len() as u64 {
        return Vec::new();
    }
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (index, _) in pieces.iter().enumerate().filter(|(_, piece)| piece.responses == 0) {
        match stretches.last_mut() {
            Some((from, length)) if *from + *length == index => *length += 1,
            _ => stretches.push((index, 1)),
        }
    }
    stretches.sort_by_key(|(from, length)| (std::cmp::Reverse(*length), *from));
    let mark = |(from, length): &(usize, usize)| {
        let (from_ns, to_ns) = (*from as f64 * piece_ns, (from + length) as f64 * piece_ns);
        let text = format!("no response for at least {}", crate::number::time(to_ns - from_ns));
        Mark::between(from_ns, to_ns, &text)
    };
    stretches.iter().take(MOST).map(mark).collect()
}

/// What a point over time stands for, in words.
pub fn over_time_caption(run: &Run) -> String {
    let slices = &run.record.slices;
    let together = whole_slices(run).div_ceil(MOST_POINTS).max(1);
    let piece = crate::number::time_exact(slices.slice_ns * together as u64);
    let text = match together {
        1 => format!("Each point stands for {piece}."),
        _ => format!(
            "Each point stands for {piece}, {together} slices: their rate, the median of their \
             medians, the highest of their 99th percentiles."
        ),
    };
    let of_what = if together == 1 { "point" } else { "slice" };
    let has_few = |slice: &Slice| (1..100).contains(&slice.responses);
    match slices.slices[..whole_slices(run)].iter().any(has_few) {
        true => format!("{text} p99 of a {of_what} with fewer than 100 responses is the longest."),
        false => text,
    }
}

/// How many slices were measured to their end; the last may not have been.
fn whole_slices(run: &Run) -> usize {
    let slices = &run.record.slices;
    let whole = run.elapsed_ns / slices.slice_ns.max(1);
    usize::try_from(whole).unwrap_or(usize::MAX).min(slices.slices.len())
}

/// Some slices, put together.
struct Piece {
    responses: u64,
    failures: u64,
    /// NaN without responses.
    p50_ns: f64,
    p99_ns: f64,
}

impl Piece {
    fn of(slices: &[Slice]) -> Self {
        let answered = || slices.iter().filter(|slice| slice.responses > 0);
        let medians: Vec<f64> = answered().map(|slice| slice.p50_ns as f64).collect();
        let figure = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64);
        Self {
            responses: slices.iter().map(|slice| slice.responses).sum(),
            failures: slices.iter().map(|slice| slice.failures).sum(),
            p50_ns: ablaze_stats::repeats::median(&medians).unwrap_or(f64::NAN),
            p99_ns: figure(answered().map(|slice| slice.p99_ns).max()),
        }
    }
}

fn latency_name(run: &Run) -> &'static str {
    if run.plan.load.is_open() { "response time" } else { "latency" }
}

/// How many times the least the largest is.
fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let usable = values.filter(|value| *value > 0.0);
    let (low, high) = usable.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    if low > 0.0 && low.is_finite() { high / low } else { 1.0 }
}

/// A line on the axis of percentiles.
#[derive(Debug, Clone, Copy)]
pub struct ShownLatency<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its slot, from 0.
    pub slot: usize,
    /// The values.
    pub latency: &'a Latency,
}

/// Latency by percentile on HDR's axis, with 95 % intervals where there are enough values. A single
/// Run of an open loop has a line for the response and one for the service.
pub fn percentiles(subjects: &[ShownRun<'_>]) -> Option<Chart> {
    let mut lines = Vec::new();
    for ShownRun { name, slot, run } in subjects {
        let answered = &run.record.answered;
        let mut line = |name, slot, latency| lines.push(ShownLatency { name, slot, latency });
        match (&answered.intended, subjects.len()) {
            (Some(intended), 1) => {
                line("response", 0, &intended.response);
                line("service", 1, &answered.total);
            }
            _ => line(name, *slot, answered.latency()),
        }
    }
    percentile_lines(&lines, latency_name(subjects.first()?.run))
}

/// The same of any latencies; `alone` is what the axis is called where there is one line. `None` where none has
/// ten values.
pub fn percentile_lines(lines: &[ShownLatency<'_>], alone: &str) -> Option<Chart> {
    let enough = |line: &&ShownLatency<'_>| line.latency.count() >= PERCENTILES_FROM;
    let lines: Vec<&ShownLatency<'_>> = lines.iter().filter(enough).collect();
    let first = lines.first()?;
    let values = || {
        let ends =
            |line: &&ShownLatency<'_>| [line.latency.quantile_ns(0.0), line.latency.max_ns()];
        lines.iter().flat_map(ends).flatten().map(|ns| ns as f64)
    };
    let name = if lines.len() == 1 { alone } else { "latency" };
    let y = if spread(values()) > 10.0 {
        Axis::log(name, Unit::TimeNs)
    } else {
        Axis::linear(name, Unit::TimeNs)
    };
    let mut plot = Plot::new(Axis::percentile("percentile"), y);
    let supported = supported_quantile(first.latency);
    for ShownLatency { name, slot, latency } in lines.iter().copied() {
        let points = quantiles(latency.count()).filter_map(|q| {
            let value = latency.quantile_ns(q)? as f64;
            let (low, high) = latency
                .quantile_interval_ns(q)
                .map_or((f64::NAN, f64::NAN), |(low, high)| (low as f64, high as f64));
            Some((q, value, low, high))
        });
        plot.series.push(Series::with_intervals(name, *slot, points));
    }
    let of_one_size = lines.iter().all(|line| line.latency.count() == first.latency.count());
    if let Some(q) = supported.filter(|_| of_one_size) {
        let last = 1.0 - 1.0 / first.latency.count() as f64;
        plot.marks.push(Mark::between(q, last, "few values"));
    }
    Some(Chart::of("Latency by percentile", plot).described(
        "The time within which each share of the responses came; each further nine takes the same \
         width.",
    ))
}

/// From 0 up to the quantile that only the largest value is above.
fn quantiles(count: u64) -> impl Iterator<Item = f64> {
    let nines = (count as f64).log10().max(0.0);
    (0..=(nines * f64::from(PER_NINE)) as u32)
        .map(|index| 1.0 - 10f64.powf(-f64::from(index) / f64::from(PER_NINE)))
}

/// The highest quantile whose interval exists.
fn supported_quantile(latency: &Latency) -> Option<f64> {
    quantiles(latency.count()).filter(|q| latency.quantile_interval_ns(*q).is_some()).last()
}

/// How the latencies are spread: the share of the responses in each bin. The bins are the same for all.
pub fn distribution(subjects: &[ShownRun<'_>]) -> Option<Chart> {
    let latencies: Vec<(&str, usize, &Latency)> = subjects
        .iter()
        .map(|subject| (subject.name, subject.slot, subject.run.record.answered.latency()))
        .filter(|(_, _, latency)| latency.count() >= DISTRIBUTION_FROM)
        .collect();
    let low = latencies.iter().filter_map(|(_, _, latency)| latency.min_ns()).min()?.max(1);
    let high = latencies.iter().filter_map(|(_, _, l)| l.quantile_ns(0.999)).max()?;
    if high <= low {
        return None;
    }
    let name = match subjects {
        [one] => latency_name(one.run),
        _ => "latency",
    };
    let ratio = high as f64 / low as f64;
    let (axis, edge): (Axis, Box<dyn Fn(u32) -> f64>) = if ratio > 4.0 {
        let edge = move |i| low as f64 * ratio.powf(f64::from(i) / f64::from(BINS));
        (Axis::log(name, Unit::TimeNs), Box::new(edge))
    } else {
        let width = (high - low) as f64 / f64::from(BINS);
        let edge = move |i| low as f64 + width * f64::from(i);
        (Axis::between(name, Unit::TimeNs, low as f64, high as f64), Box::new(edge))
    };
    let mut plot = Plot::new(axis, Axis::linear("share of the responses", Unit::Share));
    for (name, slot, latency) in latencies {
        let below = |i: u32| if i == 0 { 0 } else { latency.count_at_most(edge(i) as u64) };
        let points = (0..=BINS).map(|i| {
            let count = if i < BINS { below(i + 1).saturating_sub(below(i)) } else { 0 };
            (edge(i), count as f64 / latency.count() as f64)
        });
        plot.series.push(Series::steps(name, slot, points));
    }
    Some(Chart::of(&format!("Distribution of the {name}"), plot).described(
        "The share of the responses in each interval of time, up to the 99.9th percentile.",
    ))
}
