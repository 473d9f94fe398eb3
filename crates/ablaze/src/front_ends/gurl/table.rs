//! gurl's options, once: the parser, the help, the completions and the manual page read this table.

use clap::{Arg, ArgAction, Command};

const BEGINS: &str = "\
Request a URL as `gurl` does, or load it as `gurl -bench` does and print its report.

  ablaze gurl -J name:ann age:=7 -url :12345/users
  ablaze gurl -I -R ids.txt '|' -r -w -url ':12345/users/{rf.col.0}' '|' -O -wkey status_code,body
  ablaze gurl -ac 21 -an 1000000 -bench :12345
  ablaze gurl -ac 21 -duration 10s -bench -X POST -H 'Name: value' -d @body.json :12345/path
  ablaze gurl -echo :12345

";
const ENDS: &str = "What differs from gurl: docs/gurl.md\n";

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
const ALL: [Known; 37] = [
    known(&["url"], "URL", "the URL, if not given as an argument"),
    known(&["X", "request"], "NAME", "method (GET, POST with a body)"),
    known(&["H", "header"], "LINE", "header field 'Name: value'; repeatable"),
    known(&["A", "user-agent"], "X", "User-Agent (gurl)"),
    known(&["q", "query"], "N=V …", "parameters of the query, encoded"),
    known(&["d", "data"], "BODY", "body; @FILE reads a file"),
    known(&["J"], "N:V …", "JSON body: name:text, name:=JSON, name:@FILE, a.b:nested"),
    known(&["F", "form"], "N=V", "field of a form; name=@FILE sends a file; repeatable"),
    known(&["form-string"], "N=V", "field of a form, in which @ has no meaning"),
    known(&["Jfa"], "F=N:V …", "field of a form that holds JSON of such members"),
    known(&["Jfa-string"], "F=N:V …", "the same, in which @ has no meaning"),
    known(&["k", "insecure"], "", "accept any certificate"),
    known(&["connect-timeout"], "T", "longest a request may take (no limit; 30s with -bench)"),
    known(&["o", "output"], "FILE", "where bodies go, instead of stdout; also stdout, stderr"),
    known(&["oflag"], "FLAGS", "append (to FILE), line (a line end behind each), append|line"),
    known(&["v", "verbose"], "", "print the heads of request and response as well"),
    known(&["c", "color"], "", "colour heads and JSON bodies; -vc is both"),
    known(&["an"], "N", "requests (1); negative: no limit"),
    known(&["ac"], "N", "connections (1)"),
    known(&["duration"], "TIME", "length of the run: 10s, 1m10s; -an is then ignored"),
    known(&["rate"], "N", "requests per second in all, over at most -ac connections"),
    known(&["bench"], "", "load the URL and print the report"),
    known(&["cpus"], "N", "worker threads of -bench (chosen automatically)"),
    known(&["conns"], "N", "ignored: -ac sets the number of connections"),
    known(&["explain"], "", "with -bench: print what the verdict is based on, even if VALID"),
    known(
        &["I", "input-model"],
        "",
        "stage of a pipeline: a record of each line of -R, or of stdin",
    ),
    known(&["R", "input-read"], "FILE", "file of lines; fields are {rf.col.0}, {rf.col.1}, …"),
    known(&["input-fields"], "TEXT", "what separates fields (a space)"),
    known(&["skey", "input-setkey"], "N=F,…", "other names for fields: url=rf.col.0"),
    known(
        &["r", "read-stream"],
        "",
        "a request per record; {name} is its value in all but -X and -q",
    ),
    known(&["w", "write-stream"], "", "a record per response: err, status_code, body, header"),
    known(&["m", "merge"], "", "with the record that was read in it"),
    known(&["O", "output-mode"], "", "stage of a pipeline: writes records as JSON, one per line"),
    known(&["W", "output-write"], "FILE", "to this file instead of stdout"),
    known(&["wkey", "write-key"], "KEYS", "only these keys of them: status_code,body"),
    known(&["debug"], "", "say on stderr which records were read"),
    known(&["echo", "l"], "ADDR", "run a server there that sends back what is posted"),
];

/// Whether the option of this name is followed by a value; `None` when there is none.
pub fn takes_value(name: &str) -> Option<bool> {
    let found = ALL.iter().find(|option| option.names.contains(&name))?;
    Some(!found.value.is_empty())
}

/// The text of `-h`.
pub fn help() -> String {
    let line = |option: &Known| {
        let names: Vec<String> = option.names.iter().map(|name| format!("-{name}")).collect();
        let names = format!("{} {}", names.join(", "), option.value);
        format!("  {:<30}{}\n", names.trim_end(), option.about)
    };
    [BEGINS.to_owned(), ALL.iter().map(line).collect(), ENDS.to_owned()].concat()
}

/// The options as shells complete them: long ones with two dashes, which gurl takes as well.
pub fn command() -> Command {
    let argument = |option: &Known| {
        let action = if option.value.is_empty() { ArgAction::SetTrue } else { ArgAction::Append };
        let (letters, words): (Vec<&str>, Vec<&str>) =
            option.names.iter().partition(|name| name.len() == 1);
        let argument = Arg::new(option.names[0]).action(action).help(option.about);
        let argument = match option.value {
            "" => argument,
            value => argument.value_name(value),
        };
        let argument = argument.short(letters.first().and_then(|letter| letter.chars().next()));
        argument.long(words.first().copied()).visible_aliases(words.into_iter().skip(1))
    };
    Command::new("ablaze gurl")
        .about(BEGINS)
        .override_usage("ablaze gurl [OPTIONS] URL")
        .after_help(ENDS)
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
                    || own.get_visible_aliases().is_some_and(|words| words.contains(name))
                    || own.get_short().map(String::from).as_deref() == Some(name)
            };
            assert!(command.get_arguments().any(|own| is(&own)), "{name}");
            names += 1;
        }
        assert_eq!(names, 57);
    }

    #[test]
    fn the_help_is_in_columns() {
        let help = help();
        assert!(help.contains("\n  -ac N                         connections (1)\n"), "{help}");
        assert!(help.contains("\n  -echo, -l ADDR                run a server there"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
