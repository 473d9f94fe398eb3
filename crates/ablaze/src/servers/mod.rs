//! Built-in servers, from words to what a server is told: for `ablaze serve`, and for the targets of
//! experiments, which are checked before anything starts.
//!
//! [`command_line`] has the options, [`resolve`] makes [`Options`] of them and of [`presets`],
//! [`mod@reference`] is the lower half of the help.
//!
//! [`Options`]: ablaze_target::Options

mod address;
mod command_line;
mod conditions;
mod names;
mod presets;
mod reference;
mod resolve;
pub mod tls;

use std::ffi::OsString;

use ablaze_model::spec::{ModelOption, ModelSpec};

use crate::{CommandError, values};
pub use address::address;
pub use command_line::ProcessOptions;
use command_line::Threads;
pub use resolve::{ServerSpec, read};

/// Whether `ablaze serve` would take these options.
///
/// # Errors
/// When it would not.
pub fn check(options: &[String]) -> Result<(), CommandError> {
    resolved(options).map(drop)
}

fn resolved(options: &[String]) -> Result<Option<ServerSpec>, CommandError> {
    let words: Vec<OsString> = options.iter().map(OsString::from).collect();
    let asked = read(&words)?;
    if let Some(asked) = &asked {
        asked.options.validate().map_err(|error| CommandError::usage(error.to_string()))?;
    }
    Ok(asked)
}

/// The built-in server that these options ask for, and what follows from them and from a preset among
/// them. A server that is started for an experiment has one thread unless it is told otherwise.
///
/// # Errors
/// When `ablaze serve` would not take them.
pub fn model(options: Vec<ModelOption>) -> Result<ModelSpec, CommandError> {
    let mut model = ModelSpec { options, threads: Some(1), ..ModelSpec::default() };
    let Some(asked) = resolved(&model.words())? else {
        return Err(CommandError::usage("asks for help instead of a server: name a model"));
    };
    let value = |name: &str| model.options.iter().rfind(|option| option.name == name);
    let certificate = value("tls-cert").or(value("tls-ca-out")).is_some();
    let http = value("http").and_then(|option| option.value.as_deref());
    let http = http.and_then(|version| values::http_version(version).ok());
    model.threads = match asked.threads {
        Some(Threads::All) => None,
        Some(Threads::Exactly(threads)) => u32::try_from(threads).ok(),
        None => model.threads,
    };
    (model.tls, model.certificate, model.http) = (asked.options.tls.is_some(), certificate, http);
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(options: &[(&str, &str)]) -> Option<u32> {
        let option = |(name, value): &(&str, &str)| ModelOption {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
        };
        model(options.iter().map(option).collect()).unwrap().threads
    }

    /// What a control and the processors of a target go by.
    #[test]
    fn a_preset_has_the_threads_that_its_options_say() {
        assert_eq!(threads(&[("like", "cppnet-1")]), Some(2));
        assert_eq!(threads(&[("like", "muduo")]), Some(2));
        assert_eq!(threads(&[("like", "handy-et")]), Some(1));
        assert_eq!(threads(&[("like", "cppnet-1"), ("threads", "4")]), Some(4));
        assert_eq!(threads(&[("like", "gurl-echo")]), None, "one per CPU");
        assert_eq!(threads(&[("model", "epoll-et")]), Some(1));
    }

    #[test]
    fn a_model_knows_what_it_speaks() {
        let of = |name: &str, value: Option<&str>| {
            let (name, value) = (name.to_owned(), value.map(str::to_owned));
            model(vec![ModelOption { name, value }])
        };
        assert!(of("tls", None).unwrap().tls && !of("tls", None).unwrap().certificate);
        assert!(of("tls-max", Some("1.2")).unwrap().tls);
        let http2 = Some(ablaze_model::spec::HttpVersion::Http2);
        assert_eq!(of("http", Some("2.0")).unwrap().http, http2);
        assert!(of("modle", Some("epoll-et")).is_err());
    }
}
