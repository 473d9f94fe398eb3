//! How an experiment ([`ablaze_model::experiment`]) is carried out and kept: whole runs, the targets of one load right
//! after each other in random order, so that whatever drifts on the machine meets all of them alike.

pub(crate) mod document;
mod figures;
mod files;
pub(crate) mod folder;
mod printed;
pub(crate) mod running;

pub use document::FormerWords;
pub use folder::{Folder, FolderError, keep_printed, make_empty, new_numbered};
pub use printed::PrintedRun;
pub(crate) use running::aside;
pub use running::{Failure, Observer, Runner, run};
