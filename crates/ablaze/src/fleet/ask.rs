//! A short command, asked for what it prints: kubectl and docker, beside the processes that reach the workers.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_model::printable::printable;
use ablaze_sys::group::{has_ended, kill_group};

/// How often it is looked whether the command has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Of what it prints, so many bytes are read.
const PRINTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a command prints that reads this, if it succeeds and ends in time. It has a process group of its own: Ctrl-C is this
/// program's.
///
/// # Errors
/// When it cannot be started, fails, or takes longer: why, as far as it says so itself.
pub fn ask(command: &mut Command, input: &str, longest: Duration) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn();
    let mut child = child.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let (stdin, input) = (child.stdin.take(), input.to_owned());
    // One that does not read its input ends, or is ended.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let printed = child.stdout.take().map(reading);
    let said = child.stderr.take().map(reading);
    let until = Instant::now() + longest;
    while !has_ended(child.id()) && Instant::now() < until {
        std::thread::sleep(LOOK_EVERY);
    }
    let in_time = has_ended(child.id());
    // Whatever of it is left holds up nobody.
    kill_group(child.id());
    let status = child.wait().map_err(|error| format!("`{program}` was lost: {error}"))?;
    let text = |thread: Option<std::thread::JoinHandle<String>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    let (printed, said) = (text(printed), text(said));
    match (in_time, status.success()) {
        (false, _) => Err(format!("`{program}` did not answer within {} s", longest.as_secs())),
        (true, true) => Ok(printed),
        (true, false) => Err(match last_line(&said) {
            Some(line) => printable(&line).into_owned(),
            None => format!("`{program}` ended with {status}"),
        }),
    }
}

/// The last line that says why a program failed.
pub fn last_line(said: &str) -> Option<String> {
    // Docker's client ends with where its help is.
    let is_hint = |line: &str| line.starts_with("Run 'docker ") || line.starts_with("See 'docker ");
    let mut lines = said.lines().rev().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !is_hint(line))?;
    Some(line.strip_prefix("ablaze: ").unwrap_or(line).to_owned())
}

fn reading(from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.take(PRINTED_BYTES_MAX).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str, input: &str, longest: Duration) -> Result<String, String> {
        ask(Command::new("sh").args(["-c", script]), input, longest)
    }

    #[test]
    fn what_a_command_prints_or_why_it_fails() {
        let longest = Duration::from_secs(30);
        assert_eq!(asked("tr a-z A-Z", "abc", longest), Ok("ABC".to_owned()));
        let refused = asked("echo first >&2; echo 'no right' >&2; echo >&2; exit 1", "", longest);
        assert_eq!(refused, Err("no right".to_owned()));
        assert!(asked("exit 3", "", longest).unwrap_err().contains("exit status: 3"));
        let late = asked("sleep 60 & sleep 60", "", Duration::from_millis(50)).unwrap_err();
        assert!(late.contains("did not answer"), "{late}");
        assert!(ask(&mut Command::new("/no/such"), "", longest).unwrap_err().contains("started"));
    }

    #[test]
    fn where_a_program_has_its_help_is_not_why_it_failed() {
        let said = "docker: no such image.\n\nRun 'docker run --help' for more information\n";
        assert_eq!(last_line(said).as_deref(), Some("docker: no such image."));
    }
}
