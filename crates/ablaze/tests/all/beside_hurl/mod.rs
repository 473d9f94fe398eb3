//! Generated journeys, walked by this program and by Hurl: the same requests, captures, failed lines and end. Skipped where
//! `hurl` is not on the PATH. `ABLAZE_HURL_JOURNEYS=FIRST..LAST` says which seeds; with `ABLAZE_LONG_TESTS=1` there are 1,000.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod asserts;
mod files;
mod replies;
mod seeded;
mod server;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use ablaze_testing::{Bounded, Ran, Scratch, skip};
use ablaze_wire::printable::printable;

use files::{FILES, VARIABLES, generated};
use server::{RecordingServer, Seen};

/// What a program said of a file, and what it sent.
#[derive(Debug, PartialEq)]
struct Walked {
    is_whole: bool,
    /// The lines that failed, of any try.
    failed: BTreeSet<u64>,
    /// Names and values, but for lists and bytes.
    captured: Vec<Captured>,
    seen: Vec<Seen>,
}

/// A name and a value.
#[derive(Debug)]
struct Captured(String, String);

impl PartialEq for Captured {
    /// Of bytes and collections this program shows what they are, and of secrets nothing.
    fn eq(&self, other: &Self) -> bool {
        let is_not_shown =
            |value: &str| ["list", "object", "bytes", "something", "***"].contains(&value);
        self.0 == other.0 && (self.1 == other.1 || is_not_shown(&self.1) || is_not_shown(&other.1))
    }
}

fn seeds() -> Range<u64> {
    if let Ok(given) = std::env::var("ABLAZE_HURL_JOURNEYS") {
        let (first, last) = given.split_once("..").unwrap();
        return first.parse().unwrap()..last.parse().unwrap();
    }
    if skip::long_tests() { 0..1000 } else { 0..25 }
}

fn variables() -> Vec<String> {
    VARIABLES
        .iter()
        .flat_map(|(name, value)| ["--variable".to_owned(), format!("{name}={value}")])
        .collect()
}

/// The numbers of lines in what a program says is wrong, as `FILE:LINE:`.
fn failed_lines(text: &str, file: &str) -> BTreeSet<u64> {
    let mark = format!("{file}:");
    let number = |rest: &str| rest.split(':').next().and_then(|number| number.parse().ok());
    text.lines().filter_map(|line| number(line.split_once(&mark)?.1)).collect()
}

fn by_hurl(hurl: &Path, file: &str, continues: bool, server: &RecordingServer) -> (Walked, Ran) {
    let mut command = Command::new(hurl);
    command.args(["--json", "--no-color", "--file-root", "."]).args(variables());
    if continues {
        command.arg("--continue-on-error");
    }
    let folder = Path::new(file).parent().unwrap();
    let ran = command.current_dir(folder).arg(file).ran();
    let mut captured = Vec::new();
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let mut failed = failed_lines(&ran.stderr, file);
    for entry in json["entries"].as_array().into_iter().flatten() {
        // Standard error has those of the last try alone.
        let asserts = entry["asserts"].as_array().into_iter().flatten();
        let of_entry = asserts.filter(|assert| assert["success"] == false);
        failed.extend(of_entry.filter_map(|assert| assert["line"].as_u64()));
        for capture in entry["captures"].as_array().into_iter().flatten() {
            let value = &capture["value"];
            let text = match value {
                // Hurl's JSON writes times as people do, and rounds integers of more than 64 bits; its variables do not.
                value if value.as_str().is_some_and(|text| text.ends_with(" UTC")) => {
                    "list".to_owned()
                }
                value if value.as_f64().is_some_and(|value| value > 1e19) => "list".to_owned(),
                serde_json::Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let name = capture["name"].as_str().unwrap().to_owned();
            captured.push(Captured(name, printable(&text).into_owned()));
        }
    }
    (Walked { is_whole: ran.status == 0, failed, captured, seen: server.take() }, ran)
}

fn by_ablaze(file: &str, continues: bool, server: &RecordingServer) -> (Walked, Ran) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["run", file]).args(variables());
    if continues {
        command.arg("--continue-on-error");
    }
    let ran = command.ran();
    let captured = ran.stdout.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(" = "));
    let captured = captured.map(|(name, value)| Captured(name.to_owned(), value.to_owned()));
    let captured = captured.collect();
    let failed = failed_lines(&ran.stdout, file);
    (Walked { is_whole: ran.status == 0, failed, captured, seen: server.take() }, ran)
}

/// What hurl did and this program did not, or the other way round.
fn difference(theirs: &Walked, own: &Walked) -> String {
    let mut text = String::new();
    if theirs.is_whole != own.is_whole {
        let _ = writeln!(text, "whole: hurl {}, ablaze {}", theirs.is_whole, own.is_whole);
    }
    if theirs.failed != own.failed {
        let _ = writeln!(text, "failed: hurl {:?}, ablaze {:?}", theirs.failed, own.failed);
    }
    for (theirs, own) in
        theirs.captured.iter().zip(&own.captured).filter(|(one, other)| one != other)
    {
        let _ = writeln!(text, "captured: hurl {theirs:?}, ablaze {own:?}");
    }
    for (theirs, own) in theirs.seen.iter().zip(&own.seen).filter(|(one, other)| one != other) {
        let _ = writeln!(text, "sent: hurl {theirs:?}\nsent: ablaze {own:?}");
    }
    let lengths = |walked: &Walked| (walked.captured.len(), walked.seen.len());
    if lengths(theirs) != lengths(own) {
        let _ = writeln!(
            text,
            "captures, requests: hurl {:?}, ablaze {:?}",
            lengths(theirs),
            lengths(own)
        );
    }
    text
}

#[test]
fn generated_journeys_are_walked_as_hurl_walks_them() {
    let Some(hurl) = skip::installed_if_all("hurl") else { return };
    let server = RecordingServer::start();
    let scratch = Scratch::new("beside-hurl");
    for (name, bytes) in FILES {
        std::fs::write(scratch.path().join(name), bytes).unwrap();
    }
    let mut wrong = Vec::new();
    for seed in seeds() {
        let generated = generated(seed, &format!("http://{}", server.address));
        let file = scratch.write(&format!("{seed}.hurl"), &generated.text);
        let (theirs, said) = by_hurl(&hurl, &file, generated.continues, &server);
        if said.stderr.contains("panicked at") {
            // Hurl 8.0.1 does where htmlUnescape meets certain letters.
            continue;
        }
        let (own, told) = by_ablaze(&file, generated.continues, &server);
        if own != theirs {
            wrong.push(format!(
                "seed {seed}, continues: {}\n{}\n{}hurl:\n{}\nablaze:\n{}{}",
                generated.continues,
                generated.text,
                difference(&theirs, &own),
                said.stderr,
                told.stdout,
                told.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n--------\n"));
}
