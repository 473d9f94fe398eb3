//! The files of this repository that tests are held against: documents, schemas, saved runs. They are read when a
//! test runs, so that no crate is built from files outside of it.

use std::path::{Path, PathBuf};

/// The top of the repository.
pub fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("this crate lies two folders below the top").to_owned()
}

/// The text of a file, by its path from the top.
#[track_caller]
pub fn file(path: &str) -> String {
    std::fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
