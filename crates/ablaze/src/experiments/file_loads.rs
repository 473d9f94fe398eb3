//! The loads that a file describes: its keys are options of `ablaze load`, read by the same parser, and
//! the one list among them is the axis.

use std::ops::Range;

use ablaze_model::experiment::Load;
use ablaze_model::spec::Secrets;
use clap::{ArgAction, Command};
use toml::Spanned;
use toml::de::DeString;

use super::file::{Document, Entry, FileError, Value};
use super::file_values::{unknown, written};
use super::loads;
use super::options::LOAD;
use crate::CommandError;

impl Document<'_> {
    /// The load with the options of `ablaze load` as keys; the one list among them is the axis.
    /// Those of `instead` take the place of keys with the same name.
    pub(super) fn loads(
        &self,
        value: Option<&Value<'_>>,
        instead: &[Entry<'_, '_>],
        secrets: &mut Secrets,
    ) -> Result<Vec<Load>, FileError> {
        let (loads, span) = match value {
            Some(value) => (self.worded(value, instead)?, value.span()),
            None => (vec![loads::one(Vec::new())], 0..0),
        };
        let read = |load: loads::Worded| {
            let wrong =
                |error: CommandError| self.error(span.clone(), format!("[load]: {}", error.line));
            load.read(secrets).map_err(wrong)
        };
        loads.into_iter().map(read).collect()
    }

    /// The same before they are read.
    fn worded(
        &self,
        value: &Value<'_>,
        instead: &[Entry<'_, '_>],
    ) -> Result<Vec<loads::Worded>, FileError> {
        let command = LOAD.iter().fold(Command::new("load"), |command, group| group(command));
        let known: Vec<&str> = command.get_arguments().filter_map(|a| a.get_long()).collect();
        let (mut words, mut axis) = (Vec::new(), None);
        let option_of = |key: &Spanned<DeString<'_>>| key.get_ref().replace('_', "-");
        let written = self.entries("load", value)?;
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
            let written_values = self.values(value)?;
            for text in &written_values {
                self.accepted(&option, is_switch, text, value.span())?;
            }
            match written_values.as_slice() {
                [truth] if is_switch => {
                    words.extend((truth == "true").then(|| format!("--{option}")));
                }
                several if is_list || (several.len() == 1 && !value.get_ref().is_array()) => {
                    words.extend(several.iter().flat_map(|v| [format!("--{option}"), v.clone()]));
                }
                several => {
                    if several.is_empty() {
                        return Err(self.error(
                            value.span(),
                            format!(
                                "{option}: the list is \
                            empty"
                            ),
                        ));
                    }
                    if axis.replace((format!("--{option}"), several.to_vec())).is_some() {
                        let why = format!(
                            "{option}: an experiment has one axis, and another \
                            option is already a list"
                        );
                        return Err(self.error(key.span(), why));
                    }
                }
            }
        }
        Ok(match axis {
            Some((option, values)) => loads::along(words, &option, values),
            None => vec![loads::one(words)],
        })
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
        let command = LOAD.iter().fold(Command::new("load"), |command, group| group(command));
        match command.try_get_matches_from(["load", &format!("--{option}={text}")]) {
            Err(error) if error.kind() == clap::error::ErrorKind::ValueValidation => {
                let why = std::error::Error::source(&error).map(ToString::to_string);
                let why = why.unwrap_or_else(|| "is invalid".to_owned());
                Err(self.error(span, format!("{option} = {text}: {why}")))
            }
            _ => Ok(()),
        }
    }
}
