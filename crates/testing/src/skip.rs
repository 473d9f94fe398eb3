//! What cannot be tested here is told by name and reason, and counted: each skip is a line in the file that
//! `ABLAZE_SKIPPED` names, which `.ci/run` prints at its end, and a line on standard error otherwise.
//!
//! A test that takes long without choosing what to test is marked `#[ignore = "long: …"]` instead, which
//! cargo itself lists.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;
use std::path::PathBuf;
use std::process::Command;

use crate::process::Bounded;

/// Where the list of skips goes.
const LIST: &str = "ABLAZE_SKIPPED";

/// Records that the present test, or a part of it, was not carried out, and why.
#[track_caller]
pub fn skip(reason: &str) {
    let at = Location::caller();
    let line = skipped_line(
        std::thread::current().name(),
        &format!("{}:{}", at.file(), at.line()),
        reason,
    );
    if let Some(list) = std::env::var_os(LIST).filter(|path| !path.is_empty()) {
        let file = OpenOptions::new().create(true).append(true).open(&list);
        // One write, so that lines of tests side by side do not mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("{LIST}={}: {error}", list.display()));
    } else {
        // Past the captured output of a test that passes.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Where the test harness gave the thread the test's name, that, else the place.
fn skipped_line(thread: Option<&str>, place: &str, reason: &str) -> String {
    let reason = reason.lines().collect::<Vec<_>>().join(" ");
    match thread.filter(|name| *name != "main") {
        Some(test) => format!("skipped: {test} ({place}): {reason}\n"),
        None => format!("skipped: {place}: {reason}\n"),
    }
}

/// Skips, unless `CI` is set: there a missing tool or right is a failure.
#[track_caller]
pub fn skip_outside_ci(reason: &str) {
    assert!(!in_ci(), "{reason}; with CI set, that is a failure");
    skip(reason);
}

/// Whether `CI` is set.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Whether tests that take minutes or need a quiet machine are asked for, by `ABLAZE_LONG_TESTS=1`.
pub fn long_tests() -> bool {
    std::env::var_os("ABLAZE_LONG_TESTS").is_some_and(|value| value == "1")
}

/// The same; if not, this is recorded as a skip.
#[track_caller]
pub fn long_tests_or_skip() -> bool {
    let asked = long_tests();
    if !asked {
        skip("takes long; ABLAZE_LONG_TESTS=1 runs it");
    }
    asked
}

/// Where a program is: on the PATH, or where only root's PATH leads.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Where a program is; if it is nowhere, this is recorded as a skip, and in CI it is a failure.
#[track_caller]
pub fn installed(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        skip_outside_ci(&format!("{program} is not installed"));
    }
    found
}

/// Where a program is that only `.ci/full` installs: if it is nowhere, this is recorded as a skip, and with
/// `ABLAZE_ALL_SERVERS=1` it is a failure.
#[track_caller]
pub fn installed_if_all(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        let demanded = std::env::var_os("ABLAZE_ALL_SERVERS").is_some_and(|value| value == "1");
        assert!(!demanded, "{program} is not installed");
        skip(&format!("{program} is not installed"));
    }
    found
}

/// Where a program is that no package of the system has: whoever has it put it there. If it is nowhere, this is recorded as
/// a skip, in CI too.
#[track_caller]
pub fn installed_by_hand(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        skip(&format!("{program} is not installed, and no package has it"));
    }
    found
}

/// Whether a command runs and succeeds here, with its output thrown away.
pub fn succeeds(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).bounded_output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_that_names_the_test_the_place_and_the_reason() {
        let line = skipped_line(Some("tls::runs"), "a.rs:7", "no\nnginx");
        assert_eq!(line, "skipped: tls::runs (a.rs:7): no nginx\n");
        // With --test-threads=1 tests run on the thread `main`.
        assert_eq!(skipped_line(Some("main"), "a.rs:7", "x"), "skipped: a.rs:7: x\n");
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(find("sh").is_some());
        assert!(find("no-program-is-called-so").is_none());
    }
}
