//! The options of journeys, for the commands that walk one, and what they ask for.

use std::path::PathBuf;

use ablaze_load::planning::{journey_files, sources};
use ablaze_model::spec::{JourneySpec, Secrets};
use clap::{ArgAction, Args};

use crate::CommandError;

/// What a journey is given.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Journey")]
pub struct JourneyOptions {
    /// Set a variable of the journey. Repeatable
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub variables: Vec<(String, String)>,
    /// Set variables from the lines NAME=VALUE of a file
    #[arg(long, value_name = "FILE")]
    pub variables_file: Option<PathBuf>,
    /// Set a variable whose value no report shows. Repeatable
    #[arg(long = "secret", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub secrets: Vec<(String, String)>,
    /// Go on with a journey after a failed assert or capture
    #[arg(long, action = ArgAction::SetTrue)]
    pub continue_on_error: bool,
    /// Follow redirects in every step that does not say `location: false`
    #[arg(short = 'L', long, action = ArgAction::SetTrue)]
    pub location: bool,
    /// The same, and send credentials to every host that they lead to
    #[arg(long, action = ArgAction::SetTrue)]
    pub location_trusted: bool,
    /// Follow at most so many redirects in a step [default: 50]
    #[arg(long = "max-redirs", value_name = "N")]
    pub max_redirects: Option<u64>,
}

impl JourneyOptions {
    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--variable", !self.variables.is_empty()),
            ("--variables-file", self.variables_file.is_some()),
            ("--secret", !self.secrets.is_empty()),
            ("--continue-on-error", self.continue_on_error),
            ("--location", self.location),
            ("--location-trusted", self.location_trusted),
            ("--max-redirs", self.max_redirects.is_some()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// The journey of a file, with what it is given.
    ///
    /// # Errors
    /// When a file cannot be read, or is no journey.
    pub fn spec(
        &self,
        path: &std::path::Path,
        secrets: &mut Secrets,
    ) -> Result<JourneySpec, CommandError> {
        let mut variables = Vec::new();
        if let Some(path) = &self.variables_file {
            let bytes = sources::read(path, "--variables-file")?;
            variables = journey_files::variables_of_file(&bytes, &path.display().to_string())?;
        }
        variables.extend(self.variables.iter().cloned());
        let kept = self.secrets.iter().map(|(name, value)| {
            (name.clone(), secrets.keep_text(&format!("variable {name}"), value.clone()))
        });
        Ok(JourneySpec {
            variables,
            secrets: kept.collect(),
            continue_on_error: self.continue_on_error,
            location: self.location,
            location_trusted: self.location_trusted,
            max_redirects: self.max_redirects,
            ..Self::file(path, "--journey")?
        })
    }

    /// The journey of a file alone; `option` is what it was given with.
    ///
    /// # Errors
    /// As [`spec`](Self::spec).
    pub fn file(path: &std::path::Path, option: &str) -> Result<JourneySpec, CommandError> {
        let mut spec = JourneySpec::of(sources::file(path, option)?);
        journey_files::attach_files(&mut spec)?;
        Ok(spec)
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
