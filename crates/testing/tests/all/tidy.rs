//! The written rules that a program can check, over every file of the workspace: how a file begins and how long it
//! is, which crate may depend on which, that no crate reads a file of another while it is built, and how tests start
//! programs and skip. What is allowed today although the rule forbids it is listed here; lists only shrink.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Most lines of a file of a program or library.
const LINES_MAX: usize = 400;
/// Most lines of a file of tests: cases are many and alike.
const TEST_LINES_MAX: usize = 600;

/// Files that are longer, and the most lines each may have: what it had when it was listed, or less.
const LONGER: [(&str, usize); 0] = [];

/// Which crates of the workspace a crate may depend on, and which its tests may use beside those. Every crate's tests
/// may use `testing`.
const EDGES: [(&str, &[&str], &[&str]); 23] = [
    ("random", &[], &[]),
    ("feed", &["random"], &[]),
    ("wire", &["random"], &[]),
    ("journey", &["wire"], &[]),
    ("script", &["wire"], &[]),
    ("sys", &[], &[]),
    ("stats", &["random"], &[]),
    ("chart", &[], &[]),
    ("net", &["sys"], &[]),
    ("quic", &["wire"], &[]),
    ("testing", &["model", "sys", "wire"], &[]),
    ("target", &["net", "quic", "random", "sys", "wire"], &["tamper"]),
    ("tamper", &["engine", "model", "net", "quic", "target", "wire"], &["random"]),
    ("model", &["feed", "journey", "stats", "wire"], &[]),
    ("fleet", &["model", "stats"], &[]),
    ("monitor", &["model", "sys"], &[]),
    ("profile", &["chart", "model", "sys"], &[]),
    (
        "engine",
        &["feed", "journey", "model", "net", "quic", "random", "stats", "sys", "wire"],
        &["tamper", "target"],
    ),
    ("verdict", &["chart", "model", "stats"], &[]),
    ("report", &["chart", "model", "profile", "stats", "sys", "wire"], &["random", "verdict"]),
    ("lab", &["model", "report", "stats", "sys", "verdict"], &[]),
    (
        "load",
        &[
            "engine", "feed", "journey", "model", "monitor", "report", "stats", "sys", "verdict",
            "wire",
        ],
        &["target"],
    ),
    (
        "ablaze",
        &[
            "chart", "engine", "feed", "fleet", "lab", "load", "model", "monitor", "net",
            "profile", "report", "script", "stats", "sys", "target", "verdict", "wire",
        ],
        &["tamper"],
    ),
];

/// Crates that nothing but tests uses.
const OF_TESTS: [&str; 2] = ["tamper", "testing"];

