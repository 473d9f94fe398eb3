//! The scripts of `ablaze completions`, by the shells that read them.

use std::path::Path;
use std::process::Command;

use ablaze_testing::skip::{find, skip};
use ablaze_testing::{Bounded, Scratch};

use crate::command::support::ablaze;

/// The script for a shell, in a folder of its own.
fn script(shell: &str) -> (Scratch, String) {
    let said = ablaze(&["completions", shell]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{shell}");
    let folder = Scratch::new("completions");
    let path = folder.write(&format!("ablaze.{shell}"), said.stdout);
    (folder, path)
}

/// What a program prints, line by line; it must succeed and complain of nothing.
fn lines(program: &Path, words: &[&str]) -> Vec<String> {
    let ran = Command::new(program).args(words).bounded_output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && stderr.is_empty(), "{words:?}: {}: {stderr}", ran.status);
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// As bash does at a Tab behind these words, the last of which may be empty.
const BASH_TAB: &str = r#"
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
complete -p ablaze >/dev/null || exit 1
_ablaze ablaze "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
(( ${#COMPREPLY[@]} == 0 )) || printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash offers.
fn bash(script: &str, line: &str) -> Vec<String> {
    let mut words = vec!["--norc", "-c", BASH_TAB, "bash", script];
    words.extend(line.split(' '));
    lines(Path::new("bash"), &words)
}

#[test]
fn bash_completes_commands_options_and_values() {
    let (_folder, script) = script("bash");
    assert!(lines(Path::new("bash"), &["-n", &script]).is_empty());
    for (line, expected) in [
        ("ablaze lo", &["load"][..]),
        ("ablaze --dur", &["--duration"]),
        ("ablaze load --dur", &["--duration"]),
        ("ablaze load -c 5 --warm", &["--warmup"]),
        ("ablaze serve --mod", &["--model"]),
        ("ablaze serve --accept re", &["reuseport"]),
        ("ablaze serve --like sylar-", &["sylar-1", "sylar-2", "sylar-3"]),
        ("ablaze compare --allow", &["--allow-unequal"]),
        ("ablaze ab --warm", &["--warmup"]),
        ("ablaze gurl --conn", &["--connect-timeout", "--conns"]),
        ("ablaze wrk --late", &["--latency"]),
        ("ablaze completions f", &["fish"]),
        ("ablaze help do", &["doctor"]),
        ("ablaze --vers", &["--version"]),
        ("ablaze load --conn", &["--connect-to", "--connections"]),
        ("ablaze man lo", &[]),
        ("ablaze nonsense", &[]),
    ] {
        let mut offered = bash(&script, line);
        offered.sort();
        assert_eq!(offered, expected, "{line}");
    }
}

/// Options without a command are those of `ablaze load`, and of ablaze itself.
#[test]
fn a_bare_dash_is_completed_with_native_options() {
    let native = ["-c", "-d", "--connections", "--fail-if", "--version"];
    let (_folder, script) = self::script("bash");
    let offered = bash(&script, "ablaze -");
    assert!(native.iter().all(|option| offered.iter().any(|own| own == option)), "{offered:?}");
    let Some(fish) = find("fish") else { return skip("fish is not installed") };
    let (_folder, script) = self::script("fish");
    let complete = format!("source {script}; complete -C 'ablaze -'");
    let offered = lines(&fish, &["--no-config", "-c", &complete]);
    let offered: Vec<_> = offered.iter().filter_map(|line| line.split('\t').next()).collect();
    assert!(native.iter().all(|option| offered.contains(option)), "{offered:?}");
}

#[test]
fn every_command_and_every_letter_of_ab_is_offered() {
    let (_folder, script) = script("bash");
    let help = ablaze(&["--help"]).stdout;
    // A group, or blanks as wide, in front of each.
    let listed = help.lines().filter(|line| line.len() > 21 && !line.starts_with("  ablaze"));
    let commands = listed.filter_map(|line| {
        let (group, rest) = line.split_at(12);
        let grouped = group.ends_with(' ') && !group.trim_end().contains(' ');
        grouped.then(|| rest.split(' ').next().unwrap().to_owned())
    });
    let commands: Vec<String> = commands.collect();
    assert!(commands.iter().any(|name| name == "doctor"), "{commands:?}");
    let offered = bash(&script, "ablaze ");
    for command in commands {
        assert!(offered.contains(&command), "{command}: {offered:?}");
    }
    let letters = bash(&script, "ablaze ab -");
    for letter in "nctsbBpuTvwixyzCHAPXVkdSqlgermhIZfE".chars() {
        assert!(letters.contains(&format!("-{letter}")), "-{letter}: {letters:?}");
    }
}

/// A zsh on a terminal of its own, which saves what a Tab makes of each of these lines. Whoever starts this bounds it.
const ZSH_TABS: &str = r#"
script=$1 folder=$2; shift 2
zmodload zsh/zpty && zpty shell "exec zsh -f" || exit 1
zpty -w shell "autoload -Uz compinit && compinit -u -D && source $script
tab() { zle complete-word; print -r -- \"\$BUFFER\" > $folder/new; mv $folder/new $folder/line; BUFFER= }
zle -N tab; bindkey '^I' tab; : > $folder/ready"
until [[ -e $folder/ready ]]; do zpty -r -t shell shown; sleep 0.02; done
for line in "$@"; do
    zpty -n -w shell "$line"$'\t'
    until [[ -e $folder/line ]]; do zpty -r -t shell shown; sleep 0.02; done
    cat $folder/line; rm $folder/line
done
"#;

#[test]
fn zsh_completes() {
    let Some(zsh) = find("zsh") else { return skip("zsh is not installed") };
    let (folder, script) = script("zsh");
    assert!(lines(&zsh, &["-f", "-n", &script]).is_empty());
    let cases = [
        ("ablaze lo", "ablaze load "),
        ("ablaze --dur", "ablaze --duration="),
        ("ablaze load --dur", "ablaze load --duration="),
        ("ablaze load --conn", "ablaze load --connect"),
        ("ablaze serve --mod", "ablaze serve --model="),
        ("ablaze serve --accept re", "ablaze serve --accept reuseport "),
        ("ablaze ab --warm", "ablaze ab --warmup="),
        ("ablaze completions f", "ablaze completions fish "),
    ];
    let path = folder.path().to_str().unwrap();
    let mut words = vec!["-f", "-c", ZSH_TABS, "zsh", &script, path];
    words.extend(cases.map(|(line, _)| line));
    assert_eq!(lines(&zsh, &words), cases.map(|(_, completed)| completed));
}

#[test]
fn fish_completes() {
    let Some(fish) = find("fish") else { return skip("fish is not installed") };
    let (_folder, script) = script("fish");
    assert!(lines(&fish, &["--no-config", "--no-execute", &script]).is_empty());
    for (line, expected) in [
        ("ablaze lo", "load"),
        ("ablaze load --dur", "--duration"),
        ("ablaze load --conn", "--connections"),
        ("ablaze serve --mod", "--model"),
        ("ablaze ab --warm", "--warmup"),
    ] {
        let complete = format!("source {script}; complete -C '{line}'");
        let offered = lines(&fish, &["--no-config", "-c", &complete]);
        // A Tab and a description follow.
        let words: Vec<_> = offered.iter().filter_map(|line| line.split('\t').next()).collect();
        assert!(words.contains(&expected), "{line}: {offered:?}");
    }
}

#[test]
fn what_is_no_shell_is_refused_with_those_that_are() {
    for words in [&["completions"][..], &["completions", "tcsh"], &["completions", "bash", "zsh"]] {
        let said = ablaze(words);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{words:?}");
    }
    assert!(ablaze(&["completions", "tcsh"]).stderr.contains("expected bash, zsh or fish"));
    assert!(ablaze(&["completion"]).stderr.contains("did you mean `ablaze completions`?"));
}
