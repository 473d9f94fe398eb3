//! What is not installed is left out, and its row says so; the rest is measured.

use ablaze_testing::skip::installed;

use crate::replay::support::{ablaze, command, said, scratch};

const FILE: &str = "\
title = \"clients\"
repeats = 2

[parts.one]
connections = 1

[parts.two]
connections = 2

[targets.ablaze]
serve = \"epoll-et\"
[targets.ab]
serve = \"epoll-et\"
client = \"ab\"
[targets.nginx]
control = \"nginx\"

[load]
http = \"1.0\"
connections = \"{connections}\"
duration = \"800ms\"
";

#[test]
fn a_row_says_what_to_install() {
    let folder = scratch("nothing-installed");
    std::fs::write(folder.join("x.toml"), FILE).unwrap();
    let ran = said(command(&folder, &["run", "x.toml"]).env("PATH", ""));
    assert_eq!(ran.status, 0, "{ran:?}");
    let row = |name: &str, rest: &str| {
        let rows = ran
            .stdout
            .lines()
            .map(str::trim)
            .filter(|line| line.strip_prefix(name).is_some_and(|after| after.trim() == rest));
        rows.count()
    };
    assert_eq!(row("ab", "skipped: install apache2-utils"), 2, "{}", ran.stdout);
    assert_eq!(row("nginx", "skipped: install nginx"), 2, "{}", ran.stdout);
    let page = std::fs::read_to_string(folder.join("x-1/BENCH.md")).unwrap();
    assert!(page.contains("| nginx | skipped: install nginx |"), "{page}");
    for part in ["one", "two"] {
        let runs = std::fs::read_dir(folder.join("x-1").join(part).join("runs")).unwrap();
        assert_eq!(runs.count(), 4, "two runs of ablaze, each with its .hlog");
    }
}

#[test]
fn ab_loads_beside_ablaze_and_its_figures_are_kept() {
    if installed("ab").is_none() {
        return;
    }
    let folder = scratch("ab-beside");
    let text = FILE.replace("[targets.nginx]\ncontrol = \"nginx\"\n", "");
    std::fs::write(folder.join("x.toml"), text.replace("800ms", "1s")).unwrap();
    let ran = ablaze(&folder, &["run", "x.toml", "--folder", "kept"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let runs = folder.join("kept/one/runs");
    let printed = std::fs::read_to_string(runs.join("2-ab-c-1-1.txt")).unwrap();
    assert!(printed.starts_with("$ ab -q -c 1 -k -t 1 -n "), "{printed}");
    let kept = std::fs::read_to_string(runs.join("2-ab-c-1-1.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["percentiles_ms"].as_array().unwrap().len(), 101, "0 to 100");
    assert!(
        kept["server_cpu_ns"].as_u64().unwrap() > 0 && kept["client_cpu_ns"].as_u64() > Some(0)
    );
    // Nothing is measured twice, and the report comes out the same.
    let again = ablaze(&folder, &["run", "x.toml", "--folder", "kept"]);
    assert_eq!(again.stdout, ran.stdout);
}

/// Every row of a replay that wants ab or nginx says so, and the rest is measured.
#[test]
#[ignore = "long: a replay"]
fn a_replay_without_tools_measures_the_rest() {
    let folder = scratch("replay-without-tools");
    let ran =
        said(command(&folder, &["replay", "003", "--quick", "--output", "kept"]).env("PATH", ""));
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = std::fs::read_to_string(folder.join("kept/BENCH.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let skipped = |text: &str| rows.clone().filter(|row| row.contains(text)).count();
    assert_eq!(skipped("skipped: install apache2-utils"), 8, "{page}");
    assert_eq!(skipped("skipped: install nginx"), 6 + 2, "{page}");
    assert!(folder.join("kept/index.html").is_file());
}
