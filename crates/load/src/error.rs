//! Why a load was not run. The texts say what happened, to what, and what to do; the command prints
//! them as they are, and gives each kind its exit status.

use ablaze_engine::LaunchError;
use ablaze_model::spec::{BlobError, SecretMissing};

/// Why a load was not run. A load that ran and got no response at all is not an error: its
/// [`Run`](crate::Run) says so, and its verdict is INVALID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The load as specified makes no sense: a URL that cannot be parsed, a header with a line end,
    /// 0 connections.
    #[error("{0}")]
    Usage(String),
    /// The name of the host, or of the proxy, has no address.
    #[error("{0}")]
    UnknownHost(String),
    /// This machine refused something that the load needs: descriptors, threads.
    #[error("{0}")]
    Machine(String),
}

impl Error {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    pub(crate) fn unknown_host(text: impl Into<String>) -> Self {
        Self::UnknownHost(text.into())
    }

    pub(crate) fn machine(text: impl Into<String>) -> Self {
        Self::Machine(text.into())
    }
}

impl From<SecretMissing> for Error {
    fn from(error: SecretMissing) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<LaunchError> for Error {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Plan(error) => Self::usage(error.to_string()),
            LaunchError::System { .. } => Self::machine(error.to_string()),
        }
    }
}
