//! The guides: every command in a block marked `sh`, and every line of `ablaze` in the tables of coming-from.md, is carried
//! out as a shell reads it, in the order of the page. Ports are replaced by free ones, times by short ones: what a
//! command says does not depend on them, and no reader has to wait for it here.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use ablaze_testing::skip::{installed, skip};
use ablaze_testing::{Bounded, Scratch, ports, repository};

use crate::serving::Serving;

/// A command of a page.
#[derive(Debug)]
struct Line {
    /// As it is printed, without its comment.
    text: String,
    /// The statuses that the page says it exits with.
    statuses: Vec<i32>,
    /// It goes on beside those after it.
    in_background: bool,
}

fn line(text: &str) -> Line {
    let (text, comment) = text.split_once("  # ").unwrap_or((text, ""));
    let text = text.trim();
    let statuses = match comment.strip_prefix("exits with ") {
        Some(statuses) => statuses.split(" or ").map(|status| status.parse().unwrap()).collect(),
        None => vec![0],
    };
    let in_background = text.ends_with('&');
    Line { text: text.trim_end_matches('&').trim().to_owned(), statuses, in_background }
}

/// The commands in blocks marked `sh`.
fn of_blocks(page: &str) -> Vec<Line> {
    let blocks =
        page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let joined = blocks.map(|block| block.replace("\\\n", " "));
    let lines: Vec<String> =
        joined.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().filter(|line| !line.trim().is_empty()).map(|text| line(text)).collect()
}

/// The lines of ablaze in the last cells of tables.
fn of_tables(page: &str) -> Vec<Line> {
    let cells =
        page.lines().filter(|row| row.starts_with("| ")).filter_map(|row| row.rsplit(" | ").next());
    let codes = cells.filter_map(|cell| cell.split('`').nth(1));
    codes.filter(|code| code.starts_with("ablaze ")).map(line).collect()
}

/// A folder where `ablaze` is a command, with the files that the pages name.
fn folder(name: &str) -> Scratch {
    let folder = Scratch::new(name);
    fs::create_dir_all(folder.path().join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_ablaze"), folder.path().join("bin/ablaze")).unwrap();
    folder.write("body.json", "{\"a\":1}");
    folder.write("users.csv", "id,name\n1,ann\n2,bob\n");
    folder
}

/// The command with free ports and short times.
fn made_quick(text: &str, ports: &[(&str, u16)]) -> String {
    let text = ports
        .iter()
        .fold(text.to_owned(), |text, (printed, free)| text.replace(printed, &format!(":{free}")));
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if words[at - 1] == "-d" && words[at].ends_with('s') {
            // A stage of a search must not be shorter, and a busy machine may have no response in less.
            words[at] = "500ms".to_owned();
        }
    }
    if text.starts_with("ablaze find ") {
        words.extend(["--confirm", "500ms"].map(str::to_owned));
    }
    words.join(" ")
}

fn shell(folder: &Path, text: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", text]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    shell
}

/// Carries the commands out, one after the other; how many those were.
fn carry_out(name: &str, lines: &[Line]) -> usize {
    let folder = folder(name);
    let ports: Vec<(&str, u16)> =
        [":8080", ":8081", ":8443"].map(|printed| (printed, ports::free())).into();
    folder.write("targets.txt", made_quick("GET http://127.0.0.1:8080/\n", &ports));
    folder.write("list.hurl", made_quick("GET http://127.0.0.1:8080/\nHTTP 200\n", &ports));
    let mut servers = Vec::new();
    for line in lines {
        let text = made_quick(&line.text, &ports);
        let program = text.split(' ').next().unwrap();
        if !["ablaze", "printf", "export"].contains(&program) && installed(program).is_none() {
            skip(&format!("`{text}`"));
            continue;
        }
        if line.in_background {
            let text = format!("exec {text} --quiet --stop-with-stdin");
            servers.push(Serving::start(&mut shell(folder.path(), &text)));
            continue;
        }
        let output = shell(folder.path(), &text).bounded_output().unwrap();
        let status = output.status.code().unwrap();
        // A machine with much else to do may hold no rate at all, and not meet a condition on latency.
        let none_holds = (status == 1 && text.starts_with("ablaze find "))
            || (status == 3 && text.contains(" --slo "));
        assert!(
            none_holds || line.statuses.contains(&status),
            "`{text}` exits with {status}\n{output:?}"
        );
    }
    lines.len()
}

fn page(name: &str) -> String {
    repository::file(&format!("docs/guides/{name}.md"))
}

fn whole(name: &str) {
    let lines = of_blocks(&page(name));
    assert!(carry_out(name, &lines) > 3, "{lines:?}");
}

#[test]
fn first_ten_minutes() {
    whole("first-ten-minutes");
}

#[test]
fn benchmark_fairly() {
    whole("benchmark-fairly");
}

#[test]
fn find_capacity() {
    whole("find-capacity");
}

#[test]
fn ci() {
    whole("ci");
}

#[test]
fn protocols() {
    let lines = of_blocks(&repository::file("docs/protocols.md"));
    let said = format!("{lines:?}");
    for version in ["--http 2", "--http 3", "--alt-svc", "--tls-resume", "-k https"] {
        assert!(said.contains(version), "{version}");
    }
    carry_out("protocols", &lines);
}

#[test]
fn coming_from() {
    let mut lines = of_tables(&page("coming-from"));
    assert!(lines.len() > 20, "{lines:?}");
    lines.insert(0, line("ablaze serve :8080 --http 2 &"));
    carry_out("coming-from", &lines);
}

/// A link to a page that is not there, or to a heading that it does not have, helps nobody.
#[test]
fn every_link_of_every_page_leads_somewhere() {
    let docs = repository::folder().join("docs");
    let folders = [docs.clone(), docs.join("guides"), docs.join("commands")];
    let pages = folders.map(|folder| fs::read_dir(folder).unwrap());
    let pages = pages.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut followed = 0;
    for page in pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(to.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() && to.extension().is_some_and(|extension| extension == "md") {
                let there = fs::read_to_string(&to).unwrap();
                assert!(
                    there.lines().any(|line| anchor_of(line).as_deref() == Some(anchor)),
                    "{}: {link}",
                    page.display()
                );
            }
            followed += 1;
        }
    }
    assert!(followed > 50, "{followed}");
}

/// The anchor that a heading gets, as GitHub and mdbook make it.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    let is_heading = line.starts_with('#') && heading.starts_with(' ');
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    is_heading.then(|| kept.map(|c| if c == ' ' { '-' } else { c }).collect())
}
