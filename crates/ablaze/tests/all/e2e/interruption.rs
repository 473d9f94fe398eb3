//! Ctrl-C, SIGTERM, readers that go away and disks that are full: what was measured is kept.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_testing::hostile::{Behaviour, Hostile};
use rustix::process::Signal;
use serde_json::Value;
use socket2::{Domain, SockAddr, Socket, Type};

use ablaze_testing::{Bounded, Running};

use crate::e2e::support::{BACKENDS, Ran, Scratch, command, eventually, run, serve, start, url};

fn signal(child: &Running, name: &str) {
    child.signal(if name == "-INT" { Signal::INT } else { Signal::TERM });
}

/// Ends a run by a signal once something holds; it has little time to end.
fn interrupt(words: &[&str], name: &str, ready: impl FnMut() -> bool) -> Ran {
    let child = start(&mut command(words));
    assert!(eventually(ready), "{words:?}: nothing arrives");
    signal(&child, name);
    let asked = Instant::now();
    let ran = child.end();
    assert!(asked.elapsed() < Duration::from_secs(20), "{words:?}: {:?}", asked.elapsed());
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    ran
}

#[test]
fn what_was_measured_is_printed_and_kept() {
    for io in BACKENDS {
        for name in ["-INT", "-TERM"] {
            let server = serve();
            let target = url(&server, "/");
            let kept = Scratch::new(&format!("interrupted{name}-{io}.json"));
            let words = [&target, "-d60", "-o", kept.word(), "--io", io];
            let ran = interrupt(&words, name, || server.served().requests > 100);
            assert_eq!(ran.status, 130, "{ran:?}");
            assert!(
                ran.stdout.contains(" responses in ") && ran.stdout.contains(" requests/s "),
                "{ran:?}"
            );
            let json: Value = serde_json::from_slice(&std::fs::read(kept.path()).unwrap()).unwrap();
            assert_eq!(json["ended"], "interrupted");
            assert!(json["responses"].as_u64().unwrap() > 0);

            let before = server.served().requests;
            let words = ["ab", "-k", "-c4", "-t60", "-n", "100000000", "--io", io, &target];
            let ran = interrupt(&words, name, || server.served().requests > before + 100);
            assert_eq!(ran.status, 1, "{ran:?}");
            assert!(ran.stdout.contains("Complete requests:"), "{ran:?}");
        }
    }
}

/// Shells ignore SIGINT for background jobs; whoever started it so does not want it ended by the Ctrl-C that
/// is meant for another. SIGTERM is meant for it.
#[test]
fn where_sigint_was_ignored_it_stays_so_and_sigterm_ends_the_run() {
    for words in [&[][..], &["ab", "-q", "-n", "100000000"]] {
        let server = serve();
        let target = url(&server, "/");
        let shell = ["-c", "trap '' INT; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ablaze")];
        let load = [words, &["--duration", "60s", &target]].concat();
        let mut child = start(Command::new("sh").args(shell).args(load));
        assert!(eventually(|| server.served().requests > 100), "{words:?}: nothing arrives");
        child.signal(Signal::INT);
        let before = server.served().requests;
        assert!(eventually(|| server.served().requests > before + 1_000), "{words:?}: it stopped");
        assert_eq!(child.try_wait().unwrap(), None, "{words:?}: SIGINT ended it");
        child.signal(Signal::TERM);
        let ran = child.end();
        assert!(ran.took < Duration::from_secs(40), "{words:?}: {ran:?}");
        assert_eq!(ran.status, if words.is_empty() { 130 } else { 1 }, "{words:?}: {ran:?}");
    }
}

#[test]
fn a_server_that_never_answers_does_not_hold_it() {
    for io in BACKENDS {
        let server = Hostile::always(Behaviour::Hang).unwrap();
        let words = [&server.url(), "-c3", "-d60", "--io", io];
        let ran = interrupt(&words, "-INT", || server.requests() >= 3);
        assert_eq!(ran.status, 130, "{ran:?}");
        assert!(ran.stdout.contains("unfinished"), "{ran:?}");
    }
}

