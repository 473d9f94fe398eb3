//! `ablaze say`: the native line for another tool's command line, with a note for each option that has no counterpart.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, CommandFactory, Parser};

use crate::borrowed::{Asked, SAID, Tool, texts};
use crate::error::note;
use crate::native::{CommandLine, hints};
use crate::{CommandError, shell, terminal};

const HELP: &str = "\
Print the line of `ablaze load` for a command line of {tools}.

  ablaze say 'wrk -t4 -c100 -d30s http://127.0.0.1:8080/'
  ablaze say hey -n 1000 -c 10 http://127.0.0.1:8080/

What a tool does without being asked (its User-Agent, its timeout) is left out; `ablaze TOOL ...`
takes most of these lines as they are and does that, too. What has no counterpart is named on stderr.
Exit status: 0 printed; 2 usage, or a line that the tool would not take.
";

/// Runs `ablaze say` with the words behind `say`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let words = texts(arguments);
    if matches!(words.first().map(String::as_str), Some("--help" | "-h")) {
        return terminal::print(&HELP.replace("{tools}", &names()));
    }
    match said(&words) {
        Ok((line, notes)) => {
            notes.iter().for_each(|text| note(text));
            terminal::print(&format!("{line}\n"))
        }
        Err(error) => error.report(),
    }
}

/// Its argument, for completions.
pub fn command() -> clap::Command {
    clap::Command::new("ablaze say").arg(Arg::new("line").value_name("COMMAND LINE"))
}

