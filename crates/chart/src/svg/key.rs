//! What the lines are called: names at their ends, or a legend above the area.

use super::frame::{Area, Fits, KEY};
use super::series::marker;
use super::writer::{Anchor, Length, Writer, cut, width_of};
use super::{LINE, TEXT_SIZE, style};
use crate::{Look, Plot, Series};

/// A piece of the series' line with its marker, 24 wide; `at` is its left end.
pub(super) fn sample(series: &Series, at: (f64, f64), out: &mut Writer) {
    out.group(&style::colour(series.slot));
    match series.look {
        Look::Line => {
            let data = format!("M{},{}h24", Length(at.0), Length(at.1));
            out.path("l", &data, style::dashes(series.slot));
            marker(series.slot, (at.0 + 12.0, at.1), out);
        }
        Look::Steps => {
            let data = format!("M{},{}v-9h22v9", Length(at.0 + 1.0), Length(at.1 + 5.0));
            out.path("b", &data, "");
            out.path("l", &data, style::dashes(series.slot));
        }
    }
    out.close("g");
}

/// Begins the group of what stands for a series in a legend: a page can make it a switch.
pub(super) fn open(index: usize, out: &mut Writer) {
    out.open("g", &[("class", "key"), ("data-series", &index.to_string())]);
}

/// The legend below `top`, in as many lines as it takes; returns their height.
pub(super) fn legend(plot: &Plot, width: f64, top: f64, out: &mut Writer) -> f64 {
    let (mut x, mut y) = (0.0, top);
    for (index, series) in plot.series.iter().enumerate() {
        let name = cut(&series.name, TEXT_SIZE, width - KEY);
        let wide = KEY + width_of(&name, TEXT_SIZE);
        if x > 0.0 && x + wide > width {
            x = 0.0;
            y += LINE;
        }
        open(index, out);
        sample(series, (x, y + 8.0), out);
        out.text("", (x + KEY, y + 12.0), Anchor::Start, &name);
        out.close("g");
        x += wide + 18.0;
    }
    y + LINE + 4.0 - top
}

/// Names at the ends of the lines, moved apart where they would touch.
pub(super) fn labels(plot: &Plot, fits: &Fits, area: &Area, full: f64, out: &mut Writer) {
    const APART: f64 = 15.0;
    const NEAR: f64 = 8.0;
    let mut ends: Vec<(usize, (f64, f64), f64)> = plot
        .series
        .iter()
        .enumerate()
        .filter_map(|(index, series)| {
            let end = series.points.iter().rev().find_map(|point| {
                Some((area.x(fits.x.at(point.x))?, area.y(fits.y.at(point.y))?))
            })?;
            Some((index, end, end.1))
        })
        .collect();
    ends.sort_by(|left, right| left.2.total_cmp(&right.2));
    let lowest = area.bottom() - 4.0;
    let mut free_from = area.top + 2.0;
    for (_, _, y) in &mut ends {
        *y = y.max(free_from);
        free_from = *y + APART;
    }
    let mut free_to = lowest;
    for (_, _, y) in ends.iter_mut().rev() {
        *y = y.min(free_to);
        free_to = *y - APART;
    }
    let x = area.right() + 8.0;
    for (index, end, y) in ends {
        let series = &plot.series[index];
        // A leader is no data: quiet, and only where the line ends at the edge and its name was moved.
        if (y - end.1).abs() > 1.0 && area.right() - end.0 < NEAR {
            let [from_x, from_y, to_x, to_y] =
                [end.0 + 4.0, end.1, x, y].map(|v| Length(v).to_string());
            out.group("g leader");
            out.path("e", &format!("M{from_x},{from_y}L{to_x},{to_y}"), "");
            out.close("g");
        }
        open(index, out);
        out.group(&style::colour(series.slot));
        marker(series.slot, (x + 5.0, y), out);
        out.close("g");
        let name = cut(&series.name, TEXT_SIZE, full - x - 14.0);
        out.text("", (x + 14.0, y + 4.0), Anchor::Start, &name);
        out.close("g");
    }
}
