//! Targets as people write them, on command lines and in the files of experiments.

use ablaze_model::experiment::Target;
use ablaze_model::spec::{Secrets, TargetSpec, UrlSpec};

use crate::{CommandError, servers};

/// Reads a target: a URL, `serve:MODEL,option=value,…`, or the file of a saved run, each with `name=`
/// in front if the name is not to be made up.
///
/// # Errors
/// When it is none of these, or a built-in server that does not exist.
pub fn read(text: &str, secrets: &mut Secrets) -> Result<Target, CommandError> {
    let (name, what) = named(text);
    if what.is_empty() {
        return Err(wrong(text, "nothing follows the name: expected NAME=URL or NAME=serve:MODEL"));
    }
    if let (None, Some((before, _))) = (name, text.split_once('='))
        && !before.contains(['/', '?', ':', '#'])
    {
        return Err(CommandError::usage(format!(
            "the name `{before}` of a target may contain letters, digits, spaces, `-`, `_`, `.` and `+` only"
        )));
    }
    let called = name_of(text);
    if let Some(words) = what.strip_prefix("serve:") {
        let source = model(&called, words)?;
        return Ok(Target::new(called, source));
    }
    if is_saved(what) {
        return Ok(Target::new(called, TargetSpec::Saved(vec![what.into()])));
    }
    if is_journey(what) {
        return Err(CommandError::usage(format!(
            "`{what}` is the file of a journey: use --journey {what}, and the server's URL as the target"
        )));
    }
    if what.contains([':', '/', '.']) || what.starts_with("localhost") {
        return Ok(Target::new(called, url(what, secrets)?));
    }
    Err(wrong(
        text,
        "not a target: expected a URL, serve:MODEL (`ablaze serve --help` lists them), or the file \
         of a saved run",
    ))
}

/// Whether this is a file with a journey in it, and no host of that name.
fn is_journey(what: &str) -> bool {
    what.ends_with(".hurl") && std::path::Path::new(what).is_file()
}

/// What a target is called that was written like this.
pub fn name_of(text: &str) -> String {
    let (name, what) = named(text);
    let made_up = match what.strip_prefix("serve:") {
        Some(words) => words.to_owned(),
        None if is_saved(what) => {
            what.trim_end_matches(".json").rsplit('/').next().unwrap_or(what).to_owned()
        }
        // A name stands in tables, and in the names of files.
        None => ablaze_report::shown_command::url_without_secrets(what),
    };
    name.map_or(made_up, str::to_owned)
}

/// Whether this is written as a built-in server.
pub fn is_model(text: &str) -> bool {
    named(text).1.starts_with("serve:")
}

/// Whether this is written as the file of a saved run.
fn is_saved(what: &str) -> bool {
    let is_url = what.contains("://") || what.starts_with(':') || what.starts_with("localhost");
    what.ends_with(".json") && !is_url
}

/// Reads a target that a command starts: `name=command {port}`.
///
/// # Errors
/// When there is no command, or it does not say where the port goes.
pub fn started_by(text: &str) -> Result<Target, CommandError> {
    let (_, command) = named(text);
    if command.trim().is_empty() {
        return Err(wrong(text, "no command: expected NAME='./server -p {port}'"));
    }
    if !command.contains("{port}") {
        return Err(wrong(
            text,
            "the command has no {port}, which stands for the port of 127.0.0.1 to listen on",
        ));
    }
    Ok(Target::new(name_of_command(text), TargetSpec::Command(command.to_owned())))
}

/// What a target is called whose command was written like this.
pub fn name_of_command(text: &str) -> String {
    let (name, command) = named(text);
    let first = command.split_whitespace().next().unwrap_or(command);
    let made_up = first.rsplit('/').next().unwrap_or(first);
    name.unwrap_or(made_up).to_owned()
}

/// A target that runs already; user and password in its URL are kept among the secrets.
///
/// # Errors
/// When it is not a URL.
pub fn url(text: &str, secrets: &mut Secrets) -> Result<TargetSpec, CommandError> {
    let (url, user) =
        UrlSpec::parse(text).map_err(|error| CommandError::usage(error.to_string()))?;
    Ok(TargetSpec::Url { url, user: user.map(|user| secrets.keep_text("user", user)) })
}

