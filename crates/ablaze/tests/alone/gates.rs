//! Two gates on what a request costs, counted exactly, so that a noisy machine cannot blur them:
//! system calls at one connection (strace), and user instructions per exchange through the
//! simulated driver (callgrind). `bench/gates` runs them alone; the figure they compare with is in
//! `bench/gates.json`.
//!
//! Where strace or valgrind is not installed a gate is skipped, unless `CI` is set. The second gate builds a
//! release inside, so it is marked as long.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ablaze_testing::skip::{in_ci, installed, skip};
use ablaze_testing::{Bounded, Running};

const REQUESTS: u64 = 10_000;
/// Waits allowed for as many requests: one each, and 2 % for starting, stopping and looking around.
const MOST_WAITS: u64 = 10_200;
/// Calls of a kind that do not belong to the exchanges: start, signals, the report.
const MOST_STRAY: u64 = 100;
/// Exchanges N of the shorter simulated run; the longer has twice as many, so that what starting
/// costs cancels out.
const EXCHANGES: u64 = 50_000;
const TOLERANCE: f64 = 0.02;
/// Longest that the release is built.
const BUILD_MAX: Duration = Duration::from_secs(1800);
/// What filling in the fields of a request may cost, of a constant request.
const PATCHED_MOST: f64 = 1.05;

#[test]
fn epoll_makes_one_send_one_receive_and_one_wait_per_request() {
    let _alone = crate::alone();
    let Some(calls) = system_calls("epoll") else { return };
    let count = |names: &[&str]| total(&calls, names);
    assert_eq!(count(&["sendto", "sendmsg", "writev"]), REQUESTS, "sends: {calls:?}");
    assert_eq!(count(&["recvfrom", "recvmsg", "readv"]), REQUESTS, "receives: {calls:?}");
    let waits = count(&["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll"]);
    assert!(waits <= MOST_WAITS, "{waits} waits, {MOST_WAITS} allowed: {calls:?}");
    let stray = count(&["read", "write", "epoll_ctl", "futex"]);
    assert!(stray <= MOST_STRAY, "{stray} stray calls, {MOST_STRAY} allowed: {calls:?}");
}

#[test]
fn io_uring_enters_the_kernel_once_per_request() {
    let _alone = crate::alone();
    let Some(calls) = system_calls("uring") else { return };
    let enters = total(&calls, &["io_uring_enter"]);
    assert!(
        (1..=MOST_WAITS).contains(&enters),
        "{enters} io_uring enters, {MOST_WAITS} allowed: {calls:?}"
    );
    let stray = total(
        &calls,
        &[
            "sendto",
            "sendmsg",
            "writev",
            "recvfrom",
            "recvmsg",
            "readv",
            "read",
            "write",
            "futex",
            "epoll_wait",
            "epoll_pwait",
            "epoll_pwait2",
            "poll",
            "ppoll",
            "io_uring_register",
        ],
    );
    assert!(stray <= MOST_STRAY, "{stray} calls beside the ring, {MOST_STRAY} allowed: {calls:?}");
}

#[test]
#[ignore = "long: builds a release; bench/gates runs it"]
fn user_instructions_per_exchange_are_what_they_were() {
    let _alone = crate::alone();
    if installed("valgrind").is_none() {
        return;
    }
    let program = build_simulated_load();
    let one = instructions_per_exchange(&program, &["1"]);
    let two = instructions_per_exchange(&program, &["2"]);
    let patched = instructions_per_exchange(&program, &["1", "patched"]);
    println!(
        "user instructions per exchange: {one:.1} with one worker, {two:.1} with two, \
         {patched:.1} with a number and eight random digits in each request"
    );
    assert!(
        (two / one - 1.0).abs() <= TOLERANCE,
        "two workers take {two:.1} user instructions per exchange, one takes {one:.1}: more than 2 % apart"
    );
    assert!(
        patched <= one * PATCHED_MOST,
        "a patched request takes {patched:.1} user instructions, a constant one {one:.1}: more than 5 % more"
    );
    if std::env::var_os("ABLAZE_RECORD_GATES").is_some() {
        return record(one);
    }
    let text =
        std::fs::read_to_string(figures_path()).expect("bench/gates.json is in the repository");
    let Some(stored) = number(&text, "user_instructions_per_exchange") else {
        panic!("bench/gates.json holds no figure; `bench/gates --record` writes one");
    };
    let change = one / stored - 1.0;
    if change.abs() <= TOLERANCE {
        return;
    }
    let compiler = compiler();
    let said = format!(
        "an exchange takes {one:.1} user instructions, {stored:.1} were recorded: {:+.1} %, and 2 % is allowed",
        change * 100.0
    );
    if !text.contains(&compiler) && !in_ci() {
        return skip(&format!("{said}; but it was recorded with another compiler than {compiler}"));
    }
    panic!(
        "{said}. If that is meant, or only the compiler changed: `bench/gates --record` ({compiler})"
    );
}

/// Calls of each system call, by all threads of a run of 10,000 requests over one connection
/// without active waiting. None when it cannot be counted here.
fn system_calls(backend: &str) -> Option<BTreeMap<String, u64>> {
    installed("strace")?;
    let server = Server::start();
    let summary = scratch(&format!("strace-{backend}"));
    let output = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(&summary)
        .args([env!("CARGO_BIN_EXE_ablaze"), "load", "--connections", "1", "--threads", "1"])
        .args(["--requests", &REQUESTS.to_string(), "--io", backend, "--spin", "off", "--quiet"])
        // The monitor reads /proc from a thread of its own, and not per request.
        .arg("--no-monitor")
        .arg(format!("http://{}/", server.address))
        .bounded_output()
        .expect("strace starts: it just answered --version");
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    let _ = std::fs::remove_file(&summary);
    let calls = parse_summary(&text);
    if !output.status.success()
        && backend == "uring"
        && refused(&text, "io_uring_setup")
        && !in_ci()
    {
        skip("this kernel forbids io_uring, so its system calls cannot be counted");
        return None;
    }
    assert!(output.status.success(), "ablaze under strace failed: {}", said(&output));
    assert_eq!(server.requests(), REQUESTS, "requests the server read");
    Some(calls)
}

