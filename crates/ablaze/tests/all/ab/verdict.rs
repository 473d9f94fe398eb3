//! What ab never says: whether its number is to be believed.

use std::process::Command;

use ablaze_testing::Bounded;

use crate::ab::support::{Ran, Server};

fn whole(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.arg("ab").args(words).ran()
}

#[test]
fn ab_s_report_stays_ab_s_and_the_finding_goes_to_stderr() {
    let server = Server::answering("HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
    let url = format!("http://{}/", server.address);
    let ran = whole(&["-n50", "-c2", &url]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("D04"), "{ran:?}");
    let lines = ran.stderr.lines().filter(|line| line.starts_with("ablaze: D04 INVALID"));
    assert_eq!(lines.count(), 1, "{ran:?}");
    assert_eq!(whole(&["-n50", "-c2", "--strict", &url]).status, 4);
}

/// The beginnings of the lines of ab's own report, which scripts look for.
fn is_a_label(line: &str) -> bool {
    ["Server", "Document", "Concurrency", "Time", "Complete", "Failed", "Total", "HTML", "Requests"]
        .into_iter()
        .chain(["Transfer", "Connect", "Processing", "Waiting", "Percentage", "Non-2xx"])
        .any(|label| line.trim_start().starts_with(label))
}

#[test]
fn explained_the_rules_that_passed_speak_on_stderr_and_the_report_stays() {
    let server = Server::answering("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let url = format!("http://{}/", server.address);
    let ran = whole(&["-q", "-n600", "-c2", "--explain", &url]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("D04") && !ran.stdout.contains("ablaze:"), "{ran:?}");
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert!(said.iter().all(|line| line.starts_with("ablaze: ") && !is_a_label(line)), "{ran:?}");
    let begins = |beginning: &str| said.iter().filter(|line| line.starts_with(beginning)).count();
    assert_eq!(begins("ablaze: D04 passed error pages: The statuses of 600 responses were 200"), 1);
    assert_eq!(begins("ablaze: D02 passed no response: 0 of 600 requests"), 1, "{ran:?}");
    assert_eq!(begins("ablaze: not observable here: "), 1, "{ran:?}");
}

#[test]
fn quiet_leaves_what_makes_the_number_invalid() {
    let server = Server::answering("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let url = format!("http://{}/", server.address);
    // Too short a run.
    assert!(whole(&["-n10", &url]).stderr.contains("ablaze: D14 SUSPECT"));
    let ran = whole(&["-q", "-n10", &url]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let server = Server::answering("HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
    let ran = whole(&["-q", "-n10", &format!("http://{}/", server.address)]);
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert!(matches!(said[..], [one] if one.starts_with("ablaze: D04 INVALID")), "{ran:?}");
}

#[test]
fn a_number_that_is_read_in_part_is_told() {
    let server = Server::answering("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let ran = whole(&["-q", "-n", "10k", &format!("http://{}/", server.address)]);
    assert!(ran.stdout.contains("Complete requests:      10\n"), "{ran:?}");
    assert!(ran.stderr.starts_with("ablaze: -n 10k is 10: ab reads digits"), "{ran:?}");
}
