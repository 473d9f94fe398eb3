//! The text of a Hurl file as typed data: the tree ([`HurlFile`]), what makes it from text ([`parse`]) and what writes it
//! as text again ([`print()`]). The grammar is that of Hurl 8 (<https://hurl.dev/docs/grammar.html>), whole: what the
//! rest of this crate does not support is read as well, so that it can be refused by its name.

mod body;
mod checks;
mod entry;
mod error;
mod json;
mod number;
mod option;
mod predicate;
mod print;
mod print_checks;
mod query;
pub(crate) mod reader;
mod section;
mod text;
mod tree;
mod xml;

pub use checks::*;
pub use error::ParseError;
pub use print::print;
pub(crate) use print_checks::assert as print_assert;
pub use tree::*;

/// Reads a whole file. `file` is its name for messages.
///
/// # Errors
/// At the first place that is not Hurl: its line and column, both from 1, and what was expected there.
pub fn parse(text: &str, file: &str) -> Result<HurlFile, ParseError> {
    let mut reader = reader::Reader::new(text);
    entry::file(&mut reader).map_err(|failure| ParseError::new(failure, text, file))
}
