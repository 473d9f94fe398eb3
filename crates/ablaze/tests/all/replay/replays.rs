//! The replays with `--quick`, from end to end.

use std::collections::BTreeMap;
use std::path::Path;

use ablaze_testing::skip::{long_tests, skip};
use serde_json::Value;

use crate::replay::figures::{Table, number, tables, time_ns};
use crate::replay::figures::{median, percentile_ns, rate_of, runs_of, server_cpu_ns};
use crate::replay::support::{ablaze, scratch};

/// Folders of the parts of each replay.
const PARTS: [(&str, &[&str]); 5] = [
    ("000", &["a-connection-per-request", "ablaze-over-its-own-threads", "connections-kept"]),
    (
        "001",
        &[
            "1-048-576-bytes-every-response-blocks",
            "1-048-576-bytes-the-kernel-s-buffer",
            "48-576-bytes-responses-that-block",
            "48-576-bytes-the-kernel-s-buffer",
        ],
    ),
    ("002", &["1-000-at-a-time", "no-response", "one-at-a-time", "the-request-as-the-response"]),
    (
        "003",
        &[
            "a-connection-per-request-1-thread",
            "a-connection-per-request-2-threads",
            "a-connection-per-request-4-threads",
            "connections-kept-1-thread",
            "connections-kept-2-threads",
            "connections-kept-4-threads",
        ],
    ),
    ("004", &["ways-to-accept-from-1-to-10-000-connections"]),
];

/// The shortest replay, which every run of the tests carries out.
const BY_DEFAULT: &str = "000";

/// Those to carry out: the one that is asked for, all where there is time, else always the same.
fn chosen() -> Vec<&'static str> {
    let all = PARTS.map(|(number, _)| number);
    if let Ok(asked) = std::env::var("ABLAZE_REPLAY") {
        let known = all.into_iter().filter(|number| *number == asked).collect::<Vec<_>>();
        assert!(!known.is_empty(), "ABLAZE_REPLAY={asked}: choose from {all:?}");
        return known;
    }
    if long_tests() {
        return all.to_vec();
    }
    let others = all.into_iter().filter(|number| *number != BY_DEFAULT).collect::<Vec<_>>();
    skip(&format!("replays {} take long; ABLAZE_LONG_TESTS=1 runs them", others.join(", ")));
    vec![BY_DEFAULT]
}

