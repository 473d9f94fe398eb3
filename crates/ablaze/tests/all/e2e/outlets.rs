//! Outlets that fail: a full standard output, a terminal that is closed, files that may not grow. What can be
//! written is written, what cannot is named, and the exit status says so.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Running, Scratch as Folder};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::e2e::support::{Ran, Scratch, ablaze, command, eventually, run, serve, start, url};

/// Runs the command with a standard output that takes nothing; what it said on standard error.
fn onto_a_full_disk(words: &[&str], folder: &Path) -> Ran {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = command(words);
    command.current_dir(folder).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
    command.start().unwrap().end()
}

/// Whether the percentiles of -e are there to the last.
fn is_whole(csv: &str) -> bool {
    let text = std::fs::read_to_string(csv).unwrap();
    let last = text.lines().last().unwrap_or_default();
    text.starts_with("Percentage served") && last.starts_with("100,")
}

fn json(path: &str) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_full_standard_output_does_not_take_the_files() {
    let server = serve();
    let target = url(&server, "/");
    let folder = Folder::new("full-stdout");
    let (run, page) = (folder.file("run.json"), folder.file("page.html"));
    for front in [&[][..], &["--json"]] {
        let words = [&[&target[..], "-n", "100", "-o", &run, "-o", &page], front].concat();
        let ran = onto_a_full_disk(&words, &folder);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
        let said: Vec<&str> = ran.stderr.lines().collect();
        let [line] = said[..] else { panic!("{ran:?}") };
        assert!(line.contains("standard output") && line.contains(&run), "{ran:?}");
        assert_eq!(json(&run)["responses"], 100);
        assert!(std::fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
        std::fs::remove_file(&run).unwrap();
        std::fs::remove_file(&page).unwrap();
    }
    let [csv, plot] = ["times.csv", "times.tsv"].map(|name| folder.file(name));
    let ab = ["ab", "-q", "-n", "100", "--output", &run, "-e", &csv, "-g", &plot, &target];
    let ran = onto_a_full_disk(&ab, &folder);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("standard output"), "{ran:?}");
    assert_eq!(json(&run)["responses"], 100);
    assert_eq!(std::fs::read_to_string(&plot).unwrap().lines().count(), 101);
    assert!(is_whole(&csv));
}

#[test]
fn what_commands_of_several_runs_were_asked_to_keep_is_kept_and_the_status_says_what_is_lost() {
    let folder = Folder::new("full-several");
    let load = ["-n", "100", "-c", "2"];
    for (words, files) in [
        (&["compare", "serve:epoll-et", "serve:epoll-lt", "--repeat", "1"][..], "compare"),
        (&["sweep", "serve:epoll-et"], "sweep"),
    ] {
        let (figures, page) = (format!("{files}.json"), format!("{files}.html"));
        let words = [words, &load, &["-o", &figures, "-o", &page]].concat();
        let ran = onto_a_full_disk(&words, &folder);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
        let told = ran.stderr.lines().filter(|line| line.contains("standard output")).count();
        assert_eq!(told, 1, "{words:?}: {ran:?}");
        assert!(json(&folder.file(&figures)).is_object());
        for page in [page, format!("{files}-1/index.html"), format!("{files}-1/BENCH.md")] {
            assert!(folder.join(&page).exists(), "{page}");
        }
        let again = format!("again-{files}.json");
        let ran = onto_a_full_disk(&["report", &format!("{files}-1"), "-o", &again], &folder);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(json(&folder.file(&again)).is_object());
    }
}

#[test]
fn a_report_that_nobody_gets_is_no_success() {
    let server = serve();
    let report = ablaze(&["ab", "-q", "-n", "100", &url(&server, "/")]).stdout;
    let text = Scratch::with("explained", report.as_bytes());
    let folder = Folder::new("full-words");
    for words in [
        &["--help"][..],
        &["--version"],
        &["load", "--help"],
        &["ab", "-V"],
        &["doctor"],
        &["doctor", "--json"],
        &["explain", text.word()],
        &["replay"],
    ] {
        let ran = onto_a_full_disk(words, &folder);
        assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("standard output"), "{words:?}: {ran:?}");
    }
}

#[test]
fn what_a_run_came_to_is_said_before_a_report_that_is_lost() {
    // It accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = Folder::new("lost-and-invalid");
    let full = folder.file("full.json");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let target = format!("http://{}/", silent.local_addr().unwrap());
    // 130, 4, 1, 3: README.md.
    for (strict, status) in [(true, 4), (false, 1)] {
        let mut words = vec![&target[..], "-d", "300ms", "-c", "3", "-o", &full];
        words.extend(strict.then_some("--strict"));
        let ran = ablaze(&words);
        assert_eq!(ran.status, status, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("full.json"), "{ran:?}");
    }
}

