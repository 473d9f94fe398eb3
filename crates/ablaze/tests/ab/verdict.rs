//! What ab never says: whether its number is to be believed.

use std::process::Command;

use crate::support::{Ran, Server, run};

fn whole(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    run(command.arg("ab").args(words))
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
