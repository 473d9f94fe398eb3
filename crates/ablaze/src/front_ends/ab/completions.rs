//! ab's options as shells complete them and the manual page lists them: its letters with the lines of its usage text, and the long options that
//! `ablaze load` has.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::{getopt, usage};
use crate::borrowed::known::beside_others;
use crate::native::CommandLine;

const ENDS: &str = "\
The long options are those of `ablaze load`. What differs from ab: docs/ab-compatibility.md
Exit status: ab's: 0 for responses of any status; the number of the system's error, such as 104 for a
reset or 111 for a refused connection, after the report; 1 where no complete response came.";

/// Its options.
pub fn command() -> Command {
    let letters = |letters: &'static [u8], action: ArgAction| {
        let names = letters.chunks(1).filter_map(|letter| std::str::from_utf8(letter).ok());
        // clap has -h itself.
        names.filter(|name| *name != "h").map(move |name| {
            let letter = char::from(name.as_bytes()[0]);
            let argument = Arg::new(name).short(letter).action(action.clone());
            let argument = argument.help(usage::about(letter));
            let argument = match usage::about_at_length(letter) {
                Some(text) => argument.long_help(text),
                None => argument,
            };
            argument.value_name(usage::value(letter))
        })
    };
    let native = CommandLine::command();
    // In ab's command line every letter is ab's.
    let long = native.get_arguments().filter_map(beside_others);
    Command::new("ablaze ab")
        .about("Load a URL as ApacheBench does, and print its report.")
        .override_usage("ablaze ab [OPTIONS] [http[s]://]hostname[:port]/path")
        .after_help(ENDS)
        .disable_version_flag(true)
        .args(letters(getopt::FLAGS, ArgAction::SetTrue))
        .args(letters(getopt::VALUED, ArgAction::Append))
        .args(long)
        .arg(Arg::new("url").value_name("URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_comes_with_its_line_and_no_long_option_brings_one() {
        let command = command();
        let of = |letter| command.get_arguments().find(|own| own.get_short() == Some(letter));
        for letter in [getopt::FLAGS, getopt::VALUED].concat().into_iter().map(char::from) {
            assert!(usage::about(letter).is_some(), "{letter}");
            assert!(letter == 'h' || of(letter).unwrap().get_long().is_none(), "{letter}");
        }
        let help = |letter| of(letter).unwrap().get_help().unwrap().to_string();
        assert_eq!(help('n'), "How many requests to send");
        let long = of('T').unwrap().get_long_help().unwrap().to_string();
        assert!(
            long.ends_with(
                "such as 'application/x-www-form-urlencoded'. 'text/plain' if not given"
            )
        );
        let value =
            |letter| of(letter).unwrap().get_value_names().map(|names| names[0].to_string());
        assert_eq!(
            (value('n').as_deref(), value('E').as_deref()),
            (Some("requests"), Some("file"))
        );
        assert_eq!((value('I'), value('Z').as_deref()), (None, Some("list")));
        assert!(help('I').contains("(SNI)"));
        assert!(help('E').contains("client certificate"));
        assert!(command.get_arguments().any(|own| own.get_long() == Some("warmup")));
    }
}
