//! The command, and a folder for each test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ablaze_testing::Bounded;

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(words).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `ablaze` to its end, in a folder.
pub fn ablaze(folder: &Path, words: &[&str]) -> Said {
    said(command(folder, words).bounded_output().unwrap())
}

pub fn said(output: std::process::Output) -> Said {
    Said {
        status: output.status.code().expect("not killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An empty folder for one test.
pub fn scratch(test: &str) -> PathBuf {
    ablaze_testing::scratch::kept(env!("CARGO_TARGET_TMPDIR"), &format!("experiments-{test}"))
}

/// The kept runs of a folder, by name.
pub fn runs(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("runs")) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

/// The report without the lines that name the folder.
pub fn without_folder(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("  runs ") && !line.starts_with("  page "))
        .map(|line| format!("{line}\n"))
        .collect()
}
