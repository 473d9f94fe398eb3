//! The figures of a page in Markdown, and the same computed from what was kept: a reader of its own,
//! so that nothing is held against itself.

use std::path::Path;

use serde_json::Value;

/// A table of a page, with the heading it stands under.
#[derive(Debug, Default)]
pub struct Table {
    pub section: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Every table of a text in Markdown.
pub fn tables(markdown: &str) -> Vec<Table> {
    let (mut tables, mut section, mut inside): (Vec<Table>, String, bool) = Default::default();
    for line in markdown.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.to_owned();
        }
        let is_row = line.starts_with('|');
        if !is_row {
            inside = false;
            continue;
        }
        let cells: Vec<String> =
            line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\\', "")).collect();
        if !inside {
            tables.push(Table { section: section.clone(), head: cells, rows: Vec::new() });
        } else if !line.starts_with("|:") {
            tables.last_mut().unwrap().rows.push(cells);
        }
        inside = true;
    }
    tables
}

/// `12,345` or `12,345 [12,000–12,500]` as a number; `None` for anything else.
pub fn number(cell: &str) -> Option<f64> {
    let first = cell.split(" [").next()?;
    let digits = first.replace(',', "");
    digits.chars().all(|c| c.is_ascii_digit() || c == '.').then(|| digits.parse().ok())?
}

/// The kept runs of a folder, by the names of their files.
pub fn runs_of(folder: &Path) -> Vec<(String, Value)> {
    let Ok(entries) = std::fs::read_dir(folder.join("runs")) else { return Vec::new() };
    let mut runs: Vec<(String, Value)> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect();
    runs.sort_by(|(one, _), (other, _)| one.cmp(other));
    runs
}

/// The rate of a kept run: answers by time, or as another tester printed it.
pub fn rate_of(run: &Value) -> f64 {
    if let Some(printed) = run["printed"].as_str() {
        let line = printed.lines().find(|line| line.starts_with("Requests per second:")).unwrap();
        return line.split_whitespace().nth(3).unwrap().parse().unwrap();
    }
    let (answers, elapsed_ns) = (&run["answers"], &run["elapsed_ns"]);
    answers.as_u64().unwrap() as f64 / (elapsed_ns.as_u64().unwrap() as f64 / 1e9)
}

/// The median of several rates.
pub fn median_rate(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    let middle = rates.len() / 2;
    match rates.len() % 2 {
        0 => (rates[middle - 1] + rates[middle]) / 2.0,
        _ => rates[middle],
    }
}
