//! `ablaze --help`, `ablaze --version`, and the answer to a command that does not exist.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::{Refusal, load, outlets};

const HELP: &str = "\
ablaze: an HTTP load tester that keeps ab's habits and runs at the kernel's own cost

  ablaze :8080/                                   load http://127.0.0.1:8080/ for 10 s
  ablaze -c 100 -n 1M -o run.json host/path       a million requests, result kept as JSON
  ablaze -d 30s -b '{\"id\":{seq}}' host/api        30 s of posts, each with its own number
  ablaze ab -kc 100 -n 100000 http://host/        ab's options and ab's report
  ablaze demo                                     a server, its load, the report, a comparison

measure     load     load a URL; the default: `ablaze URL` is `ablaze load URL`
            ab       load a URL as ApacheBench does (also when ablaze is called by the name ab)
            gurl     load a URL as `gurl -bench` does
            find     find the highest rate at which a target does what is asked of it
serve       serve    answer HTTP on 127.0.0.1:8080, for something to load
            demo     start a server, load it, show the report; then compare two servers
compare     compare  targets against each other over interleaved runs, with intervals
            sweep    load several targets over a range of loads, interleaved
            run      carry out the experiment that a file describes
            report   show saved results again, and convert saved runs
            replay   carry out five published measurements again, as they were and fairly
understand  explain  say what the numbers in a report of ab, gurl or ablaze do and do not mean
            doctor   check this machine before a run, and say what mends what is in the way

`ablaze COMMAND --help` explains every option of a command.
Exit status: 0 measured; 1 not; 2 usage; 3 --fail-if met; 4 INVALID with --strict; 130 interrupted.
";

/// Every command there is.
const COMMANDS: &[&str] = &[
    "load", "ab", "gurl", "serve", "demo", "compare", "sweep", "find", "run", "report", "replay",
    "explain", "doctor", "help",
];

/// `ablaze help [COMMAND]`, and `ablaze` alone.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let help = [OsString::from("--help")];
    match arguments.first().and_then(|word| word.to_str()) {
        Some("load") => load::main(&help),
        Some("ab") => crate::ab::main(&help),
        Some("gurl") => crate::gurl::main(&help),
        Some("serve") => crate::serve::main(&help),
        Some("demo") => crate::demo::main(&help),
        Some("compare") => crate::experiments::compare::main(&help),
        Some("sweep") => crate::experiments::sweep::main(&help),
        Some("find") => crate::experiments::find::main(&help),
        Some("run") => crate::experiments::run::main(&help),
        Some("report") => crate::experiments::report::main(&help),
        Some("replay") => crate::replay::main(&help),
        Some("explain") => crate::explain::main(&help),
        Some("doctor") => crate::doctor::main(&help),
        Some(word) if !word.starts_with('-') => unknown_command(word).report(),
        _ => print(HELP),
    }
}

/// `ablaze --version`.
pub fn version() -> ExitCode {
    print(concat!("ablaze ", env!("CARGO_PKG_VERSION"), "\n"))
}

/// Writes text to stdout; [`outlets`] knows whether it got there.
pub fn print(text: &str) -> ExitCode {
    outlets::print(text);
    ExitCode::SUCCESS
}

/// What is said to a first word that is neither a command nor a URL.
pub fn unknown_command(word: &str) -> Refusal {
    let as_url = format!("for a host of this name, write http://{word}/");
    match nearest(word, COMMANDS) {
        Some(command) => Refusal::usage(format!(
            "no command `{word}`; did you mean `ablaze {command}`? ({as_url})"
        )),
        None => Refusal::usage(format!("no command `{word}`; see `ablaze --help` ({as_url})")),
    }
}

/// The candidate that takes the fewest changed letters, if few enough to be a slip of the
/// finger: at most a third of the word, and at least one.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let permitted = (word.chars().count() / 3).max(1);
    let (distance, best) =
        candidates.iter().map(|candidate| (changes(word, candidate), *candidate)).min()?;
    (distance <= permitted).then_some(best)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of two
/// neighbours (Boytsov, "Indexing methods for approximate dictionary searching", 2011, 2.1).
fn changes(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let differs = usize::from(left[i - 1] != right[j - 1]);
                    let mut least = (table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1)
                        .min(table[i - 1][j - 1] + differs);
                    if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]
                    {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    table[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_command_and_a_stranger_none() {
        assert_eq!(nearest("laod", COMMANDS), Some("load"));
        assert_eq!(nearest("serv", COMMANDS), Some("serve"));
        assert_eq!(nearest("gulr", COMMANDS), Some("gurl"));
        assert_eq!(nearest("kubernetes", COMMANDS), None);
    }

    #[test]
    fn the_help_fits_a_screen() {
        assert!(HELP.lines().count() <= 24, "{}", HELP.lines().count());
        assert!(HELP.lines().all(|line| line.chars().count() <= 100));
    }
}
