//! The run over time with axes, where the terminal is high enough for it: drawn by `ablaze-chart`, as in reports.

use ablaze_chart::terminal::Characters;
use ablaze_chart::{Axis, Chart, Plot, Series, Unit};

use super::history::Point;
use super::line::{Line, Look};

/// Rows of a chart with its title and axis, at most.
const CHART: usize = 13;
/// Rows that are left for what stands below the charts.
const BELOW: usize = 11;
/// With fewer points there is no line to draw.
const POINTS: usize = 3;

/// What is drawn of a point.
type Figure = fn(&Point) -> f64;

/// Rate, and median and 99th percentile, over time; as many of the two as there is room for.
pub fn rows(points: &[Point], columns: usize, room: usize) -> Vec<Line> {
    if points.len() < POINTS {
        return Vec::new();
    }
    let end_ns = points.last().map_or(0.0, |point| point.middle_ns());
    let plot = |unit, name: &str, figures: &[(&str, Figure)]| {
        let x = Axis::between("time", Unit::TimeNs, 0.0, end_ns);
        let mut plot = Plot::new(x, Axis::linear(name, unit));
        for (slot, (name, figure)) in figures.iter().enumerate() {
            let line = points.iter().map(|point| (point.middle_ns(), figure(point)));
            plot.series.push(Series::line(name, slot, line));
        }
        plot
    };
    let rate = plot(Unit::PerSecond, "responses per second", &[("rate", |point| point.rate_per_s)]);
    let times: [(&str, Figure); 2] = [("p50", |point| point.p50_ns), ("p99", |point| point.p99_ns)];
    let times = plot(Unit::TimeNs, "time of a response", &times);
    let charts = [rate, times].into_iter().take(room.saturating_sub(BELOW) / CHART);
    let text: String =
        charts.map(|plot| Chart::of("", plot).terminal(columns, Characters::Unicode)).collect();
    text.lines().map(|line| Line::empty().with(Look::Plain, line)).collect()
}
