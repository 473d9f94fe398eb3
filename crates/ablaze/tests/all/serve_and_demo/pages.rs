//! The command lines of docs/targets.md can be copied: each is run as a shell reads it.

use std::fs;
use std::process::{Command, Stdio};

use ablaze_target::Model;

use ablaze_testing::Bounded;

use crate::serve_and_demo::presets::list;
use crate::serve_and_demo::support::{Serving, ablaze, directory};

/// The command lines of the page, without their addresses.
fn command_lines() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets.md");
    let page = fs::read_to_string(page).unwrap();
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        if in_code && let Some(options) = line.strip_prefix("ablaze serve") {
            lines.push(options.replace(" :0", ""));
        }
    }
    lines
}

#[test]
fn every_command_line_of_the_page_serves() {
    let lines = command_lines();
    assert!(lines.len() >= 15, "{lines:#?}");
    let directory = directory("pages");
    fs::write(directory.join("README.md"), "a file of that name").unwrap();
    for options in lines {
        let script = format!("exec '{}' serve :0 {options}", env!("CARGO_BIN_EXE_ablaze"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&directory).stderr(Stdio::piped());
        let server = Serving::spawn(&mut shell);
        drop(server.connect());
        let text = server.stop();
        assert!(text.ends_with(" connections\n"), "{options}: {text}");
    }
}

/// What the page says of a model, a mode, a counter or a fault that does not exist helps no one,
/// and what it does not mention is not found.
#[test]
fn the_page_has_every_model_mode_counter_path_and_fault() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets.md");
    let page = fs::read_to_string(page).unwrap();
    for model in Model::ALL {
        assert!(page.contains(&format!("**{model}**")), "{model}");
    }
    for mode in ablaze_target::accepting::AcceptMode::ALL {
        assert!(page.contains(&format!("| `{mode}` | ")), "{mode}");
    }
    for (counter, _) in ablaze_target::Counts::default().named() {
        assert!(page.contains(&format!("`{counter}`")), "{counter}");
    }
    let help =
        String::from_utf8(ablaze(&["serve", "--help"]).bounded_output().unwrap().stdout).unwrap();
    let named = |from: &str, to: &str| {
        let list = help.split_once(from).unwrap().1.split_once(to).unwrap().0;
        list.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let faults: Vec<String> = named("\nFaults:", "\nValues:");
    let paths: Vec<String> = named("\nPaths:", "\n\n");
    assert_eq!((faults.len(), paths.len()), (8, 10));
    for name in faults.iter().chain(&paths) {
        assert!(page.contains(&format!("| `{name}` | ")), "{name}");
    }
    for (preset, _) in list() {
        assert!(page.contains(&format!("`{preset}`")), "{preset}");
    }
}
