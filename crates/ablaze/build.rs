//! Tells the program which commit it is built from, where that is known: from git, from the note that cargo leaves in a
//! package, or from `ABLAZE_COMMIT`, for builds that have neither.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ABLAZE_COMMIT");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=ABLAZE_TARGET={}", variable("TARGET"));
    // A build for work on the code is not made anew because of a commit.
    let commit = match variable("PROFILE").as_str() {
        "debug" => None,
        _ => Some(variable("ABLAZE_COMMIT"))
            .filter(|own| !own.is_empty())
            .or_else(of_package)
            .or_else(of_git),
    };
    println!("cargo::rustc-env=ABLAZE_COMMIT={}", commit.unwrap_or_default());
}

/// The commit that a package was made of.
fn of_package() -> Option<String> {
    let note = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let hash = note.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    hash.get(..12).map(str::to_owned)
}

/// The commit of this repository, and whether files differ from it.
fn of_git() -> Option<String> {
    let git = |words: &[&str]| {
        let ran = Command::new("git").args(words).output().ok()?;
        let text = String::from_utf8(ran.stdout).ok()?;
        ran.status.success().then(|| text.trim().to_owned())
    };
    // This file, not another repository that a package was unpacked in.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let folder = git(&["rev-parse", "--absolute-git-dir"])?;
    for file in ["HEAD", "logs/HEAD"].map(|name| Path::new(&folder).join(name)) {
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}
