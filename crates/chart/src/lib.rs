//! Charts, drawn by pure functions: one description of a [`Chart`], drawn as SVG for pages and files
//! ([`svg`]), as characters for a terminal ([`terminal`]), and given back as tables
//! ([`Chart::tables`]). No figure can break a drawing: what is no number is a gap.
//!
//! ```
//! use ablaze_chart::{Axis, Chart, Plot, Series, Unit};
//!
//! let mut plot = Plot::new(
//!     Axis::categories("connections", Unit::Count, &[1.0, 10.0, 100.0]),
//!     Axis::linear("responses per second", Unit::PerSecond),
//! );
//! plot.series.push(Series::line("mine", 0, [(1.0, 9e3), (10.0, 60e3), (100.0, 90e3)]));
//! plot.table = true;
//! let chart = Chart::of("Rate over concurrency", plot);
//! assert!(chart.svg_file().starts_with("<svg"));
//! assert!(chart.tables()[0].rows[0][3].contains("90,000"));
//! ```
//!
//! Everything that is told apart by colour is told apart by shape as well: markers, dashes, labels at
//! the ends of lines.

mod axis;
mod bars;
mod chart;
mod data;
pub mod number;
mod plot;
pub mod svg;
pub mod terminal;
mod unit;

pub use axis::{Axis, Scale};
pub use bars::{BarRow, Bars, Look as BarLook};
pub use chart::{Chart, Panel};
pub use data::Table;
pub use plot::{Look, Mark, Place, Plot, Point, Series};
pub use unit::Unit;
