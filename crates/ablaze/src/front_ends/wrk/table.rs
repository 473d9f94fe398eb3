//! The help of `ablaze wrk`, and its options as shells complete them and the manual page lists them: wrk's, and the long ones of `ablaze load`.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::getopt::KNOWN;
use crate::borrowed::known::beside_others;
use crate::native::CommandLine;

const BEGINS: &str = "\
Load a URL as wrk does, and print its report; what ablaze knows beside that goes to stderr.

  ablaze wrk -t2 -c100 -d30s --latency http://127.0.0.1:8080/
  ablaze wrk -c 400 -d 1m -H 'Authorization: Bearer x' --json http://127.0.0.1:8080/

";

const ENDS: &str = "\
Numbers take an SI unit (1k, 1M, 1G), times a unit (2s, 2m, 2h). The other long options of
`ablaze load` work, too: --json, -o FILE, --fail-if, --strict, --explain, --io, --cpus, --insecure.
What differs from wrk: docs/wrk.md
";

/// The text of `--help`.
pub fn help() -> String {
    let line = |known: &super::getopt::Known| {
        let letter = match known.letter {
            b'h' => "    ".to_owned(),
            letter => format!("-{}, ", char::from(letter)),
        };
        let names = format!("{letter}--{} {}", known.long, known.value);
        format!("  {:<24}{}\n", names.trim_end(), known.about)
    };
    [BEGINS.to_owned(), KNOWN.iter().map(line).collect(), ENDS.to_owned()].concat()
}

/// Its options.
pub fn command() -> Command {
    let own = KNOWN.iter().filter(|known| known.letter != b'h').map(|known| {
        let action = if known.value.is_empty() { ArgAction::SetTrue } else { ArgAction::Append };
        let argument = Arg::new(known.long).long(known.long).short(char::from(known.letter));
        let argument = argument.action(action).help(known.about);
        if known.value.is_empty() { argument } else { argument.value_name(known.value) }
    });
    let native = CommandLine::command();
    let long = native.get_arguments().filter(|argument| {
        argument.get_long().is_some_and(|name| KNOWN.iter().all(|known| known.long != name))
    });
    let long = long.filter_map(beside_others);
    Command::new("ablaze wrk")
        .about(BEGINS)
        .override_usage("ablaze wrk [OPTIONS] URL [-- ARGUMENTS]")
        .after_help(ENDS)
        .disable_version_flag(true)
        .disable_help_flag(true)
        .args(own)
        // -h is no letter of wrk's.
        .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print help"))
        .args(long)
        .arg(Arg::new("url").value_name("URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_option_of_wrk_and_is_in_columns() {
        let help = help();
        assert!(help.contains("\n  -c, --connections N     connections to keep open"), "{help}");
        assert!(help.contains("\n      --help              print this help"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }

    #[test]
    fn wrks_options_are_completed_and_native_ones_behind_them() {
        let command = command();
        let named = |name| command.get_arguments().find(|own| own.get_long() == Some(name));
        assert_eq!(named("duration").and_then(Arg::get_short), Some('d'));
        assert!(named("fail-if").is_some_and(|own| own.get_short().is_none()));
    }
}