/// Whether a SYN to this port of 127.0.0.1 waits for its response: state 2 in /proc/net/tcp (proc(5)).
fn is_connecting_to(port: u16) -> bool {
    let remote = format!("0100007F:{port:04X}");
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    sockets.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(2);
        fields.next() == Some(remote.as_str()) && fields.next() == Some("02")
    })
}

#[test]
fn a_connection_that_is_never_accepted_does_not_hold_it() {
    for io in BACKENDS {
        // A queue of one that is full: further SYNs are dropped (listen(2)).
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        socket.bind(&SockAddr::from(any)).unwrap();
        socket.listen(0).unwrap();
        let address = TcpListener::from(socket.try_clone().unwrap()).local_addr().unwrap();
        let _first = std::net::TcpStream::connect(address).unwrap();
        let target = format!("http://{address}/");
        for words in
            [&[&target[..], "-c2", "-d60", "--io", io][..], &["ab", "-n2", "--io", io, &target]]
        {
            let ran = interrupt(words, "-INT", || is_connecting_to(address.port()));
            assert_eq!(ran.status, if words[0] == "ab" { 1 } else { 130 }, "{words:?} {ran:?}");
        }
    }
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    // After the first, the run ends and its report waits in vain for someone to read it from here.
    let pipe = Scratch::new("nobody-reads.json");
    assert!(Command::new("mkfifo").arg(pipe.path()).bounded_status().unwrap().success());
    let server = serve();
    let target = url(&server, "/");
    for words in [&[&target[..]][..], &["ab", "-q", "-n", "100000000", &target]] {
        let (front, operand) = words.split_at(words.len() - 1);
        let options = ["--duration", "60s", "--output", pipe.word()];
        let before = server.served().requests;
        let mut child = start(&mut command(&[front, &options, operand].concat()));
        // A report of a run that is ended before its first response has no line of responses.
        assert!(eventually(|| server.served().requests > before + 1000));
        // timeout(1) sends a signal to its child and to its process group: twice to us, for one wish.
        signal(&child, "-INT");
        signal(&child, "-INT");
        // What is printed comes in front of what is kept.
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !(line.contains("responses ") || line.contains("Complete requests:")) {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "{words:?}: no report");
        }
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(child.try_wait().unwrap(), None, "{words:?}: nobody reads the pipe");
        signal(&child, "-INT");
        let asked = Instant::now();
        let ended = eventually(|| child.try_wait().unwrap().is_some());
        if !ended {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        assert!(ended && asked.elapsed() < Duration::from_secs(20), "{words:?}: {asked:?}");
        assert_eq!(status.code(), Some(130), "{words:?}");
    }
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let server = serve();
    let target = url(&server, "/");
    for words in [
        &[&target[..], "-n", "100"][..],
        &[&target, "-n", "100", "--json"],
        &["ab", "-n", "100", &target],
        &["ab", "-w", "-n", "100", &target],
        &["gurl", "-an", "100", "-bench", &target],
        &["--help"],
        &["load", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = command(words).stdout(writer).stderr(Stdio::piped()).start().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked") && !stderr.contains("pipe"), "{words:?}: {stderr}");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {stderr}");
    }
}

#[test]
fn a_full_disk_is_told_in_one_line() {
    let server = serve();
    let target = url(&server, "/");
    for words in [
        &[&target[..], "-n", "100"][..],
        &[&target, "-n", "100", "--json"],
        &["ab", "-q", "-n", "100", &target],
        &["ab", "-q", "-w", "-n", "100", &target],
        &["gurl", "-an", "100", "-bench", &target],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = command(words).stdout(full).stderr(Stdio::piped()).start().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
    }
    for option in ["-e", "-g"] {
        let ran = run(&mut command(&["ab", "-q", "-n100", option, "/dev/full", &target]));
        assert!(ran.status == 1 && ran.stdout.contains("Complete requests:"), "{option}: {ran:?}");
    }
}
