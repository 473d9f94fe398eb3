//! What a load is applied to: something that runs already, or something that is started for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::UrlSpec;
use super::secrets::SecretRef;
use super::wishes::HttpVersion;

/// Stand for the files of the experiment's certificate and its key in commands that start servers.
pub const CERTIFICATE_PLACES: [&str; 2] = ["{cert}", "{key}"];

/// Whether a command that starts a server is told where the experiment's certificate is.
pub fn names_certificate(line: &str) -> bool {
    CERTIFICATE_PLACES.iter().any(|place| line.contains(place))
}

/// A target.
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

/// A built-in server: how `ablaze serve` is asked for it, and what follows from that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// The options it is started with, in their order; those of a preset are not written out.
    pub options: Vec<ModelOption>,
    /// Its threads, those of a preset too; `None` is one per CPU of the machine that starts it.
    pub threads: Option<u32>,
    /// Whether it speaks TLS by its own options.
    pub tls: bool,
    /// Whether it has a certificate of its own.
    pub certificate: bool,
    /// The HTTP that its own options name.
    pub http: Option<HttpVersion>,
}

/// An option of `ablaze serve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelOption {
    /// Its long name, without dashes.
    pub name: String,
    /// Its value; `None` for a switch.
    pub value: Option<String>,
}

impl TargetSpec {
    /// Whether an experiment starts and stops it.
    pub fn is_started_here(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Model(_) | Self::Nginx { .. })
    }

    /// Threads or processes it works with, where that is known: `cpus` are those of this machine.
    pub fn threads(&self, cpus: u32) -> u32 {
        match self {
            Self::Model(model) => model.threads.unwrap_or(cpus),
            Self::Nginx { workers } => *workers,
            Self::Url { .. } | Self::Command(_) | Self::Saved(_) => 1,
        }
    }
}

impl ModelSpec {
    /// The words behind `ablaze serve`.
    pub fn words(&self) -> Vec<String> {
        let words = |option: &ModelOption| {
            let name = format!("--{}", option.name);
            match &option.value {
                None => vec![name],
                // What begins with a dash would be an option of its own.
                Some(value) if value.starts_with('-') => vec![format!("{name}={value}")],
                Some(value) => vec![name, value.clone()],
            }
        };
        self.options.iter().flat_map(words).collect()
    }
}
