//! `--stats FILE`: the counters of a server that has stopped, as JSON: what `/_/status` says, what
//! `/_/config` says, and where it listened.

use std::net::SocketAddr;
use std::path::Path;

use ablaze_report::file;
use ablaze_target::registry::Registry;
use ablaze_target::{Options, own_pages};
use serde_json::json;

use crate::CommandError;

/// Refuses a file that could not be written, before there is anything to write.
///
/// # Errors
/// When it could not.
pub fn check(path: Option<&Path>) -> Result<(), CommandError> {
    path.map_or(Ok(()), file::check_writable)
        .map_err(|error| CommandError::usage(format!("--stats {error}")))
}

/// Writes the file, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    path: &Path,
    options: &Options,
    address: SocketAddr,
    registry: &Registry,
) -> Result<(), CommandError> {
    let mut stats = own_pages::status(options, registry);
    stats["ablaze"] = json!(env!("CARGO_PKG_VERSION"));
    stats["address"] = json!(address.to_string());
    stats["config"] = own_pages::config(options);
    file::write_atomically(path, format!("{stats:#}\n").as_bytes())
        .map_err(|error| CommandError::machine(format!("cannot save the counters: {error}")))
}
