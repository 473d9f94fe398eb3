//! The options of the users who walk journeys, and what they ask for.

use std::path::PathBuf;

use ablaze_model::plan::users::ThinkTime;
use ablaze_model::spec::{LoadSpec, Shape, UsersSpec};
use clap::{ArgAction, Args};

use super::JourneyOptions;
use super::options::LoadOptions;
use crate::{CommandError, values};

/// Who walks journeys.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Users")]
pub struct UserOptions {
    /// Users, each with a connection, or a stream: 100, or 10..1000 over the run
    #[arg(long, value_name = "N", value_parser = users)]
    pub users: Option<(Option<u32>, u32)>,
    /// Walk this file once per user before the run; its captures stay
    #[arg(long, value_name = "FILE")]
    pub setup: Option<PathBuf>,
    /// Keep cookies and captures from one iteration of a user to the next
    #[arg(long, action = ArgAction::SetTrue)]
    pub keep_session: bool,
    /// Journeys that each user walks
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub iterations: Option<u64>,
    /// Pause between two steps: 1s, 500ms..2s (uniform) or exp:1s (exponential)
    #[arg(long, value_name = "TIME", value_parser = think_time)]
    pub think_time: Option<ThinkTime>,
}

/// The file of a journey, and its weight among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JourneyFile {
    /// The file.
    pub path: PathBuf,
    /// Its weight, if one was given.
    pub weight: Option<u64>,
}

impl From<PathBuf> for JourneyFile {
    fn from(path: PathBuf) -> Self {
        Self { path, weight: None }
    }
}

impl UserOptions {
    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--users", self.users.is_some()),
            ("--setup", self.setup.is_some()),
            ("--keep-session", self.keep_session),
            ("--iterations", self.iterations.is_some()),
            ("--think-time", self.think_time.is_some()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// What they ask of users, with the journeys behind the first.
    ///
    /// # Errors
    /// When a file cannot be read, or is no journey.
    pub fn spec(&self, files: &[JourneyFile]) -> Result<UsersSpec, CommandError> {
        let more = files.iter().skip(1);
        // What is given is given with the first.
        let more = more.map(|file| JourneyOptions::file(&file.path, "--journey"));
        let setup = self.setup.as_ref().map(|path| JourneyOptions::file(path, "--setup"));
        let (more, setup) = (more.collect::<Result<_, _>>()?, setup.transpose()?);
        let weights = files.iter().map(|file| file.weight.unwrap_or(1));
        let is_weighted = files.iter().any(|file| file.weight.is_some());
        Ok(UsersSpec {
            ramp_from: self.users.and_then(|(from, _)| from),
            more,
            weights: if is_weighted { weights.collect() } else { Vec::new() },
            setup,
            keep_session: self.keep_session,
            iterations: self.iterations,
            think_time: self.think_time,
        })
    }

    /// Applies what of them is about the load: how many connections there are, and when it ends.
    ///
    /// # Errors
    /// When the connections were given as well.
    pub fn apply(&self, load: &LoadOptions, spec: &mut LoadSpec) -> Result<(), CommandError> {
        if let Some((_, users)) = self.users {
            if load.connections.is_some() {
                let text = "--users and -c cannot be used together: every user has a connection; use only --users";
                return Err(CommandError::usage(text));
            }
            let each = spec.in_flight.max(1);
            if spec.has_streams() && users % each > 0 {
                let text = format!(
                    "--users {users} --streams {each}: a connection carries {each} users; use a multiple of {each} users"
                );
                return Err(CommandError::usage(text));
            }
            let users = if spec.has_streams() { users / each } else { users };
            match &mut spec.shape {
                Shape::Closed { connections } | Shape::Open { connections, .. } => {
                    *connections = Some(users);
                }
            }
        }
        if self.iterations.is_some() && (load.requests, load.duration) == (None, None) {
            // Like -n: nothing else ends the run.
            spec.limits.duration_ns = None;
        }
        Ok(())
    }
}

/// `100`, or `10..1000`.
fn users(text: &str) -> Result<(Option<u32>, u32), String> {
    let count = |text: &str| match values::small_count(text.trim()) {
        Ok(0) => Err("0 users send nothing: use 1 or more".to_owned()),
        other => other,
    };
    match text.split_once("..") {
        Some((from, to)) => Ok((Some(count(from)?), count(to)?)),
        None => Ok((None, count(text)?)),
    }
}

/// `FILE` or `FILE=WEIGHT`.
pub(super) fn journey_file(text: &str) -> Result<JourneyFile, String> {
    let weighted = text.rsplit_once('=').filter(|(path, weight)| {
        !path.is_empty() && !weight.is_empty() && weight.bytes().all(|byte| byte.is_ascii_digit())
    });
    match weighted {
        None => Ok(PathBuf::from(text).into()),
        Some((path, weight)) => {
            let weight = weight.parse().map_err(|_| format!("the weight {weight} is too large"))?;
            Ok(JourneyFile { path: path.into(), weight: Some(weight) })
        }
    }
}

/// `1s`, `500ms..2s` or `exp:1s`.
fn think_time(text: &str) -> Result<ThinkTime, String> {
    if let Some(mean) = text.strip_prefix("exp:") {
        return Ok(ThinkTime::Exponential { mean_ns: values::duration_ns(mean)? });
    }
    let Some((from, to)) = text.split_once("..") else {
        return Ok(ThinkTime::Constant { ns: values::duration_ns(text)? });
    };
    let (from_ns, to_ns) = (values::duration_ns(from)?, values::duration_ns(to)?);
    if from_ns > to_ns {
        return Err("the first time must be the shorter one, such as 500ms..2s".to_owned());
    }
    Ok(ThinkTime::Uniform { from_ns, to_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_users_files_with_weights_and_think_times_are_read() {
        assert_eq!(users("100"), Ok((None, 100)));
        assert_eq!(users("10..1k"), Ok((Some(10), 1_000)));
        assert!(users("0").is_err() && users("1..0").is_err() && users("few").is_err());
        let of = |text: &str| journey_file(text).map(|file| (file.path, file.weight));
        assert_eq!(of("buy.hurl=3"), Ok(("buy.hurl".into(), Some(3))));
        assert_eq!(of("a=b.hurl"), Ok(("a=b.hurl".into(), None)));
        assert_eq!(of("a=b/c.hurl=0"), Ok(("a=b/c.hurl".into(), Some(0))));
        assert!(of("a=99999999999999999999999").is_err());
        assert_eq!(think_time("1s"), Ok(ThinkTime::Constant { ns: 1_000_000_000 }));
        let uniform = ThinkTime::Uniform { from_ns: 500_000_000, to_ns: 2_000_000_000 };
        assert_eq!(think_time("500ms..2s"), Ok(uniform));
        assert_eq!(think_time("exp:1s"), Ok(ThinkTime::Exponential { mean_ns: 1_000_000_000 }));
        assert!(think_time("2s..1s").is_err() && think_time("exp:").is_err());
    }
}
