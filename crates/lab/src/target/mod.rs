//! What an experiment loads: something that runs already, a command that starts a server, a
//! built-in model, nginx as the control, or a run that was saved before. How each is started and stopped;
//! what each is, is a [`TargetSpec`].

mod control;
mod placement;
mod process;
mod ready;
mod secure;

use std::path::PathBuf;

use ablaze_model::spec::TargetSpec;
use serde::{Deserialize, Serialize};

pub use control::{Listens, Response, nginx_configuration};
pub use placement::Placement;
pub use process::{Serving, Site, StartError, file_name, kill_all, spawn_on};
pub use secure::{
    Certificate, Files, Issue, IssuedPem, Speaks, ThisProgram, model_words, of_control,
};

/// One target of an experiment, under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// What tables and charts call it.
    pub name: String,
    /// What it is.
    pub source: TargetSpec,
    /// What loads it.
    #[serde(default, skip_serializing_if = "Tool::is_ablaze")]
    pub client: Tool,
}

/// A load tester. A row of an experiment may have another one than ablaze, so that clients can be
/// held against each other as servers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// This program.
    #[default]
    Ablaze,
    /// ApacheBench.
    Ab,
}

impl Tool {
    /// Its name: that of its program, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ablaze => "ablaze",
            Self::Ab => "ab",
        }
    }

    fn is_ablaze(&self) -> bool {
        *self == Self::Ablaze
    }
}

impl Target {
    /// A target that ablaze loads.
    pub fn new(name: impl Into<String>, source: TargetSpec) -> Self {
        Self { name: name.into(), source, client: Tool::Ablaze }
    }

    /// Whether an experiment starts and stops it.
    pub fn is_started_here(&self) -> bool {
        self.source.is_started_here()
    }

    /// The files of the runs that it is, if it is nothing to load but was saved before.
    pub fn saved_runs(&self) -> Option<&[PathBuf]> {
        match &self.source {
            TargetSpec::Saved(files) => Some(files),
            _ => None,
        }
    }

    /// What has to be installed before it can be measured: the package of a program that was not
    /// found.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.client, &self.source) {
            (Tool::Ab, _) if !is_installed("ab") => Some("apache2-utils"),
            (_, TargetSpec::Nginx { .. }) if !is_installed("nginx") => Some("nginx"),
            _ => None,
        }
    }

    /// Threads or processes it works with on a machine with this many CPUs, where that is known.
    pub fn threads(&self, cpus: u32) -> u32 {
        self.source.threads(cpus)
    }
}

/// Whether a program is in a folder of PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Gives those that have the same name different ones: `x`, `x (2)`.
pub fn told_apart(targets: &mut [Target]) {
    for at in 1..targets.len() {
        let (before, rest) = targets.split_at_mut(at);
        let target = &mut rest[0];
        let plain = target.name.clone();
        let mut number = 2;
        while before.iter().any(|other| other.name == target.name) {
            target.name = format!("{plain} ({number})");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_the_same_name_are_told_apart() {
        let nginx = TargetSpec::Nginx { workers: 1 };
        let mut targets = vec![Target::new("epoll-et", nginx); 3];
        told_apart(&mut targets);
        let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["epoll-et", "epoll-et (2)", "epoll-et (3)"]);
    }
}
