//! Another tool's report beside ours: what scripts take out of the one, they take out of the other.

use std::process::Command;

use ablaze_testing::{Bounded, ScratchFile, skip};

use crate::command::support::ablaze;

/// The same text with every run of digits as one `0`, and one blank for several: figures have other lengths in every run.
pub fn shape(text: &str) -> String {
    let mut shape = String::new();
    for letter in text.chars() {
        let shown = if letter.is_ascii_digit() { '0' } else { letter };
        if !(shape.ends_with(shown) && (shown == '0' || shown == ' ')) {
            shape.push(shown);
        }
    }
    shape
}

/// What the installed tool prints; `None` where it is not installed, which is skipped by its name.
pub fn of_real(tool: &str, words: &[&str]) -> Option<String> {
    let program = match tool {
        "oha" | "vegeta" => skip::installed_by_hand(tool)?,
        _ => skip::installed(tool)?,
    };
    let output = Command::new(program).args(words).bounded_output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

/// What a line of a script takes out of a report on its standard input.
fn taken(script: &str, report: &str) -> String {
    let file = ScratchFile::with("report.txt", report.as_bytes());
    let line = format!("{{ {script}; }} < {}", file.word());
    let output = Command::new("sh").args(["-c", &line]).bounded_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Every line of these scripts takes something of the same shape out of both reports. Units are part of a shape only as
/// letters: one run has `ms` where the other has `us`.
pub fn assert_same_patterns(scripts: &[&str], own: &str, theirs: Option<&str>) {
    let letters = |text: &str| {
        let mut shape = shape(text).replace("0.0", "0");
        for unit in ["us", "ms", "µs", "s"] {
            shape = shape.replace(&format!("0{unit}"), "0");
        }
        shape
    };
    for script in scripts {
        let mine = taken(script, own);
        assert!(
            mine.contains(|c: char| c.is_ascii_digit()),
            "`{script}` takes `{mine}` from\n{own}"
        );
        if let Some(theirs) = theirs {
            let real = taken(script, theirs);
            assert_eq!(
                letters(&mine),
                letters(&real),
                "`{script}`: `{mine}` and `{real}`\n{theirs}"
            );
        }
    }
}

/// What `ablaze explain` reads in a report.
pub fn explained(text: &str) -> serde_json::Value {
    let file = ScratchFile::with("printed.txt", text.as_bytes());
    let said = ablaze(&["explain", "--json", file.word()]);
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// The head of a request, its fields sorted and their names in lower case.
pub fn fields(request: &crate::command::support::Request) -> Vec<String> {
    let lower = |line: &String| {
        let (name, value) = line.split_once(':').unwrap();
        format!("{}:{value}", name.to_ascii_lowercase())
    };
    let mut fields: Vec<String> = request.head[1..].iter().map(lower).collect();
    fields.sort();
    fields.insert(0, request.head[0].clone());
    fields
}
