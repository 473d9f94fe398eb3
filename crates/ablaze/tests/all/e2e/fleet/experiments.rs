//! `compare`, `sweep`, `find` and `run` with `--fleet`: each run is one of all workers, which are placed once.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ablaze_testing::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Numbers, coordinator};
use crate::e2e::support::{Ran, eventually, run, serve, start, url};

/// What a command says in this folder.
fn ran(folder: &Path, words: &[&str]) -> Ran {
    run(coordinator(words).current_dir(folder))
}

/// The saved runs of an experiment, in the order of their names.
fn runs(folder: &Path) -> Vec<Value> {
    let mut paths: Vec<_> =
        fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
}

/// A folder in which each worker leaves a line when it is placed, and a place that has them do so.
fn counted(scratch: &Scratch) -> String {
    let file = scratch.path().join("placed").display().to_string();
    format!("exec:a,b=sh -c 'echo {{host}} >> {file}; exec {{cmd}}'")
}

fn placed(scratch: &Scratch) -> usize {
    fs::read_to_string(scratch.path().join("placed")).unwrap_or_default().lines().count()
}

#[test]
fn a_comparison_by_a_fleet_places_its_workers_once_and_loses_no_request() {
    let (one, other, scratch) = (serve(), serve(), Scratch::new("fleet-compare"));
    let (first, second) =
        (format!("one={}", url(&one, "/")), format!("other={}", url(&other, "/")));
    let fleet = counted(&scratch);
    let words =
        ["compare", &first, &second, "--fleet", &fleet, "--repeat", "2", "-n", "301", "-c", "4"];
    let said = ran(scratch.path(), &words);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!((one.served().requests, other.served().requests), (602, 602));
    assert_eq!(placed(&scratch), 2, "{said:?}");
    let folder = scratch.path().join("compare-1");
    let runs = runs(&folder);
    assert_eq!(runs.len(), 4);
    for run in &runs {
        assert_eq!(run["responses"].as_u64(), Some(301));
        assert_eq!(run["fleet"]["workers"].as_array().map(Vec::len), Some(2));
    }
    assert!(said.stdout.contains("each run by 2 workers"), "{said:?}");
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("2 workers"), "the page does not say who carried the runs out");
    // Each target has its table, and each table both workers.
    let (_, workers) = page.split_once(">Workers</h2>").expect("no section on the workers");
    for name in ["a", "b"] {
        let head = format!("<th scope=\"row\">{name}</th>");
        assert_eq!(workers.matches(&head).count(), 2, "{name}");
    }
    // What is there is of this fleet: another one is another experiment.
    let alone: Vec<&str> =
        words.iter().copied().filter(|word| *word != "--fleet" && *word != fleet).collect();
    let said = ran(scratch.path(), &[&alone[..], &["--folder", "compare-1"]].concat());
    assert_eq!(said.status, 2, "{said:?}");
}

#[test]
fn a_target_that_is_started_here_is_loaded_by_all_and_its_cpu_time_is_known() {
    let scratch = Scratch::new("fleet-sweep");
    let words = ["sweep", "-c", "2,4", "serve:epoll-et", "--fleet", "exec:2", "-d", "1s", "--json"];
    let said = ran(scratch.path(), &words);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = runs(&scratch.path().join("sweep-1"));
    assert_eq!(runs.len(), 2);
    for run in runs {
        let server = &run["monitor"]["target"]["processes"][0];
        let cpu_ns = server["user_ns"].as_u64().zip(server["system_ns"].as_u64());
        assert!(
            cpu_ns.is_some_and(|(user, system)| user + system > 0),
            "{}",
            run["monitor"]["target"]
        );
        assert_eq!(run["fleet"]["workers"][1]["machine"]["on_target_host"], true);
    }
}

