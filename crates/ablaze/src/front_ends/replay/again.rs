//! A document's own command lines, run again: through the tool itself where it is installed,
//! and through ablaze's front end for it. Each run is kept as soon as it has ended, with all that was
//! printed, so that what was interrupted goes on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ablaze_lab::experiment::{Failure, PrintedRun, keep_printed};
use ablaze_lab::target::{Certificate, Response, Serving, Site, ThisProgram, is_installed};
use ablaze_model::experiment::{SKIPPED, Speaks, Target, file_name};
use ablaze_model::spec::TargetSpec;
use ablaze_report::system_error::reason;

use super::document::{Document, Line, Server};
use crate::carry_out::interrupted;
use crate::experiments::ab_client::finished;
use crate::experiments::progress::LiveLine;
use crate::lengths::in_words;
use crate::{CommandError, servers};

/// The folder of these runs.
pub const FOLDER: &str = "as-printed";

/// One line, run again.
#[derive(Debug)]
pub struct Again {
    /// The line.
    pub line: Line,
    /// What came out with each tool.
    pub with: Vec<(Tool, Result<PrintedRun, String>)>,
}

/// What runs a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The program that the line names.
    Itself,
    /// ablaze's front end for its command line.
    Ablaze,
}

impl Again {
    /// What came out with this tool, if it was tried.
    pub fn with(&self, tool: Tool) -> Option<&Result<PrintedRun, String>> {
        self.with.iter().find(|(with, _)| *with == tool).map(|(_, result)| result)
    }
}

impl Tool {
    /// What it is called.
    pub fn name(self, line: &Line) -> String {
        let program = line.words.split(' ').next().unwrap_or_default();
        match self {
            Self::Itself => program.to_owned(),
            Self::Ablaze => format!("ablaze {program}"),
        }
    }
}

/// How the lines are run.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// Fewer requests, and only some of the lines.
    pub quick: bool,
    /// Where everything is kept.
    pub folder: &'a Path,
    /// This program.
    pub program: &'a ThisProgram,
    /// How long takes what comes after them.
    pub behind: Duration,
}

/// Runs the lines; whether it came to the end of them.
///
/// # Errors
/// When results cannot be kept.
pub fn carried_out(
    document: &Document,
    manner: Manner<'_>,
    progress: &mut LiveLine,
) -> Result<(Vec<Again>, bool), CommandError> {
    let lines: Vec<Line> =
        (document.lines)().into_iter().filter(|line| line.in_quick || !manner.quick).collect();
    let times = if manner.quick { 1 } else { document.times };
    let tools = [Tool::Itself, Tool::Ablaze];
    let runs = |line: &Line| if is_here(line) { tools.len() } else { 1 };
    let of = lines.iter().map(runs).sum::<usize>() * times as usize;
    let (began, mut number, mut carried_out) = (Instant::now(), 0, 0);
    let mut all: Vec<Again> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut with = Vec::new();
        // What was published stands beside what there is, also of lines that were not run any more.
        let as_far = |mut all: Vec<Again>, with| {
            all.push(Again { line: line.clone(), with });
            let rest = lines[at + 1..].iter();
            all.extend(rest.map(|line| Again { line: line.clone(), with: Vec::new() }));
            all
        };
        for tool in tools {
            if tool == Tool::Itself && !is_here(line) {
                with.push((tool, Err(format!("{SKIPPED}it is in no package"))));
                continue;
            }
            let mut results = Vec::new();
            for time in 1..=times {
                number += 1;
                if interrupted() {
                    return Ok((as_far(all, with), false));
                }
                let file = file(manner.folder, at, line, tool, time);
                if let Some(run) = kept(&file)? {
                    results.push(Ok(run));
                    continue;
                }
                let left = began.elapsed() / carried_out.max(1) * (of - number + 1) as u32;
                let left = if carried_out == 0 {
                    String::new()
                } else {
                    format!(" · {} left", in_words(left + manner.behind))
                };
                let name = tool.name(line);
                progress.say(&format!("{number} of {of} · {name} · {}{left}", line.name));
                carried_out += 1;
                results.push(match one(line, tool, manner) {
                    Ok(run) => {
                        keep_printed(&file, &run).map_err(|error| not_kept(&error))?;
                        Ok(run)
                    }
                    Err(Failure::Interrupted) => return Ok((as_far(all, with), false)),
                    Err(Failure::Impossible(why)) => Err(why),
                });
            }
            with.extend(best(results).map(|result| (tool, result)));
        }
        all.push(Again { line: line.clone(), with });
    }
    Ok((all, true))
}

