//! Servers that break HTTP/2, end to end: they speak frames by hand, and the built command has to end
//! soon, with the failure's own kind, one line that names it, and memory that does not grow. Over both
//! I/O backends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod endings;
mod fields;
mod floods;
mod frames;
mod hold;
mod settings;
