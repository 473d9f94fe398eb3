//! `ablaze find`. How near it comes to a known capacity is a matter of time on this machine:
//! bench/find measures that.

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Running};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::experiments::support::{ablaze, command, runs, said, scratch, without_folder};

const TARGET: &str = "serve:epoll-et,delay=10ms,in-service=8";

#[test]
fn a_search_is_kept_and_shown_again() {
    let folder = scratch("find");
    let words =
        ["--slo", "p50<5s,errors<50%", "--from", "50", "--to", "60", "-d", "1s", "--confirm", "1s"];
    let said = ablaze(&folder, &[&["find", TARGET][..], &words].concat());
    assert!(matches!(said.status, 0 | 1), "{said:?}");
    let first = said.stdout.lines().next().unwrap();
    if said.status == 0 {
        assert!(
            first.contains("/s (p50 ") && first.contains(" < 5s, errors 0 % < 50%)"),
            "{first}"
        );
    }
    let kept = folder.join("find-1");
    let stages = runs(&kept);
    assert_eq!(stages[0], "01-50.json");
    let rows = said.stdout.lines().filter(|line| line.contains("hold") && !line.contains(" < 5s"));
    assert_eq!(rows.count(), stages.len(), "{}", said.stdout);
    let again = ablaze(&folder, &["report", "find-1"]);
    assert_eq!((again.status, again.stdout), (said.status, without_folder(&said.stdout)));
    let json = ablaze(&folder, &["report", "find-1", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["stages"].as_array().unwrap().len(), stages.len());
    assert_eq!(value["stages"][0]["asked_per_s"], 50.0);
}

#[test]
fn a_search_without_a_target_has_no_response() {
    let folder = scratch("find-gone");
    let said =
        ablaze(&folder, &["find", "http://127.0.0.1:1/", "--slo", "p99<20ms", "-d", "500ms"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.starts_with("no answer: 127.0.0.1:1 refused the connection"), "{said:?}");
    assert!(said.stdout.lines().nth(1).unwrap().starts_with("INVALID · "), "{said:?}");
    for wrong in [
        &["find", ":1/"][..],
        &["find", ":1/", "--slo", "p99"],
        &["find", ":1/", "--slo", "p99<20ms", "--header", "x"],
        &["find", "--slo", "p99<20ms"],
    ] {
        let said = ablaze(&folder, wrong);
        assert_eq!(said.status, 2, "{wrong:?}: {said:?}");
    }
}

#[test]
fn an_interrupted_search_says_how_it_goes_on() {
    let folder = scratch("find-interrupted");
    let words = ["find", TARGET, "--slo", "p50<5s", "--from", "20", "--to", "5000", "-d", "500ms"];
    let child = command(&folder, &words).start().unwrap();
    let kept = folder.join("find-1");
    let until = Instant::now() + Duration::from_secs(60);
    while runs(&kept).is_empty() {
        assert!(Instant::now() < until, "no stage was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.signal(Signal::INT);
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.status, 130, "{said:?}");
    assert!(said.stdout.starts_with("interrupted, no answer yet: "), "{}", said.stdout);
    assert!(
        said.stderr.contains("to continue, repeat the command with --folder find-1"),
        "{}",
        said.stderr
    );
}

/// Runs while it lives, on one processor.
struct Child(Running);

impl Child {
    fn on(cpu: u32, words: &mut Command) -> Self {
        let spawned = std::thread::scope(|scope| {
            let spawning = scope.spawn(|| {
                ablaze_sys::affinity::keep_thread_on(&[cpu]).unwrap();
                words.start().unwrap()
            });
            spawning.join().unwrap()
        });
        Self(spawned)
    }
}

#[test]
fn where_the_client_is_the_limit_there_is_no_response() {
    let [.., client, target] = ablaze_sys::allowed_cpus().unwrap()[..] else {
        return skip("client and target need a processor each");
    };
    let folder = scratch("find-starved");
    let mut serve = command(&folder, &["serve", "127.0.0.1:0", "--quiet", "--threads", "1"]);
    let mut server = Child::on(target, &mut serve);
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    // Beside a process that never rests, one as nice as this gets a thirtieth of a processor.
    let _busy = Child::on(client, Command::new("sh").args(["-c", "while :; do :; done"]));
    let cpu = client.to_string();
    let mut find = Command::new("nice");
    find.args(["-n", "15", env!("CARGO_BIN_EXE_ablaze"), "find", url, "--slo", "p99<10s"]);
    find.args(["--cpus", &cpu, "--from", "20000", "-d", "1s", "--confirm", "1s"]);
    let said = said(find.current_dir(&folder).bounded_output().unwrap());
    assert_eq!(said.status, 1, "{said:?}");
    let first = said.stdout.lines().next().unwrap();
    assert!(first.starts_with("no answer, the client reached its limit first: "), "{said:?}");
    assert!(first.ends_with("give it more threads (-t) or its own machine"), "{first}");
    let page = std::fs::read_to_string(folder.join("find-1/index.html")).unwrap();
    assert!(page.contains("no answer, the client reached its limit first"), "no page");
}
