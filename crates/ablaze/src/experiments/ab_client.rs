//! ab as the client of an experiment's row: what a load asks for becomes ab's words, and what ab
//! prints becomes a [`PrintedRun`].

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ablaze_lab::experiment::{Failure, PrintedRun};
use ablaze_lab::target::spawn_on;
use ablaze_model::LoadSpec;
use ablaze_model::spec::{Head, HttpVersion, Line, Secrets, TlsSpec};
use ablaze_report::shown_command::without_secrets;
use ablaze_report::system_error::reason;

use crate::carry_out::interrupted;

/// ab allocates 40 bytes for each request of `-n`; it never reaches this many per second.
const MOST_PER_S: u64 = 200_000;
/// How often its end is looked for.
const TICK: Duration = Duration::from_millis(5);

/// ab's words for a load.
///
/// # Errors
/// The load uses an option that ab has no equivalent for, or a secret is missing.
pub fn words(load: &LoadSpec, secrets: &Secrets) -> Result<Vec<String>, String> {
    if let Some((option, _)) = beyond_ab(load).into_iter().find(|(_, asked)| *asked) {
        return Err(format!("{option}: ab has no equivalent"));
    }
    let connections = load.closed_connections();
    let mut words = vec!["-q".to_owned(), "-c".to_owned(), connections.to_string()];
    if let Head::Composed { lines, .. } = &load.requests.head {
        for line in lines {
            let text = match line {
                Line::Text(line) => String::from_utf8_lossy(&line.0).into_owned(),
                Line::Secret(of) => {
                    secrets.text(of).map_err(|missing| missing.to_string())?.to_owned()
                }
                Line::BodyLength(_) => continue,
            };
            words.extend(["-H".to_owned(), text]);
        }
    }
    if load.connections.keep_alive {
        words.push("-k".to_owned());
    }
    let duration_s = load.limits.duration_ns.map(|ns| ns.div_ceil(1_000_000_000));
    if let Some(seconds) = duration_s {
        // In this order: -t sets the number of requests back to 50,000.
        let most = load.limits.requests.unwrap_or(seconds * MOST_PER_S);
        words.extend(["-t", &seconds.to_string(), "-n", &most.to_string()].map(str::to_owned));
    } else if let Some(requests) = load.limits.requests {
        words.extend(["-n".to_owned(), requests.to_string()]);
    }
    Ok(words)
}

