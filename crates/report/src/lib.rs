//! One exporter per file: each turns a Run into text and does nothing else. A reporter never
//! measures and never asks the machine anything.
//!
//! [`text`] is for the terminal, [`json`] for keeping, [`csv`] for spreadsheets, [`hlog`] for other
//! tools of the HDR histogram. [`condition`] decides `--fail-if`, [`mod@file`] puts a report where
//! it belongs. [`ab`] and [`gurl`] print what those tools print.

pub mod ab;
pub mod condition;
pub mod csv;
pub mod effort;
pub mod file;
pub mod gurl;
pub mod hlog;
pub mod json;
mod moment;
pub mod number;
pub mod per_second;
mod phases;
pub mod system_error;
mod table;
pub mod text;

#[cfg(test)]
mod sample;

pub use file::Format;

use ablaze_engine::Run;

/// Answers per second over the measured window; `None` when the window has no length.
pub fn rate_per_s(run: &Run) -> Option<f64> {
    (run.elapsed_ns > 0).then(|| run.record.answers as f64 * 1e9 / run.elapsed_ns as f64)
}
