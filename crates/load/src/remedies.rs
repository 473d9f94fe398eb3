//! What findings advise, in the terms of this crate: diagnoses name the options of the command, whoever uses this crate
//! has the setters of [`Load`](crate::Load) and the fields of its `LoadSpec`.

use ablaze_verdict::Finding;

/// Options of the command, and what they are here. One that begins as another comes before it.
const OPTIONS: &[(&str, &str)] = &[
    ("--requests-per-connection", "`connections.requests_per_connection` of the LoadSpec"),
    ("--no-keepalive", "keep_alive(false)"),
    ("--connections", "connections()"),
    ("--requests", "requests()"),
    ("--duration", "duration()"),
    ("--threads", "threads()"),
    ("--warmup", "warmup()"),
    ("--timeout", "timeout()"),
    ("--expect", "expect()"),
    ("--rate", "rate_per_s()"),
    ("--streams", "in_flight_per_connection()"),
    ("--pipeline", "in_flight_per_connection()"),
    ("--http 1.1", "http(HttpVersion::Http11)"),
    ("--ramp", "`connections.ramp_ns` of the LoadSpec"),
    ("--no-repeat", "`connections.repeat` of the LoadSpec"),
    ("--local-address", "`connections.local_addresses` of the LoadSpec"),
    ("--io", "`workers.io` of the LoadSpec"),
];

/// The finding with its cause and its fix in the terms of this crate.
pub(crate) fn in_setters(mut finding: Finding) -> Finding {
    finding.cause = translated(&finding.cause);
    finding.fix = translated(&finding.fix);
    finding
}

/// Options in the text, but not those in commands that are quoted, such as `curl --http1.1`.
fn translated(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| {
        let is_command = number % 2 == 1 && !part.starts_with("--");
        if is_command || !part.contains("--") {
            return part.to_owned();
        }
        OPTIONS.iter().fold(part.to_owned(), |part, (option, here)| {
            // Within quotes already.
            let here = if number % 2 == 1 { here.replace('`', "") } else { (*here).to_owned() };
            part.replace(option, &here)
        })
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::translated;

    #[test]
    fn options_become_setters_and_quoted_commands_stay() {
        for (said, here) in [
            (
                "If intended, give their status with --expect.",
                "If intended, give their status with expect().",
            ),
            ("More threads (--threads), or a machine.", "More threads (threads()), or a machine."),
            (
                "Use `--io epoll` or `--threads 1`.",
                "Use `workers.io of the LoadSpec epoll` or `threads() 1`.",
            ),
            (
                "See `curl --http2 --connect-to ::a http://b/`.",
                "See `curl --http2 --connect-to ::a http://b/`.",
            ),
            (
                "Close with --no-keepalive; start with --ramp.",
                "Close with keep_alive(false); start with `connections.ramp_ns` of the LoadSpec.",
            ),
        ] {
            assert_eq!(translated(said), here);
        }
    }
}