#[test]
fn a_rate_is_searched_with_the_schedule_of_all_workers() {
    let (server, scratch) = (serve(), Scratch::new("fleet-find"));
    let target = url(&server, "/");
    let fleet = counted(&scratch);
    let words = [
        "find",
        &target,
        "--slo",
        "errors<50%",
        "--from",
        "400/s",
        "--to",
        "400/s",
        "-d",
        "500ms",
        "--confirm",
        "500ms",
        "--fleet",
        &fleet,
        "--json",
    ];
    let said = ran(scratch.path(), &words);
    assert!(said.stdout.contains("400"), "{said:?}");
    assert_eq!(placed(&scratch), 2, "{said:?}");
    let runs: Vec<Value> = fs::read_dir(scratch.path().join("find-1/runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect();
    assert!(!runs.is_empty());
    let sum: u64 = runs.iter().filter_map(|run| run["responses"].as_u64()).sum();
    // Beside the stages there are single requests from here, by which the target's state is seen.
    let beside = server.served().requests.checked_sub(sum);
    assert!(beside.is_some_and(|beside| beside < 50), "{beside:?} of {sum}");
}

#[test]
fn a_file_names_its_fleet() {
    let (server, scratch) = (serve(), Scratch::new("fleet-file"));
    let text = format!(
        "fleet = \"exec:2\"\nlost = \"go-on\"\nrepeats = 1\n[targets.one]\nurl = \"{}\"\n[load]\nconnections = 4\nrequests = 100\n",
        url(&server, "/")
    );
    fs::write(scratch.path().join("own.toml"), &text).unwrap();
    let said = ran(scratch.path(), &["run", "own.toml"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(server.served().requests, 100);
    assert_eq!(runs(&scratch.path().join("own-1"))[0]["fleet"]["by"], "exec");
    fs::write(scratch.path().join("own.toml"), text.replace("exec:2", "pigeon:2")).unwrap();
    let said = ran(scratch.path(), &["run", "own.toml", "--check"]);
    said.assert_one_line(2, "line 1");
}

#[test]
fn a_worker_that_is_lost_fails_its_run_and_is_placed_anew_for_the_next() {
    let (server, numbers) = (serve(), Numbers::new("fleet-experiment-lost"));
    let target = format!("one={}", url(&server, "/"));
    let other = format!("other={}", url(&server, "/"));
    let fleet = numbers.of("a,b", "exec {cmd}");
    let folder = Scratch::new("fleet-experiment-lost-results");
    let words =
        ["compare", &target, &other, "--fleet", &fleet, "--repeat", "1", "-d", "1", "-c", "4"];
    let child = start(coordinator(&words).current_dir(folder.path()));
    assert!(eventually(|| server.served().requests > 500), "nothing arrives");
    std::thread::sleep(Duration::from_millis(200));
    kill_process(Pid::from_raw(numbers.process("b")).unwrap(), Signal::KILL).unwrap();
    let said = child.end();
    assert!(said.stderr.contains("worker b was lost"), "{said:?}");
    // One target has a run, the other none.
    assert_eq!(said.status, 1, "{said:?}");
    assert_eq!(runs(&folder.path().join("compare-1")).len(), 1, "{said:?}");
}

#[test]
fn what_a_fleet_cannot_load_is_refused_before_anything_starts() {
    let folder = Scratch::new("fleet-refused");
    for (words, part) in [
        (&["sweep", "-c", "1,4", ":1/", "--fleet", "exec:2"][..], "1 connections cannot be split"),
        (
            &["sweep", "-c", "2,4", "serve:epoll-et", "--fleet", "ssh:a,b"],
            "say with --target-address",
        ),
        (&["compare", ":1/", ":2/", "--lost", "go-on"], "without --fleet"),
        (&["compare", ":1/", ":2/", "--fleet", "exec:2", "--profile"], "cannot be used together"),
        (&["find", ":1/", "--slo", "p99<1s", "--fleet", "pigeon:a"], "use ssh:HOST,HOST"),
    ] {
        let said = ran(folder.path(), words);
        assert_eq!(said.status, 2, "{words:?}: {said:?}");
        assert!(said.stderr.contains(part), "{words:?}: {said:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
