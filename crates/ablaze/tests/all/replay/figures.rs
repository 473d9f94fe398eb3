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

/// The rate of a kept run: responses by time, or as another client printed it.
pub fn rate_of(run: &Value) -> f64 {
    if let Some(printed) = run["printed"].as_str() {
        let line = printed.lines().find(|line| line.starts_with("Requests per second:")).unwrap();
        return line.split_whitespace().nth(3).unwrap().parse().unwrap();
    }
    let (responses, elapsed_ns) = (&run["responses"], &run["elapsed_ns"]);
    responses.as_u64().unwrap() as f64 / (elapsed_ns.as_u64().unwrap() as f64 / 1e9)
}

/// A percentile of a kept run's times, ns.
pub fn percentile_ns(run: &Value, percent: u32) -> Option<f64> {
    if let Some(percentiles) = run["percentiles_ms"].as_array() {
        let of = percentiles.iter().find(|pair| pair[0].as_f64() == Some(f64::from(percent)))?;
        return Some(of[1].as_f64()? * 1e6);
    }
    run["latency_ns"]["total"][format!("p{percent}")].as_f64()
}

/// CPU time of the server per request of a kept run, ns: the share of a core that its processes used
/// while they were watched, over the whole run. `None` where the busiest of them was not looked at three times, or
/// twice 0.4 s apart: too little to say a share by (`Process::is_believed`).
pub fn server_cpu_ns(run: &Value) -> Option<f64> {
    if run["printed"].is_string() {
        let printed = run["printed"].as_str()?;
        let line = printed.lines().find(|line| line.starts_with("Complete requests:"))?;
        let complete: f64 = line.split_whitespace().last()?.parse().ok()?;
        return Some(run["server_cpu_ns"].as_f64()? / complete);
    }
    let processes = run["monitor"]["target"]["processes"].as_array()?;
    let cpu_ns = |process: &Value| {
        process["user_ns"].as_u64().unwrap_or(0) + process["system_ns"].as_u64().unwrap_or(0)
    };
    let busiest = processes.iter().max_by_key(|process| cpu_ns(process))?;
    let looks = (busiest["readings"].as_u64()?, busiest["watched_ns"].as_u64()?);
    if !matches!(looks, (3.., _) | (2, 400_000_000..)) {
        return None;
    }
    let cores = |process: &Value| {
        let cpu_ns = process["user_ns"].as_f64()? + process["system_ns"].as_f64()?;
        Some(cpu_ns / process["watched_ns"].as_f64().filter(|watched_ns| *watched_ns > 0.0)?)
    };
    let cores: Option<f64> = processes.iter().map(cores).sum();
    let finished = run["responses"].as_f64()? + run["failed"]["total"].as_f64()?;
    Some(cores? * run["elapsed_ns"].as_f64()? / finished)
}

/// `3.37 ms` in ns; `None` for anything else.
pub fn time_ns(cell: &str) -> Option<f64> {
    let (number, unit) = cell.split_once(' ')?;
    let ns = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number.replace(',', "").parse::<f64>().ok()? * ns)
}

/// The median of several figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() % 2 {
        0 => (figures[middle - 1] + figures[middle]) / 2.0,
        _ => figures[middle],
    }
}
