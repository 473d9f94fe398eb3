//! Peak memory: bounded per connection, and not growing with the number of requests.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use ablaze_testing::skip::{long_tests, skip};

use ablaze_testing::{Bounded, Running};

use crate::e2e::support::{BACKENDS, Ran, Scratch, command, number, serve, start, url};

const MIB: u64 = 1 << 20;

/// Runs the command; also gives the most memory it ever held, bytes.
fn watched(words: &[&str]) -> (Ran, u64) {
    let child = start(&mut command(words));
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut peak = 0;
        // VmHWM is the peak so far (proc_pid_status(5)); a process that has ended has none.
        while let Some(bytes) = peak_bytes(&status) {
            peak = bytes;
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        peak
    });
    let ran = child.end();
    (ran, watch.join().unwrap())
}

fn peak_bytes(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// `ablaze serve` as a process of its own, so that it has descriptors of its own.
struct Served {
    _process: Running,
}

impl Served {
    fn start() -> (Self, String) {
        Self::start_with(&[])
    }

    fn start_with(more: &[&str]) -> (Self, String) {
        let words = [&["serve", "0", "--quiet"], more].concat();
        let mut child = command(&words).stdout(Stdio::piped()).start().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http")).unwrap();
        (Self { _process: child }, url.to_owned())
    }
}

#[test]
fn ten_thousand_connections_take_less_than_96_mib() {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    if hard.is_some_and(|hard| hard < 10_100) {
        return skip(&format!(
            "10,000 connections need more than the {hard:?} descriptors allowed"
        ));
    }
    for io in BACKENDS {
        let (_served, target) = Served::start();
        let words = [&target, "-n", "40000", "-c10000", "-t1", "--json", "--io", io];
        let (ran, peak) = watched(&words);
        println!("{io}: {} MiB", peak / MIB);
        assert_eq!(ran.status, 0, "{io}: {}", ran.stderr);
        assert_eq!(number(&ran.json(), "/succeeded"), 40_000, "{io}");
        assert!(peak > 0 && peak < 96 * MIB, "{io}: {} MiB", peak / MIB);
    }
}

/// Once as it is read, and once as a part of the request that all connections send.
#[test]
fn a_file_that_is_sent_is_in_memory_twice_at_most() {
    const FILE_BYTES: u64 = 64 * MIB;
    let file = Scratch::with("sent", &vec![b'x'; FILE_BYTES as usize]);
    let (body, form) = (format!("@{}", file.word()), format!("f=@{}", file.word()));
    let plain = ["--http", "2"];
    let secure = ["--http", "3", "--tls"];
    for (version, server) in [("1.1", &plain[..]), ("2", &plain), ("2", &secure), ("3", &secure)] {
        let (_served, target) = Served::start_with(server);
        let target = format!("{target}echo");
        let insecure: &[&str] = if target.starts_with("https") { &["-k"] } else { &[] };
        for (option, value) in [("-b", &body), ("-F", &form)] {
            let own = [&target, "-n2", "-c2", "-t1", option, value, "--http", version, "--json"];
            let (ran, peak) = watched(&[&own[..], insecure].concat());
            assert_eq!(ran.status, 0, "{version} {option}: {}", ran.stderr);
            assert_eq!(number(&ran.json(), "/succeeded"), 2, "{version} {option}");
            let most = 2 * FILE_BYTES + 48 * MIB;
            assert!(peak > FILE_BYTES && peak < most, "{version} {option}: {} MiB", peak / MIB);
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    // Pipelined, because that is the fastest way to many requests.
    let requests = if long_tests() { "10000000" } else { "1000000" };
    for io in BACKENDS {
        let server = serve();
        let target = url(&server, "/");
        let words =
            [&target, "-n", requests, "-c50", "--pipeline", "16", "-t1", "--json", "--io", io];
        let (ran, peak) = watched(&words);
        println!("{io}: {} MiB in {:?}", peak / MIB, ran.took);
        assert_eq!(number(&ran.json(), "/succeeded").to_string(), requests, "{io}");
        assert!(peak > 0 && peak < 64 * MIB, "{io}: {} MiB", peak / MIB);
    }
}
