//! Draws one series: its line with the gaps left open, its intervals, its markers, and for each
//! point a note that shows when it is pointed at.

use std::fmt::Write as _;

use super::frame::{Area, Fits};
use super::style;
use super::writer::{Length, Writer};
use crate::{Look, Plot, Point, Series};

/// With this many points or more, not every one has a marker, and intervals become a band.
const DENSE: usize = 40;
/// Markers on a dense line.
const MARKERS_ON_DENSE: usize = 7;
/// Most points with a note each.
const MOST_NOTES: usize = 160;

/// A point that has a place.
struct Placed<'a> {
    point: &'a Point,
    x: f64,
    y: f64,
}

/// Draws a series.
pub(super) fn draw(series: &Series, plot: &Plot, fits: &Fits, area: &Area, out: &mut Writer) {
    out.group(&format!("series {}", style::colour(series.slot)));
    match series.look {
        Look::Line => line(series, plot, fits, area, out),
        Look::Steps => steps(series, plot, fits, area, out),
    }
    out.close("g");
}

fn line(series: &Series, plot: &Plot, fits: &Fits, area: &Area, out: &mut Writer) {
    let pieces = pieces(series, fits, area);
    let placed: Vec<&Placed<'_>> = pieces.iter().flatten().collect();
    if placed.len() >= DENSE {
        pieces.iter().for_each(|piece| band(piece, fits, area, out));
    } else {
        placed.iter().for_each(|placed| error_bar(placed, fits, area, out));
    }
    for piece in &pieces {
        out.path("l", &through(piece), style::dashes(series.slot));
    }
    if placed.len() < DENSE || plot.series.len() > 1 {
        markers(series.slot, &placed, out);
    }
    let stride = placed.len().div_ceil(MOST_NOTES).max(1);
    let radius = if placed.len() >= DENSE { 5.0 } else { 8.0 };
    for placed in placed.iter().step_by(stride) {
        out.circle("h", (placed.x, placed.y), radius, &note(series, plot, placed.point));
    }
}

/// The points that have a place, in pieces between the gaps.
fn pieces<'a>(series: &'a Series, fits: &Fits, area: &Area) -> Vec<Vec<Placed<'a>>> {
    let mut pieces = vec![Vec::new()];
    for point in &series.points {
        match (area.x(fits.x.at(point.x)), area.y(fits.y.at(point.y))) {
            (Some(x), Some(y)) => {
                if let Some(piece) = pieces.last_mut() {
                    piece.push(Placed { point, x, y });
                }
            }
            _ if pieces.last().is_some_and(|piece| !piece.is_empty()) => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn through(piece: &[Placed<'_>]) -> String {
    let mut data = String::new();
    for (index, placed) in piece.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{},{}", Length(placed.x), Length(placed.y));
    }
    data
}

fn ends(placed: &Placed<'_>, fits: &Fits, area: &Area) -> Option<(f64, f64)> {
    let (low, high) = placed.point.interval?;
    let end = |value: f64| {
        area.y(Some(fits.y.at(value).unwrap_or_else(|| fits.y.base()).clamp(0.0, 1.0)))
    };
    Some((end(low)?, end(high)?)).filter(|_| !low.is_nan() && !high.is_nan())
}

fn error_bar(placed: &Placed<'_>, fits: &Fits, area: &Area, out: &mut Writer) {
    let Some((low, high)) = ends(placed, fits, area) else { return };
    let x = placed.x;
    out.line("e", (x, low), (x, high));
    for y in [low, high] {
        out.line("e", (x - 4.0, y), (x + 4.0, y));
    }
}

fn band(piece: &[Placed<'_>], fits: &Fits, area: &Area, out: &mut Writer) {
    let ends: Vec<(f64, f64, f64)> = piece
        .iter()
        .filter_map(|placed| ends(placed, fits, area).map(|(low, high)| (placed.x, low, high)))
        .collect();
    if ends.len() < 2 {
        return;
    }
    let mut data = String::new();
    let there = ends.iter().map(|(x, low, _)| (x, low));
    let back = ends.iter().rev().map(|(x, _, high)| (x, high));
    for (index, (x, y)) in there.chain(back).enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{},{}", Length(*x), Length(*y));
    }
    data.push('z');
    out.path("b", &data, "");
}

/// Every point's marker; on a dense line only some, at other places for each slot.
fn markers(slot: usize, placed: &[&Placed<'_>], out: &mut Writer) {
    let chosen: Vec<&&Placed<'_>> = if placed.len() < DENSE {
        placed.iter().collect()
    } else {
        let stride = placed.len() / MARKERS_ON_DENSE;
        let first = (stride / 2 + slot * stride / 3) % stride;
        placed.iter().skip(first).step_by(stride).collect()
    };
    for placed in chosen {
        marker(slot, (placed.x, placed.y), out);
    }
}

/// The marker of a slot at a place.
pub(super) fn marker(slot: usize, (x, y): (f64, f64), out: &mut Writer) {
    let place = format!("translate({},{})", Length(x), Length(y));
    out.open("g", &[("transform", &place)]);
    out.path("k", style::marker(slot), "");
    out.close("g");
}

fn steps(series: &Series, plot: &Plot, fits: &Fits, area: &Area, out: &mut Writer) {
    let Some(base) = area.y(Some(fits.y.base())) else { return };
    let bins: Vec<(f64, f64, f64, usize)> = series
        .points
        .windows(2)
        .enumerate()
        .filter_map(|(index, pair)| {
            let left = area.x(fits.x.at(pair[0].x))?;
            let right = area.x(fits.x.at(pair[1].x))?;
            Some((left, right, area.y(fits.y.at(pair[0].y))?, index))
        })
        .collect();
    let mut outline = String::new();
    let mut before = (f64::NAN, base);
    for (left, right, y, _) in &bins {
        if before.0 != *left {
            if !outline.is_empty() {
                let _ = write!(outline, "V{}", Length(base));
            }
            let _ = write!(outline, "M{},{}", Length(*left), Length(base));
        }
        let _ = write!(outline, "V{}H{}", Length(*y), Length(*right));
        before = (*right, *y);
    }
    if outline.is_empty() {
        return;
    }
    let _ = write!(outline, "V{}", Length(base));
    out.path("b", &outline, "");
    out.path("l", &outline, style::dashes(series.slot));
    let stride = bins.len().div_ceil(MOST_NOTES).max(1);
    for (left, right, _, index) in bins.iter().step_by(stride) {
        let (from, to) = (series.points[*index], series.points[index + 1]);
        let unit = plot.x.unit;
        let note = format!(
            "{}: {} to {}: {}",
            series.name,
            unit.text(from.x),
            unit.text(to.x),
            plot.y.unit.text(from.y)
        );
        out.rect("h", [*left, area.top, right - left, area.height], &note);
    }
}

/// `mine: connections 100: 189,071/s [187,000/s–190,500/s]`.
fn note(series: &Series, plot: &Plot, point: &Point) -> String {
    let unit = plot.y.unit;
    let interval = match point.interval {
        Some((low, high)) if low.is_finite() && high.is_finite() => {
            format!(" [{}–{}]", unit.text(low), unit.text(high))
        }
        _ => String::new(),
    };
    let x = match (plot.x.unit, plot.x.title.as_str()) {
        // p99 says that it is a percentile.
        (crate::Unit::Quantile, _) | (_, "") => plot.x.text(point.x),
        (_, title) => format!("{title} {}", plot.x.text(point.x)),
    };
    format!("{}: {x}: {}{interval}", series.name, unit.text(point.y))
}
