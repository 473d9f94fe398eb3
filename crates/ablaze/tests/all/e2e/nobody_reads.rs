//! Outlets at whose other end is nobody: a FIFO that no one opens, a standard output that was closed.

use std::process::Command;
use std::time::Duration;

use ablaze_testing::{Bounded, Scratch as Folder};
use rustix::process::Signal;

use crate::e2e::support::{command, eventually, run, serve, start, url};

#[test]
fn one_signal_ends_the_wait_for_the_reader_of_a_fifo() {
    let folder = Folder::new("nobody-reads");
    let fifo = folder.file("fifo.json");
    assert!(Command::new("mkfifo").arg(&fifo).bounded_status().unwrap().success());
    let server = serve();
    let target = url(&server, "/");
    for (words, status) in [
        (&["-n", "10", "-o", &fifo, &target][..], 1),
        // The run ends by the signal, which the status says first, and there is no second one from timeout(1).
        (&["-d", "60s", "-o", &fifo, &target], 130),
        (&["ab", "-q", "-n", "10", "-e", &fifo, &target], 1),
        (&["ab", "-q", "-n", "10", "--output", &fifo, &target], 1),
    ] {
        let before = server.served().requests;
        let mut child = start(&mut command(words));
        assert!(eventually(|| server.served().requests >= before + 10), "{words:?}");
        // The server has answered: the responses are still to be read, and the report to be made.
        std::thread::sleep(Duration::from_millis(500));
        child.signal(Signal::TERM);
        let ended = eventually(|| child.try_wait().unwrap().is_some());
        if !ended {
            child.kill().unwrap();
        }
        let ran = child.end();
        assert!(ended, "{words:?}: {ran:?}");
        assert_eq!(ran.status, status, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("nobody reads"), "{words:?}: {ran:?}");
    }
}

#[test]
fn a_reader_that_comes_late_gets_the_report() {
    let folder = Folder::new("reads-late");
    let fifo = folder.file("fifo.json");
    assert!(Command::new("mkfifo").arg(&fifo).bounded_status().unwrap().success());
    let server = serve();
    let child = start(&mut command(&["-n", "10", "-o", &fifo, &url(&server, "/")]));
    assert!(eventually(|| server.served().requests >= 10));
    let read: serde_json::Value = serde_json::from_slice(&std::fs::read(&fifo).unwrap()).unwrap();
    assert_eq!(read["responses"], 10);
    assert_eq!(child.end().status, 0);
}

#[test]
fn a_closed_standard_output_is_told_and_costs_the_exit_status() {
    let server = serve();
    let folder = Folder::new("closed-stdout");
    let (target, kept) = (url(&server, "/"), folder.file("run.json"));
    let program = env!("CARGO_BIN_EXE_ablaze");
    for (words, status) in [
        (format!("-n 10 {target} -o {kept}"), 1),
        (format!("-n 10 {target} --json"), 1),
        (format!("ab -q -n 10 {target}"), 1),
        (format!("report {kept}"), 1),
        ("--help".to_owned(), 1),
    ] {
        let closed = run(Command::new("sh").args(["-c", &format!("exec {program} {words} >&-")]));
        assert_eq!(closed.status, status, "{words}: {closed:?}");
        assert!(closed.stderr.contains("standard output"), "{words}: {closed:?}");
        let null =
            run(Command::new("sh").args(["-c", &format!("exec {program} {words} 1<>/dev/null")]));
        assert_eq!(null.status, 0, "{words}: {null:?}");
    }
}
