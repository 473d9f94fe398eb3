//! The live view on a terminal: what it shows, what keys do, and that the terminal is what it was before.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::{Arc, Mutex};

use ablaze_testing::{Bounded, Running, Scratch as Folder};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;

use crate::e2e::support::{eventually, serve, url};

/// Alternate screen on, and off (ctlseqs of xterm).
const ENTERED: &str = "\x1b[?1049h";
const LEFT: &str = "\x1b[?1049l";

/// A terminal with a command on it.
struct Terminal {
    child: Running,
    /// What the person has.
    person: OwnedFd,
    /// Held open, so that what was written last can be read when the command has ended.
    line: File,
    written: Arc<Mutex<Vec<u8>>>,
    settings: String,
}

/// The settings of a terminal.
fn settings(terminal: &OwnedFd) -> String {
    let settings = tcgetattr(terminal).unwrap();
    let (local, input, output) =
        (settings.local_modes, settings.input_modes, settings.output_modes);
    format!("{local:?} {input:?} {output:?} {:?}", settings.special_codes)
}

impl Terminal {
    fn with(words: &[&str], columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = openpt(flags).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let line = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        resize(&person, columns, rows);
        let settings = settings(&person);
        let end = || line.try_clone().unwrap();
        let child = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_ablaze")])
            .args(words)
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .start()
            .unwrap();
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut reading, all) = (File::from(person.try_clone().unwrap()), Arc::clone(&written));
        // Ends with the test program at the latest: the terminal is held open until then.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reading.read(&mut bytes) {
                all.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, person, line, written, settings }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    fn shows(&self, text: &str) {
        let shown = eventually(|| self.text().contains(text));
        assert!(shown, "no {text:?} in {}", self.text());
    }

    fn press(&self, keys: &str) {
        rustix::io::write(&self.person, keys.as_bytes()).unwrap();
    }

    /// Waits for the end of the command; its status, and what it wrote behind the view.
    fn end(mut self) -> (Option<i32>, String) {
        let ended = eventually(|| self.child.try_wait().unwrap().is_some());
        assert!(ended, "goes on: {}", self.text());
        let status = self.child.wait().unwrap().code();
        // What the command wrote is in front of it.
        self.line.write_all(b"nothing follows").unwrap();
        self.shows("nothing follows");
        assert_eq!(settings(&self.person), self.settings);
        let text = self.text();
        let (view, behind) = text.split_once(LEFT).unwrap();
        assert!(view.contains(ENTERED) && !behind.contains(ENTERED), "{text}");
        assert!(behind.contains("\x1b[?25h") || view.contains("\x1b[?25h"), "the cursor is hidden");
        (status, behind.to_owned())
    }
}

fn resize(terminal: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn keys_change_an_open_loop_and_end_it_with_its_report() {
    let server = serve();
    let folder = Folder::new("live-keys");
    let saved = folder.file("run.json");
    let words = [&url(&server, "/"), "--rate", "500", "-d", "60", "-o", &saved];
    let terminal = Terminal::with(&words, 80, 24);
    terminal.shows("requested/s");
    terminal.press("+");
    terminal.shows("550/s");
    resize(&terminal.person, 120, 40);
    terminal.press(" ");
    terminal.shows("paused by hand");
    // A row that only the larger terminal has.
    terminal.shows("\x1b[40;1H");
    terminal.press(" ");
    terminal.shows("pause ");
    terminal.press("s");
    terminal.shows("saved ");
    let so_far = folder.read("run-so-far.txt");
    assert!(so_far.contains("responses/s") && !so_far.contains('\x1b'), "{so_far}");
    let page = folder.read("run-so-far.html");
    assert!(page.contains("while the run went on") && page.contains("over time"), "{page}");
    // It has no verdict yet.
    assert!(!page.contains("VALID"), "{page}");
    terminal.press("q");
    let (status, behind) = terminal.end();
    // As after Ctrl-C: it did not run as long as was asked for.
    assert_eq!(status, Some(130), "{behind}");
    assert!(behind.contains("rate was changed by hand: 550/s from"), "{behind}");
    let run = json(&saved);
    let times: Vec<f64> = run["rate_changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["times_asked"].as_f64().unwrap())
        .collect();
    assert!([1.1, 0.0, 1.1].starts_with(&times) && !times.is_empty(), "{times:?}");
}

#[test]
fn a_closed_loop_has_no_rate_and_the_terminal_is_given_back_at_every_end() {
    let server = serve();
    let target = url(&server, "/");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let terminal = Terminal::with(&[&target, "-c", "2", "-d", "60"], 80, 24);
        terminal.shows("responses/s");
        terminal.press("+");
        terminal.shows("a closed loop has no rate");
        terminal.child.signal(signal);
        let (status, behind) = terminal.end();
        assert_eq!(status, Some(130), "{signal:?}: {behind}");
        assert!(behind.contains("requests/s"), "{behind}");
    }
    // By itself.
    let (status, behind) = Terminal::with(&[&target, "-d", "1"], 200, 60).end();
    assert_eq!(status, Some(0), "{behind}");
}

#[test]
fn a_fleet_has_the_sum_and_a_row_for_each_worker() {
    let server = serve();
    let target = url(&server, "/");
    let words = ["load", "--fleet", "exec:2", "-r", "400", "-c", "8", "-d", "60", &target];
    let terminal = Terminal::with(&words, 100, 30);
    terminal.shows("at most 8 connections · 2 workers");
    // Who is not ready yet, then the figures of each.
    terminal.shows("preparing");
    terminal.shows("last s /s");
    terminal.shows("requested/s");
    let has_figures = || {
        let text = terminal.text();
        let row = |name: &str| {
            text.rsplit(name).next().is_some_and(|rest| rest.chars().take(40).any(|c| c == 'µ'))
        };
        row("worker-1") && row("worker-2")
    };
    assert!(eventually(has_figures), "{}", terminal.text());
    terminal.press("+");
    terminal.shows("the rate of a fleet cannot be changed while it runs");
    terminal.press("q");
    let (status, behind) = terminal.end();
    assert_eq!(status, Some(130), "{behind}");
    assert!(behind.contains("2 workers by exec"), "{behind}");
}

#[test]
fn without_room_or_on_request_there_is_one_line() {
    let server = serve();
    let target = url(&server, "/");
    let small = (79, 24);
    for (words, (columns, rows)) in
        [(&[][..], small), (&["--no-live"], (80, 24)), (&["--quiet"], (80, 24))]
    {
        let words = [&[&target[..], "-d", "0.8"], words].concat();
        let mut terminal = Terminal::with(&words, columns, rows);
        terminal.shows("p99");
        assert!(eventually(|| terminal.child.try_wait().unwrap().is_some()));
        let text = terminal.text();
        assert!(!text.contains(ENTERED) && !text.contains(LEFT), "{words:?}: {text}");
        terminal.child.wait().unwrap();
    }
    // Never under another tool's name, which has its own words for progress.
    let terminal = Terminal::with(&["ab", "-n", "2000", &target], 80, 24);
    terminal.shows("Requests per second");
    assert!(!terminal.text().contains(ENTERED));
}
