//! The tests' own crate: that its server misbehaves as it says, and the tidiness of the workspace
//! and the looks of the site of its documents.

mod hostile;
mod site;
mod tidy;
