//! The loads that a file describes: its keys are options of `ablaze load`, read by the same parser. The lists among them
//! and the names in `[vary]` are the axes.

use std::ops::Range;

use ablaze_model::spec::Secrets;
use clap::{ArgAction, Command};
use toml::Spanned;
use toml::de::DeString;

use super::file::{Document, Entry, FileError, Value};
use super::file_values::{path, unknown, written};
use super::loads;
use super::options::LOAD;
use super::vary::{self, Scene, Settings, Varied, Wanted};
use crate::CommandError;

/// The options of a load as words, and those of them that are lists, with where each stands.
type Worded = (Vec<String>, Vec<(Wanted, Range<usize>)>);

/// The options that a load may have.
fn command() -> Command {
    LOAD.iter().fold(Command::new("load"), |command, group| group(command))
}

/// Their names, as keys of a file.
pub(super) fn options_of_a_load() -> Vec<String> {
    let command = command();
    let names = command.get_arguments().filter_map(|argument| argument.get_long());
    names.map(|name| name.replace('-', "_")).collect()
}

/// Whether a key is one of them.
pub(super) fn is_option_of_a_load(key: &str) -> bool {
    options_of_a_load().contains(&key.replace('-', "_"))
}

impl Document<'_> {
    /// The cells of the file: the load with the options of `ablaze load` as keys, those of `instead` in place of keys with
    /// the same name; the axes are the lists among them and the names in `[vary]`.
    pub(super) fn varied<'a, 'i: 'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value<'i>>,
        instead: &[Entry<'_, '_>],
        secrets: &mut Secrets,
    ) -> Result<Varied, FileError> {
        let span = value("load").map_or(0..0, Spanned::span);
        let (words, mut axes) = self.worded(value("load"), instead)?;
        if let Some(vary) = value("vary") {
            for (key, list) in self.entries("vary", vary)? {
                let said = format!("[vary] {}", key.get_ref());
                let wanted = Wanted::new(key.get_ref(), self.values(list)?, &said)
                    .map_err(|error| self.error(key.span(), error.line))?;
                axes.push((wanted, key.span()));
            }
        }
        let targets = value("targets");
        let path = self.read(value("path"), path)?.unwrap_or_else(|| "/hello".to_owned());
        if axes.is_empty() {
            let wrong =
                |error: CommandError| self.error(span.clone(), format!("[load]: {}", error.line));
            let targets = self.targets(targets, &Settings::default(), secrets)?;
            let load = loads::one(words).read(secrets).map_err(wrong)?;
            return Ok(Varied { targets, loads: vec![load], axes: Vec::new(), path });
        }
        let scene = self.scene(targets, words, path)?;
        let (wanted, spans): (Vec<Wanted>, Vec<Range<usize>>) = axes.into_iter().unzip();
        // What is wrong with a target has the target's line.
        let mut line = None;
        let mut read = |settings: &Settings, secrets: &mut Secrets| {
            self.targets(targets, settings, secrets).map_err(|wrong| {
                line = Some(wrong.line);
                CommandError::usage(wrong.why)
            })
        };
        let varied = vary::cells(&wanted, &scene, secrets, &mut read, &|_, _| Ok(()));
        varied.map_err(|wrong| match (line, wrong.at) {
            (Some(line), _) => FileError { line, why: wrong.error.line },
            (None, Some(at)) => self.error(spans[at].clone(), wrong.error.line),
            (None, None) => self.error(span, format!("[load]: {}", wrong.error.line)),
        })
    }

    /// What there is to vary.
    fn scene(
        &self,
        targets: Option<&Value<'_>>,
        load: Vec<String>,
        path: String,
    ) -> Result<Scene, FileError> {
        let mut scene = Scene { load, path, ..Scene::default() };
        let Some(targets) = targets else { return Ok(scene) };
        for (name, target) in self.entries("targets", targets)? {
            for (key, value) in self.entries(&format!("targets.{}", name.get_ref()), target)? {
                scene.texts.extend(value.get_ref().as_str().map(str::to_owned));
                scene.has_model |= key.get_ref() == "serve";
                scene.has_command |= key.get_ref() == "start";
            }
        }
        Ok(scene)
    }

    /// The load before it is read.
    fn worded(
        &self,
        value: Option<&Value<'_>>,
        instead: &[Entry<'_, '_>],
    ) -> Result<Worded, FileError> {
        let command = command();
        let known: Vec<&str> = command.get_arguments().filter_map(|a| a.get_long()).collect();
        let (mut words, mut axes) = (Vec::new(), Vec::new());
        let option_of = |key: &Spanned<DeString<'_>>| key.get_ref().replace('_', "-");
        // [quick] may have keys of a load that the file leaves to its defaults.
        let written =
            value.map(|value| self.entries("load", value)).transpose()?.unwrap_or_default();
        let kept = written.into_iter().filter(|(key, _)| {
            !instead.iter().any(|(other, _)| option_of(other) == option_of(key))
        });
        for (key, value) in kept.chain(instead.iter().copied()) {
            let option = option_of(key);
            let Some(argument) =
                command.get_arguments().find(|argument| argument.get_long() == Some(&option))
            else {
                let why = unknown("option of a load", key.get_ref(), &known);
                return Err(self.error(key.span(), why));
            };
            let is_list = matches!(argument.get_action(), ArgAction::Append);
            let is_switch = matches!(argument.get_action(), ArgAction::SetTrue);
            let values = self.values(value)?;
            for text in &values {
                self.accepted(&option, is_switch, text, value.span())?;
            }
            match values.as_slice() {
                [truth] if is_switch => {
                    words.extend((truth == "true").then(|| format!("--{option}")));
                }
                several if is_list || (several.len() == 1 && !value.get_ref().is_array()) => {
                    words.extend(several.iter().flat_map(|v| [format!("--{option}"), v.clone()]));
                }
                [] => {
                    return Err(self.error(value.span(), format!("{option}: the list is empty")));
                }
                _ => {
                    let wanted = Wanted::new(&format!("load:{option}"), values, &option)
                        .map_err(|error| self.error(key.span(), error.line))?;
                    axes.push((wanted, key.span()));
                }
            }
        }
        Ok((words, axes))
    }

    fn values(&self, value: &Value<'_>) -> Result<Vec<String>, FileError> {
        let one = |value: &Value<'_>| {
            written(value.get_ref()).map_err(|why| self.error(value.span(), why))
        };
        match value.get_ref().as_array() {
            Some(array) => array.iter().map(one).collect(),
            None => Ok(vec![one(value)?]),
        }
    }

    /// Whether the option takes this value by itself; what goes together is seen later.
    fn accepted(
        &self,
        option: &str,
        is_switch: bool,
        text: &str,
        span: Range<usize>,
    ) -> Result<(), FileError> {
        if is_switch {
            return match text {
                "true" | "false" => Ok(()),
                _ => Err(self.error(span, format!("{option} must be true or false"))),
            };
        }
        match command().try_get_matches_from(["load", &format!("--{option}={text}")]) {
            Err(error) if error.kind() == clap::error::ErrorKind::ValueValidation => {
                let why = std::error::Error::source(&error).map(ToString::to_string);
                let why = why.unwrap_or_else(|| "is invalid".to_owned());
                Err(self.error(span, format!("{option} = {text}: {why}")))
            }
            _ => Ok(()),
        }
    }
}
