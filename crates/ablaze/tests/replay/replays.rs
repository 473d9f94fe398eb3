//! The replays with `--quick`, from end to end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::figures::{Table, number, tables};
use crate::figures::{median_rate, rate_of, runs_of};
use crate::support::{ablaze, is_long, scratch};

/// Folders of the parts of each replay.
const PARTS: [(&str, &[&str]); 5] = [
    ("000", &["a-connection-per-request", "ablaze-over-its-own-threads", "connections-kept"]),
    (
        "001",
        &[
            "1-048-576-bytes-every-answer-blocks",
            "1-048-576-bytes-the-kernel-s-buffer",
            "48-576-bytes-answers-that-block",
            "48-576-bytes-the-kernel-s-buffer",
        ],
    ),
    ("002", &["1-000-at-a-time", "no-answer", "one-at-a-time", "the-request-as-the-answer"]),
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

/// Those to carry out: the one that is asked for, all where there is time, else that of the day.
fn chosen() -> Vec<&'static str> {
    let all = PARTS.map(|(number, _)| number);
    if let Ok(asked) = std::env::var("ABLAZE_REPLAY") {
        let known = all.into_iter().filter(|number| *number == asked).collect::<Vec<_>>();
        assert!(!known.is_empty(), "ABLAZE_REPLAY={asked}: choose from {all:?}");
        return known;
    }
    if is_long() {
        return all.to_vec();
    }
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let number = all[days as usize % all.len()];
    println!("replay {number}, that of the day; ABLAZE_REPLAY=NUMBER chooses another one");
    vec![number]
}

#[test]
fn a_replay_keeps_everything_that_its_page_says() {
    for number in chosen() {
        let folder = scratch(&format!("quick-{number}"));
        let ran = ablaze(&folder, &["replay", number, "--quick", "--output", "kept"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("What that costs: "), "{}", ran.stdout);
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
        let again = ablaze(&folder, &["replay", number, "--quick", "--output", "kept"]);
        assert_eq!(again.status, 0, "{again:?}");
        assert_eq!(runs_of(&kept.join("as-printed")).len(), before);
        let markdown_again = std::fs::read_to_string(kept.join("BENCH.md")).unwrap();
        if number != "002" {
            // There, what does not answer is tried anew.
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
    let names: Vec<&str> = experiment["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    let mut by_point: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for (file, run) in runs_of(part) {
        let subject: usize = file.split('-').next().unwrap().parse().unwrap();
        let labels = experiment["loads"].as_array().unwrap().iter();
        let label = |label: &serde_json::Value| {
            let label = label["label"].as_str().unwrap();
            let kept = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
            let label: String = label.chars().map(kept).collect();
            file.rsplit_once('-').unwrap().0.ends_with(&format!("-{label}"))
        };
        let load = labels.map(label).position(|is_it| is_it).unwrap();
        by_point.entry((subject - 1, load)).or_default().push(rate_of(&run));
    }
    let loads = experiment["loads"].as_array().unwrap().len();
    let section = part_heading(part, tables);
    let mut agreed = 0;
    for ((subject, load), rates) in by_point {
        let median = median_rate(rates).round();
        let mut cells = Vec::new();
        for table in tables.iter().filter(|table| table.section == section) {
            let is_rates = match loads {
                1 => table.head.get(1).is_some_and(|cell| cell == "rate /s"),
                _ => table.rows.iter().any(|row| {
                    row[1].contains(|c: char| c.is_ascii_digit()) && !row[1].contains(" ")
                        || row[1].contains('[')
                }),
            };
            let row = table.rows.iter().find(|row| row[0] == names[subject]);
            if let (true, Some(row)) = (is_rates, row) {
                cells.extend(row.get(if loads == 1 { 1 } else { load + 1 }).cloned());
            }
        }
        let shown: Vec<f64> = cells.iter().filter_map(|cell| number(cell)).collect();
        assert!(
            shown.contains(&median),
            "{section}: {} {load}: {median} in {cells:?}",
            names[subject]
        );
        agreed += 1;
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
