//! docs/experiments.md: every command in it is carried out as it is printed. Ports are replaced by
//! free ones, so that nothing else that listens is in the way.

use std::path::Path;
use std::process::Command;

use ablaze_testing::ports;
use ablaze_testing::skip::{installed, long_tests, skip};

use crate::replay::support::{ablaze, repository, said, scratch};
use crate::serving::Serving;

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/experiments.md")).unwrap()
}

/// What stands in backticks on a line.
fn codes(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// A server, and what loads it.
fn pairs(page: &str) -> Vec<(String, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let pair = |row: &str| match codes(row)[..] {
        [server, load] if server.starts_with("ablaze serve ") => {
            Some((server.to_owned(), load.to_owned()))
        }
        _ => None,
    };
    rows.filter_map(pair).collect()
}

#[test]
fn every_command_of_the_page_is_known_here() {
    let page = page();
    let mut commands = 0;
    for line in page.lines() {
        let shown = codes(line).into_iter().chain(line.starts_with("ablaze ").then_some(line));
        for code in shown.filter(|code| code.starts_with("ablaze ") || code.starts_with("ab -")) {
            let known = [
                "ablaze serve ",
                "ablaze ab ",
                "ablaze gurl ",
                "ablaze replay ",
                "ablaze run ",
                "ab ",
            ];
            let is_sentence = code == "ablaze explain";
            assert!(is_sentence || known.iter().any(|start| code.starts_with(start)), "{code}");
            commands += usize::from(!is_sentence);
        }
    }
    // Two for each pair; and what is carried out elsewhere: five replays and the files.
    let files = page.lines().filter(|line| line.starts_with("| `ablaze run ")).count();
    assert_eq!(commands, 2 * pairs(&page).len() + 5 + files);
    assert_eq!(pairs(&page).len(), 22);
    for picture in page.lines().filter(|line| line.starts_with("![")) {
        let path = picture.split(['(', ')']).nth(1).unwrap();
        let size = std::fs::metadata(repository().join("docs").join(path)).unwrap().len();
        assert!(size < 150_000, "{path} has {size} bytes");
    }
}

#[test]
fn every_load_of_the_page_works_as_it_is_printed() {
    let folder = scratch("document");
    let mut carried_out = 0;
    for (server, load) in pairs(&page()) {
        // A million requests, or a hundred thousand connections, take too long for every change.
        let is_expensive = load.contains("1000000") || load.contains("-n 100000 -c 1000");
        if is_expensive && !long_tests() {
            skip(&format!("`{load}` takes long; ABLAZE_LONG_TESTS=1 runs it"));
            continue;
        }
        let program = load.split(' ').next().unwrap();
        if program != "ablaze" && installed(program).is_none() {
            continue;
        }
        let free = ports::free();
        let server = aimed_at(&server, free);
        let load = aimed_at(&load, free);
        let _serving = serve(&folder, &server);
        let words: Vec<&str> = load.split(' ').collect();
        let mut command = match words[0] {
            "ablaze" => Command::new(env!("CARGO_BIN_EXE_ablaze")),
            program => Command::new(program),
        };
        let output = said(command.args(&words[1..]).current_dir(&folder));
        let said = &output.stdout;
        assert_eq!(output.status, 0, "{load}\n{output:?}");
        assert!(said.contains("Requests per second: "), "{load}\n{said}");
        let complete = said.lines().find(|line| line.starts_with("Complete requests:")).unwrap();
        let complete = complete.split_whitespace().last().unwrap();
        if load.starts_with("ablaze") {
            assert_eq!(Some(complete), requests(&load), "{load}\n{said}");
        }
        carried_out += 1;
    }
    println!("{carried_out} commands carried out");
    assert!(carried_out >= 11, "{carried_out}");
}

#[test]
fn every_file_of_the_page_can_be_carried_out() {
    let page = page();
    let mut named: Vec<String> = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `ablaze run ")) {
        let file = codes(row)[0].split(' ').nth(2).unwrap();
        let folder = if long_tests() { scratch("document-file") } else { repository() };
        let checked = ablaze(&repository(), &["run", file, "--check"]);
        assert_eq!(checked.status, 0, "{checked:?}");
        if long_tests() {
            let kept = folder.join("kept");
            let words = ["run", file, "--quick", "--folder", kept.to_str().unwrap()];
            let ran = ablaze(&repository(), &words);
            // Where nothing answers, nothing is measured, and that is its result.
            let expected = if file.contains("without-responses") { 1 } else { 0 };
            assert_eq!(ran.status, expected, "{ran:?}");
        }
        named.push(file.to_owned());
    }
    let mut there: Vec<String> = std::fs::read_dir(repository().join("experiments"))
        .unwrap()
        .map(|entry| format!("experiments/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    there.sort();
    named.sort();
    assert_eq!(named, there, "the page has every file of the folder");
}

/// The number of requests that a line asks for.
fn requests(load: &str) -> Option<&str> {
    let words: Vec<&str> = load.split(' ').collect();
    let apart = words.windows(2).find(|pair| matches!(pair[0], "-n" | "-an")).map(|pair| pair[1]);
    apart.or_else(|| words.iter().find_map(|word| word.strip_prefix("-n")))
}

fn serve(folder: &Path, line: &str) -> Serving {
    let words = line.split(' ').skip(1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    Serving::start(command.args(words).args(["--quiet", "--stop-with-stdin"]).current_dir(folder))
}

/// The command with another port.
fn aimed_at(line: &str, port: u16) -> String {
    const PRINTED: [&str; 5] = [":12345", ":8888", ":8080", ":8083", ":8921"];
    PRINTED.iter().fold(line.to_owned(), |line, printed| line.replace(printed, &format!(":{port}")))
}
