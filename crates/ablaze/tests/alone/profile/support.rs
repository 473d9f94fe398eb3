//! Servers, commands and what is read from a profile.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Running};
use serde_json::Value;

/// An empty folder for one test.
pub fn scratch(test: &str) -> PathBuf {
    ablaze_testing::scratch::kept(env!("CARGO_TARGET_TMPDIR"), &format!("profile-{test}"))
}

/// What a command printed, after it ended with status 0.
pub fn ablaze(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .bounded_output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    stdout
}

/// A built-in server in a process of its own, killed when the test is done with it.
pub struct Served {
    child: Running,
    pub url: String,
}

impl Served {
    pub fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ablaze"))
            .args(["serve", "127.0.0.1:0", "--threads", "1"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .start()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        let url = url.unwrap_or_else(|| panic!("no URL in `{line}`")).to_owned();
        Self { child, url }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

pub fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The profile of the target in a saved run; `None`, and a skip, when the kernel forbade it, which is asserted.
#[track_caller]
pub fn target_profile(run: &Value) -> Option<Value> {
    let of_target = |items: &Value| {
        let found = items.as_array().unwrap().iter().find(|item| item["of"] == "target");
        found.cloned()
    };
    if let Some(profile) = of_target(&run["profile"]["profiles"]) {
        println!("seen: a profile of {} samples by {}", profile["samples"], profile["event"]);
        return Some(profile);
    }
    let refused = of_target(&run["profile"]["refused"]).expect("either a profile or a refusal");
    assert!(!refused["reason"].as_str().unwrap().is_empty());
    assert!(!refused["fix"].as_str().unwrap().is_empty(), "a refusal without a fix");
    skip(&format!("the target is not profiled: {refused}"));
    None
}

/// The share of the samples in which a function was on the stack.
pub fn share(profile: &Value, function: &str) -> f64 {
    let stacks = profile["stacks"].as_array().unwrap();
    let weight = |stack: &Value| stack["weight"].as_f64().unwrap();
    let whole: f64 = stacks.iter().map(weight).sum();
    let through = |stack: &&Value| {
        stack["frames"].as_str().unwrap().split(';').any(|frame| frame.contains(function))
    };
    stacks.iter().filter(through).map(weight).sum::<f64>() / whole
}

/// The share that a flame graph tells of a function: `burn_cpu (20.1 µs per request, 61.30%)`, all its
/// rectangles together.
pub fn drawn_share(svg: &str, function: &str) -> f64 {
    let titles = svg.split("<title>").skip(1).filter_map(|rest| rest.split_once("</title>"));
    let shares = titles.filter_map(|(title, _)| {
        let (name, figures) = title.rsplit_once(" (")?;
        let (_, share) = figures.split_once(" per request, ")?;
        let percent: f64 = share.split('%').next()?.parse().ok()?;
        name.ends_with(function).then_some(percent / 100.0)
    });
    shares.sum()
}
