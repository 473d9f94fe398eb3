//! Draws bars: a row per thing, its name on the left, its value behind it.

use super::frame::Area;
use super::series::marker;
use super::writer::{Anchor, Length, Writer, cut, width_of};
use super::{LINE, SMALL_SIZE, TEXT_SIZE, Width, style};
use crate::axis::{Axis, Fitted, Scale};
use crate::bars::Look;
use crate::{BarRow, Bars};

const ROW: f64 = 30.0;
const ROW_NARROW: f64 = 46.0;
/// What a row is higher by where its value stands above it.
const ABOVE: f64 = 12.0;
const THICK: f64 = 16.0;

/// Draws bars below `top`; returns how high they are.
pub(super) fn draw(bars: &Bars, width: Width, top: f64, out: &mut Writer) -> f64 {
    out.group("bars");
    let mut y = top + LINE;
    out.group("m");
    let title = cut(&bars.drawn_title(), TEXT_SIZE, width.pixels());
    out.text("n", (0.0, y - 6.0), Anchor::Start, &title);
    out.close("g");
    y += legend(bars, width.pixels(), y, out);
    let raised = if bars.rows.iter().any(|row| value_above(bars, row)) { ABOVE } else { 0.0 };
    let row_height = raised + if width == Width::Wide { ROW } else { ROW_NARROW };
    let (axis, area) = laid_out(bars, width, y, row_height);
    let mut below = scale(bars, &axis, &area, out);
    if let Some((value, text)) = &bars.reference
        && let Some(x) = area.x(axis.at(*value))
    {
        below += LINE;
        out.group("m");
        out.line("d", (x, area.top), (x, area.bottom()));
        // A text that is wider than the chart begins at its edge.
        let half = width_of(text, SMALL_SIZE) / 2.0;
        let x = x.clamp(half, (width.pixels() - half).max(half));
        out.text("n", (x, area.bottom() + below - 5.0), Anchor::Middle, text);
        out.close("g");
    }
    let place = [area.top, row_height, width.pixels()].map(|v| Length(v).to_string());
    out.open("g", &[("class", "rows"), ("data-rows", &place.join(" "))]);
    for (index, row) in bars.rows.iter().enumerate() {
        let top = area.top + index as f64 * row_height;
        let (name_at, bar_y) = match width {
            Width::Wide => ((0.0, top + raised + ROW / 2.0 + 4.0), top + raised + ROW / 2.0),
            Width::Narrow => ((0.0, top + 15.0), top + raised + 32.0),
        };
        let room = if width == Width::Wide { area.left - 10.0 } else { width.pixels() };
        out.text("", name_at, Anchor::Start, &cut(&row.name, TEXT_SIZE, room));
        let end = match bars.look {
            Look::Bars => bar(bars, row, &axis, &area, bar_y, out),
            Look::Dots => dot(bars, row, &axis, &area, bar_y, out),
        };
        let words = row.words(bars.unit);
        let at = row.sum().and_then(|sum| area.x(axis.at(sum)));
        match at.filter(|_| value_above(bars, row)) {
            // Behind the interval it would read as the interval's end.
            Some(x) => {
                let half = width_of(&words, TEXT_SIZE) / 2.0;
                let x = x.clamp(half, (width.pixels() - half).max(half));
                out.text("", (x, bar_y - THICK / 2.0 - 4.0), Anchor::Middle, &words);
            }
            None => out.text("", (end + 8.0, bar_y + 4.0), Anchor::Start, &words),
        }
    }
    out.close("g");
    out.close("g");
    area.bottom() + below.max(2.0) - top
}

/// Whether a value stands above its place, for its row has more to show than that.
fn value_above(bars: &Bars, row: &BarRow) -> bool {
    bars.look == Look::Dots || row.interval.is_some()
}

/// The ticks of dots, whose axis need not begin at 0; returns their height.
fn scale(bars: &Bars, axis: &Fitted, area: &Area, out: &mut Writer) -> f64 {
    if bars.look == Look::Bars || bars.rows.is_empty() {
        return 0.0;
    }
    out.group("g");
    for tick in &axis.ticks {
        if let Some(x) = area.x(Some(tick.at)) {
            out.line("", (x, area.top), (x, area.bottom()));
        }
    }
    out.close("g");
    out.group("m");
    let mut free = f64::NEG_INFINITY;
    for tick in &axis.ticks {
        let half = width_of(&tick.text, SMALL_SIZE) / 2.0;
        if let Some(x) = area.x(Some(tick.at)).filter(|x| x - half > free) {
            // The first and the last stay inside of the picture.
            let x = x.clamp(half, (area.right() + half).max(half));
            out.text("n", (x, area.bottom() + 13.0), Anchor::Middle, &tick.text);
            free = x + half + 6.0;
        }
    }
    out.close("g");
    LINE
}

