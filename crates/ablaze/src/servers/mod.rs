//! Built-in servers, from words to a spec and from that to what a server is told: for `ablaze serve`, and for the targets of
//! experiments, which are checked before anything starts.
//!
//! [`command_line`] has the options, [`mod@spec`] makes a [`ModelSpec`] of them, and the machine that runs it makes
//! [`Options`] of that ([`mod@resolve`], with [`presets`]); [`mod@reference`] is the lower half of the help.
//!
//! [`Options`]: ablaze_target::Options

mod address;
mod command_line;
mod conditions;
mod names;
mod presets;
mod reference;
mod resolve;
mod spec;
pub mod tls;
mod told;

use std::ffi::OsString;

use ablaze_model::spec::ModelSpec;
use ablaze_model::spec::server::values::Threads;
use ablaze_target::Model;
use ablaze_target::accepting::AcceptMode;
use clap::builder::PossibleValuesParser;
use clap::{Arg, CommandFactory};

use crate::CommandError;
pub use address::address;
use command_line::CommandLine;
pub use command_line::{ProcessOptions, has as has_option};
pub use resolve::{Asked, ServerPlan, read, resolve};

/// The options of `ablaze serve`, with the names that some of them take, for completions.
pub fn command() -> clap::Command {
    let names = |names: Vec<&'static str>| {
        move |argument: Arg| argument.value_parser(PossibleValuesParser::new(names))
    };
    let models = Model::ALL.iter().map(|model| model.name()).collect();
    let modes = AcceptMode::ALL.iter().map(|mode| mode.name()).collect();
    let systems = presets::PRESETS.iter().map(|preset| preset.name).chain(["list"]).collect();
    CommandLine::command()
        .mut_arg("model", names(models))
        .mut_arg("accept", names(modes))
        .mut_arg("like", names(systems))
}

/// Whether `ablaze serve` would take this on this machine.
///
/// # Errors
/// When it would not.
pub fn check(spec: &ModelSpec) -> Result<(), CommandError> {
    let options = resolve::options(spec, None)?;
    resolve::refuse_foreign_cpus(&options)?;
    options.validate().map_err(|error| CommandError::usage(error.to_string()))
}

/// What one option of `ablaze serve` says by itself: `--threads=2`.
///
/// # Errors
/// When `ablaze serve` would not take it.
pub fn saying(option: &str) -> Result<ModelSpec, CommandError> {
    match read(&[OsString::from(option)])? {
        Some(Asked { spec, .. }) => Ok(spec),
        None => Err(CommandError::usage("asks for a list instead of a server")),
    }
}

/// The built-in server that the words behind `ablaze serve` ask for. One that is started for an experiment has one
/// thread unless its words, or the preset among them, say otherwise.
///
/// # Errors
/// When `ablaze serve` would not take them.
pub fn of_words(words: &[String]) -> Result<ModelSpec, CommandError> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let Some(Asked { mut spec, address, process }) = read(&words)? else {
        return Err(CommandError::usage("asks for help instead of a server: name a model"));
    };
    if let Some(address) = address {
        return Err(CommandError::usage(format!(
            "unexpected argument `{address}`: a server that is started for an experiment listens where it is told"
        )));
    }
    if process.ready_fd.is_some() {
        return Err(CommandError::usage(
            "--ready-fd has no descriptor in a server that is started for an experiment: remove it",
        ));
    }
    check(&spec)?;
    let threads = resolve::with_preset(&spec)?.threads.unwrap_or(Threads::Exactly(1));
    spec.threads = Some(threads);
    Ok(spec)
}

#[cfg(test)]
mod tests;
