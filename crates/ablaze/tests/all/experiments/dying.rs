//! Targets that die in the middle of an experiment.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use ablaze_testing::Bounded;
use ablaze_testing::process::eventually;

use crate::experiments::support::{ablaze, command, runs, said, scratch};

/// A command that starts once and fails from then on.
fn once(flag: &str) -> String {
    let program = env!("CARGO_BIN_EXE_ablaze");
    format!(
        "once=test -e {flag} && {{ echo no second time >&2; exit 7; }}; touch {flag}; \
         exec {program} serve 127.0.0.1:{{port}} --quiet"
    )
}

#[test]
fn a_target_that_does_not_come_back_is_named_and_loses_no_run() {
    let folder = scratch("dies-between");
    let start = once(folder.join("flag").to_str().unwrap());
    let words =
        ["compare", "serve:epoll-et", "--start", &start, "--repeat", "3", "-d", "500ms", "-c", "2"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.stdout.contains("failed: once, c=2, 2 of 3 runs: once exited before it responded")
    );
    assert!(said.stdout.contains("no second time"), "{}", said.stdout);
    assert!(said.stderr.contains("once, c=2, repeat 2: "), "{}", said.stderr);
    let kept = runs(&folder.join("compare-1"));
    assert_eq!(kept.len(), 4, "{kept:?}");
    let again = ablaze(&folder, &["report", "compare-1"]);
    assert!(again.stdout.contains("2 of 3 runs"), "{}", again.stdout);
}

#[test]
fn a_target_that_dies_under_load_is_named() {
    let folder = scratch("dies-under-load");
    let program = env!("CARGO_BIN_EXE_ablaze");
    let start = format!("mortal=timeout -s KILL 1 {program} serve 127.0.0.1:{{port}} --quiet");
    let words =
        ["compare", "serve:epoll-et", "--start", &start, "--repeat", "1", "-d", "3s", "-c", "2"];
    let said = ablaze(&folder, &words);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.contains("1 of 1 run: mortal exited during the run"), "{}", said.stdout);
    // What came until then is kept beside the runs.
    let partial = "2-mortal-c-2-1.until-exit.json";
    assert!(said.stdout.contains(&format!("saved as runs/{partial}")), "{}", said.stdout);
    let kept = runs(&folder.join("compare-1"));
    assert_eq!(kept.iter().filter(|name| !name.contains("until-exit")).count(), 1, "{kept:?}");
    let shown = ablaze(&folder, &["report", &format!("compare-1/runs/{partial}")]);
    assert!(shown.stdout.contains(" responses in "), "{shown:?}");
}

#[test]
fn a_target_that_runs_already_and_is_killed_loses_no_finished_run() {
    let folder = scratch("killed");
    let mut server = command(&folder, &["serve", "127.0.0.1:0", "--quiet"]).start().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let there = format!("there={url}");
    let words = ["compare", "serve:epoll-et", &there, "--repeat", "4", "-d", "300ms", "-c", "2"];
    let child = command(&folder, &words).start().unwrap();
    let kept = folder.join("compare-1");
    let until = Instant::now() + Duration::from_secs(60);
    while !runs(&kept).iter().any(|name| name.contains("-there-")) {
        assert!(Instant::now() < until, "no run was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let said = said(child.wait_with_output().unwrap());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("failed: there, c=2, "), "{}", said.stdout);
    assert!(said.stdout.contains("refused the connection"), "{}", said.stdout);
    let kept = runs(&kept);
    assert_eq!(kept.iter().filter(|name| name.contains("-epoll-et-")).count(), 4, "{kept:?}");
    assert!(kept.iter().any(|name| name.contains("-there-")), "{kept:?}");
}

#[test]
fn an_experiment_that_is_killed_leaves_no_target_behind() {
    let folder = scratch("killed-itself");
    let group = folder.join("group");
    let program = env!("CARGO_BIN_EXE_ablaze");
    // A shell, what it started and forgot, and the server.
    let command_line = format!(
        "echo $$ > {}; sleep 1000 & {program} serve 127.0.0.1:{{port}} --quiet; true",
        group.display()
    );
    // Whichever is first.
    let [one, two] = ["one", "two"].map(|name| format!("{name}={command_line}"));
    let words = ["compare", "--start", &one, "--start", &two, "--repeat", "1", "-d", "60s"];
    let mut child = command(&folder, &words).start().unwrap();
    let number = || std::fs::read_to_string(&group).ok()?.trim().parse::<i32>().ok();
    assert!(eventually(|| number().is_some()), "not started");
    let group = rustix::process::Pid::from_raw(number().unwrap()).unwrap();
    let lives = || rustix::process::test_kill_process_group(group).is_ok();
    assert!(lives());
    child.kill().unwrap();
    child.wait().unwrap();
    let ended = eventually(|| !lives());
    if !ended {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    assert!(ended, "the target lives on");
}

/// The terminal, the page, Markdown, JSON and JUnit say the same of an experiment without a run.
#[test]
fn what_measured_nothing_is_invalid_everywhere() {
    for (command, more) in [
        ("compare", &["a=127.0.0.1:1/", "b=127.0.0.1:1/"][..]),
        ("sweep", &["a=127.0.0.1:1/", "-c", "1,2"]),
    ] {
        let folder = scratch(&format!("nothing-{command}"));
        let files = ["-d", "50ms", "--repeat", "2", "-o", "x.json", "-o", "x.xml", "-o", "x.md"];
        let said = ablaze(&folder, &[&[command], more, &files].concat());
        assert_eq!(said.status, 1, "{said:?}");
        assert!(said.stdout.contains("INVALID · nothing was measured"), "{said:?}");
        assert!(!said.stdout.contains("2 runs of each"), "{said:?}");
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&read("x.json")).unwrap();
        assert_eq!(json["verdict"], "INVALID");
        assert!(read("x.md").contains("**INVALID**"), "{}", read("x.md"));
        assert!(read(&format!("{command}-1/index.html")).contains("<strong>INVALID"));
        assert!(read("x.xml").contains("<skipped message=\"INVALID: nothing was measured\"/>"));
    }
}
