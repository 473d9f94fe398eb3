//! A program outside of the workspace depends on the facade by its path, is built without a network, and loads a URL.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ablaze_target::Options;
use ablaze_testing::{Bounded, Scratch, repository};

const PROGRAM: &str = r#"use std::time::Duration;

use ablaze_load::Load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("give a URL")?;
    let run = Load::url(url).connections(5).duration(Duration::from_millis(300)).run()?;
    println!("p99 {} ns", run.p99_ns().ok_or("no response")?);
    Ok(())
}
"#;

/// Where this test was built, and by which profile.
fn target_folder() -> (PathBuf, String) {
    let test = std::env::current_exe().unwrap();
    // target/PROFILE/deps/all-…
    let folder = test.ancestors().nth(2).unwrap();
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    (folder.parent().unwrap().to_owned(), profile.to_owned())
}

/// The package of the program: with the versions and profiles of this workspace, so that what was built for it is
/// used.
fn package(folder: &Scratch) {
    let manifest = repository::file("Cargo.toml");
    let profiles = manifest.split_once("\n[profile.").map_or("", |(_, profiles)| profiles);
    let facade = repository::folder().join("crates/load");
    folder.write(
        "Cargo.toml",
        format!(
            "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             ablaze-load = {{ path = {facade:?} }}\n\n[workspace]\n\n[profile.{profiles}"
        ),
    );
    folder.write("Cargo.lock", repository::file("Cargo.lock"));
    std::fs::create_dir(folder.path().join("src")).unwrap();
    folder.write("src/main.rs", PROGRAM);
}

fn built(folder: &Path) -> PathBuf {
    let (target, profile) = target_folder();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet", "--profile", &profile]).current_dir(folder);
    cargo.arg("--target-dir").arg(&target);
    let mut cargo = cargo.start_for(Duration::from_secs(1_500)).unwrap();
    assert!(cargo.wait().unwrap().success());
    let folder = if profile == "dev" { "debug" } else { &profile };
    target.join(folder).join("outside")
}

#[test]
fn the_readmes_show_this_program() {
    for readme in ["README.md", "README.zh-CN.md"] {
        assert!(repository::file(readme).contains(PROGRAM), "{readme}");
    }
}

#[test]
#[ignore = "long: builds the library for a program outside of the workspace"]
fn ten_lines_outside_of_the_workspace_print_a_percentile() {
    let body = PROGRAM.split_once("fn main").unwrap().1;
    assert!(body.lines().count() <= 10);
    let folder = Scratch::new("outside");
    package(&folder);
    let program = built(folder.path());
    let (_server, url) = crate::server(Options::default());
    let output = Command::new(&program).arg(&url).bounded_output().unwrap();
    std::fs::remove_file(&program).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    // What the program prints, and nothing else: the library says nothing.
    let stderr = String::from_utf8(output.stderr).unwrap();
    let ns = said.strip_prefix("p99 ").and_then(|rest| rest.strip_suffix(" ns\n"));
    let ns = ns.unwrap_or_else(|| panic!("{said}{stderr}"));
    assert!(ns.parse::<u64>().unwrap() > 0, "{said}");
    assert_eq!(stderr, "");
    assert!(output.status.success());
}