/// The tools whose lines it knows.
fn names() -> String {
    let names: Vec<&str> = SAID.iter().map(|tool| tool.name).collect();
    match names.split_last() {
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The native line, and what to know of it.
fn said(words: &[String]) -> Result<(String, Vec<String>), CommandError> {
    let mut notes = Vec::new();
    let mut target = None;
    let words = match words {
        // One word with blanks is a whole line.
        [line] if line.contains(char::is_whitespace) => {
            let (piped, line) = piped(line);
            target = piped;
            of_line(line, &mut notes)?
        }
        words => words.to_vec(),
    };
    let (tool, rest) = tool_of(&words)?;
    let status = |error: CommandError| CommandError { status: crate::error::USAGE, ..error };
    let words = tool.words(rest).map_err(status)?;
    let mut asked = tool.asked(&words).map_err(status)?;
    match target {
        Some((method, url)) if asked.url.is_empty() => {
            asked.url = url;
            asked.option_if("-m", Some(method).filter(|method| method != "GET"));
        }
        _ if asked.url.is_empty()
            && asked.listed_in.is_none()
            && !asked.words.iter().any(|word| word == "--urls") =>
        {
            notes.push("the command names no target: add its URL at the end".to_owned());
        }
        _ => {}
    }
    if asked.url.is_empty() {
        asked.option_if("--urls", asked.listed_in.clone());
    }
    let line = native_line(&asked, &words.native)?;
    notes.extend(asked.notes);
    notes.extend(asked.beyond_native);
    if asked.follows_redirects {
        notes.push(format!(
            "redirects are not followed, as {} does unless it is told not to",
            tool.name
        ));
    }
    Ok((line, notes))
}

/// The method and the URL that are piped into a command, as in `echo "GET http://h/" | vegeta attack`, and the command.
fn piped(line: &str) -> (Option<(String, String)>, &str) {
    let Some((before, behind)) = line.split_once("| vegeta attack") else { return (None, line) };
    let words: Vec<&str> =
        before.split(|c: char| c.is_whitespace() || c == '"' || c == '\'').collect();
    let target = words.windows(2).find(|pair| pair[1].contains("://"));
    let target = target.map(|pair| (pair[0].to_owned(), pair[1].to_owned()));
    (target, &line[line.len() - behind.len() - "vegeta attack".len()..])
}

/// The words of the first command in a line.
fn of_line(line: &str, notes: &mut Vec<String>) -> Result<Vec<String>, CommandError> {
    let mut commands = shell::commands(line, notes).map_err(CommandError::usage)?.into_iter();
    let first = commands.next();
    let rest: Vec<String> = commands.map(|words| shell::line(&words)).collect();
    if !rest.is_empty() {
        notes.push(format!(
            "left out: `{}`: to a shell it is another command; a URL with `&` or `;` belongs in quotation marks",
            rest.join("; ")
        ));
    }
    first.ok_or_else(|| CommandError::usage("the command line is empty"))
}

/// Whose line it is, and the words behind its name. `ablaze` before it, and where it lies, make no difference.
fn tool_of(words: &[String]) -> Result<(&'static Tool, &[String]), CommandError> {
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let words = match words {
        [first, rest @ ..] if !rest.is_empty() && name(first) == "ablaze" => rest,
        words => words,
    };
    let Some((first, rest)) = words.split_first() else {
        return Err(CommandError::usage(
            "missing command line, for example `ablaze say 'wrk -t4 -c100 -d30s http://127.0.0.1:8080/'`",
        ));
    };
    let tool = SAID.iter().find(|tool| tool.name == name(first));
    match tool {
        Some(tool) => Ok((tool, rest)),
        None => Err(CommandError::usage(format!(
            "`{first}` is not known: ablaze reads command lines of {}",
            names()
        ))),
    }
}

/// The line, if `ablaze load` takes it.
fn native_line(asked: &Asked, native: &[String]) -> Result<String, CommandError> {
    let mut words = vec!["ablaze".to_owned()];
    words.extend(asked.words.iter().cloned());
    words.extend(native.iter().cloned());
    if !asked.url.is_empty() {
        words.push(asked.url.clone());
    }
    CommandLine::try_parse_from(&words)
        .map_err(|error| hints::refusal(&error, &CommandLine::command()))?;
    Ok(shell::line(&words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (String, Vec<String>) {
        said(&[line.to_owned()]).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn lines_of_other_tools_have_native_ones() {
        for (line, expected) in [
            ("wrk -t4 -c100 -d30s http://h/", "ablaze -t 4 -c 100 -d 30s http://h/"),
            ("wrk http://h/ -H 'A: b c' --latency", "ablaze -c 10 -d 10s -H 'A: b c' http://h/"),
            (
                "ab -kc 100 -n 5000 -C a=b http://h/x",
                "ablaze --http 1.0 -c 100 -n 5000 --cookie a=b http://h/x",
            ),
            (
                "/usr/bin/ab -t 5 -p f -T text/x -A me:pass http://h/",
                "ablaze --http 1.0 --no-keepalive -c 1 -d 5 -n 50000 -b @f --content-type text/x -u me:pass http://h/",
            ),
            ("ablaze hey -z 5s -c 4 -q 10 http://h/", "ablaze -c 4 -d 5s --rate 40 http://h/"),
            (
                "h2load -n9 -c3 -m3 https://h/",
                "ablaze --http 2 -c 3 -n 9 --streams 3 --insecure https://h/",
            ),
            (
                "oha --no-tui -z 3s -q 100 -H 'A: b' http://h/",
                "ablaze -c 50 -d 3s --rate 100 -H 'A: b' http://h/",
            ),
            (
                "echo 'GET http://h/' | vegeta attack -rate=50/1s -duration=5s | vegeta report",
                "ablaze --rate 50/s -n 250 http://h/",
            ),
            ("wrk -d1H -c 2k http://h/", "ablaze -c 2000 -d 1h http://h/"),
            ("vegeta attack -targets=t -rate=9 -duration=1s", "ablaze --rate 9/s -n 9 --urls t"),
            (
                "gurl -ac 21 -an 1000 -bench -J a=b :12345",
                "ablaze -c 21 -n 1000 --body-json a=b :12345",
            ),
        ] {
            assert_eq!(of(line).0, expected);
        }
        let words = ["wrk", "-c5", "http://h/?a&b"].map(str::to_owned);
        assert_eq!(said(&words).unwrap().0, "ablaze -c 5 -d 10s 'http://h/?a&b'");
    }

    #[test]
    fn what_has_no_counterpart_is_named() {
        for (line, part) in [
            ("wrk -s a.lua http://h/", "-s a.lua: scripts are `ablaze wrk`'s"),
            ("ab -n 1 -g f http://h/ > out", "left out: `> out`"),
            ("ab -n 1 -g f http://h/", "-g: for the whole distribution use -o FILE.hlog"),
            ("hey http://h/", "redirects are not followed"),
            ("h2load http://h/ http://h/b", "2 URIs"),
            ("oha -p 3 http://h/", "-p is for HTTP/2"),
            ("vegeta attack -rate=5", "the command names no target"),
            ("gurl :80 -X GET", "without -bench"),
            ("wrk http://h/?a=1&b=2 -c5", "left out: `b=2 -c5`: to a shell it is another command"),
            ("hey -o csv http://h/", "-o csv: "),
            ("oha --output-format csv http://h/", "--output-format csv: "),
            ("oha -o f -u ms http://h/", "-u ms: "),
            ("vegeta attack -rate=5 -targets=t -name=n -output=o", "-output o: "),
        ] {
            let (_, notes) = of(line);
            assert!(notes.iter().any(|note| note.contains(part)), "{line}: {notes:?}");
        }
    }

    #[test]
    fn every_option_of_every_tool_gives_a_line_that_ablaze_takes() {
        for tool in SAID {
            for known in tool.known.iter().filter(|known| !REFUSED.contains(&known.name)) {
                let dash = if known.name.len() == 1 { "-" } else { "--" };
                let mut words = vec![tool.name.to_owned()];
                words.extend(Some(tool.command.to_owned()).filter(|command| !command.is_empty()));
                words.push(format!("{dash}{}", known.name));
                words.extend((!known.is_switch()).then(|| example(known.name, known.value)));
                let own = ["-X", "h:1"].map(str::to_owned);
                words.extend(
                    (tool.name == "ab" && known.name == "P").then_some(own).into_iter().flatten(),
                );
                words.extend((tool.name != "vegeta").then(|| "http://127.0.0.1/".to_owned()));
                said(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            }
        }
    }

    /// Options that a tool's front end refuses, and says why.
    const REFUSED: &[&str] = &[
        "timing-script-file",
        "rand-regex-url",
        "burst-delay",
        "burst-rate",
        "chunked",
        "resolvers",
        "proxy-header",
    ];

    fn example(name: &str, value: &str) -> String {
        let text = match (name, value) {
            ("f", "VERSION") => "TLS1.2",
            (_, "ADDRESS") => "127.0.0.1",
            (_, "N/TIME") => "5/1s",
            ("ciphers" | "tls13-ciphers" | "Z", _) => "TLS_AES_128_GCM_SHA256",
            (_, "N" | "SECONDS" | "RATE")
                if name != "c" && name != "clients" && name != "threads" =>
            {
                "300"
            }
            (_, "N") => "1",
            (_, "TIME") => "3s",
            (_, "FIELD") => "A: b=c",
            (_, "LIST" | "PROTOCOL") => "http/1.1",
            (_, "VERSION") => "1.0",
            (_, "WHERE") => "127.0.0.1:1",
            (_, "MEMBER" | "COOKIE") => "a=b",
            (_, "NAME:PASSWORD") => "me:pass",
            (_, "HOST:PORT" | "HOST[:PORT]" | "PROXY") => "127.0.0.1:1",
            (_, "URI") => "http://127.0.0.1",
            (_, "csv") => "csv",
            ("output-format", _) | (_, "http|json") => "json",
            (_, "UNIT") => "ms",
            _ => "word",
        };
        text.to_owned()
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for (line, part) in [
            ("siege -c 5 http://h/", "`siege` is not known: ablaze reads command lines of"),
            ("wrk -c 5", "missing URL"),
            ("wrk -Z http://h/", "unknown option -Z"),
            ("wrk -c5 'http://h/", "no closing '"),
            ("wrk -c -5 http://h/", "-5"),
            ("wrk -c10 -t20 http://h/", "connections must be >= threads"),
            ("wrk -c1 http://h/", "connections must be >= threads"),
            ("wrk -d0 http://h/", "-d 0 measures nothing"),
            ("hey -o foo http://h/", "-o foo: expected csv"),
            ("oha --output-format foo http://h/", "--output-format foo: expected"),
            ("oha -u foo http://h/", "-u foo: expected"),
            ("vegeta attack -targets=t -format=xml", "-format xml: expected http or json"),
        ] {
            let error = said(&[line.to_owned()]).unwrap_err();
            assert!(error.line.contains(part), "{line}: {error}");
            assert_eq!(error.status, 2, "{line}");
        }
        assert!(said(&[]).unwrap_err().line.contains("missing command line"));
    }
}
