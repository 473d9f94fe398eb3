//! The values of one cell, put where they go: into words before they are read, and into what was read.

use std::collections::BTreeMap;

use ablaze_model::experiment::{Place, Target};
use ablaze_model::spec::{ModelSpec, TargetSpec, UrlSpec};

use super::place::{Placed, Takes};
use crate::{CommandError, servers, values};

/// What a cell says beside what all cells have. The default says nothing.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    placeholders: Vec<(String, String)>,
    /// Built-in servers that say one option each.
    server: Vec<ModelSpec>,
    environment: BTreeMap<String, String>,
    path: Option<String>,
    load: Vec<String>,
}

impl Settings {
    /// Adds the value of an axis.
    ///
    /// # Errors
    /// When an option does not take it, or a path is none.
    pub fn set(&mut self, axis: &Placed, value: &str) -> Result<(), CommandError> {
        for place in &axis.of {
            match place {
                Place::Placeholder => {
                    self.placeholders.push((format!("{{{}}}", axis.name), value.to_owned()));
                }
                Place::Environment => {
                    self.environment.insert(axis.name.clone(), value.to_owned());
                }
                Place::Path if value.starts_with('/') => self.path = Some(value.to_owned()),
                Place::Path => {
                    return Err(CommandError::usage("a path must start with /"));
                }
                Place::Server => self.server.extend(of_server(axis, value)?),
                Place::Load => self.load.extend(of_load(axis, value)?),
            }
        }
        Ok(())
    }

    /// A text with the values of its placeholders.
    pub fn put_into(&self, text: &str) -> String {
        let put = |text: String, (place, value): &(String, String)| text.replace(place, value);
        self.placeholders.iter().fold(text.to_owned(), put)
    }

    /// The words of the load: those that all cells have, and its own.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let words = words.iter().map(|word| self.put_into(word));
        words.chain(self.load.iter().cloned()).collect()
    }

    /// What is asked for of targets that are started here.
    pub fn path(&self, path: &str) -> String {
        self.path.clone().unwrap_or_else(|| self.put_into(path))
    }

    /// A target as it is in this cell.
    ///
    /// # Errors
    /// When a built-in server cannot be told what it is to be told.
    pub fn onto(&self, mut target: Target) -> Result<Target, CommandError> {
        match &mut target.source {
            TargetSpec::Model(model) if !self.server.is_empty() => {
                for said in &self.server {
                    *model = said.clone().over(std::mem::take(model));
                }
                servers::check(model).map_err(|error| CommandError {
                    line: format!("{}: {}", target.name, error.line),
                    ..error
                })?;
            }
            TargetSpec::Url { url, .. } => {
                if let Some(path) = &self.path {
                    let mut at = url.to_url();
                    at.path_and_query.clone_from(path);
                    *url = UrlSpec::from(&at);
                }
            }
            _ => {}
        }
        if matches!(target.source, TargetSpec::Command(_) | TargetSpec::Model(_)) {
            target.environment.clone_from(&self.environment);
        }
        Ok(target)
    }
}

/// What a built-in server is told; nothing for a switch that is off.
fn of_server(axis: &Placed, value: &str) -> Result<Option<ModelSpec>, CommandError> {
    let name = axis.name.as_str();
    match axis.takes {
        Takes::Nothing => {
            let said = match (name, is_on(value)?) {
                // Each says the opposite of the other.
                ("keep-alive", false) => Some("close"),
                ("close", false) => Some("keep-alive"),
                (_, on) => Some(name).filter(|_| on),
            };
            said.map(|name| servers::saying(&format!("--{name}"))).transpose()
        }
        _ => {
            let saying = |value: &str| servers::saying(&format!("--{name}={value}"));
            // Along an axis 10k is a number, also of bytes.
            let said = saying(value).or_else(|error| match values::count(value) {
                Ok(number) => saying(&number.to_string()).map_err(|_| error),
                Err(_) => Err(error),
            });
            said.map(Some)
        }
    }
}

/// The words of an option of the load; none for a switch that is off.
fn of_load(axis: &Placed, value: &str) -> Result<Vec<String>, CommandError> {
    let option = format!("--{}", axis.name);
    Ok(match axis.takes {
        Takes::Nothing => is_on(value)?.then_some(option).into_iter().collect(),
        _ if value.starts_with('-') => vec![format!("{option}={value}")],
        _ => vec![option, value.to_owned()],
    })
}

fn is_on(value: &str) -> Result<bool, CommandError> {
    match value {
        "true" | "on" => Ok(true),
        "false" | "off" => Ok(false),
        _ => Err(CommandError::usage("expected true or false: the option takes no value")),
    }
}
