//! How what an experiment loads is started, waited for and stopped: a command that starts a server, a built-in model,
//! nginx as the control. What a target is, is data: [`Target`] and [`TargetSpec`].

mod control;
mod group;
mod process;
mod ready;
mod secure;
mod start_error;

use ablaze_model::experiment::{Target, Tool};
use ablaze_model::spec::TargetSpec;

pub use control::{Listens, Response, nginx_configuration};
pub use group::{kill_all, spawn_on};
pub use process::{Serving, Site};
pub use secure::{Certificate, Files, Issue, IssuedPem, ThisProgram};
pub use start_error::StartError;

/// What has to be installed before a target can be measured: the package of a program that was not found.
pub fn missing(target: &Target) -> Option<&'static str> {
    match (target.client, &target.source) {
        (Tool::Ab, _) if !is_installed("ab") => Some("apache2-utils"),
        (_, TargetSpec::Nginx { .. }) if !is_installed("nginx") => Some("nginx"),
        _ => None,
    }
}

/// Whether a program is in a folder of PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
