//! `ablaze run FILE.toml`.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use ablaze_testing::Bounded;

use crate::experiments::support::{ablaze, command, runs, said, scratch};

#[test]
fn a_file_is_checked_before_it_starts() {
    let folder = scratch("file-checked");
    let file = |text: &str| std::fs::write(folder.join("x.toml"), text).unwrap();
    file("[targets.a]\nserve = \"epoll-et\"\n\n[load]\nconections = 5\n");
    let refused = ablaze(&folder, &["run", "x.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.starts_with("ablaze: x.toml, line 5: "), "{}", refused.stderr);
    assert!(refused.stderr.contains("connections"), "{}", refused.stderr);
    file("[targets.a]\nserve = \"epoll-et\"\n[checks]\n\"a / b rate\" = \">= 1\"\n");
    let refused = ablaze(&folder, &["run", "x.toml"]);
    assert!(
        refused.stderr.contains("x.toml, line 4: ")
            && refused.stderr.contains("unknown target `b`")
    );
    assert_eq!(ablaze(&folder, &["run", "nowhere.toml"]).status, 2);
    file("repeats = 2\n[targets.a]\nserve = \"epoll-et\"\n[load]\nconnections = [1, 2]\n");
    let checked = ablaze(&folder, &["run", "x.toml", "--check"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    assert!(checked.stdout.contains("4 runs") && checked.stdout.contains("load c=2"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing was started");
}

#[test]
fn what_a_file_starts_is_found_beside_it_and_tried_once_if_it_does_not_exist() {
    let folder = scratch("file-relative");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    let file = |text: &str| std::fs::write(folder.join("below/x.toml"), text).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ablaze"), folder.join("below/server")).unwrap();
    let found = "repeats = 1\n[targets.mine]\nstart = \"./server serve {port} --quiet\"\n\
                 [load]\nconnections = 1\nduration = \"200ms\"\n";
    file(found);
    let checked = ablaze(&folder, &["run", "below/x.toml", "--check"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    let ran = ablaze(&folder, &["run", "below/x.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    file(&found.replace("./server", "./nowhere").replace("repeats = 1", "repeats = 5"));
    let checked = ablaze(&folder, &["run", "below/x.toml", "--check"]);
    assert_eq!(checked.status, 2, "{checked:?}");
    assert!(checked.stderr.contains("no program `./nowhere` in "), "{}", checked.stderr);
    let ran = ablaze(&folder, &["run", "below/x.toml", "--folder", "none"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    // The log of a target is written anew by each start: the first one's is still there.
    let log = std::fs::metadata(folder.join("none/targets/mine.log")).unwrap();
    let failed = std::fs::metadata(folder.join("none/failed.json")).unwrap();
    assert!(log.len() > 0 && failed.len() > 0);
}

const TWO: &str = "\
title = \"Level or edge\"
about = \"Which of them is faster.\"
repeats = 3
[targets.edge]
serve = \"epoll-et\"
[targets.level]
serve = \"epoll-lt\"
[load]
connections = 2
duration = \"800ms\"
[checks]
\"edge / level rate\" = \">= 0.01\"
";

#[test]
fn an_interrupted_experiment_goes_on_in_its_folder() {
    let folder = scratch("file-resumes");
    std::fs::write(folder.join("two.toml"), TWO).unwrap();
    let child = command(&folder, &["run", "two.toml"]).start().unwrap();
    let kept = folder.join("two-1");
    let until = Instant::now() + Duration::from_secs(60);
    while runs(&kept).is_empty() {
        assert!(Instant::now() < until, "no run was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.signal(Signal::INT);
    let interrupted = said(child.wait_with_output().unwrap());
    assert_eq!(interrupted.status, 130, "{interrupted:?}");
    let partial = |line: &str| {
        line.starts_with("interrupted after ") && line.ends_with(" of 6 runs: partial results")
    };
    assert!(interrupted.stdout.lines().any(partial), "{}", interrupted.stdout);
    let on = "to continue: `ablaze run two.toml --folder two-1`";
    assert!(interrupted.stderr.contains(on), "{}", interrupted.stderr);
    let before = runs(&kept);
    assert!(!before.is_empty() && before.len() < 6, "{before:?}");
    let text = |name: &String| std::fs::read_to_string(kept.join("runs").join(name)).unwrap();
    let first = text(&before[0]);
    let done = ablaze(&folder, &["run", "two.toml", "--folder", "two-1"]);
    assert_eq!(runs(&kept).len(), 6, "{done:?}");
    assert_eq!(text(&before[0]), first, "a finished run is not made again");
    // Three pairs answer nothing, so the check cannot pass.
    assert_eq!(done.status, 3, "{done:?}");
    // A line for each of the runs, and how long they take before them.
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert!(lines[0].starts_with(&format!("{} runs, about ", 6 - before.len())), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("run 6 of 6 · ")), "{lines:?}");
    // What was kept explains the status, and says what to type for the same again.
    let page = std::fs::read_to_string(kept.join("index.html")).unwrap();
    for part in [
        "<h1>Level or edge</h1>",
        "<p class=\"about\">Which of them is faster.</p>",
        "<th scope=\"row\">edge / level rate &gt;= 0.01: ",
        "fails: exit status 3</td>",
        "<code>ablaze run two.toml</code>",
        "[targets.level]",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let dead = page.split("<code>").skip(1).filter(|code| code.starts_with("ablaze http"));
    assert_eq!(dead.count(), 0, "the command of a server that is gone");
    assert!(done.stdout.contains("check edge / level rate >= 0.01"), "{}", done.stdout);
    assert!(done.stderr.contains("check failed: edge / level rate"), "{}", done.stderr);
    let again = ablaze(&folder, &["report", "two-1"]);
    assert_eq!(again.status, 3);
    assert!(done.stdout.starts_with(&again.stdout), "{}\n{}", done.stdout, again.stdout);
}

const STEPS: &str = "# name: list
GET /hello
HTTP 200

# name: item
GET /bytes/100
HTTP 200
[Asserts]
bytes count == 100
";

#[test]
fn steps_stand_side_by_side_and_conditions_are_put_on_them() {
    let folder = scratch("file-steps");
    std::fs::write(folder.join("steps.hurl"), STEPS).unwrap();
    let file = |checks: &str| {
        let text = format!(
            "repeats = 2\n[targets.edge]\nserve = \"epoll-et\"\n[targets.level]\nserve = \"epoll-lt\"\n[load]\n\
             journey = [\"steps.hurl\"]\nconnections = 2\nrequests = 200\n[checks]\n{checks}"
        );
        std::fs::write(folder.join("steps.toml"), text).unwrap();
    };
    file("\"pay.p99\" = \"< 1s\"\n");
    let refused = ablaze(&folder, &["run", "steps.toml", "--check"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("there is no group `pay`"), "{}", refused.stderr);
    file(
        "\"list.max\" = \"< 100s\"\n\"checks\" = \">= 100%\"\n\"level: journey.errors\" = \"<= 0\"\n",
    );
    let words = ["run", "steps.toml", "--folder", "kept", "-o", "figures.csv"];
    let held = ablaze(&folder, &words);
    assert_eq!(held.status, 0, "{held:?}");
    for line in ["list", "item", "journey", "checks passed"] {
        let is_row = |text: &str| text.trim_start().starts_with(line) && text.contains("edge");
        assert!(held.stdout.lines().any(is_row), "{line}: {}", held.stdout);
    }
    assert!(held.stdout.contains("check list.max < 100s, edge: the median of 2 runs was "));
    assert!(held.stdout.contains("checks >= 100%, level: ") && held.stdout.contains("holds"));
    let csv = std::fs::read_to_string(folder.join("figures.csv")).unwrap();
    let (head, row) = (csv.lines().next().unwrap(), csv.lines().nth(1).unwrap());
    let cell = |name: &str| {
        let at = head.split(',').position(|column| column == name);
        row.split(',').nth(at.unwrap_or_else(|| panic!("{name}: {head}"))).unwrap().to_owned()
    };
    assert_eq!([cell("list.responses"), cell("item.errors")], ["200", "0"]);
    assert_eq!([cell("checks_passed"), cell("checks")], ["600", "600"]);
    let page = std::fs::read_to_string(folder.join("kept/index.html")).unwrap();
    assert!(page.contains("checks passed") && page.contains("level: journey.errors"));
    // Without the figure of a single run nothing passes, and a condition that is met fails the build.
    let fails = ["run", "steps.toml", "--folder", "kept", "--fail-if", "item.p50 > 1ns"];
    let failed = ablaze(&folder, &fails);
    assert_eq!(failed.status, 3, "{failed:?}");
    assert!(failed.stderr.contains("--fail-if item.p50 > 1ns, edge: "), "{}", failed.stderr);
    let json = ablaze(&folder, &["run", "steps.toml", "--folder", "kept", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let trial = &json["trials"][0];
    assert_eq!(trial["checks"], serde_json::json!({"passed": 600, "checked": 600}));
    let names: Vec<&str> = trial["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["list", "item", "steps", "journey"]);
}

/// A name, which may be another person's, with what sets a terminal's title.
#[test]
fn names_of_targets_reach_the_terminal_printable() {
    let folder = scratch("file-names");
    let text = "repeats = 1\n[targets.\"a\\u001b]0;t\\u0007\"]\nserve = \"epoll-et\"\n[load]\nconnections = 1\n\
                requests = 20\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let ran = ablaze(&folder, &["run", "x.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("run 1 of 1 · a"), "{}", ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!all.contains(['\u{1b}', '\u{7}']), "{all:?}");
}

#[test]
fn a_condition_on_a_target_in_the_place_of_a_group_is_told_apart() {
    let folder = scratch("file-target");
    let text = "[targets.a]\nserve = \"epoll-et\"\n[checks]\n\"a.p99\" = \"< 1s\"\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let refused = ablaze(&folder, &["run", "x.toml"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("of one target alone: `a: p99 < 1s`"), "{}", refused.stderr);
    let meant = text.replace("a.p99", "a: p99");
    std::fs::write(folder.join("x.toml"), meant).unwrap();
    let checked = ablaze(&folder, &["run", "x.toml", "--check"]);
    assert_eq!(checked.status, 0, "{checked:?}");
}

/// How long runs of a number of requests take is known to nobody; and the folder of parts is that of each part.
#[test]
fn parts_of_so_many_requests_have_no_length_and_a_report_each() {
    let folder = scratch("file-parts-by-count");
    let text = "repeats = 1\n[parts.one]\nx = 1\n[parts.two]\nx = 2\n[targets.a]\nserve = \"epoll-et,threads={x}\"\n\
                [load]\nconnections = 1\nrequests = 20\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let ran = ablaze(&folder, &["run", "x.toml", "--folder", "kept"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.stderr.lines().next(), Some("2 parts"), "{}", ran.stderr);
    let whole = ablaze(&folder, &["report", "kept"]);
    assert_eq!(whole.status, 2, "{whole:?}");
    assert!(whole.stderr.contains("each part has its own: `kept/one`, `kept/two`"), "{whole:?}");
    assert_eq!(ablaze(&folder, &["report", "kept/one"]).status, 0);
}