#[test]
fn every_file_begins_with_what_it_is_for() {
    let wrong = sources().into_iter().filter(|(_, text)| {
        let head = text.lines().take_while(|line| line.starts_with("//!"));
        let head =
            head.map(|line| line.trim_start_matches("//!").trim()).collect::<Vec<_>>().join(" ");
        // A sentence: some words, and its end.
        head.split_whitespace().count() < 3 || !head.contains(['.', ':'])
    });
    let wrong: Vec<String> = wrong.map(|(path, _)| path).collect();
    assert!(
        wrong.is_empty(),
        "no `//!` that says in a sentence what the file is for:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn no_file_is_too_long() {
    let mut wrong = Vec::new();
    let listed: BTreeMap<&str, usize> = LONGER.into_iter().collect();
    let sources = sources();
    for (path, text) in &sources {
        let lines = text.lines().count();
        let most = if is_test(path) { TEST_LINES_MAX } else { LINES_MAX };
        match listed.get(path.as_str()) {
            None if lines > most => {
                wrong.push(format!("{path} has {lines} lines, {most} are allowed"))
            }
            Some(_) if lines <= most => {
                wrong.push(format!("{path} has {lines} lines: take it off the list"))
            }
            Some(listed) if lines > *listed => {
                wrong.push(format!(
                    "{path} has {lines} lines, more than the {listed} it is listed with"
                ));
            }
            _ => {}
        }
    }
    for path in listed.keys().filter(|path| !sources.iter().any(|(own, _)| own == *path)) {
        wrong.push(format!("{path} does not exist: take it off the list"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_depend_only_on_those_that_they_may() {
    let mut wrong = Vec::new();
    let crates = crates();
    for name in &crates {
        let Some((_, permitted, of_tests)) = EDGES.iter().find(|(own, ..)| own == name) else {
            wrong.push(format!("{name} has no row in EDGES"));
            continue;
        };
        let manifest = manifest(name);
        for (section, permitted) in [
            ("dependencies", permitted.to_vec()),
            ("build-dependencies", permitted.to_vec()),
            ("dev-dependencies", [permitted, *of_tests, &["testing"]].concat()),
        ] {
            let Some(section_table) = manifest.get(section).and_then(toml::Value::as_table) else {
                continue;
            };
            let own = section_table.keys().filter_map(|key| key.strip_prefix("ablaze-"));
            for other in own.filter(|other| !permitted.contains(other)) {
                wrong.push(format!("{name}: {other} is not permitted in [{section}]"));
            }
        }
    }
    for (name, ..) in EDGES.iter().filter(|(name, ..)| !crates.iter().any(|own| own == name)) {
        wrong.push(format!("{name} has a row in EDGES and is no crate"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A package holds what is in its folder; what leaves it is missing when somebody else builds it. Files of the
/// repository that a crate needs are links in its folder, which its package has as files.
#[test]
fn no_crate_is_built_from_files_of_another() {
    let mut wrong = Vec::new();
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("crates/")) {
        let outside = included(path, text).into_iter().filter(|file| {
            let own: Vec<_> = Path::new(path).components().take(2).collect();
            file.components().take(2).collect::<Vec<_>>() != own
        });
        let outside: Vec<String> = outside.map(|file| file.display().to_string()).collect();
        if !outside.is_empty() {
            wrong.push(format!("{path} includes {}", outside.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With a version in the workspace's table, a dependency on them would have to be published, too.
#[test]
fn the_crates_of_tests_are_not_published_and_only_tests_use_them() {
    let root: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let dependencies = &root["workspace"]["dependencies"];
    for name in crates() {
        let published = manifest(&name)["package"].get("publish").and_then(toml::Value::as_bool);
        let of_tests = OF_TESTS.contains(&name.as_str());
        assert_eq!(published == Some(false), of_tests, "{name}: publish");
        let of_workspace = dependencies.get(format!("ablaze-{name}"));
        let version = of_workspace.and_then(|dependency| dependency.get("version"));
        let own = &root["workspace"]["package"]["version"];
        let wanted = (name != "ablaze" && !of_tests).then_some(own);
        assert_eq!(version, wanted, "{name}: its version in the workspace's table");
    }
}

/// What a registry shows of a package, but for addresses.
#[test]
fn packages_say_what_they_are() {
    let mut wrong = Vec::new();
    for name in crates().iter().filter(|name| !OF_TESTS.contains(&name.as_str())) {
        let manifest = manifest(name);
        let package = manifest["package"].as_table().unwrap();
        for key in ["description", "license", "keywords", "categories", "readme", "rust-version"] {
            if !package.contains_key(key) {
                wrong.push(format!("{name}: no {key}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `ablaze_testing::Bounded` sets the signals that a child needs, ends it, and bounds every wait for it.
#[test]
fn tests_start_programs_only_by_the_bounded_helper() {
    let words = [".spawn()", ".output()"];
    refuse(&words, "start it with ablaze_testing::Bounded");
}

#[test]
fn waits_of_tests_are_bounded() {
    refuse(&[".recv()"], "wait with recv_timeout");
}

#[test]
fn what_is_skipped_is_counted() {
    let words = ["println!(\"skipped", "println!(\"SKIPPED"];
    refuse(&words, "say it with ablaze_testing::skip");
}

/// Fails where a file of tests has one of these words.
fn refuse(words: &[&str], instead: &str) {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !is_test(&path) || path.starts_with("crates/testing/") {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                wrong.push(format!("{path}:{}: `{word}`", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{instead}:\n{}", wrong.join("\n"));
}

/// The files that a source includes, by the top of the repository.
fn included(path: &str, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for marker in ["include_str!(", "include_bytes!(", "include!(", "#[path = "] {
        for rest in text.split(marker).skip(1) {
            let end = rest.find([';', ']']).unwrap_or(rest.len());
            let call = &rest[..end];
            let Some(literal) =
                literals(call).into_iter().find(|text| *text != "CARGO_MANIFEST_DIR")
            else {
                continue;
            };
            let from = match call.contains("CARGO_MANIFEST_DIR") {
                true => Path::new(path).components().take(2).collect(),
                false => Path::new(path).parent().unwrap().to_owned(),
            };
            found.push(normal(&from.join(literal.trim_start_matches('/'))));
        }
    }
    found
}

/// What stands between quotation marks.
fn literals(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            other => whole.push(other),
        }
    }
    whole
}

fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path.contains("/tests/") || name == "tests.rs" || name.ends_with("_tests.rs")
}

/// Every Rust file of the repository, by its path from the top, and what is in it.
fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    collect(&repository().join("crates"), &mut files);
    collect(&repository().join("fuzz/fuzz_targets"), &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    files.sort();
    let named = files.into_iter().map(|path| {
        let name = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Names of the folders below `crates`.
fn crates() -> Vec<String> {
    let entries = fs::read_dir(repository().join("crates")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn manifest(name: &str) -> toml::Table {
    toml::from_str(&read(&format!("crates/{name}/Cargo.toml"))).unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

fn repository() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

#[test]
fn what_is_included_is_found_in_every_form() {
    let text = "const A: &str = include_str!(\"../docs/a.md\");\n#[path = \"b.rs\"]\nmod b;\n\
                include_bytes!(concat!(\n    env!(\"CARGO_MANIFEST_DIR\"),\n    \"/../c/d.bin\"\n));";
    let found = included("crates/x/src/m.rs", text);
    let expected = ["crates/x/docs/a.md", "crates/c/d.bin", "crates/x/src/b.rs"];
    assert_eq!(found, expected.map(PathBuf::from));
}
