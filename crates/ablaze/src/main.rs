//! The command `ablaze`.
fn main() {}
