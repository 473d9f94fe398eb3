//! The native options and what they ask for: `ablaze load` takes them, `ablaze ab` and experiments take
//! them too. One parser reads them wherever they stand, and gives a [`LoadSpec`].
//!
//! [`LoadSpec`]: ablaze_model::LoadSpec

mod bodies;
mod checks;
mod choices;
pub mod hints;
mod http3;
mod journey;
pub mod options;
mod spec;
mod streams;
mod users;
mod way;
mod words;

pub use checks::CheckOptions;
pub use http3::Http3Options;
pub use journey::JourneyOptions;
pub use options::{CommandLine, ConnectionOptions, Options, TlsOptions};
pub use spec::{apply, data, spec, tls};
pub use words::{of_words, shown, takes_value};