/// Whether a system has the program of a line, or can have it: there is no gurl to install.
fn is_here(line: &Line) -> bool {
    !line.words.starts_with("gurl ")
}

fn not_kept(error: &dyn std::fmt::Display) -> CommandError {
    CommandError::machine(format!("cannot save the results: {error}; free some space"))
}

/// The best of several, as a document that carried its lines out several times says it did.
fn best(results: Vec<Result<PrintedRun, String>>) -> Option<Result<PrintedRun, String>> {
    let rate = |result: &Result<PrintedRun, String>| {
        let figures = result.as_ref().ok().and_then(PrintedRun::figures);
        figures.map_or(-1.0, |figures| figures.rate_per_s)
    };
    results.into_iter().max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

fn file(folder: &Path, at: usize, line: &Line, tool: Tool, time: u32) -> PathBuf {
    let name = file_name(&format!("{}-{}", line.name, tool.name(line)));
    folder.join(FOLDER).join("runs").join(format!("{:02}-{name}-{time}.json", at + 1))
}

fn kept(file: &Path) -> Result<Option<PrintedRun>, CommandError> {
    let damaged =
        |why: String| CommandError::usage(format!("{}: {why}; use a new folder", file.display()));
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(damaged(reason(&error))),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| damaged(error.to_string()))
}

/// One run of a line against a server of its own.
fn one(line: &Line, tool: Tool, manner: Manner<'_>) -> Result<PrintedRun, Failure> {
    let impossible = |why: String| Failure::Impossible(why);
    let missing = |package: &str| impossible(format!("{SKIPPED}install {package}"));
    let program = line.words.split(' ').next().unwrap_or_default();
    if tool == Tool::Itself && !is_installed(program) {
        return Err(missing("apache2-utils"));
    }
    if matches!(line.server, Server::Nginx(..)) && !is_installed("nginx") {
        return Err(missing("nginx"));
    }
    let runs = manner.folder.join(FOLDER).join("runs");
    std::fs::create_dir_all(&runs).map_err(|error| impossible(reason(&error)))?;
    let (site, target) = place(line, manner).map_err(|error| impossible(error.line))?;
    let serving = Serving::start(&target, &site).map_err(|error| impossible(error.to_string()))?;
    let authority = serving.url.host_field();
    let mut words = aimed_at(&line.words, &authority, manner.quick.then_some(line.quick));
    if manner.quick {
        words.splice(1..1, line.quick_words.split_whitespace().map(str::to_owned));
    }
    let mut words = words.into_iter();
    let named = words.next().unwrap_or_default();
    let arguments: Vec<String> = words.collect();
    let (mut command, mut shown) = match tool {
        Tool::Itself => (Command::new(&named), vec![named]),
        Tool::Ablaze => {
            let mut command = Command::new(&manner.program.file);
            command.arg(&named);
            (command, vec!["ablaze".to_owned(), named])
        }
    };
    command.args(&arguments);
    shown.extend(arguments);
    let run = finished(command, shown, &[], &|| serving.cpu_ns())?;
    match run.report() {
        Some(_) => Ok(run),
        None => {
            let said = run.printed.lines().rev().find(|line| !line.trim().is_empty());
            let said = said.unwrap_or("it printed nothing").trim();
            Err(impossible(format!("{} exited without a report: {said}", run.command_line[0])))
        }
    }
}

