//! The tests' own crate: that its server misbehaves as it says, and the tidiness of the workspace.

mod hostile;
mod tidy;
