//! ab as the tester of an experiment's row: the words of a native load become ab's, and what ab
//! prints becomes a [`PrintedRun`].

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ablaze_lab::experiment::{Failure, PrintedRun};
use ablaze_lab::subject::spawn_on;
use ablaze_report::shown_command::without_secrets;
use ablaze_report::system_error::reason;

use crate::carry_out::interrupted;
use crate::values;

/// ab keeps 40 bytes for each request that may come: so many per second are more than it makes.
const MOST_PER_S: u64 = 200_000;
/// How often its end is looked for.
const TICK: Duration = Duration::from_millis(5);

/// ab's words for a native load.
///
/// # Errors
/// An option that ab has nothing like.
pub fn words(options: &[String]) -> Result<Vec<String>, String> {
    let (mut words, mut kept) = (Vec::new(), true);
    let (mut requests, mut duration_s, mut connections) = (None, None, "50".to_owned());
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().cloned().unwrap_or_default();
        match option.as_str() {
            "--connections" => connections = value(),
            "--requests" => requests = Some(value()),
            "--duration" => {
                duration_s = Some(values::duration_ns(&value())?.div_ceil(1_000_000_000));
            }
            "--no-keepalive" => kept = false,
            "--header" => words.extend(["-H".to_owned(), value()]),
            // All that ab speaks.
            "--http" if value() == "1.0" => {}
            other => return Err(format!("{other}: ab has nothing like it")),
        }
    }
    let count = |text: &String| values::count(text).map(|count| count.to_string());
    words.splice(0..0, ["-q".to_owned(), "-c".to_owned(), count(&connections)?]);
    if kept {
        words.push("-k".to_owned());
    }
    if let Some(seconds) = duration_s {
        // In this order: -t sets the number of requests back to 50,000.
        let most = requests.clone().unwrap_or_else(|| (seconds * MOST_PER_S).to_string());
        words.extend(["-t".to_owned(), seconds.to_string(), "-n".to_owned(), count(&most)?]);
    } else if let Some(requests) = requests {
        words.extend(["-n".to_owned(), count(&requests)?]);
    }
    Ok(words)
}

/// Has ab load the URL.
///
/// # Errors
/// When it cannot be asked for this, is not installed, or was interrupted.
pub fn run(
    url: &str,
    options: &[String],
    cpus: &[u32],
    server: &dyn Fn() -> Option<u64>,
) -> Result<PrintedRun, Failure> {
    let words = words(options).map_err(Failure::Impossible)?;
    let scratch = Scratch::new("percentiles.csv");
    let mut asked = Command::new("ab");
    asked.args(&words).arg("-e").arg(&scratch.0).arg(url);
    let command_line = ["ab".to_owned()].into_iter().chain(words).chain([url.to_owned()]).collect();
    let mut run = finished(asked, command_line, cpus, server)?;
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
    let tester_cpu_ns = used(cpu_before, ablaze_sys::usage::ended_children_cpu_ns());
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
        tester_cpu_ns,
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

    fn of(options: &str) -> Result<String, String> {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        words(&options).map(|words| words.join(" "))
    }

    #[test]
    fn a_load_in_the_words_of_ab() {
        let close = "--connections 1k --requests 100k --no-keepalive --http 1.0";
        assert_eq!(of(close).unwrap(), "-q -c 1000 -n 100000");
        assert_eq!(of("--duration 1500ms").unwrap(), "-q -c 50 -k -t 2 -n 400000");
        assert_eq!(of("--duration 3s --requests 10").unwrap(), "-q -c 50 -k -t 3 -n 10");
        for unknown in ["--rate 5", "--http 1.1", "--threads 2"] {
            assert!(of(unknown).unwrap_err().contains("ab has nothing like it"), "{unknown}");
        }
    }

    #[test]
    fn percentiles_are_read_from_what_ab_writes() {
        let csv = "Percentage served,Time in ms\n0,0.101\n50,0.674\n99,1.250\n";
        assert_eq!(percentiles(csv), [(0.0, 0.101), (50.0, 0.674), (99.0, 1.25)]);
    }
}