/// The axis, and the area between names and values.
fn laid_out(bars: &Bars, width: Width, top: f64, row_height: f64) -> (Fitted, Area) {
    let full = width.pixels();
    let longest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
    let names = longest(&mut bars.rows.iter().map(|row| width_of(&row.name, TEXT_SIZE)));
    let words = bars.rows.iter().filter(|row| !value_above(bars, row));
    let words = longest(&mut words.map(|row| width_of(&row.words(bars.unit), TEXT_SIZE)));
    let left = if width == Width::Wide { names.min(full * 0.3) + 12.0 } else { 0.0 };
    let room = (full - left - words.min(full * 0.5) - 14.0).max(40.0);
    let area = Area { left, top, width: room, height: bars.rows.len().max(1) as f64 * row_height };
    let axis = match (bars.look, bars.extent(), bars.ratio_ends()) {
        (_, _, Some((low, high))) => {
            Axis { title: String::new(), unit: bars.unit, scale: Scale::Ratio(low, high) }
        }
        // The longest bar ends where the area does.
        (Look::Bars, Some((low, high)), _) if high > 0.0 => {
            Axis::between("", bars.unit, low.min(0.0), high)
        }
        (Look::Dots, Some((low, high)), _) if low < high => {
            let pad = (high - low) * 0.08;
            Axis::between("", bars.unit, low - pad, high + pad)
        }
        (_, Some((low, _)), _) => Axis::between("", bars.unit, low.min(0.0), low.abs() * 2.0),
        (_, None, _) => Axis::between("", bars.unit, 0.0, 1.0),
    };
    let ticks = if width == Width::Wide { 8 } else { 5 };
    (axis.fitted(std::iter::empty(), ticks), area)
}

/// The parts of a bar, one behind the other; returns where it ends.
fn bar(bars: &Bars, row: &BarRow, axis: &Fitted, area: &Area, y: f64, out: &mut Writer) -> f64 {
    let start = area.x(Some(axis.base())).unwrap_or(area.left);
    let mut sum = 0.0;
    let mut end = start;
    for (index, value) in row.values.iter().enumerate() {
        if !crate::axis::usable(*value) {
            continue;
        }
        sum += value;
        let Some(to) = area.x(axis.at(sum)) else { continue };
        let several = bars.parts.len() > 1;
        out.group(&if several { style::part(index) } else { style::colour(row.slot) });
        let note = match bars.parts.get(index) {
            Some(part) => format!("{}, {part}: {}", row.name, bars.unit.text(*value)),
            None => format!("{}: {}", row.name, bars.unit.text(*value)),
        };
        // What exists is seen; a gap keeps neighbours apart for those who do not tell their colours.
        let (left, right) = (end.min(to), end.max(to));
        let gap = if several && right - left > 3.0 { 1.0 } else { 0.0 };
        let long = (right - left - gap).max(if *value == 0.0 { 0.0 } else { 1.0 });
        out.rect("k", [left, y - THICK / 2.0, long, THICK], &note);
        out.close("g");
        end = to;
    }
    if let Some((low, high)) = interval(row, axis, area) {
        out.line("e", (low, y), (high, y));
        for x in [low, high] {
            out.line("e", (x, y - 5.0), (x, y + 5.0));
        }
        return end.max(high);
    }
    end
}

/// A dot with its interval; returns where it ends.
fn dot(bars: &Bars, row: &BarRow, axis: &Fitted, area: &Area, y: f64, out: &mut Writer) -> f64 {
    let ends = interval(row, axis, area);
    out.group(&style::colour(row.slot));
    if let Some((low, high)) = ends {
        out.path("l", &format!("M{},{}H{}", Length(low), Length(y), Length(high)), "");
        for x in [low, high] {
            out.line("l", (x, y - 5.0), (x, y + 5.0));
        }
    }
    let at = row.sum().and_then(|sum| area.x(axis.at(sum)));
    if let Some(x) = at {
        marker(row.slot, (x, y), out);
        out.circle("h", (x, y), 8.0, &format!("{}: {}", row.name, row.words(bars.unit)));
    }
    out.close("g");
    at.unwrap_or(area.left).max(ends.map_or(area.left, |(_, high)| high)) + 4.0
}

fn interval(row: &BarRow, axis: &Fitted, area: &Area) -> Option<(f64, f64)> {
    let (low, high) = row.interval?;
    let end = |value: f64| area.x(axis.at(value).map(|at| at.clamp(0.0, 1.0)));
    Some((end(low)?, end(high)?))
}

/// The names of the parts; returns the height.
fn legend(bars: &Bars, width: f64, top: f64, out: &mut Writer) -> f64 {
    if bars.parts.len() < 2 {
        return 0.0;
    }
    let (mut x, mut y) = (0.0, top);
    for (index, part) in bars.parts.iter().enumerate() {
        // A bar alone has its figures here: small parts have no room for theirs.
        let part = match bars.rows.as_slice() {
            [row] => {
                let value = row.values.get(index).copied().unwrap_or(f64::NAN);
                format!("{part} {}", bars.unit.text(value))
            }
            _ => part.clone(),
        };
        let wide = 18.0 + width_of(&part, TEXT_SIZE);
        if x > 0.0 && x + wide > width {
            x = 0.0;
            y += LINE;
        }
        out.group(&style::part(index));
        out.rect("k", [x, y + 2.0, 12.0, 12.0], "");
        out.close("g");
        out.text("", (x + 18.0, y + 12.0), Anchor::Start, &cut(&part, TEXT_SIZE, width - 18.0));
        x += wide + 18.0;
    }
    y + LINE + 4.0 - top
}
