//! Why a target could not be started, and whether it is worth another try.

/// Why a target could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system did not start it.
    #[error("cannot start {what}: {why}")]
    NotStarted {
        /// The command.
        what: String,
        /// What the system says.
        why: String,
    },
    /// It ended before it answered.
    #[error("{what} exited before it responded ({status}){said}")]
    Ended {
        /// The command.
        what: String,
        /// How it ended.
        status: String,
        /// The end of what it printed, with a colon in front.
        said: String,
    },
    /// It did not answer in time.
    #[error("{what} did not respond on {url} within {seconds} s{said}")]
    Silent {
        /// The command.
        what: String,
        /// Where a response was waited for.
        url: String,
        /// How long.
        seconds: u64,
        /// The end of what it printed, with a colon in front.
        said: String,
    },
}

impl StartError {
    /// Whether it would be the same another time: the shell found no such command (POSIX.1, 2.8.2), or could not
    /// run it.
    pub fn is_final(&self) -> bool {
        let never = ["exit status: 127", "exit status: 126"];
        matches!(self, Self::Ended { status, .. } if never.contains(&status.as_str()))
    }
}
