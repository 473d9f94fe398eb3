//! Draws a plot: title of the axis, legend, marks, area with grid, lines, ticks, table. What depends on the scales
//! lies in one group, `area`, which says where on the drawing it is: a page can draw it again for other scales.

use super::frame::{Area, Fits, Margins};
use super::writer::{Anchor, Length, Writer, width_of};
use super::{LINE, SMALL_SIZE, Width, key, marks, series, table};
use crate::Plot;

/// Height of the area.
const HEIGHT: f64 = 220.0;
const HEIGHT_NARROW: f64 = 180.0;
/// Height of the values along the axis of x.
const TICKS: f64 = LINE + 2.0;

/// Draws a plot below `top`; returns how high it is.
pub(super) fn draw(
    plot: &Plot,
    fits: &Fits,
    margins: Margins,
    width: Width,
    top: f64,
    with_x_title: bool,
    out: &mut Writer,
) -> f64 {
    let full = width.pixels();
    out.group("plot");
    let mut y = top + LINE;
    let title_y = y - 6.0;
    let has_legend = !fits.labels && !fits.table && plot.series.len() > 1;
    if has_legend {
        y += key::legend(plot, full, y, out);
    }
    let left = margins.left;
    let area_width = (full - left - margins.right).max(20.0);
    let rows = marks::Rows::of(plot, fits, left, area_width);
    y += rows.height();
    let height = if width == Width::Wide { HEIGHT } else { HEIGHT_NARROW };
    let area = Area { left, top: y + 4.0, width: area_width, height };
    let x_title_y = (with_x_title && !fits.table).then(|| area.bottom() + TICKS + LINE - 7.0);
    open_area(&area, title_y, x_title_y, out);
    title((0.0, title_y), Anchor::Start, &plot.y.title_with(fits.y.unit_name), out);
    if let Some(y) = x_title_y {
        let x = area.left + area.width / 2.0;
        title((x, y), Anchor::Middle, &plot.x.title_with(fits.x.unit_name), out);
    }
    grid(fits, &area, out);
    marks::below(plot, fits, &area, out);
    for series in &plot.series {
        series::draw(series, plot, fits, &area, out);
    }
    marks::above(plot, fits, &area, &rows, out);
    ticks(fits, &area, out);
    out.close("g");
    if fits.labels {
        key::labels(plot, fits, &area, full, out);
    }
    y = area.bottom() + TICKS;
    if fits.table {
        y += table::draw(plot, fits, &area, y, out);
    } else if with_x_title {
        y += LINE - 2.0;
    }
    out.close("g");
    y - top
}

/// Begins the group of the area, which says its place (left, top, width, height) and at which heights the titles of
/// y and x stand.
fn open_area(area: &Area, title_y: f64, x_title_y: Option<f64>, out: &mut Writer) {
    let place = [Some(area.left), Some(area.top), Some(area.width), Some(area.height)];
    let place = place.into_iter().chain([Some(title_y), x_title_y]).flatten();
    let place: Vec<String> = place.map(|length| Length(length).to_string()).collect();
    out.open("g", &[("class", "area"), ("data-area", &place.join(" "))]);
}

fn title(at: (f64, f64), anchor: Anchor, title: &str, out: &mut Writer) {
    out.group("m");
    out.text("n", at, anchor, title);
    out.close("g");
}

/// The lines at the round values of y, with their values.
fn grid(fits: &Fits, area: &Area, out: &mut Writer) {
    out.group("g");
    for tick in &fits.y.ticks {
        if let Some(y) = area.y(Some(tick.at)) {
            out.line("", (area.left, y), (area.right(), y));
        }
    }
    out.close("g");
    out.group("m");
    for tick in &fits.y.ticks {
        if let Some(y) = area.y(Some(tick.at)) {
            out.text("n", (area.left - 7.0, y + 4.0), Anchor::End, &tick.text);
        }
    }
    out.close("g");
}

/// The axis of x and the values along it, as many as do not touch.
fn ticks(fits: &Fits, area: &Area, out: &mut Writer) {
    let bottom = area.bottom();
    out.group("x");
    out.line("", (area.left, bottom), (area.right(), bottom));
    for tick in &fits.x.ticks {
        if let Some(x) = area.x(Some(tick.at)) {
            out.line("", (x, bottom), (x, bottom + 4.0));
        }
    }
    out.close("g");
    out.group("m");
    let mut free_from = f64::NEG_INFINITY;
    for tick in &fits.x.ticks {
        let half = width_of(&tick.text, SMALL_SIZE) / 2.0;
        if let Some(x) = area.x(Some(tick.at)).filter(|x| x - half >= free_from) {
            out.text("n", (x, bottom + 16.0), Anchor::Middle, &tick.text);
            free_from = x + half + 4.0;
        }
    }
    out.close("g");
}
