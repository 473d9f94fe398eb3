//! What a front end, or a program that uses this crate, calls the options that planning's messages name.

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
    /// Requests in flight on each connection.
    pub pipeline: &'static str,
    /// Another place to connect to; empty where there is no such option.
    pub connect_to: &'static str,
    /// The same with what stands behind it; empty as well.
    pub connect_to_value: &'static str,
    /// Local addresses, which are tried before anything is sent; `None` tries none: ab says what became of its `-B` when
    /// it connects.
    pub local_address: Option<&'static str>,
    /// Whether these are options of a command line, whose letters other tools give other meanings.
    pub typed: bool,
}

impl OptionNames {
    /// Those of `ablaze load`.
    pub const NATIVE: Self = Self {
        connections: "-c",
        requests: "-n",
        duration: "-d",
        threads: "-t",
        pipeline: "--pipeline",
        connect_to: "--connect-to",
        connect_to_value: "--connect-to ADDR:PORT",
        local_address: Some("--local-address"),
        typed: true,
    };
    /// Those of `ablaze ab`, where `-t` and `-d` are something else.
    pub const AB: Self =
        Self { duration: "--duration", threads: "--threads", local_address: None, ..Self::NATIVE };
    /// Those of `ablaze doctor`, which makes no connections of its own.
    pub const DOCTOR: Self = Self { connect_to: "", connect_to_value: "", ..Self::NATIVE };
    /// Those of `ablaze gurl`.
    pub const GURL: Self = Self {
        connections: "-ac",
        requests: "-an",
        duration: "-duration",
        threads: "-cpus",
        connect_to: "",
        connect_to_value: "",
        ..Self::NATIVE
    };
    /// Those of `ablaze wrk`.
    pub const WRK: Self = Self { requests: "--requests", ..Self::NATIVE };
    /// The setters of [`Load`](crate::Load).
    pub const SETTERS: Self = Self {
        connections: "connections()",
        requests: "requests()",
        duration: "duration()",
        threads: "threads()",
        pipeline: "in_flight_per_connection()",
        connect_to: "connect_to()",
        connect_to_value: "connect_to()",
        local_address: Some("the local address"),
        typed: false,
    };
}
