//! A plot as characters.

use super::canvas::Canvas;
use super::{Characters, sign};
use crate::axis::Fitted;
use crate::{Look, Place, Plot, Series};

const ROWS: usize = 9;
/// With this many points per column of characters or more, not every point has its sign.
const DENSE: f64 = 0.34;
/// Between two signs on a dense line, in columns.
const SIGNS_APART: usize = 12;

pub(super) fn lines(plot: &Plot, width: usize, characters: Characters) -> Vec<String> {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let levels = plot.marks.iter().filter_map(|mark| match mark.place {
        Place::Level(y) => Some(y),
        _ => None,
    });
    let y = plot.y.fitted(points().map(|point| point.y).chain(levels), 4);
    let x = plot.x.fitted(points().map(|point| point.x), (width / 12).max(2));
    let labels = y.ticks.iter().map(|tick| tick.text.chars().count()).max().unwrap_or(0);
    let left = labels.min(width / 3) + 2;
    let mut canvas = Canvas::new(width - left - 1, ROWS, characters);
    for series in &plot.series {
        draw(series, plot, &x, &y, &mut canvas);
    }
    let mut lines = vec![plot.y.title_with(y.unit_name)];
    let bar = if characters == Characters::Unicode { '┤' } else { '|' };
    let wall = if characters == Characters::Unicode { '│' } else { '|' };
    for row in 0..ROWS {
        // The row in whose middle, nearly, a tick lies.
        let at = |tick: f64| ((1.0 - tick) * (ROWS - 1) as f64).round() as usize;
        let tick = y.ticks.iter().find(|tick| at(tick.at) == row);
        let text = tick.map_or("", |tick| tick.text.as_str());
        let edge = if tick.is_some() { bar } else { wall };
        lines.push(format!("{text:>width$} {edge}{}", canvas.row(row), width = left - 2));
    }
    lines.extend(ticks(&x, left, canvas.columns, &plot.x.title_with(x.unit_name)));
    lines.extend(marks(plot));
    if plot.series.len() > 1 {
        lines.extend(legend(plot, width, characters));
    }
    lines
}

fn draw(series: &Series, plot: &Plot, x: &Fitted, y: &Fitted, canvas: &mut Canvas) {
    let inside = |at: Option<f64>| at.filter(|at| (-1e-6..=1.0 + 1e-6).contains(at));
    let places: Vec<Option<(f64, f64)>> = series
        .points
        .iter()
        .map(|point| Some((inside(x.at(point.x))?, inside(y.at(point.y))?)))
        .collect();
    for pair in places.windows(2) {
        if let [Some(from), Some(to)] = pair {
            match series.look {
                Look::Line => canvas.line(*from, *to),
                Look::Steps => {
                    canvas.line(*from, (to.0, from.1));
                    canvas.line((to.0, from.1), *to);
                }
            }
        }
    }
    let placed: Vec<(f64, f64)> = places.into_iter().flatten().collect();
    let sign = sign(series.slot, canvas.characters());
    let dense = placed.len() as f64 > canvas.columns as f64 * DENSE;
    if !dense {
        placed.iter().for_each(|at| canvas.sign(*at, sign));
    } else if plot.series.len() > 1 {
        let apart = (placed.len() * SIGNS_APART / canvas.columns.max(1)).max(1);
        let first = (series.slot * apart / 2) % apart;
        placed.iter().skip(first).step_by(apart).for_each(|at| canvas.sign(*at, sign));
    }
}

/// The round values along the axis, as many as do not touch, and its title at the end.
fn ticks(x: &Fitted, left: usize, columns: usize, title: &str) -> Vec<String> {
    let mut line = String::new();
    for tick in &x.ticks {
        let centre = left + (tick.at * columns.saturating_sub(1) as f64).round() as usize;
        let length = tick.text.chars().count();
        let from = centre.saturating_sub(length / 2);
        let written = line.chars().count();
        if (written == 0 || from > written) && from + length <= left + columns + 1 {
            line.extend(std::iter::repeat_n(' ', from - written));
            line.push_str(&tick.text);
        }
    }
    let written = line.chars().count();
    if written + 2 + title.chars().count() <= left + columns + 1 {
        return vec![format!("{line}  {title}")];
    }
    let indent = (left + columns + 1).saturating_sub(title.chars().count());
    vec![line, format!("{}{title}", " ".repeat(indent))]
}

/// What is pointed at, in words: there is little room inside.
fn marks(plot: &Plot) -> Option<String> {
    let unit = plot.x.unit;
    let words = |mark: &crate::Mark| match mark.place {
        Place::At(x) => format!("{} at {}", mark.text, unit.text(x)),
        Place::Between(from, to) => {
            format!("{} from {} to {}", mark.text, unit.text(from), unit.text(to))
        }
        Place::Level(y) => format!("{}: {}", mark.text, plot.y.unit.text(y)),
    };
    let all: Vec<String> = plot.marks.iter().map(words).collect();
    (!all.is_empty()).then(|| format!("  {}", all.join("; ")))
}

fn legend(plot: &Plot, width: usize, characters: Characters) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for series in &plot.series {
        let item = format!("  {} {}", sign(series.slot, characters), series.name);
        if !line.is_empty() && line.chars().count() + item.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(&item);
    }
    lines.push(line);
    lines
}
