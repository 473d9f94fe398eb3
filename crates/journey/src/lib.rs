//! Journeys: files in Hurl's format (<https://hurl.dev>) read, checked and compiled for a load. No socket, no clock, no
//! `unsafe`: whoever sends the requests brings the variables, the time and the randomness, and hands over each
//! response as a [`ResponseView`].
//!
//! - [`parse`] turns text into a [`syntax::HurlFile`], or says what it expected where.
//! - [`compile`] turns that into a [`Journey`]: byte templates with slots instead of names, captures and asserts ready
//!   to run; or it refuses by name and line what ablaze does not do.
//! - [`Step::write_request`] writes the bytes of its request.
//! - [`Step::capture`] and [`Step::check`] work on a response; [`Jar`] keeps the cookies of a user.
//! - [`Check`] is an assert of a response by itself, outside of any file.
//! - [`Step::write_request`] writes the bytes of its request, and of those that a [`Redirect`] leads to.
//! - [`Step::capture`] and [`Step::check`] work on a response, whose body is [`decoded`] before; [`Jar`] keeps the cookies of a user.
#![forbid(unsafe_code)]

mod check;
mod checks;
mod coding;
mod compile;
mod cookie;
mod date;
mod dot_segments;
mod filter;
mod html;
mod jar;
mod journey;
mod json;
mod jsonpath;
mod md5;
mod percent;
mod predicate;
mod query;
mod redirect;
mod request;
mod request_body;
mod response;
mod secret;
mod site;
pub mod syntax;
mod template;
mod text;
mod under_load;
mod value;
mod variables;

pub use check::{Check, Checkable, LooksAt};
pub use checks::{CAPTURE_BYTES_MAX, Checked, Failure};
pub use coding::decoded;
pub use compile::{CompileError, CompileErrors, compile, compile_with};
pub use jar::{Jar, Origin};
pub use journey::{
    FormPart, Journey, Needed, Setting, Step, StepBody, StepOptions, content_type_of,
};
pub use json::NotJson;
pub use jsonpath::JsonPath;
pub use redirect::{Redirect, Redirecting};
pub use request::{Drafts, Files, Sending};
pub use response::{Headers, HttpVersion, Reading, ResponseView};
pub use secret::written_forms;
pub use site::{Forwarded, Site};
pub use syntax::{ParseError, parse};
pub use template::{Encoding, RenderError, Template, Unrenderable};
pub use value::{Number, Value};
pub use variables::{Moment, Names, Variables};
