//! `ablaze demo`: a server, a few seconds of load, the report, a journey in a line, two servers compared, and what to
//! try next. The server is a process of its own, as a real target is, so that its CPU time is not the client's.

mod journey;

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{CommandFactory, Parser};

use crate::{CommandError, terminal, usage, values};

/// Runs a command by name.
type Run = fn(&str, &[OsString]) -> ExitCode;

/// The command line of `ablaze demo`.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze demo",
    bin_name = "ablaze demo",
    about = "Start a server, load it and show the report; walk a journey; compare two servers.",
    disable_version_flag = true,
    max_term_width = 100
)]
struct CommandLine {
    /// Length of the run
    #[arg(short, long, value_name = "TIME", value_parser = values::duration_ns, default_value = "3s")]
    duration: u64,
    /// Connections
    #[arg(short, long, value_name = "N", value_parser = values::small_count, default_value = "50")]
    connections: u32,
}

/// Two that differ in one thing: how fibers are switched, by a system call or by ten instructions.
const COMPARED: [&str; 2] = ["serve:fiber-ucontext", "serve:fiber-asm"];
/// As many runs of each as an interval needs.
const REPEATS: &str = "6";
/// Longest of these runs: with the first one, the demo takes less than 20 s.
const MOST_NS: u64 = 1_000_000_000;

const WHAT_NEXT: &str = "
What to try next:
  ablaze serve                        the same server, on http://127.0.0.1:8080/
  ablaze :8080/                       load it, in another terminal
  ablaze -c 1 :8080/                  one connection: the latency of an idle server
  ablaze --no-keepalive :8080/        a new connection for every request
  ablaze ab -kc 100 -n 100000 http://127.0.0.1:8080/     ab's options and ab's report
  ablaze serve --app shop             a shop for journeys: docs/journeys.md
  ablaze compare --start 'mine=./server -p {port}' --control nginx     your server against nginx
  ablaze serve --help                 bodies of any size, other statuses, delays, /echo
";

/// Its options.
pub fn command() -> clap::Command {
    CommandLine::command()
}

/// Runs `ablaze demo` with the words behind `demo`.
///
/// `run` runs another command of this program, by its name and the words after it.
pub fn main(arguments: &[OsString], run: Run) -> ExitCode {
    let line = match usage::parsed::<CommandLine>("demo", arguments) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let target = match Target::start() {
        Ok(target) => target,
        Err(error) => return error.report(),
    };
    let words = [
        "--connections".to_owned(),
        line.connections.to_string(),
        "--duration".to_owned(),
        format!("{}ns", line.duration),
        target.url.clone(),
    ];
    terminal::print(&format!(
        "$ ablaze -c {} -d {:?} {}\n\n",
        line.connections,
        Duration::from_nanos(line.duration),
        target.url
    ));
    let status = run("load", &words.map(OsString::from));
    if status != ExitCode::SUCCESS {
        return status;
    }
    let longest = Duration::from_nanos(line.duration);
    match journey::walked(&target.url, line.connections, longest) {
        Ok(text) => terminal::print(&format!("\n{}\n{text}", journey::TITLE)),
        Err(error) => return CommandError::from(error).report(),
    };
    drop(target);
    let status = compared(&line, run);
    terminal::print(WHAT_NEXT);
    status
}

/// Two models against each other, with a page.
fn compared(line: &CommandLine, run: Run) -> ExitCode {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let name = format!("ablaze-demo-{}-{since_1970}", std::process::id());
    let length = Duration::from_nanos(line.duration.min(MOST_NS));
    let (length, connections) = (format!("{length:?}"), line.connections.to_string());
    let words = ["-c", &connections, "-d", &length, "--repeat", REPEATS];
    terminal::print(&format!("\n$ ablaze compare {} {}\n\n", COMPARED.join(" "), words.join(" ")));
    let words = COMPARED.into_iter().chain(words).map(OsString::from);
    let folder = [OsString::from("--folder"), std::env::temp_dir().join(name).into()];
    run("compare", &words.chain(folder).collect::<Vec<_>>())
}

/// The server's process. It ends when its standard input does: here when this is dropped, and,
/// because the kernel closes the pipe, also when this process ends in any other way.
struct Target {
    process: Child,
    url: String,
}

impl Target {
    /// Starts it and waits until it listens.
    fn start() -> Result<Self, CommandError> {
        let program = std::env::current_exe()
            .map_err(|error| refusal(&format!("cannot find ablaze's own executable: {error}")))?;
        let mut process = Command::new(program)
            .args(["serve", "127.0.0.1:0", "--app", "shop", "--quiet", "--stop-with-stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C on the terminal is for the client; the server follows it.
            .process_group(0)
            .spawn()
            .map_err(|error| refusal(&format!("cannot start a process: {error}")))?;
        let mut ready = String::new();
        if let Some(stdout) = process.stdout.take() {
            // Fails as an end of the stream does: with no address.
            let _ = BufReader::new(stdout).read_line(&mut ready);
        }
        let url = ready.split_whitespace().find(|word| word.starts_with("http://"));
        let target = Self { url: url.unwrap_or_default().to_owned(), process };
        match target.url.is_empty() {
            false => Ok(target),
            true => Err(refusal("it exited before it was ready; `ablaze serve :0` says why")),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It takes at most a second for responses in progress.
        let timeout = Instant::now() + Duration::from_secs(3);
        while let Ok(None) = self.process.try_wait() {
            if Instant::now() > timeout {
                // A child that was not waited for keeps its number, so this hits no one else.
                let _ = self.process.kill().and_then(|()| self.process.wait());
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn refusal(why: &str) -> CommandError {
    CommandError::machine(format!("cannot start the demo's server: {why}"))
}
