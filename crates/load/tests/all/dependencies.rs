//! What a program builds that takes this library without its default features.

use std::process::Command;

use ablaze_testing::{Bounded, repository};

/// The packages that this library is built of, each in a line with what is said of it.
fn packages(options: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--locked", "-e", "normal", "--prefix", "none"]);
    cargo.args(["-p", "ablaze-load"]).args(options).current_dir(repository::folder());
    // Whoever builds the whole workspace at once has the features of all.
    cargo.env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION");
    let output = cargo.bounded_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn without_default_features_nothing_is_built_that_only_profiles_need() {
    let has = |packages: &str, name: &str| {
        packages.lines().any(|line| line.split(' ').next() == Some(name))
    };
    let without = packages(&["--no-default-features"]);
    assert!(has(&without, "ablaze-engine") && has(&without, "serde_json"), "{without}");
    for name in ["inferno", "quick-xml", "blazesym", "framehop"] {
        assert!(!has(&without, name), "{name} is built:\n{without}");
    }
    let with = packages(&[]);
    assert!(has(&with, "inferno"), "{with}");
    // Sampling and naming is the command's: this library only shows profiles.
    for name in ["blazesym", "framehop"] {
        assert!(!has(&with, name), "{name} is built:\n{with}");
    }
}
