//! What a front end calls the options that planning's messages name.

/// Names of options, as the person typed them or could have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionNames {
    /// Connections.
    pub connections: &'static str,
    /// Requests.
    pub requests: &'static str,
    /// Length of the run.
    pub duration: &'static str,
    /// Threads.
    pub threads: &'static str,
}

impl OptionNames {
    /// Those of `ablaze load`.
    pub const NATIVE: Self =
        Self { connections: "-c", requests: "-n", duration: "-d", threads: "-t" };
    /// Those of `ablaze ab`, where `-t` and `-d` are something else.
    pub const AB: Self =
        Self { connections: "-c", requests: "-n", duration: "--duration", threads: "--threads" };
    /// Those of `ablaze gurl`.
    pub const GURL: Self =
        Self { connections: "-ac", requests: "-an", duration: "-duration", threads: "-cpus" };
}
