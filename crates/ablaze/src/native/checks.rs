//! The option of checks, for the commands that load a URL.

use ablaze_model::LoadSpec;
use clap::Args;

/// What every response must be.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct CheckOptions {
    /// Check responses: 'status==200', 'json $.id > 0', 'size<1KB'. Repeatable
    #[arg(long = "assert", value_name = "CHECK")]
    pub checks: Vec<String>,
}

impl CheckOptions {
    /// Adds them to what is asked for.
    pub fn apply(&self, spec: &mut LoadSpec) {
        spec.checks.extend(self.checks.iter().cloned());
    }
}
