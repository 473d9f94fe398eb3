//! Data for requests: the rows of a CSV, TSV or JSON Lines file, read once before a run and then looked up by number.
//! Knows no file, no request and no other machine: it is given bytes and says what stands in a cell.
//!
//! [`columns`] says which columns a text has, [`Table::read`] keeps those that requests use, encoded as they use them,
//! and [`Order`] says which row a request takes. A lookup allocates nothing and copies nothing.
//!
//! ```
//! use ablaze_feed::{Encoding, Format, Table, Wanted};
//!
//! let text = b"user,city\nann,\"New York\"\nbob,Rome\n";
//! let wanted = [Wanted { column: "city".into(), encoding: Encoding::Url }];
//! let table = Table::read(text, Format::Csv, &wanted)?;
//! assert_eq!(table.rows(), 2);
//! assert_eq!(table.cell(0, 0), b"New%20York");
//! # Ok::<(), ablaze_feed::FeedError>(())
//! ```
#![forbid(unsafe_code)]

mod delimited;
mod encoding;
mod json_lines;
mod order;
mod table;

pub use encoding::Encoding;
pub use order::Order;
pub use table::{Table, Wanted};

/// How a text is divided into rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Fields between commas, quoted with `"` where they contain one (RFC 4180); the first line has the names.
    Csv,
    /// The same between tabs, without quotes.
    Tsv,
    /// A JSON object on each line, whose keys are the columns.
    JsonLines,
}

impl Format {
    /// That of a file of this name; `None` if its ending says none.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// Why a text is no feed. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// There is no row.
    #[error(
        "it has no row of data: the first line has the names of the columns, each other line a row"
    )]
    Empty,
    /// A line cannot be read.
    #[error("line {line}: {what}")]
    Line {
        /// The line.
        line: usize,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// A column is missing.
    #[error("there is no column `{column}`; it has {has}")]
    Column {
        /// Its name.
        column: String,
        /// The names of those that there are.
        has: String,
    },
    /// What is to be kept does not fit.
    #[error("the columns that are used have more than 4 GiB together: use fewer rows or columns")]
    TooLong,
}

/// The names of a text's columns, in their order; of JSON Lines the keys of the first object.
///
/// # Errors
/// When the first line cannot be read, a name is empty or comes twice.
pub fn columns(text: &[u8], format: Format) -> Result<Vec<String>, FeedError> {
    let text = without_mark(text);
    match format {
        Format::Csv => delimited::Reader::csv(text).names(),
        Format::Tsv => delimited::Reader::tsv(text).names(),
        Format::JsonLines => json_lines::names(text),
    }
}

/// The text behind a byte order mark.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// A name of a column as an error shows it: shortened.
fn shown(name: &[u8]) -> String {
    let mut text: String = String::from_utf8_lossy(name).escape_debug().take(40).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    text
}
