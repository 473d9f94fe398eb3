//! Native long options among ab's: what they are is defined once, in [`crate::native`]; here they are
//! told apart from ab's letters and applied to ab's request.

use std::ffi::OsString;
use std::fmt::Display;

use ablaze_load::planning::sources;
use ablaze_model::spec::{Bodies, Body, Bytes, Feed, HttpVersion};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::error::AbError;
use super::request::{self, Method};
use crate::native::{self, CommandLine, hints};
use crate::values;

/// What the native words of a command line say.
#[derive(Debug)]
pub enum Native {
    /// These options.
    Options(Box<native::Options>),
    /// `--help`
    Help,
}

/// The error for a word that is not a native option.
pub fn unknown(word: OsString) -> AbError {
    let name = word.to_string_lossy().into_owned();
    match read(&[word]) {
        Err(refused) => refused,
        Ok(_) => AbError::native_usage(format!("unknown option {name}")),
    }
}

/// Reads the native words.
///
/// # Errors
/// When one is not a native option or its value cannot be read.
pub fn read(words: &[OsString]) -> Result<Native, AbError> {
    let program = OsString::from("ablaze ab");
    match CommandLine::try_parse_from(std::iter::once(&program).chain(words)) {
        Ok(line) => {
            if let Some(why) = line.fleet.refused() {
                return Err(AbError::native_usage(why));
            }
            line.exports.note_no_effect();
            Ok(Native::Options(Box::new(line.options)))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Native::Help),
        Err(error) => {
            Err(AbError::native_usage(hints::refusal(&error, &CommandLine::command()).line))
        }
    }
}

/// Applies the native options of the request to ab's; gives the bodies.
///
/// # Errors
/// When a file cannot be read.
pub fn apply_request(
    options: &native::Options,
    request: &mut request::RequestSpec,
) -> Result<Bodies, AbError> {
    if options.http3.alt_svc {
        return Err(AbError::native_usage(
            "--alt-svc is not supported with ab's options: use `ablaze load --alt-svc URL`",
        ));
    }
    let options = &options.request;
    let version = match options.http {
        Some(HttpVersion::Http2) => Some(2),
        Some(HttpVersion::Http3) => Some(3),
        _ => None,
    };
    if let Some(version) = version {
        return Err(AbError::native_usage(format!(
            "--http {version} is not supported with ab's options: use `ablaze load --http {version} URL`"
        )));
    }
    let own = request.body.clone().map(|body| Body::Given(Bytes(body)));
    let mut bodies = own.map_or(Bodies::None, Bodies::Same);
    if let Some(body) = &options.body {
        bodies = Bodies::Same(values::body(body).map_err(unusable)?);
    }
    if let Some(path) = &options.body_lines {
        let feed = Feed::of(sources::file(path, "--body-lines").map_err(unusable)?);
        sources::body_lines(&feed).map_err(unusable)?;
        bodies = Bodies::InTurn(feed);
    }
    request.expand = options.body.is_some()
        || options.body_lines.is_some()
        || options.urls.is_some()
        || options.seed.is_some()
        || !options.headers.is_empty();
    request.headers.extend(options.headers.iter().cloned().map(String::into_bytes));
    if let Some(content_type) = &options.content_type {
        request.content_type = content_type.clone().into_bytes();
    }
    if let Some(user) = &options.user {
        request.add_credentials("Authorization", user.as_bytes());
    }
    if let Some(method) = &options.method {
        request.method = Some(Method::Custom(method.clone().into_bytes()));
    }
    if options.body.is_some() || options.body_lines.is_some() {
        request.method.get_or_insert(Method::Post);
    }
    Ok(bodies)
}

/// A file that an option of ours names cannot be read.
pub(super) fn unusable(error: impl Display) -> AbError {
    AbError::native_usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::takes_value;

    #[test]
    fn values_follow_where_the_native_command_line_wants_them() {
        for (name, takes) in [
            ("cpus", true),
            ("warmup", true),
            ("json", false),
            ("quiet", false),
            ("help", false),
            ("profile", false),
        ] {
            assert_eq!(takes_value(name), Some(takes), "{name}");
        }
        assert_eq!(takes_value("nosuch"), None);
    }

    #[test]
    fn unknown_words_and_values_are_refused_with_the_native_line_and_ab_s_status() {
        for words in [&["--cpsu", "0"][..], &["--warmup", "soon"], &["--warmup"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let refused = read(&words).unwrap_err();
            assert_eq!(refused.status, 22);
            assert!(refused.to_string().starts_with("ablaze: "), "{refused}");
        }
        assert!(matches!(read(&["--help".into()]), Ok(Native::Help)));
    }
}
