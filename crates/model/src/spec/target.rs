//! What a load is applied to: something that runs already, or something that is started for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::UrlSpec;
use super::blob::Blob;
use super::secrets::SecretRef;
use super::server::ModelSpec;

/// Stand for the files of the experiment's certificate and its key in commands that start servers.
pub const CERTIFICATE_PLACES: [&str; 2] = ["{cert}", "{key}"];

/// Whether a command that starts a server is told where the experiment's certificate is.
pub fn names_certificate(line: &str) -> bool {
    CERTIFICATE_PLACES.iter().any(|place| line.contains(place))
}

/// A target.
#[expect(clippy::large_enum_variant, reason = "an experiment has a handful of them")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetSpec {
    /// A server that runs already.
    Url {
        /// Its URL.
        url: UrlSpec,
        /// Who asks, `name:password`, where that stood in the URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<SecretRef>,
    },
    /// A line for sh(1) that starts it; `{port}` stands for the port it is to listen on, `{cert}` and
    /// `{key}` for the files of the experiment's certificate.
    Command(String),
    /// A built-in server.
    Model(ModelSpec),
    /// nginx, configured to do the same work as the others.
    Nginx {
        /// Worker processes.
        workers: u32,
    },
    /// Runs that were saved before, in the order in which they began: repeats of the same.
    Saved(Vec<PathBuf>),
}

impl TargetSpec {
    /// Whether an experiment starts and stops it.
    pub fn is_started_here(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Model(_) | Self::Nginx { .. })
    }

    /// Threads or processes it works with, where that is known: `cpus` are those of this machine.
    pub fn threads(&self, cpus: u32) -> u32 {
        match self {
            Self::Model(model) => model.threads.map_or(1, |threads| threads.count(cpus)),
            Self::Nginx { workers } => *workers,
            Self::Url { .. } | Self::Command(_) | Self::Saved(_) => 1,
        }
    }

    /// The files whose bytes travel with it.
    pub fn blobs(&self) -> Vec<&Blob> {
        match self {
            Self::Model(model) => model.blobs(),
            _ => Vec::new(),
        }
    }

    /// The same, to put their bytes beside them.
    pub fn blobs_mut(&mut self) -> Vec<&mut Blob> {
        match self {
            Self::Model(model) => model.blobs_mut(),
            _ => Vec::new(),
        }
    }
}
