//! docs/ab-compatibility.md names a test for every row; those tests must exist.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use ablaze_testing::repository;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| repository::file("docs/ab-compatibility.md"));
/// Where the document says its tests are, by the folder of this crate.
const FOLDERS: [&str; 6] = [
    "tests/all/ab",
    "tests/all/e2e",
    "tests/all/tls",
    "src/front_ends/ab",
    "../report/src/ab",
    "../engine/tests/all/tls",
];

/// Rows of the tables whose last column is `test`, without their heads.
pub fn rows() -> Vec<&'static str> {
    let mut rows = Vec::new();
    let mut names_tests = false;
    for line in DOCUMENT.lines() {
        match line.strip_prefix('|') {
            None => names_tests = false,
            Some(_) if line.ends_with("| test |") => names_tests = true,
            Some(row) if names_tests && !row.starts_with("---") => rows.push(line),
            Some(_) => {}
        }
    }
    rows
}

/// Names of all tests, as `module::name`.
fn tests() -> Vec<String> {
    let mut tests = Vec::new();
    for folder in FOLDERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let module = path.file_stem().unwrap().to_string_lossy().into_owned();
            let names = text.split("#[test]").skip(1).filter_map(|behind| {
                let (_, name) = behind.split_once("fn ")?;
                Some(name.split('(').next().unwrap_or_default().to_owned())
            });
            tests.extend(names.map(|name| format!("{module}::{name}")));
        }
    }
    tests
}

/// Whether a name of the document is that of a test: `…` stands for its beginning or its end, `*`
/// for any.
fn is_named(test: &str, module: &str, name: &str) -> bool {
    let Some((own_module, own)) = test.split_once("::") else { return false };
    own_module == module
        && match (name.strip_prefix('…'), name.strip_suffix('…')) {
            _ if name == "*" || name == "…" => true,
            (Some(end), _) => own.ends_with(end),
            (_, Some(begin)) => own.starts_with(begin),
            _ => own == name,
        }
}

#[test]
fn every_row_names_tests_that_exist() {
    let tests = tests();
    let rows = rows();
    assert!(rows.len() > 40, "{} rows", rows.len());
    let mut missing = Vec::new();
    for row in rows {
        let column = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let mut module = "";
        let mut named = 0;
        for word in column.split('`').skip(1).step_by(2) {
            let name = word.split_once("::").map_or(word, |(own, name)| {
                module = own;
                name
            });
            named += 1;
            if !tests.iter().any(|test| is_named(test, module, name)) {
                missing.push(format!("{module}::{name}, named by {row}"));
            }
        }
        if named == 0 {
            missing.push(format!("no test is named by {row}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The list of ab's quirks has 24 entries, each with a row.
#[test]
fn every_quirk_has_a_row() {
    for number in 1..=24 {
        let start = format!("| {number} | ");
        assert_eq!(rows().iter().filter(|row| row.starts_with(&start)).count(), 1, "{number}");
    }
}