fn total(calls: &BTreeMap<String, u64>, names: &[&str]) -> u64 {
    names.iter().filter_map(|name| calls.get(*name)).sum()
}

/// The table of `strace -c`: `% time  seconds  usecs/call  calls  [errors]  syscall`.
fn parse_summary(text: &str) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let (true, Some(name)) = (matches!(words.len(), 5 | 6), words.last())
            && *name != "total"
            && let Ok(count) = words[3].parse()
        {
            calls.insert((*name).to_owned(), count);
        }
    }
    calls
}

/// Whether every call of this name failed.
fn refused(summary: &str, name: &str) -> bool {
    summary.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 6 && words[5] == name && words[3] == words[4]
    })
}

/// Builds the simulated run as packages are built: what an unoptimised build costs is no
/// figure to keep.
fn build_simulated_load() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "--profile",
            "dist",
            "--locked",
            "-p",
            "ablaze-engine",
            "--example",
            "simulated_load",
        ])
        .current_dir(repository())
        .env("CARGO_TARGET_DIR", target_directory())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start_for(BUILD_MAX)
        .and_then(Running::wait_with_output)
        .expect("cargo starts: it runs this test");
    assert!(output.status.success(), "building the simulated run failed: {}", said(&output));
    target_directory().join("dist/examples/simulated_load")
}

/// (I(2N) − I(N)) / N, with I the instructions the whole process executes in user mode.
fn instructions_per_exchange(program: &Path, words: &[&str]) -> f64 {
    let short = instructions(program, EXCHANGES, words);
    let long = instructions(program, 2 * EXCHANGES, words);
    assert!(long > short, "{long} instructions for twice the exchanges of {short}");
    (long - short) as f64 / EXCHANGES as f64
}

fn instructions(program: &Path, exchanges: u64, words: &[&str]) -> u64 {
    let profile = scratch(&format!("callgrind-{exchanges}-{}", words.join("-")));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .arg(exchanges.to_string())
        .args(words)
        .bounded_output()
        .expect("valgrind starts: it just answered --version");
    let _ = std::fs::remove_file(&profile);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} under callgrind failed: {}",
        program.display(),
        said(&output)
    );
    text.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .unwrap_or_else(|| panic!("callgrind printed no count: {text}"))
}

fn record(figure: f64) {
    let text = format!(
        "{{\n  \"user_instructions_per_exchange\": {figure:.1},\n  \"exchanges\": {EXCHANGES},\n  \"compiler\": \"{}\"\n}}\n",
        compiler()
    );
    std::fs::write(figures_path(), text).expect("bench/gates.json can be written");
}

/// The number behind `"key":` in a flat JSON object; None when it is null or absent.
fn number(text: &str, key: &str) -> Option<f64> {
    let rest = text.split_once(&format!("\"{key}\":"))?.1;
    rest.split([',', '}', '\n']).next()?.trim().parse().ok()
}

fn compiler() -> String {
    let output =
        Command::new("rustc").arg("--version").bounded_output().expect("rustc compiled this test");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("{}\n{out}\n{err}", output.status)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn figures_path() -> PathBuf {
    repository().join("bench/gates.json")
}

/// Two levels above the program that cargo built for this test: `target/debug/ablaze`.
fn target_directory() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_ablaze"));
    program.ancestors().nth(2).expect("cargo puts programs into target/profile").to_owned()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

/// Responses every request with the same 142 bytes and counts them.
struct Server {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 08:00:00 GMT\r\n\
    Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let requests = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&requests);
        // Ends with the test process; a connection's thread ends with its connection.
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let counter = Arc::clone(&counter);
                std::thread::spawn(move || response(connection, &counter));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

fn response(mut connection: TcpStream, requests: &AtomicU64) {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = connection.read(&mut part) {
        head.extend_from_slice(&part[..read]);
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            requests.fetch_add(1, Ordering::Relaxed);
            if connection.write_all(ANSWER).is_err() {
                return;
            }
        }
    }
}

#[test]
fn summaries_of_strace_are_read_with_and_without_errors() {
    let text = "% time     seconds  usecs/call     calls    errors syscall\n\
                ------ ----------- ----------- --------- --------- ----------------\n \
                60.00    0.000600           0     10000           sendto\n \
                40.00    0.000400         400         1         1 io_uring_setup\n\
                ------ ----------- ----------- --------- --------- ----------------\n\
                100.00    0.001000           0     10001         1 total\n";
    let calls = parse_summary(text);
    assert_eq!(calls.get("sendto"), Some(&10_000));
    assert_eq!(calls.get("io_uring_setup"), Some(&1));
    assert_eq!(calls.len(), 2);
    assert!(refused(text, "io_uring_setup"));
    assert!(!refused(text, "sendto"));
    assert_eq!(number("{\"a\": 12.5,\n\"b\": null}", "a"), Some(12.5));
    assert_eq!(number("{\"a\": 12.5,\n\"b\": null}", "b"), None);
    assert_eq!(ANSWER.len(), 142);
}
