//! Charts as SVG. [`Chart::svg_file`] is a file that opens by itself; [`Chart::svg`] is for a page
//! whose style sheet holds [`css`], once.

mod bars;
mod frame;
mod key;
mod marks;
mod plot;
mod series;
mod style;
mod table;
mod writer;

use crate::{Chart, Panel};
use writer::{Anchor, Length, Writer};

pub use style::css;
pub use writer::escaped;

/// How much room a chart has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// A page, a sheet of paper: labels beside the lines, the table under the axis.
    Wide,
    /// A telephone: everything below each other; the table is left to the page.
    Narrow,
}

impl Width {
    /// In the drawing's own units, which are pixels where there is room for them.
    pub fn pixels(self) -> f64 {
        match self {
            Self::Wide => 880.0,
            Self::Narrow => 380.0,
        }
    }
}

/// Between two panels.
const PANELS_APART: f64 = 22.0;
/// Height of a line of text.
const LINE: f64 = 18.0;
/// Sizes of text, as in the style sheet.
const TITLE_SIZE: f64 = 15.0;
const TEXT_SIZE: f64 = 12.0;
const SMALL_SIZE: f64 = 11.0;

impl Chart {
    /// The chart as an `svg` element for a page that holds [`css`] and says the title itself.
    pub fn svg(&self, width: Width) -> String {
        drawn(self, width, None)
    }

    /// The chart as a file: with its title, its style sheet and its own ground, light or dark as the
    /// reader's screen is.
    pub fn svg_file(&self) -> String {
        let mut text = drawn(self, Width::Wide, Some(&css()));
        text.push('\n');
        text
    }
}

fn drawn(chart: &Chart, width: Width, alone: Option<&str>) -> String {
    let margin = if alone.is_some() { 20.0 } else { 0.0 };
    let inner = width.pixels();
    let mut panels = Writer::default();
    let mut y = 0.0;
    if alone.is_some() {
        y += LINE;
        let title = writer::cut(&chart.title, TITLE_SIZE, inner);
        panels.text("t", (0.0, y - 4.0), Anchor::Start, &title);
        y += 12.0;
    }
    y += panels_of(chart, width, y, &mut panels);
    let size = (inner + 2.0 * margin, y + 2.0 * margin);
    let mut out = Writer::default();
    open(&mut out, chart, margin, size);
    if let Some(css) = alone {
        out.style(css);
        out.rect("ground", [-margin, -margin, size.0, size.1], "");
    }
    let mut text = out.into_text();
    text.push_str(&panels.into_text());
    text.push_str("</svg>");
    text
}

/// Draws every panel below `top`; returns how high they are together.
fn panels_of(chart: &Chart, width: Width, top: f64, out: &mut Writer) -> f64 {
    let fits = |panel: &Panel| match panel {
        Panel::Plot(plot) => Some(frame::Fits::of(plot, width)),
        Panel::Bars(_) => None,
    };
    let fitted: Vec<Option<frame::Fits>> = chart.panels.iter().map(fits).collect();
    let margins = frame::Margins::widest(fitted.iter().flatten());
    let mut y = top;
    for (index, panel) in chart.panels.iter().enumerate() {
        if index > 0 {
            y += PANELS_APART;
        }
        y += match (panel, &fitted[index]) {
            (Panel::Plot(plot), Some(fits)) => {
                let below = chart.panels.get(index + 1);
                let same_axis = matches!(below, Some(Panel::Plot(below)) if below.x == plot.x);
                plot::draw(plot, fits, margins, width, y, !same_axis, out)
            }
            (Panel::Bars(bars), _) => bars::draw(bars, width, y, out),
            (Panel::Plot(_), None) => 0.0,
        };
    }
    y - top
}

fn open(out: &mut Writer, chart: &Chart, margin: f64, (width, height): (f64, f64)) {
    let [margin, width, height] = [-margin, width, height].map(|v| Length(v).to_string());
    let view_box = format!("{margin} {margin} {width} {height}");
    out.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("class", "ablaze-chart"),
            ("viewBox", &view_box),
            ("width", &width),
            ("height", &height),
            ("role", "img"),
            ("style", "max-width:100%;height:auto"),
        ],
    );
    out.whole("title", &[], &chart.title);
    if !chart.description.is_empty() {
        out.whole("desc", &[], &chart.description);
    }
}
