//! `ablaze find`. How near it comes to a known capacity is a matter of time on this machine:
//! bench/find measures that.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{ablaze, command, runs, said, scratch, without_folder};

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
fn a_search_without_a_target_has_no_answer() {
    let folder = scratch("find-gone");
    let said =
        ablaze(&folder, &["find", "http://127.0.0.1:1/", "--slo", "p99<20ms", "-d", "500ms"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.starts_with("no answer: 127.0.0.1:1 refused the connection"), "{said:?}");
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
    let child = command(&folder, &words).spawn().unwrap();
    let kept = folder.join("find-1");
    let until = Instant::now() + Duration::from_secs(60);
    while runs(&kept).is_empty() {
        assert!(Instant::now() < until, "no stage was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.status, 130, "{said:?}");
    assert!(said.stdout.starts_with("interrupted, no answer yet: "), "{}", said.stdout);
    assert!(said.stderr.contains("--folder find-1 goes on"), "{}", said.stderr);
}