#[test]
fn a_file_that_fails_takes_no_other_with_it() {
    let server = serve();
    let target = url(&server, "/");
    let folder = Folder::new("limited-files");
    let [page, markdown, csv, table] =
        ["page.html", "BENCH.md", "run.csv", "table.csv"].map(|name| folder.file(name));
    // 8 blocks of 1024 bytes: a page or a chart is longer, a CSV is not. SIGXFSZ ends who does not expect it.
    let script = "ulimit -c 0; ulimit -f 8; exec \"$0\" \"$@\"";
    let limited = |words: &[&str]| {
        let mut bash = Command::new("bash");
        bash.args(["-c", script, env!("CARGO_BIN_EXE_ablaze")]).args(words);
        run(bash.current_dir(&folder))
    };
    let ran = limited(&[&target, "-n", "100", "-o", &page, "-o", &markdown, "-o", &csv]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("200: 100"), "{ran:?}");
    assert!(ran.stderr.contains(&page) && ran.stderr.contains("ulimit -f"), "{ran:?}");
    assert!(!Path::new(&page).exists(), "a part of a page is none");
    for kept in [&csv, &markdown] {
        assert!(std::fs::metadata(kept).unwrap().len() > 0, "{kept}");
    }
    let left = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().into_string().unwrap()
    };
    let left: Vec<String> = std::fs::read_dir(folder.path()).unwrap().map(left).collect();
    assert!(left.iter().all(|name| !name.ends_with(".part")), "{left:?}");

    // -g has a line per request, -e one per percent.
    let ran = limited(&["ab", "-q", "-n", "2000", "-g", &page, "-e", &table, &target]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("Complete requests:      2000"), "{ran:?}");
    assert!(ran.stderr.contains("gnuplot output file"), "{ran:?}");
    assert!(is_whole(&table));
}

/// A terminal of its own for a command, which gets SIGHUP when it is closed.
fn on_a_terminal(words: &[&str]) -> (Running, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let open = || {
        let path = Path::new(std::str::from_utf8(name.to_bytes()).unwrap());
        File::options().read(true).write(true).open(path).unwrap()
    };
    let child = Command::new("setsid")
        .args(["--ctty", env!("CARGO_BIN_EXE_ablaze")])
        .args(words)
        .stdin(open())
        .stdout(open())
        .stderr(open())
        .start()
        .unwrap();
    (child, terminal)
}

#[test]
fn a_terminal_that_is_closed_ends_the_load_and_keeps_the_files() {
    let server = serve();
    let target = url(&server, "/");
    let folder = Folder::new("closed-terminal");
    let [kept, csv] = ["run.json", "times.csv"].map(|name| folder.file(name));
    for (words, status) in [
        (&[&target[..], "-d", "60", "-o", &kept][..], 130),
        // As ab: 1 for whatever goes wrong.
        (&["ab", "-t", "60", "-n", "100000000", "--output", &kept, "-e", &csv, &target], 1),
    ] {
        let before = server.served().requests;
        let (mut child, terminal) = on_a_terminal(words);
        // More than are in flight: the last of them have not arrived when the terminal is closed.
        assert!(eventually(|| server.served().requests > before + 1_000), "{words:?}");
        drop(terminal);
        let ended = eventually(|| child.try_wait().unwrap().is_some());
        assert!(ended, "{words:?}: goes on without its terminal");
        let code = child.wait().unwrap().code();
        // The report could not be written, as the terminal is no more; that the run was interrupted is said first.
        assert_eq!(code, Some(status), "{words:?}");
        let run = json(&kept);
        assert_eq!(run["ended"], "interrupted", "{words:?}");
        assert!(run["responses"].as_u64().unwrap() >= 100, "{words:?}");
        std::fs::remove_file(&kept).unwrap();
    }
    assert!(is_whole(&csv));
}

#[test]
fn a_server_whose_terminal_is_closed_keeps_its_counters() {
    let stats = Scratch::new("hung-up.json");
    let mut child = start(&mut command(&["serve", "127.0.0.1:0", "--stats", stats.word()]));
    let mut line = [0; 9];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    assert_eq!(&line, b"listening");
    child.signal(Signal::HUP);
    let ran = child.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(json(stats.word())["address"].is_string());
}
