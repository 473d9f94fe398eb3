//! Journeys: files in Hurl's format (<https://hurl.dev>) read, checked and compiled for a load. No socket, no clock, no
//! `unsafe`: whoever sends the requests brings the variables, the time and the randomness, and hands over each
//! response as a [`ResponseView`].
//!
//! [`parse`] turns text into a [`syntax::HurlFile`], or says what it expected where.
#![forbid(unsafe_code)]

pub mod syntax;

pub use syntax::{ParseError, parse};