/// A built-in server: `epoll-et,threads=2,echo`.
///
/// # Errors
/// When `ablaze serve` would not take it; `name` is whose fault that is.
pub fn model(name: &str, text: &str) -> Result<TargetSpec, CommandError> {
    let words = words(text);
    let names = words.iter().filter_map(|word| word.trim_start_matches('-').split('=').next());
    // Named as it was written, without the dashes of a command line.
    if let Some(unknown) = names.into_iter().find(|name| !servers::has_option(name)) {
        return Err(CommandError::usage(format!(
            "{name}: unknown option `{unknown}`; `ablaze serve --help` lists the options of a server"
        )));
    }
    servers::of_words(&words)
        .map(TargetSpec::Model)
        .map_err(|error| CommandError { line: format!("{name}: {}", error.line), ..error })
}

/// `epoll-et,threads=2,echo` as words behind `ablaze serve`.
fn words(text: &str) -> Vec<String> {
    let pieces = text.split(',').map(str::trim).filter(|piece| !piece.is_empty());
    let word = |(at, piece): (usize, &str)| match at {
        0 if !piece.contains('=') => format!("--model={piece}"),
        _ => format!("--{piece}"),
    };
    pieces.enumerate().map(word).collect()
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

fn wrong(text: &str, why: &str) -> CommandError {
    let text = ablaze_report::shown_command::url_without_secrets(text);
    CommandError::usage(format!("`{text}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_is_no_url() {
        let said = |text: &str| read(text, &mut Secrets::default()).unwrap_err().line;
        for (text, name) in [("a b & c=serve:epoll-et", "a b & c"), ("<b>=http://h/", "<b>")] {
            let error = said(text);
            assert!(error.starts_with(&format!("the name `{name}` of a target may")), "{error}");
        }
        assert!(read("http://h/x?a&b=1", &mut Secrets::default()).is_ok());
        assert!(read("h.example?a&b=1", &mut Secrets::default()).is_ok());
    }

    fn target(text: &str) -> Target {
        read(text, &mut Secrets::default()).unwrap()
    }

    fn shown(text: &str) -> String {
        match target(text).source {
            TargetSpec::Url { url, .. } => url.shown,
            TargetSpec::Model(model) => model.words().join(" "),
            TargetSpec::Saved(files) => format!("{files:?}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn targets_are_read_as_people_write_them() {
        assert_eq!(shown("http://h/?a=b"), "http://h/?a=b");
        assert_eq!(shown("localhost"), "http://localhost/");
        assert_eq!(shown(":8080/api.json"), "http://127.0.0.1:8080/api.json");
        assert_eq!(shown("old=runs/before.json"), "[\"runs/before.json\"]");
        assert_eq!(target("runs/before.json").name, "before");
        assert_eq!(shown("serve:like=sylar-1,close"), "--like sylar-1 --threads 1 --close");
        let edge = target("serve:epoll-et,threads=2");
        assert_eq!((edge.name.as_str(), edge.threads(8)), ("epoll-et,threads=2", 2));
        assert_eq!(target("mine=:8080/hello").name, "mine");
        for wrong in ["mine", "mine=", "epoll-et", "serve:epol-et"] {
            assert!(read(wrong, &mut Secrets::default()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_kept_among_the_secrets() {
        let mut secrets = Secrets::default();
        let secret = read("http://me:s3cret@h/", &mut secrets).unwrap();
        assert_eq!(secret.name, "http://me:***@h/");
        assert!(!format!("{secret:?}").contains("s3cret"));
        let TargetSpec::Url { user: Some(user), .. } = &secret.source else { panic!() };
        assert_eq!(secrets.text(user), Ok("me:s3cret"));
    }

    #[test]
    fn a_command_says_where_its_port_goes() {
        let mine = started_by("mine=./server -p {port} --x=1").unwrap();
        assert_eq!((mine.name.as_str(), mine.is_started_here()), ("mine", true));
        assert_eq!(mine.source, TargetSpec::Command("./server -p {port} --x=1".into()));
        assert_eq!(started_by("./build/server -p {port}").unwrap().name, "server");
        assert!(started_by("mine=./server").unwrap_err().line.contains("{port}"));
        assert!(started_by("mine=").is_err());
    }
}