/// Options of `ablaze load` that ab has no equivalent for, and whether each is used.
fn beyond_ab(load: &LoadSpec) -> [(&'static str, bool); 28] {
    let usual = LoadSpec::default();
    let LoadSpec { destination, requests, limits, connections, workers, .. } = load;
    let (content_type, user) = match &requests.head {
        Head::Composed { content_type, user, .. } => (content_type.is_some(), user.is_some()),
        Head::Verbatim { .. } => (true, true),
    };
    [
        ("--rate", load.shape.is_open()),
        ("--http", !matches!(load.http, None | Some(HttpVersion::Http10))),
        ("--pipeline", load.in_flight != 1),
        ("--warmup", limits.warmup_ns != 0),
        ("--timeout", limits.timeout_ns != usual.limits.timeout_ns),
        ("--max-head", limits.max_head_bytes != usual.limits.max_head_bytes),
        ("--ramp", connections.ramp_ns != 0),
        ("--requests-per-connection", connections.requests_per_connection.is_some()),
        ("--close", connections.close != usual.connections.close),
        ("--no-repeat", !connections.repeat),
        ("--local-address", !connections.local_addresses.is_empty()),
        ("--local-ports", connections.local_ports.is_some()),
        ("--connect-to", !destination.connect_to.is_empty()),
        ("--unix-socket", destination.unix_socket.is_some()),
        ("--proxy", destination.proxy.is_some()),
        ("--ipv4 and --ipv6", destination.family != usual.destination.family),
        ("--threads", workers.threads.is_some()),
        ("--cpus", !workers.cpus.is_empty()),
        ("--io and --spin", (workers.io, workers.spin) != (usual.workers.io, usual.workers.spin)),
        ("--method", requests.method.is_some()),
        ("--body", requests.bodies != usual.requests.bodies),
        ("--urls", requests.urls.is_some()),
        ("--feed", requests.data.is_some()),
        ("--journey", requests.journey.is_some()),
        ("--content-type", content_type),
        ("--user", user),
        ("--expect", load.expect != usual.expect),
        ("TLS", load.tls != usual.tls),
    ]
}

/// Has ab do what a load asks for that is aimed at a target.
///
/// # Errors
/// When it cannot be asked for this, is not installed, or was interrupted.
pub fn run(
    load: &LoadSpec,
    secrets: &Secrets,
    server: &dyn Fn() -> Option<u64>,
) -> Result<PrintedRun, Failure> {
    let mut whatever_target = load.clone();
    // What aiming adds: where its process runs, and whom it would trust if it looked.
    let cpus = std::mem::take(&mut whatever_target.workers.cpus);
    whatever_target.tls = TlsSpec::default();
    let words = words(&whatever_target, secrets).map_err(Failure::Impossible)?;
    let url = load.destination.url.as_ref().map(|url| url.shown.clone()).unwrap_or_default();
    let scratch = Scratch::new("percentiles.csv");
    let mut asked = Command::new("ab");
    asked.args(&words).arg("-e").arg(&scratch.0).arg(&url);
    let command_line = ["ab".to_owned()].into_iter().chain(words).chain([url]).collect();
    let mut run = finished(asked, command_line, &cpus, server)?;
    run.percentiles_ms = percentiles(&std::fs::read_to_string(&scratch.0).unwrap_or_default());
    Ok(run)
}

/// Runs another program to its end and keeps what it prints on its standard output, and behind it
/// what it said on the other stream. Ctrl-C ends it.
///
/// # Errors
/// When it cannot be started, or was interrupted.
pub fn finished(
    mut command: Command,
    command_line: Vec<String>,
    cpus: &[u32],
    server: &dyn Fn() -> Option<u64>,
) -> Result<PrintedRun, Failure> {
    let impossible = |error: std::io::Error| {
        Failure::Impossible(format!("{}: {}", command_line[0], reason(&error)))
    };
    let (out, err) = (Scratch::new("out"), Scratch::new("err"));
    command.stdin(Stdio::null());
    command.stdout(File::create(&out.0).map_err(impossible)?);
    command.stderr(File::create(&err.0).map_err(impossible)?);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (cpu_before, server_before) = (ablaze_sys::usage::ended_children_cpu_ns(), server());
    let began = Instant::now();
    let mut child = spawn_on(cpus, command).map_err(impossible)?;
    let status = awaited(&mut child).map_err(impossible)?;
    let lived_ns = began.elapsed().as_nanos() as u64;
    let used = |before: Option<u64>, after: Option<u64>| after?.checked_sub(before?);
    let server_cpu_ns = used(server_before, server());
    let client_cpu_ns = used(cpu_before, ablaze_sys::usage::ended_children_cpu_ns());
    if status.is_none() {
        return Err(Failure::Interrupted);
    }
    let text = |path: &Path| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    };
    Ok(PrintedRun {
        command_line: without_secrets(command_line),
        printed: text(&out.0) + &text(&err.0),
        percentiles_ms: Vec::new(),
        started_unix_ns: since_1970.as_nanos() as u64,
        lived_ns,
        client_cpu_ns,
        server_cpu_ns,
    })
}

/// Waits for the end of a child; `None` when it was ended by Ctrl-C.
fn awaited(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((!interrupted()).then_some(status));
        }
        if interrupted() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}

/// What ab's `-e` writes: `50,0.674`.
fn percentiles(csv: &str) -> Vec<(f64, f64)> {
    let line = |line: &str| {
        let (percent, ms) = line.split_once(',')?;
        Some((percent.trim().parse().ok()?, ms.trim().parse().ok()?))
    };
    csv.lines().filter_map(line).collect()
}

/// A file of this process alone, which goes away again.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ablaze-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native;

    fn of(options: &str) -> Result<String, String> {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        let mut secrets = Secrets::default();
        let load = native::of_words(&options, &mut secrets).unwrap();
        words(&load, &secrets).map(|words| words.join(" "))
    }

    #[test]
    fn a_load_in_the_words_of_ab() {
        let close = "--connections 1k --requests 100k --no-keepalive --http 1.0";
        assert_eq!(of(close).unwrap(), "-q -c 1000 -n 100000");
        assert_eq!(of("--duration 1500ms").unwrap(), "-q -c 50 -k -t 2 -n 400000");
        assert_eq!(of("--duration 3s --requests 10").unwrap(), "-q -c 10 -k -t 3 -n 10");
        assert_eq!(of("--header Cookie:a=b -n 1").unwrap(), "-q -c 1 -H Cookie:a=b -k -n 1");
        for unknown in ["--rate 5", "--http 1.1", "--threads 2", "--body x", "--insecure"] {
            assert!(of(unknown).unwrap_err().contains("ab has no equivalent"), "{unknown}");
        }
    }

    #[test]
    fn percentiles_are_read_from_what_ab_writes() {
        let csv = "Percentage served,Time in ms\n0,0.101\n50,0.674\n99,1.250\n";
        assert_eq!(percentiles(csv), [(0.0, 0.101), (50.0, 0.674), (99.0, 1.25)]);
    }
}
