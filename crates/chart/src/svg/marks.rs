//! Draws what is pointed at: bands behind the lines, dashed lines, and the words above them.

use super::SMALL_SIZE;
use super::frame::{Area, Fits};
use super::writer::{Anchor, Writer, cut, width_of};
use crate::{Place, Plot};

/// More rows of words than this are not drawn: the dashed lines still have them as notes.
const MOST_ROWS: usize = 4;
const ROW: f64 = 14.0;

/// The words above the area, in rows in which they do not touch.
pub(super) struct Rows {
    words: Vec<Words>,
    rows: usize,
}

struct Words {
    text: String,
    centre: f64,
    row: usize,
}

impl Rows {
    /// Finds a place for the words of every mark on the x axis.
    pub fn of(plot: &Plot, fits: &Fits, left: f64, width: f64) -> Self {
        let area = Area { left, top: 0.0, width, height: 1.0 };
        let mut taken = [f64::NEG_INFINITY; MOST_ROWS];
        let mut marks: Vec<(f64, &str)> = plot
            .marks
            .iter()
            .filter_map(|mark| Some((middle(&mark.place, fits, &area)?, mark.text.as_str())))
            .collect();
        marks.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut words = Vec::new();
        for (x, text) in marks {
            let text = cut(text, SMALL_SIZE, width);
            let half = width_of(&text, SMALL_SIZE) / 2.0;
            let centre = x.clamp(left + half, (left + width - half).max(left + half));
            let Some(row) = taken.iter().position(|end| centre - half >= *end) else { continue };
            taken[row] = centre + half + 8.0;
            words.push(Words { text, centre, row });
        }
        let rows = words.iter().map(|words| words.row + 1).max().unwrap_or(0);
        Self { words, rows }
    }

    /// How much room they take above the area.
    pub fn height(&self) -> f64 {
        self.rows as f64 * ROW
    }
}

/// Bands, which lie behind the lines.
pub(super) fn below(plot: &Plot, fits: &Fits, area: &Area, out: &mut Writer) {
    out.group("m");
    for mark in &plot.marks {
        if let Some((from, to)) = band(&mark.place, fits, area) {
            out.rect("b", [from, area.top, (to - from).max(2.0), area.height], &mark.text);
        }
    }
    out.close("g");
}

/// Dashed lines and words.
pub(super) fn above(plot: &Plot, fits: &Fits, area: &Area, rows: &Rows, out: &mut Writer) {
    out.group("m");
    for mark in &plot.marks {
        match mark.place {
            Place::At(x) => {
                if let Some(x) = area.x(fits.x.at(x)) {
                    out.line("d", (x, area.top), (x, area.bottom()));
                    out.rect("h", [x - 3.0, area.top, 6.0, area.height], &mark.text);
                }
            }
            Place::Level(y) => {
                if let Some(y) = area.y(fits.y.at(y)) {
                    out.line("d", (area.left, y), (area.right(), y));
                    let at = (area.right() - 4.0, y - 4.0);
                    out.text("n o", at, Anchor::End, &mark.text);
                }
            }
            Place::Between(..) => {}
        }
    }
    out.close("g");
    for words in &rows.words {
        let y = area.top - 6.0 - words.row as f64 * ROW;
        out.text("n", (words.centre, y), Anchor::Middle, &words.text);
    }
}

fn band(place: &Place, fits: &Fits, area: &Area) -> Option<(f64, f64)> {
    let Place::Between(from, to) = place else { return None };
    let (from, to) = (fits.x.at(*from)?, fits.x.at(*to)?);
    if to < 0.0 || from > 1.0 || to < from {
        return None;
    }
    Some((area.x(Some(from.max(0.0)))?, area.x(Some(to.min(1.0)))?))
}

fn middle(place: &Place, fits: &Fits, area: &Area) -> Option<f64> {
    match place {
        Place::At(x) => area.x(fits.x.at(*x)),
        Place::Between(..) => band(place, fits, area).map(|(from, to)| (from + to) / 2.0),
        Place::Level(_) => None,
    }
}
