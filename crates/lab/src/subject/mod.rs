//! What an experiment loads: something that runs already, a command that starts a server, a
//! built-in model, nginx as the control, or a run that was saved before. How each is written on a
//! command line, and how it is started and stopped.

mod control;
mod placement;
mod process;
mod ready;
mod secure;

use std::path::PathBuf;

use ablaze_report::shown_command::url_without_secrets;
use serde::{Deserialize, Serialize};

pub use control::{Answer, Listens, nginx_configuration};
pub use placement::Placement;
pub use process::{Serving, Site, StartError, file_name, kill_all, spawn_on};
pub use secure::{Certificate, Files, Speaks, model_words, of_control, trusting};

/// One target of an experiment, under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What tables and charts call it.
    pub name: String,
    /// What it is.
    pub source: Source,
    /// What loads it.
    #[serde(default, skip_serializing_if = "Tool::is_ablaze")]
    pub tester: Tool,
}

/// A load tester. A row of an experiment may have another one than ablaze, so that testers can be
/// held against each other as servers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// This program.
    #[default]
    Ablaze,
    /// ApacheBench.
    Ab,
}

impl Tool {
    /// Its name: that of its program, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ablaze => "ablaze",
            Self::Ab => "ab",
        }
    }

    fn is_ablaze(&self) -> bool {
        *self == Self::Ablaze
    }
}

/// Where a target comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It runs already, here.
    Url(String),
    /// A line for sh(1) that starts it; `{port}` stands for the port it is to listen on, `{cert}` and
    /// `{key}` for the files of the experiment's certificate.
    Command(String),
    /// A built-in server: the words behind `ablaze serve`.
    Model(Vec<String>),
    /// nginx, configured to do the same work as the others.
    Nginx {
        /// Worker processes.
        workers: u32,
    },
    /// Runs that were saved before, in the order in which they began: repeats of the same.
    Saved(Vec<PathBuf>),
}

/// What is wrong with a target on a command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {why}")]
pub struct SubjectError {
    /// What was written.
    pub text: String,
    /// What is wrong with it, and what would be right.
    pub why: String,
}

impl Subject {
    /// A target that ablaze loads.
    pub fn new(name: impl Into<String>, source: Source) -> Self {
        Self { name: name.into(), source, tester: Tool::Ablaze }
    }

    /// Reads a target: a URL, `serve:MODEL,option=value,…`, or the file of a saved run, each with
    /// `name=` in front if the name is not to be made up.
    ///
    /// # Errors
    /// When it is none of these.
    ///
    /// ```
    /// use ablaze_lab::subject::{Source, Subject};
    ///
    /// let edge = Subject::read("serve:epoll-et,threads=2").unwrap();
    /// assert_eq!(edge.name, "epoll-et,threads=2");
    /// assert_eq!(edge.source, Source::Model(["--model", "epoll-et", "--threads", "2"].map(String::from).to_vec()));
    /// let mine = Subject::read("mine=:8080/hello").unwrap();
    /// assert_eq!((mine.name.as_str(), mine.source), ("mine", Source::Url(":8080/hello".into())));
    /// ```
    pub fn read(text: &str) -> Result<Self, SubjectError> {
        let (name, what) = named(text);
        let refuse = |why: &str| Err(SubjectError { text: text.to_owned(), why: why.to_owned() });
        if what.is_empty() {
            return refuse("nothing follows the name: write NAME=URL or NAME=serve:MODEL");
        }
        let called = |made_up: &str| name.unwrap_or(made_up).to_owned();
        if let Some(words) = what.strip_prefix("serve:") {
            let source = Source::Model(words_behind_serve(words));
            return Ok(Self::new(called(words), source));
        }
        let is_url = what.contains("://") || what.starts_with(':') || what.starts_with("localhost");
        if what.ends_with(".json") && !is_url {
            let stem = what.trim_end_matches(".json").rsplit('/').next().unwrap_or(what);
            return Ok(Self::new(called(stem), Source::Saved(vec![what.into()])));
        }
        if what.contains([':', '/', '.']) || what.starts_with("localhost") {
            // A name stands in tables, and in the names of files.
            let shown = url_without_secrets(what);
            return Ok(Self::new(called(&shown), Source::Url(what.to_owned())));
        }
        refuse(
            "no target: write a URL, serve:MODEL (`ablaze serve --help` lists them), or the file of a saved run",
        )
    }

    /// Reads a target that a command starts: `name=command {port}`.
    ///
    /// # Errors
    /// When there is no command, or it does not say where the port goes.
    pub fn started_by(text: &str) -> Result<Self, SubjectError> {
        let (name, command) = named(text);
        let refuse = |why: &str| Err(SubjectError { text: text.to_owned(), why: why.to_owned() });
        if command.trim().is_empty() {
            return refuse("no command: write NAME='./server -p {port}'");
        }
        if !command.contains("{port}") {
            return refuse(
                "the command has no {port}: it stands for the port that the server is to listen \
                 on, on 127.0.0.1",
            );
        }
        let first = command.split_whitespace().next().unwrap_or(command);
        let made_up = first.rsplit('/').next().unwrap_or(first);
        let source = Source::Command(command.to_owned());
        Ok(Self::new(name.unwrap_or(made_up), source))
    }

