//! gurl's options, once: the parser, the help and the completions read this table.

use clap::{Arg, ArgAction, Command};

/// An option of gurl's that is read here.
#[derive(Debug)]
pub struct Known {
    /// What it is called, without dashes.
    names: &'static [&'static str],
    /// What the help calls its value; empty for a switch.
    value: &'static str,
    /// What it does, in a line of the help.
    about: &'static str,
}

const fn known(names: &'static [&'static str], value: &'static str, about: &'static str) -> Known {
    Known { names, value, about }
}

/// All but `-h`, in the order of the help.
const ALL: [Known; 15] = [
    known(&["bench"], "", "load the URL and print the report"),
    known(&["ac"], "N", "connections (1)"),
    known(&["an"], "N", "requests (1); negative: no limit"),
    known(&["duration"], "TIME", "length of the run, such as 10s or 1m10s; -an is then ignored"),
    known(&["X", "request"], "NAME", "method (GET, POST with a body)"),
    known(&["H", "header"], "LINE", "header field 'Name: value'; repeatable"),
    known(&["A", "user-agent"], "X", "User-Agent (gurl)"),
    known(&["d", "data"], "BODY", "body; @FILE reads a file"),
    known(
        &["rate"],
        "N",
        "requests per second in all, on a schedule, over at most -ac connections",
    ),
    known(&["connect-timeout"], "T", "longest a request may take (30s)"),
    known(&["cpus"], "N", "worker threads (chosen automatically)"),
    known(&["conns"], "N", "ignored: -ac sets the number of connections"),
    known(&["explain"], "", "print on stderr what the verdict is based on, even when it is VALID"),
    known(&["url"], "URL", "the URL, if not given as an argument"),
    known(&["echo", "l"], "ADDR", "run a server there that sends back what is posted"),
];

/// Whether the option of this name is followed by a value; `None` when there is none.
pub fn takes_value(name: &str) -> Option<bool> {
    let found = ALL.iter().find(|option| option.names.contains(&name))?;
    Some(!found.value.is_empty())
}

/// A line of the help for each.
pub fn help() -> String {
    let line = |option: &Known| {
        let names: Vec<String> = option.names.iter().map(|name| format!("-{name}")).collect();
        let names = format!("{} {}", names.join(", "), option.value);
        format!("  {:<20}{}\n", names.trim_end(), option.about)
    };
    ALL.iter().map(line).collect()
}

/// The options as shells complete them: long ones with two dashes, which gurl takes as well.
pub fn command() -> Command {
    let argument = |option: &Known| {
        let action = if option.value.is_empty() { ArgAction::SetTrue } else { ArgAction::Append };
        let (letters, words): (Vec<&str>, Vec<&str>) =
            option.names.iter().partition(|name| name.len() == 1);
        let argument = Arg::new(option.names[0]).action(action).help(option.about);
        let argument = argument.short(letters.first().and_then(|letter| letter.chars().next()));
        argument.long(words.first().copied())
    };
    Command::new("ablaze gurl")
        .disable_version_flag(true)
        .args(ALL.iter().map(argument))
        .arg(Arg::new("address").value_name("URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_completed() {
        let command = command();
        let mut names = 0;
        for name in ALL.iter().flat_map(|option| option.names) {
            let is = |own: &&Arg| {
                own.get_long() == Some(name)
                    || own.get_short().map(String::from).as_deref() == Some(name)
            };
            assert!(command.get_arguments().any(|own| is(&own)), "{name}");
            names += 1;
        }
        assert_eq!(names, 20);
    }

    #[test]
    fn the_help_is_in_columns() {
        let help = help();
        assert!(help.contains("\n  -ac N               connections (1)\n"), "{help}");
        assert!(help.contains("\n  -echo, -l ADDR      run a server there"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
