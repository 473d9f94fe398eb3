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

use crate::e2e::foreign;
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
        Self::of(words, columns, rows, "")
    }

    /// With this value of NO_COLOR.
    fn of(words: &[&str], columns: u16, rows: u16, no_color: &str) -> Self {
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
            .env("NO_COLOR", no_color)
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
    // Ctrl-\ asks for no report.
    let terminal = Terminal::with(&[&target, "-c", "2", "-d", "60"], 80, 24);
    terminal.shows("responses/s");
    terminal.press("\x1c");
    assert_eq!(terminal.end().0, None);
    // By itself.
    let (status, behind) = Terminal::with(&[&target, "-d", "1"], 200, 60).end();
    assert_eq!(status, Some(0), "{behind}");
}

/// The text without the sequences that set colours and weights (SGR), and whether it has any of those that set a colour.
fn without_looks(text: &str) -> (String, bool) {
    let (mut plain, mut has_colour) = (String::new(), false);
    let mut pieces = text.split("\x1b[");
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
        let (parameters, rest) = piece.split_at(end);
        if let Some(text) = rest.strip_prefix('m') {
            let is_colour = |code: &str| matches!(code.parse(), Ok(30..=49 | 90..=107));
            has_colour |= parameters.split(';').any(is_colour);
            plain.push_str(text);
        } else {
            plain.push_str("\x1b[");
            plain.push_str(piece);
        }
    }
    (plain, has_colour)
}

#[test]
fn the_figures_behind_the_view_are_those_of_the_report() {
    let server = serve();
    let folder = Folder::new("live-figures");
    let (text, run) = (folder.file("run.txt"), folder.file("run.json"));
    // Ended by a number and by hand: what is shown last is not the last of the view, but the report.
    let target = url(&server, "/");
    for (words, status) in [(&["-n", "20000"][..], 0), (&["-d", "60"], 130)] {
        let words = [&[&target, "--live", "-c", "2", "-o", &text, "-o", &run], words].concat();
        // As wide as the lines of a file are.
        let terminal = Terminal::with(&words, 110, 24);
        if status == 130 {
            terminal.shows("responses/s");
            terminal.press("q");
        }
        let (ended, behind) = terminal.end();
        assert_eq!(ended, Some(status), "{behind}");
        let shown = without_looks(&behind).0.replace("\r\n", "\n");
        let report = folder.read("run.txt");
        assert!(shown.contains(report.trim_end()), "{shown}\n--- is not ---\n{report}");
        let json = json(&run);
        let responses = ablaze_report::number::grouped(json["responses"].as_u64().unwrap());
        assert!(shown.contains(&responses), "{responses} in {shown}");
    }
}

#[test]
fn a_finding_is_shown_when_it_fires_and_stands_in_the_report() {
    let server = serve();
    // One connection takes 50 ms for a response, and 200 are due in a second.
    let words = [&url(&server, "/delay/50ms")[..], "-c", "1", "--rate", "200", "-d", "60"];
    let terminal = Terminal::with(&words, 120, 30);
    terminal.shows("D30 late sending");
    terminal.shows("have not left");
    terminal.press("q");
    let (_, behind) = terminal.end();
    assert!(behind.contains("D30"), "{behind}");
}

#[test]
fn no_color_has_the_view_and_the_report_without_colours() {
    let server = serve();
    let words = [&url(&server, "/")[..], "--live", "-c", "2", "-d", "1"];
    for (no_color, coloured) in [("", true), ("1", false)] {
        let terminal = Terminal::of(&words, 80, 24, no_color);
        terminal.shows("responses/s");
        let written = Arc::clone(&terminal.written);
        let (status, _) = terminal.end();
        assert_eq!(status, Some(0));
        let all = String::from_utf8_lossy(&written.lock().unwrap()).into_owned();
        assert!(all.contains(ENTERED), "{all}");
        assert_eq!(without_looks(&all).1, coloured, "NO_COLOR={no_color}: {all}");
    }
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

/// What a view writes, without the sequences by which it moves the cursor, colours, and gives up a sequence (CAN).
fn without_own_sequences(text: &str) -> String {
    let text = text.replace('\x18', "");
    let mut pieces = text.split("\x1b[");
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(piece.len());
        let parameters = piece[..end].chars().all(|c| c.is_ascii_digit() || ";?".contains(c));
        assert!(parameters, "{piece}");
        shown.push_str(piece.get(end + 1..).unwrap_or_default());
    }
    shown
}

#[test]
fn a_view_shows_names_of_others_spelled_out() {
    let folder = Folder::new("live-foreign");
    let (_server, target) = foreign::served_as(&folder, "\u{202e}\u{9b}\u{1b}c");
    let list = foreign::list(&folder);
    let words = [&target, "--urls", &list, "--expect", "100-599", "-c", "2", "-d", "60"];
    let terminal = Terminal::with(&words, 200, 60);
    terminal.shows("a\\u{202e}");
    terminal.shows("c\\u{9b}2J");
    let written = Arc::clone(&terminal.written);
    terminal.press("q");
    terminal.end();
    let all = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    foreign::assert_fit(&["live"], &without_own_sequences(&all.replace("\r", "")));
}
