//! A Run as one JSON file, complete enough to be read back for ever: [`write()`] and [`load`].
//! `document` is the file's shape, described for others by docs/report.schema.json; `upgrade` brings
//! files of older formats to it.

mod address;
mod checks;
mod circumstances;
mod consistent;
mod distribution;
mod document;
mod early;
mod foreign;
mod groups;
mod http2;
mod http3;
mod idle;
mod journeys;
mod plan;
mod proxy;
mod read;
mod save;
mod tls;
mod upgrade;
mod verdict;

use crate::run::Run;

pub use distribution::QUANTILES;
pub use foreign::shown;
pub use read::LoadError;
pub use verdict::{Assessment, Found, Passed};

/// Version of the file's format. It rises when a reader of the old one would be misled; new
/// fields alone do not raise it.
pub const FORMAT: u32 = 2;

/// A Run read from a file.
#[derive(Debug, Clone)]
pub struct SavedRun {
    /// The Run. The bytes of its requests and the lines of every request are not saved.
    pub run: Run,
    /// Format of the file.
    pub format: u32,
    /// Version of the program that wrote it.
    pub tool_version: String,
}

/// The Run as JSON, with what the rules said of it, indented, ending in a newline.
pub fn write(run: &Run, assessment: Option<Assessment>) -> String {
    let document = save::document(run, assessment);
    let mut text = serde_json::to_string_pretty(&document)
        .expect("strings as keys and no type that could fail to serialize");
    text.push('\n');
    text
}

/// Reads a Run that [`write()`] wrote, in this or an older version.
///
/// # Errors
/// When the text is not such a file, is damaged, or was written by a newer version.
pub fn load(text: &str) -> Result<SavedRun, LoadError> {
    read::saved_run(text)
}
