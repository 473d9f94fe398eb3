//! Words of a command that runs another in a container: what only looks like the program or its URL.

use super::program;

/// What runs a program in a container.
const RUNNERS: [&str; 5] = ["docker", "podman", "nerdctl", "kubectl", "oc"];
/// Their options whose value may be a name.
const NAMING: [&str; 22] = [
    "--name",
    "--hostname",
    "-h",
    "--network",
    "--net",
    "--network-alias",
    "--label",
    "-l",
    "--workdir",
    "-w",
    "--user",
    "-u",
    "--env",
    "-e",
    "--pod",
    "--container",
    "-c",
    "--namespace",
    "-n",
    "--context",
    "--pull",
    "--platform",
];

/// Whether this word is the value of an option of a program that runs others: `docker run --name wrk …`.
pub(super) fn is_value(words: &[String], index: usize) -> bool {
    let Some((option, before)) = words.get(..index).and_then(<[String]>::split_last) else {
        return false;
    };
    NAMING.contains(&option.as_str())
        && before.iter().any(|word| RUNNERS.contains(&program::name(word)))
}

/// `skandyla/wrk`, `ghcr.io/hatoo/oha:latest`: its last part is the name of a load tester.
pub(super) fn is_image(word: &str) -> bool {
    !word.contains("://") && word.contains('/') && program::is_client(program::name(word))
}
