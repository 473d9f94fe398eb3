//! The options of wrk, wrk2, h2load, hey, oha, bombardier, vegeta and siege, as far as they tell a command from
//! running text and a report is held against them. [`super::peers`] reads with them.

use super::Program;

/// What an option says that a report is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Requests,
    Connections,
    Threads,
    Streams,
    Duration,
    /// Requests per second over all connections.
    Rate,
    /// Requests per second of each connection.
    RateEach,
    /// h2load's: connections per second, so that they are not all open from the start.
    ConnectionRate,
    NoKeepAlive,
    /// siege's: one request right after the other.
    WithoutPauses,
    /// A method, field or body: another request than the tool's own.
    Request,
    Http2,
    /// The address of a proxy.
    Proxy,
    /// The host that is asked for.
    Host,
    /// Another address to connect to: ablaze's option for it.
    Elsewhere(&'static str),
    /// h2load's: scheme, host and port of all URLs, or a socket.
    Base,
    /// The file that the URLs come from.
    List,
    /// The URL names such a file.
    Listed,
    /// The URL is a pattern.
    Pattern,
    /// oha's: so long between bursts, and so many requests in each.
    BurstDelay,
    BurstSize,
    Other,
}

use Meaning::*;

/// How a program writes its options.
pub(super) struct Grammar {
    pub(super) program: Program,
    /// What the tool does unless it is told otherwise.
    pub(super) requests: Option<u64>,
    pub(super) connections: u64,
    pub(super) threads: Option<u64>,
    /// One dash before long words as well, as Go's own parser has it: no letters are bundled.
    pub(super) go: bool,
    /// Those that take a value, by letter and by word.
    pub(super) with_value: &'static [(&'static str, &'static str, Meaning)],
    /// Words and letters that stand alone.
    pub(super) alone: &'static [(&'static str, &'static str, Meaning)],
    /// Unknown options of more than a letter take a value, too: the tool has many.
    pub(super) many: bool,
}

pub(super) const WRK: Grammar = Grammar {
    program: Program::Wrk,
    requests: None,
    connections: 10,
    threads: Some(2),
    go: false,
    with_value: &[
        ("c", "connections", Connections),
        ("d", "duration", Duration),
        ("t", "threads", Threads),
        ("R", "rate", Rate),
        ("s", "script", Request),
        ("H", "header", Request),
        ("T", "timeout", Other),
    ],
    alone: &[
        ("L", "latency", Other),
        ("U", "u_latency", Other),
        ("B", "batch_latency", Other),
        ("v", "version", Other),
    ],
    many: false,
};

pub(super) const H2LOAD: Grammar = Grammar {
    program: Program::H2load,
    requests: Some(1),
    connections: 1,
    threads: Some(1),
    go: false,
    with_value: &[
        ("n", "requests", Requests),
        ("c", "clients", Connections),
        ("t", "threads", Threads),
        ("m", "max-concurrent-streams", Streams),
        ("D", "duration", Duration),
        ("r", "rate", ConnectionRate),
        ("", "rps", RateEach),
        ("H", "header", Request),
        ("d", "data", Request),
        ("i", "input-file", List),
        ("w", "window-bits", Other),
        ("W", "connection-window-bits", Other),
        ("f", "max-frame-size", Other),
        ("p", "no-tls-proto", Other),
        ("T", "connection-active-timeout", Other),
        ("N", "connection-inactivity-timeout", Other),
        ("B", "base-uri", Base),
        ("", "connect-to", Elsewhere("--connect-to")),
    ],
    alone: &[("v", "verbose", Other), ("", "h1", Other), ("", "ktls", Other)],
    many: true,
};

pub(super) const HEY: Grammar = Grammar {
    program: Program::Hey,
    requests: Some(200),
    connections: 50,
    threads: None,
    go: true,
    with_value: &[
        ("n", "", Requests),
        ("c", "", Connections),
        ("z", "", Duration),
        ("q", "", RateEach),
        ("m", "", Request),
        ("H", "", Request),
        ("A", "", Request),
        ("d", "", Request),
        ("D", "", Request),
        ("T", "", Request),
        ("U", "", Request),
        ("a", "", Request),
        ("host", "", Host),
        ("o", "", Other),
        ("t", "", Other),
        ("x", "", Proxy),
        ("cpus", "", Other),
    ],
    alone: &[
        ("h2", "", Http2),
        ("disable-keepalive", "", NoKeepAlive),
        ("disable-compression", "", Other),
        ("disable-redirects", "", Other),
        ("more", "", Other),
    ],
    many: false,
};