fn place(line: &Line, manner: Manner<'_>) -> Result<(Site, Target), CommandError> {
    let path = url(&line.words).and_then(|url| url.split_once('/')).map_or("", |(_, path)| path);
    let folder = manner.folder.join(FOLDER).join("targets");
    let (source, response) = match line.server {
        Server::BuiltIn(words) => {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            (TargetSpec::Model(servers::of_words(&words)?), Response::default())
        }
        Server::Nginx(status, bytes) => {
            let body = vec![b'x'; bytes];
            let content_type = "text/html".to_owned();
            (
                TargetSpec::Nginx { workers: 1 },
                Response { status, body, content_type, keep_alive: true },
            )
        }
    };
    let site = Site {
        program: manner.program.clone(),
        path: format!("/{path}"),
        cpus: Vec::new(),
        // Whole: nginx takes what is relative to lie in its own folder.
        folder: std::path::absolute(&folder).unwrap_or(folder),
        ready_within: Duration::from_secs(10),
        response,
        speaks: Speaks::default(),
        address: std::net::Ipv4Addr::LOCALHOST.into(),
        directory: None,
        control_speaks: Speaks::default(),
        certificate: Certificate::default(),
    };
    Ok((site, Target::new(line.name.clone(), source)))
}

/// The URL of a line without its scheme: its last word.
fn url(words: &str) -> Option<&str> {
    words.split(' ').next_back().map(|url| url.trim_start_matches("http://"))
}

/// The words of a line, aimed at a server here; `most` bounds the number of requests.
fn aimed_at(words: &str, authority: &str, most: Option<u64>) -> Vec<String> {
    let mut aimed: Vec<String> = words.split(' ').map(str::to_owned).collect();
    if let (Some(last), Some(url)) = (aimed.last_mut(), url(words)) {
        let path = url.find('/').map_or("", |at| &url[at..]);
        *last = match url.starts_with(':') {
            true => format!(":{}{path}", authority.rsplit(':').next().unwrap_or_default()),
            false => format!("http://{authority}{}", if path.is_empty() { "/" } else { path }),
        };
    }
    let bounded = |number: &str| {
        let number: u64 = number.parse().ok()?;
        Some(number.min(most?).to_string())
    };
    for at in 1..aimed.len() {
        if matches!(aimed[at - 1].as_str(), "-n" | "-an") {
            aimed[at] = bounded(&aimed[at]).unwrap_or_else(|| aimed[at].clone());
        } else if let Some(number) = aimed[at].strip_prefix("-n").and_then(bounded) {
            aimed[at] = format!("-n{number}");
        }
    }
    aimed
}

/// The requests of a line where time is short, and those of the line; `None` if they are the same.
pub fn shortened(line: &Line) -> Option<(u64, u64)> {
    let words: Vec<&str> = line.words.split(' ').collect();
    let pairs = words.windows(2).find(|pair| matches!(pair[0], "-n" | "-an"));
    let number = pairs.map(|pair| pair[1]);
    let joined = || words.iter().find_map(|word| word.strip_prefix("-n").filter(|n| !n.is_empty()));
    let number: u64 = number.or_else(joined)?.parse().ok()?;
    (number > line.quick).then_some((line.quick, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aimed(words: &str, most: Option<u64>) -> String {
        aimed_at(words, "127.0.0.1:4000", most).join(" ")
    }

    #[test]
    fn a_line_keeps_its_words_and_gets_another_host() {
        let gurl = "gurl -ac 21 -an 1000000 -bench :12345";
        assert_eq!(aimed(gurl, None), "gurl -ac 21 -an 1000000 -bench :4000");
        assert_eq!(aimed(gurl, Some(500)), "gurl -ac 21 -an 500 -bench :4000");
        let ab = "ab -n 1000 -k 127.0.0.1/";
        assert_eq!(aimed(ab, Some(5000)), "ab -n 1000 -k http://127.0.0.1:4000/");
        let routn = "ab -n 1000000 -c 200 http://172.20.10.3:8083/routn/";
        assert_eq!(aimed(routn, Some(9)), "ab -n 9 -c 200 http://127.0.0.1:4000/routn/");
        let cppnet = "ab -kc10 -n100000 http://127.0.0.1:8921/hello";
        assert_eq!(aimed(cppnet, Some(9)), "ab -kc10 -n9 http://127.0.0.1:4000/hello");
    }
}