    /// Whether an experiment starts and stops it.
    pub fn is_started_here(&self) -> bool {
        matches!(self.source, Source::Command(_) | Source::Model(_) | Source::Nginx { .. })
    }

    /// The files of the runs that it is, if it is nothing to load but was saved before.
    pub fn saved_runs(&self) -> Option<&[PathBuf]> {
        match &self.source {
            Source::Saved(files) => Some(files),
            _ => None,
        }
    }

    /// What has to be installed before it can be measured: a program that is not to be found, by the
    /// name of its package.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.tester, &self.source) {
            (Tool::Ab, _) if !is_installed("ab") => Some("apache2-utils"),
            (_, Source::Nginx { .. }) if !is_installed("nginx") => Some("nginx"),
            _ => None,
        }
    }

    /// Threads or processes it works with, where what is known of it says so.
    pub fn threads(&self) -> u32 {
        match &self.source {
            Source::Model(words) => value_of(words, "--threads").unwrap_or(1),
            Source::Nginx { workers } => *workers,
            _ => 1,
        }
    }
}

/// Whether a program is in a folder of PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Gives those that have the same name different ones: `x`, `x (2)`.
pub fn told_apart(subjects: &mut [Subject]) {
    for at in 1..subjects.len() {
        let (before, rest) = subjects.split_at_mut(at);
        let subject = &mut rest[0];
        let plain = subject.name.clone();
        let mut number = 2;
        while before.iter().any(|other| other.name == subject.name) {
            subject.name = format!("{plain} ({number})");
            number += 1;
        }
    }
}

/// `name=rest`, where the name is a word: `a=b` but not `http://x/?a=b`.
fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '+'))
    };
    match text.split_once('=') {
        Some((name, rest)) if is_name(name) => (Some(name), rest),
        _ => (None, text),
    }
}

/// `epoll-et,threads=2,echo` as words behind `ablaze serve`.
fn words_behind_serve(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, piece) in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()).enumerate()
    {
        match piece.split_once('=') {
            Some((option, value)) => words.extend([format!("--{option}"), value.to_owned()]),
            None if at == 0 => words.extend(["--model".to_owned(), piece.to_owned()]),
            None => words.push(format!("--{piece}")),
        }
    }
    words
}

fn value_of(words: &[String], option: &str) -> Option<u32> {
    let at = words.iter().position(|word| word == option)?;
    words.get(at + 1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Subject::read(text).unwrap().source
    }

    #[test]
    fn targets_are_read_as_people_write_them() {
        assert_eq!(source("http://h/?a=b"), Source::Url("http://h/?a=b".into()));
        assert_eq!(source("localhost"), Source::Url("localhost".into()));
        assert_eq!(source(":8080/api.json"), Source::Url(":8080/api.json".into()));
        let secret = Subject::read("http://me:s3cret@h/").unwrap();
        assert_eq!(secret.name, "http://me:***@h/");
        assert_eq!(secret.source, Source::Url("http://me:s3cret@h/".into()));
        assert_eq!(source("old=runs/before.json"), Source::Saved(vec!["runs/before.json".into()]));
        assert_eq!(Subject::read("runs/before.json").unwrap().name, "before");
        let words = ["--like", "sylar", "--close"].map(String::from).to_vec();
        assert_eq!(source("serve:like=sylar,close"), Source::Model(words));
        for wrong in ["mine", "mine=", "epoll-et"] {
            assert!(Subject::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_command_says_where_its_port_goes() {
        let mine = Subject::started_by("mine=./server -p {port} --x=1").unwrap();
        assert_eq!((mine.name.as_str(), mine.is_started_here()), ("mine", true));
        assert_eq!(mine.source, Source::Command("./server -p {port} --x=1".into()));
        assert_eq!(Subject::started_by("./build/server -p {port}").unwrap().name, "server");
        assert!(Subject::started_by("mine=./server").unwrap_err().why.contains("{port}"));
        assert!(Subject::started_by("mine=").is_err());
    }

    #[test]
    fn two_of_the_same_name_are_told_apart() {
        let mut subjects: Vec<_> =
            (0..3).map(|_| Subject::read("serve:epoll-et").unwrap()).collect();
        told_apart(&mut subjects);
        let names: Vec<_> = subjects.iter().map(|subject| subject.name.as_str()).collect();
        assert_eq!(names, ["epoll-et", "epoll-et (2)", "epoll-et (3)"]);
    }
}
