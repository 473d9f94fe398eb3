//! The options of a load, back from what clap read to words: an experiment keeps them as they would
//! stand behind `ablaze load`, so that every run of it can be repeated by hand.

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command};

/// The options of these groups that stand on the command line, as long options with their values.
pub fn of(matches: &ArgMatches, groups: &[fn(Command) -> Command]) -> Vec<String> {
    let mut words = Vec::new();
    for group in groups {
        for argument in group(Command::new("load")).get_arguments() {
            let id = argument.get_id().as_str();
            let given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let Some(long) = argument.get_long().filter(|_| given) else { continue };
            if matches!(argument.get_action(), ArgAction::SetTrue) {
                words.push(format!("--{long}"));
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                words.extend([format!("--{long}"), value.to_string_lossy().into_owned()]);
            }
        }
    }
    words
}

/// A group's options, for [`of`].
pub fn group<T: Args>(command: Command) -> Command {
    T::augment_args(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::options::{ConnectionOptions, LoadOptions, RequestOptions};

    #[test]
    fn what_was_written_comes_back() {
        let groups: [fn(Command) -> Command; 3] =
            [group::<LoadOptions>, group::<RequestOptions>, group::<ConnectionOptions>];
        let command = groups.iter().fold(Command::new("x"), |command, group| group(command));
        let words = ["x", "-c100", "-d", "2s", "--no-keepalive", "-H", "A: b", "-H", "C: d"];
        let matches = command.try_get_matches_from(words).unwrap();
        let back = of(&matches, &groups);
        let mut expected = vec!["--connections", "100", "--duration", "2s", "--header", "A: b"];
        expected.extend(["--header", "C: d", "--no-keepalive"]);
        assert_eq!(back, expected);
    }
}