pub(super) const OHA: Grammar = Grammar {
    program: Program::Oha,
    requests: Some(200),
    connections: 50,
    threads: None,
    go: false,
    with_value: &[
        ("n", "", Requests),
        ("c", "", Connections),
        ("p", "", Streams),
        ("z", "", Duration),
        ("q", "", Rate),
        ("m", "method", Request),
        ("H", "", Request),
        ("A", "", Request),
        ("d", "", Request),
        ("D", "", Request),
        ("F", "form", Request),
        ("Z", "", Request),
        ("T", "", Request),
        ("a", "", Request),
        ("t", "", Other),
        ("o", "output", Other),
        ("u", "time-unit", Other),
        ("r", "redirect", Other),
        ("x", "proxy", Proxy),
        ("", "host", Host),
        ("", "connect-to", Elsewhere("--connect-to")),
        ("", "unix-socket", Elsewhere("--unix-socket")),
        ("", "burst-delay", BurstDelay),
        ("", "burst-rate", BurstSize),
    ],
    alone: &[
        ("w", "wait-ongoing-requests-after-deadline", Other),
        ("", "http2", Http2),
        ("", "no-tui", Other),
        ("", "no-color", Other),
        ("", "disable-color", Other),
        ("", "disable-keepalive", NoKeepAlive),
        ("", "disable-compression", Other),
        ("", "latency-correction", Other),
        ("", "rand-regex-url", Pattern),
        ("", "urls-from-file", Listed),
        ("", "no-pre-lookup", Other),
        ("", "insecure", Other),
        ("", "ipv4", Other),
        ("", "ipv6", Other),
        ("", "stats-success-breakdown", Other),
        ("j", "json", Other),
    ],
    many: true,
};

pub(super) const BOMBARDIER: Grammar = Grammar {
    program: Program::Bombardier,
    requests: None,
    connections: 125,
    threads: None,
    go: false,
    with_value: &[
        ("c", "connections", Connections),
        ("n", "requests", Requests),
        ("d", "duration", Duration),
        ("r", "rate", Rate),
        ("m", "method", Request),
        ("b", "body", Request),
        ("f", "body-file", Request),
        ("H", "header", Request),
        ("t", "timeout", Other),
        ("p", "print", Other),
        ("o", "format", Other),
        ("", "cert", Other),
        ("", "key", Other),
    ],
    alone: &[
        ("l", "latencies", Other),
        ("k", "insecure", Other),
        ("s", "stream", Other),
        ("a", "disableKeepAlives", NoKeepAlive),
        ("q", "no-print", Other),
        ("", "fasthttp", Other),
        ("", "http1", Other),
        ("", "http2", Http2),
    ],
    many: false,
};

pub(super) const SIEGE: Grammar = Grammar {
    program: Program::Siege,
    requests: None,
    connections: 25,
    threads: None,
    go: false,
    with_value: &[
        ("c", "concurrent", Connections),
        ("r", "reps", Other),
        ("t", "time", Duration),
        ("d", "delay", Other),
        ("f", "file", List),
        ("H", "header", Request),
        ("A", "user-agent", Request),
        ("T", "content-type", Request),
        ("R", "rc", Other),
        ("m", "mark", Other),
    ],
    alone: &[
        ("b", "benchmark", WithoutPauses),
        ("i", "internet", Other),
        ("q", "quiet", Other),
        ("v", "verbose", Other),
        ("j", "json-output", Other),
        ("g", "get", Other),
        ("p", "print", Other),
        ("l", "log", Other),
        ("N", "no-follow", Other),
        ("", "no-parser", Other),
    ],
    many: false,
};

pub(super) const VEGETA: Grammar = Grammar {
    program: Program::Vegeta,
    requests: None,
    connections: 0,
    threads: None,
    go: true,
    with_value: &[
        ("rate", "", Rate),
        ("duration", "", Duration),
        ("body", "", Request),
        ("header", "", Request),
    ],
    alone: &[
        ("http2", "", Other),
        ("h2c", "", Other),
        ("insecure", "", Other),
        ("keepalive", "", Other),
        ("lazy", "", Other),
        ("chunked", "", Other),
        ("session-tickets", "", Other),
    ],
    many: true,
};
