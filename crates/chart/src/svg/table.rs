//! The table under the axis: a row per series, each value under its category.

use super::frame::{Area, Fits, KEY};
use super::writer::{Anchor, Writer, cut, width_of};
use super::{LINE, SMALL_SIZE, TEXT_SIZE, key};
use crate::number::significant;
use crate::{Plot, Unit};

/// Draws the table below the ticks, which are its head; returns its height.
pub(super) fn draw(plot: &Plot, fits: &Fits, area: &Area, top: f64, out: &mut Writer) -> f64 {
    let Some(values) = plot.x.scale.categories() else { return 0.0 };
    let column = area.width / values.len().max(1) as f64;
    let write = narrowest(plot, column - 4.0);
    out.group("m");
    let title = cut(&plot.x.title_with(fits.x.unit_name), SMALL_SIZE, area.left - 8.0);
    out.text("n", (0.0, top - 4.0), Anchor::Start, &title);
    out.close("g");
    let mut y = top;
    rule(area, y + 2.0, out);
    for (index, series) in plot.series.iter().enumerate() {
        y += LINE;
        key::open(index, out);
        key::sample(series, (0.0, y - 2.0), out);
        let name = cut(&series.name, TEXT_SIZE, area.left - KEY - 8.0);
        out.text("", (KEY, y + 2.0), Anchor::Start, &name);
        out.close("g");
        for value in &values {
            let Some(x) = area.x(fits.x.at(*value)) else { continue };
            let point = series.points.iter().find(|point| point.x == *value);
            let text = point.map_or("-".to_owned(), |point| write(plot.y.unit, point.y));
            out.text("n", (x, y + 2.0), Anchor::Middle, &text);
        }
        rule(area, y + 7.0, out);
    }
    y + 8.0 - top
}

fn rule(area: &Area, y: f64, out: &mut Writer) {
    out.group("g");
    out.line("", (0.0, y), (area.right(), y));
    out.close("g");
}

/// The fullest way of writing in which every value fits its column.
fn narrowest(plot: &Plot, width: f64) -> fn(Unit, f64) -> String {
    let fits = |write: &fn(Unit, f64) -> String| {
        let points = plot.series.iter().flat_map(|series| &series.points);
        points.into_iter().all(|point| width_of(&write(plot.y.unit, point.y), SMALL_SIZE) <= width)
    };
    let full: fn(Unit, f64) -> String = |unit, value| unit.bare_text(value);
    if fits(&full) { full } else { short }
}

/// In thousands or millions: `189k`.
fn short(unit: Unit, value: f64) -> String {
    if unit == Unit::TimeNs || !value.is_finite() || value < 1e4 {
        return unit.bare_text(value);
    }
    let (length, name) = if value >= 999_500.0 { (1e6, "M") } else { (1e3, "k") };
    format!("{}{name}", significant(value / length, 3))
}
