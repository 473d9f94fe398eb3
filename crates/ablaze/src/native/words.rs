//! Native options as words, however they came to be, to a spec: where experiments, their files and
//! their axes set what a load asks for.

use ablaze_load::planning::{self, OptionNames};
use ablaze_model::LoadSpec;
use ablaze_model::spec::{Secrets, Words};
use ablaze_report::shown_command::without_secrets;
use clap::{CommandFactory, Parser};

use super::{CommandLine, hints, spec::template};
use crate::CommandError;

/// The load that these options of `ablaze load` ask for, of whatever target.
///
/// # Errors
/// When `ablaze load` would not take them.
pub fn of_words(options: &[String], secrets: &mut Secrets) -> Result<LoadSpec, CommandError> {
    let words = ["load"].into_iter().chain(options.iter().map(String::as_str));
    let line = CommandLine::try_parse_from(words)
        .map_err(|error| hints::refusal(&error, &CommandLine::command()))?;
    if line.options.request.bodies.cookie_jar.is_some() {
        let text = "--cookie-jar is for `ablaze load URL`, which makes one run";
        return Err(CommandError::usage(text));
    }
    if let Some(option) = line.exports.given() {
        let text = format!("{option} is for `ablaze load URL`, which makes one run");
        return Err(CommandError::usage(text));
    }
    let mut load = template(&line.options, secrets)?;
    load.words = shown(options);
    planning::check(&load, secrets, &OptionNames::NATIVE)?;
    Ok(load)
}

/// Whether the native option of this name is followed by a value; `None` when there is none.
pub fn takes_value(name: &str) -> Option<bool> {
    let mut command = CommandLine::command();
    // Only a command that was built knows `--help`.
    command.build();
    let found = command.get_arguments().find(|argument| argument.get_long() == Some(name))?;
    Some(found.get_action().takes_values() && !found.is_require_equals_set())
}

/// Options as they may be shown.
pub fn shown(options: &[String]) -> Words {
    let program = std::iter::once("ablaze".to_owned());
    Words(without_secrets(program.chain(options.iter().cloned()).collect()).split_off(1))
}

#[cfg(test)]
mod tests {
    use ablaze_model::spec::{Head, HttpVersion, SecretRef};

    use super::*;

    fn of(options: &str) -> (LoadSpec, Secrets) {
        let words: Vec<String> = options.split(' ').map(str::to_owned).collect();
        let mut secrets = Secrets::default();
        (of_words(&words, &mut secrets).unwrap(), secrets)
    }

    /// However it is written: targets are told by what was meant.
    #[test]
    fn http_2_is_one_version() {
        for words in ["--http 2", "--http 2.0", "--http=2.0"] {
            assert_eq!(of(words).0.http, Some(HttpVersion::Http2), "{words}");
        }
        assert_eq!(of("--http 2").0, of("--http 2.0").0);
    }

    #[test]
    fn secrets_are_kept_beside_the_load_and_not_in_its_words() {
        let (load, secrets) = of("--user me:s3cret --header Cookie:s3cret --connections 5");
        assert!(!format!("{load:?}").contains("s3cret"));
        let Head::Composed { user: Some(user), .. } = &load.requests.head else { panic!() };
        assert_eq!(secrets.text(user), Ok("me:s3cret"));
        let cookie = SecretRef { secret: "header Cookie".to_owned() };
        assert_eq!(secrets.text(&cookie), Ok("Cookie:s3cret"));
        assert_eq!(load.words.0[..2], ["--user", "me:***"]);
    }

    #[test]
    fn what_load_would_not_take_is_refused() {
        for wrong in ["--arrivals poisson", "--http 4", "--header nothing", "--streams 2"] {
            let words: Vec<String> = wrong.split(' ').map(str::to_owned).collect();
            assert!(of_words(&words, &mut Secrets::default()).is_err(), "{wrong}");
        }
    }
}
