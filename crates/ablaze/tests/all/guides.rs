//! Guides in docs/: every command in them is carried out as it is printed, only shorter and at a free port. What starts a
//! server of the reader's own is not there to be started.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, ports};

use crate::serving::Serving;

/// The port that guides print.
const PRINTED: &str = ":8080";

/// The commands of a guide: what stands in backticks and in blocks, and begins with the program's name.
fn commands(file: &str) -> Vec<String> {
    let text = ablaze_testing::repository::file(&format!("docs/{file}"));
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        let codes = line.split('`').skip(1).step_by(2);
        // A name in a sentence, such as `ablaze find`, is no command.
        let codes = codes.filter(|code| code.split(' ').count() > 3);
        let shown = codes.chain([line]).filter(|code| code.starts_with("ablaze "));
        commands.extend(shown.map(str::to_owned));
    }
    commands
}

fn serve(port: u16) -> Serving {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    let address = format!(":{port}");
    Serving::start(command.args([
        "serve",
        &address,
        "--delay",
        "5ms",
        "--quiet",
        "--stop-with-stdin",
    ]))
}

/// The same at another port and as short as it can be.
fn shortened(line: &str, port: u16) -> String {
    let line = line.replace(PRINTED, &format!(":{port}"));
    let mut words: Vec<&str> = line.split(' ').skip(1).collect();
    // A stage of a search must not be shorter, and a busy machine may have no response in less.
    let length = "500ms";
    match words.iter().position(|word| *word == "-d") {
        Some(at) => words[at + 1] = length,
        None => words.extend(["-d", length]),
    }
    if words[0] == "compare" && !words.contains(&"--repeat") {
        words.extend(["--repeat", "1"]);
    }
    words.join(" ")
}

/// Carries a guide's commands out; gives how many there were.
fn carried_out(file: &str, folder: &Path) -> usize {
    let port = ports::free();
    let _serving = serve(port);
    let commands = commands(file);
    let here = |line: &&String| !line.contains("./server") && !line.contains("sweep-1/");
    let here = commands.iter().filter(here).filter(|line| !line.starts_with("ablaze serve "));
    let mut count = 0;
    for line in here.filter(|line| !line.contains("FOLDER") && !line.contains("FILE")) {
        // A shell reads it, as the reader's does.
        let words = shortened(line, port);
        let output = Command::new("sh")
            .args(["-c", &format!("exec \"$0\" {words}"), env!("CARGO_BIN_EXE_ablaze")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .bounded_output()
            .unwrap();
        // A machine with much else to do may hold no rate at all.
        let permitted: &[i32] = if line.starts_with("ablaze find") { &[0, 1] } else { &[0] };
        let status = output.status.code().unwrap();
        assert!(permitted.contains(&status), "{words}: {output:?}");
        assert!(!output.stdout.is_empty(), "{words}: {output:?}");
        count += 1;
    }
    count
}

fn scratch(name: &str) -> std::path::PathBuf {
    ablaze_testing::scratch::kept(env!("CARGO_TARGET_TMPDIR"), &format!("guides-{name}"))
}

#[test]
fn every_command_of_which_number_works() {
    assert_eq!(carried_out("which-number.md", &scratch("which-number")), 7);
    let server = commands("which-number.md").into_iter().find(|line| line.contains("serve :"));
    assert_eq!(server.as_deref(), Some("ablaze serve :8080 --delay 5ms"), "what the test starts");
}

#[test]
fn every_command_of_sweeping_works() {
    assert_eq!(carried_out("sweeping.md", &scratch("sweeping")), 5);
}
