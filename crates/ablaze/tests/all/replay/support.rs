//! The command, and a folder for each test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ablaze_testing::Bounded;

/// No replay takes so long unless something hangs.
const LONGEST: Duration = Duration::from_secs(900);

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The command, in a folder, its output kept.
pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub fn said(command: &mut Command) -> Said {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.start_for(LONGEST).unwrap().wait_with_output().unwrap();
    Said {
        status: output.status.code().expect("not killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `ablaze` to its end, in a folder.
pub fn ablaze(folder: &Path, words: &[&str]) -> Said {
    said(&mut command(folder, words))
}

/// An empty folder for one test.
pub fn scratch(test: &str) -> PathBuf {
    ablaze_testing::scratch::kept(env!("CARGO_TARGET_TMPDIR"), &format!("replay-{test}"))
}

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