#[test]
fn a_replay_keeps_everything_that_its_page_says() {
    for number in chosen() {
        let folder = scratch(&format!("quick-{number}"));
        let ran = ablaze(&folder, &["replay", number, "--quick", "--output", "kept"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("As a result, "), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("  page kept/index.html · Markdown kept/BENCH.md\n"));
        let kept = folder.join("kept");
        let (_, parts) = PARTS.iter().find(|(of, _)| *of == number).unwrap();
        assert_eq!(
            folders(&kept),
            [&["as-printed"], *parts].concat().into_iter().fold(Vec::new(), |mut sorted, name| {
                sorted.push(name.to_owned());
                sorted.sort();
                sorted
            })
        );
        let page = std::fs::read_to_string(kept.join("index.html")).unwrap();
        assert!(page.contains("<h2>What was wrong with it</h2>") && !page.contains("<script src"));
        let markdown = std::fs::read_to_string(kept.join("BENCH.md")).unwrap();
        for line in markdown.lines().filter(|line| line.starts_with("![")) {
            let picture = line.split(['(', ')']).nth(1).unwrap();
            assert!(kept.join(picture).is_file(), "{line}");
        }
        let tables = tables(&markdown);
        let lines = lines_agree(&kept, &tables);
        assert!(lines > 0, "{markdown}");
        let compared: usize = parts.iter().map(|part| part_agrees(&kept.join(part), &tables)).sum();
        println!("replay {number}: {lines} figures of lines, {compared} of parts computed again");
        assert!(compared > 0, "{markdown}");
        let explained = ablaze(&folder, &["explain", "kept/BENCH.md"]);
        assert_eq!(explained.status, 0, "{explained:?}");
        // What is in the folder is not measured again.
        let before = runs_of(&kept.join("as-printed")).len();
        // What failed is tried anew: in 002 by its nature, elsewhere on a machine without time.
        let something_failed = parts.iter().any(|part| {
            let failed = std::fs::read_to_string(kept.join(part).join("failed.json"));
            failed.is_ok_and(|text| text.trim() != "{}")
        });
        let again = ablaze(&folder, &["replay", number, "--quick", "--output", "kept"]);
        assert_eq!(again.status, 0, "{again:?}");
        assert_eq!(runs_of(&kept.join("as-printed")).len(), before);
        let markdown_again = std::fs::read_to_string(kept.join("BENCH.md")).unwrap();
        if !something_failed {
            assert_eq!(markdown_again, markdown);
        }
    }
}

fn folders(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The table of a document's lines against the kept runs of these lines; how many figures agree.
fn lines_agree(kept: &Path, tables: &[Table]) -> usize {
    let table = tables.iter().find(|table| table.head.first().is_some_and(|c| c == "line"));
    let table = table.expect("a table of lines");
    let runs = runs_of(&kept.join("as-printed"));
    let mut agreed = 0;
    for (at, row) in table.rows.iter().enumerate() {
        for (column, is_ablaze) in [(2, false), (3, true)] {
            let Some(shown) = number(&row[column]) else { continue };
            let of_line =
                runs.iter().filter(|(name, _)| name.starts_with(&format!("{:02}-", at + 1)));
            let of_tool =
                of_line.filter(|(_, run)| (run["command_line"][0] == "ablaze") == is_ablaze);
            let best = of_tool.map(|(_, run)| rate_of(run)).fold(0.0, f64::max);
            assert_eq!(shown, best.round(), "{row:?}");
            agreed += 1;
        }
    }
    agreed
}

/// The table of a part, or those of its curves, against its kept runs; how many figures agree.
fn part_agrees(part: &Path, tables: &[Table]) -> usize {
    let experiment = std::fs::read_to_string(part.join("experiment.json")).unwrap();
    let experiment: serde_json::Value = serde_json::from_str(&experiment).unwrap();
    let names: Vec<&str> = experiment["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    let loads = experiment["loads"].as_array().unwrap();
    let mut by_point: BTreeMap<(usize, usize), Vec<Value>> = BTreeMap::new();
    for (file, run) in runs_of(part) {
        let target: usize = file.split('-').next().unwrap().parse().unwrap();
        // `2-ab-c-21-1`: target, its name, the load, the repeat.
        let load = loads.iter().position(|load| {
            let label = load["label"].as_str().unwrap().replace(['=', ' '], "-");
            file.rsplit_once('-').unwrap().0.ends_with(&format!("-{label}"))
        });
        by_point.entry((target - 1, load.unwrap())).or_default().push(run);
    }
    let section = part_heading(part, tables);
    let of_part = || tables.iter().filter(|table| table.section == section);
    let mut agreed = 0;
    for ((target, load), runs) in by_point {
        let row = |table: &&Table| table.rows.iter().find(|row| row[0] == names[target]).cloned();
        if loads.len() > 1 {
            // Rates, times, and CPU time, in this order; the first has no unit.
            let row = of_part().find_map(|table| row(&table)).unwrap();
            let rates = runs.iter().map(rate_of).collect();
            assert_eq!(number(&row[load + 1]), Some(median(rates).round()), "{section}: {row:?}");
            agreed += 1;
            continue;
        }
        let table = of_part().find(|table| table.head.get(1).is_some_and(|c| c == "rate /s"));
        let row = row(&table.unwrap()).unwrap();
        let rates: Vec<f64> = runs.iter().map(rate_of).collect();
        let slowest = rates.iter().copied().fold(f64::MAX, f64::min).round();
        let fastest = rates.iter().copied().fold(0.0, f64::max).round();
        let ends: Vec<Option<f64>> = row[2].split('–').map(number).collect();
        assert_eq!(number(&row[1]), Some(median(rates).round()), "{section}: {row:?}");
        assert_eq!(ends, [Some(slowest), Some(fastest)], "{section}: {row:?}");
        agreed += 3;
        let figures: [fn(&Value) -> Option<f64>; 3] =
            [|run| percentile_ns(run, 50), |run| percentile_ns(run, 99), server_cpu_ns];
        for (cell, figure) in row[3..].iter().zip(figures) {
            let Some(shown) = time_ns(cell) else { continue };
            // A run of few responses has no 99th percentile: the median is of those that have one.
            let of_runs: Vec<f64> = runs.iter().filter_map(figure).collect();
            assert!(!of_runs.is_empty(), "{section}: {row:?}: none kept");
            let kept = median(of_runs);
            // Three digits are shown.
            assert!(
                (shown - kept).abs() <= 0.006 * kept,
                "{section}: {row:?}: {cell} is {kept} ns"
            );
            agreed += 1;
        }
    }
    agreed
}

/// The heading whose words the folder is named by.
fn part_heading(part: &Path, tables: &[Table]) -> String {
    let name = part.file_name().unwrap().to_string_lossy();
    let is_it = |table: &&Table| {
        let heading = table.section.to_lowercase();
        let letters = heading.replace(|c: char| !c.is_alphanumeric(), "-");
        let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).collect();
        words.join("-") == name
    };
    tables.iter().find(is_it).map_or_else(|| name.to_string(), |table| table.section.clone())
}
