//! Where the values of a name go. A name may be an option of the load, one of built-in servers, a placeholder, or several
//! of these: docs/sweeping.md has the rule, and this is it.

use ablaze_model::experiment::Place;
use clap::{ArgAction, Command};

use super::cells::Scene;
use crate::experiments::options::LOAD;
use crate::{servers, suggest};

/// Options that client and server both have and that mean the server's where a target is a built-in one.
const OF_THE_SERVER: [&str; 2] = ["threads", "cpus"];
/// Placeholders with a meaning of their own.
const RESERVED: [(&str, &str); 4] = [
    ("port", "the port that a started target listens on, which is another for each run"),
    ("cert", "the certificate of the experiment"),
    ("key", "the key of the experiment's certificate"),
    ("seq", "the number of the request"),
];
/// Options of the sweep itself.
const OF_THE_SWEEP: [&str; 20] = [
    "start",
    "control",
    "https",
    "repeat",
    "keep-running",
    "target-cpus",
    "ready-within",
    "order-seed",
    "title",
    "note",
    "folder",
    "output",
    "json",
    "quiet",
    "vary",
    "pick",
    "yes",
    "fail-if",
    "profile",
    "help",
];
/// Options of `ablaze serve` that a server has from whoever starts it.
const OF_WHO_STARTS: [&str; 4] = ["stats", "ready-fd", "stop-with-stdin", "tls-ca-out"];

/// An axis's name without its prefix, and where its values go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The name: `GOMAXPROCS` of `env:GOMAXPROCS`; of an option the long one.
    pub name: String,
    /// Where its values go, at least one place.
    pub of: Vec<Place>,
    /// How its option takes them, if it is one.
    pub takes: Takes,
}

/// How an option takes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// One value; the last counts.
    One,
    /// As many as there are, each with the option in front.
    Several,
    /// None: it is there or not.
    Nothing,
}

/// Where the values of a name go.
///
/// # Errors
/// When they go nowhere, and why.
pub fn place(name: &str, scene: &Scene) -> Result<Placed, String> {
    let takes = Takes::One;
    let placed =
        |name: &str, of: &[Place]| Ok(Placed { name: name.to_owned(), of: of.to_vec(), takes });
    match name.split_once(':') {
        Some(("env", variable)) => return environment(variable, scene),
        Some(("serve", option)) => return of_server(option, scene),
        Some(("load", option)) => {
            let long = load_option(option).map(|(long, _)| long);
            let long = long.ok_or_else(|| unknown(option, &load_options(), "of `ablaze load`"))?;
            return of_load(&long, scene);
        }
        Some((prefix, _)) => {
            return Err(format!("unknown prefix `{prefix}:`; expected env:, serve: or load:"));
        }
        None => {}
    }
    // A letter is the short name of an option of the load.
    let long = Some(name).filter(|name| name.len() == 1 && !scene.mentions(name));
    let long = long.and_then(load_option).map(|(long, _)| long);
    let name = long.as_deref().unwrap_or(name);
    if let Some((_, what)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
        return Err(format!("{{{name}}} is {what}: use another name"));
    }
    let server_option = server_option(name).filter(|_| scene.has_model);
    let of_server_too = server_option.is_some();
    if scene.mentions(name) {
        let both = [Place::Placeholder, Place::Server];
        let of = if of_server_too { both.to_vec() } else { vec![Place::Placeholder] };
        let takes = server_option.map_or(Takes::One, |(_, takes)| takes);
        return Ok(Placed { name: name.to_owned(), of, takes });
    }
    if name == "path" {
        return placed(name, &[Place::Path]);
    }
    if OF_THE_SWEEP.contains(&name) {
        return Err(format!(
            "--{name} is one for the whole sweep: it cannot differ between its runs"
        ));
    }
    match load_option(name) {
        Some((long, _)) if of_server_too && OF_THE_SERVER.contains(&long.as_str()) => {
            of_server(&long, scene)
        }
        Some((long, _)) => of_load(&long, scene),
        None if servers::has_option(name) => of_server(name, scene),
        None => Err(nowhere(name)),
    }
}

/// Values for a variable of the environment.
fn environment(variable: &str, scene: &Scene) -> Result<Placed, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.is_empty() || !variable.chars().all(is_name) {
        return Err(format!(
            "env:{variable} names no variable: expected one such as env:GOMAXPROCS"
        ));
    }
    if variable == "PORT" {
        return Err(
            "PORT is the port that a started target listens on: use another name".to_owned()
        );
    }
    if !scene.has_command && !scene.has_model {
        return Err(format!(
            "no target has {variable} from here: a server that is already running keeps the environment that it was \
             started with; use --start 'NAME=COMMAND {{port}}'"
        ));
    }
    Ok(Placed { name: variable.to_owned(), of: vec![Place::Environment], takes: Takes::One })
}

fn of_server(name: &str, scene: &Scene) -> Result<Placed, String> {
    if OF_WHO_STARTS.contains(&name) {
        return Err(format!(
            "--{name} of a server that ablaze starts is set by ablaze and cannot be varied"
        ));
    }
    let Some((_, takes)) = server_option(name) else {
        return Err(unknown(name, &server_options(), "of `ablaze serve`"));
    };
    if !scene.has_model {
        return Err(format!(
            "{name} is an option of built-in servers, and no target is serve:MODEL; write {{{name}}} where a command, a \
             URL or a header has the value"
        ));
    }
    Ok(Placed { name: name.to_owned(), of: vec![Place::Server], takes })
}

fn of_load(long: &str, scene: &Scene) -> Result<Placed, String> {
    if long == "cookie-jar" {
        return Err("--cookie-jar is for `ablaze load URL`, which makes one run".to_owned());
    }
    let option = format!("--{long}");
    let takes = load_option(long).map_or(Takes::One, |(_, takes)| takes);
    if takes != Takes::Several && scene.load.contains(&option) {
        return Err(format!("{option} is given, too: remove one of them"));
    }
    Ok(Placed { name: long.to_owned(), of: vec![Place::Load], takes })
}

/// The error for a name that is nothing here.
fn nowhere(name: &str) -> String {
    let mut known = load_options();
    known.extend(server_options());
    known.push("path".to_owned());
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let meant = suggest::nearest(name, &known).map(|near| format!(" (did you mean {near}?)"));
    format!(
        "unknown name{}: not an option of load or serve, and {{{name}}} appears nowhere in the targets or the load",
        meant.unwrap_or_default()
    )
}

fn unknown(name: &str, known: &[String], whose: &str) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let meant = suggest::nearest(name, &known).map(|near| format!(" (did you mean {near}?)"));
    format!("`{name}` is no option {whose}{}", meant.unwrap_or_default())
}

/// The long name of an option of the load, and how it takes its value.
fn load_option(name: &str) -> Option<(String, Takes)> {
    let command = LOAD.iter().fold(Command::new("load"), |command, group| group(command));
    option_of(&command, name)
}

/// The same of an option of built-in servers.
fn server_option(name: &str) -> Option<(String, Takes)> {
    let name = Some(name).filter(|name| !OF_WHO_STARTS.contains(name) && *name != "help")?;
    option_of(&servers::command(), name)
}

fn option_of(command: &Command, name: &str) -> Option<(String, Takes)> {
    let mut arguments = command.get_arguments();
    let is_it = |argument: &&clap::Arg| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        let is_short = argument.get_short().is_some_and(|short| short.to_string() == name);
        argument.get_long() == Some(name) || aliases.contains(&name) || is_short
    };
    let argument = arguments.find(is_it)?;
    let takes = match argument.get_action() {
        ArgAction::Append => Takes::Several,
        action if action.takes_values() => Takes::One,
        _ => Takes::Nothing,
    };
    Some((argument.get_long()?.to_owned(), takes))
}

fn load_options() -> Vec<String> {
    let command = LOAD.iter().fold(Command::new("load"), |command, group| group(command));
    command.get_arguments().filter_map(|a| a.get_long()).map(str::to_owned).collect()
}

fn server_options() -> Vec<String> {
    let command = servers::command();
    command.get_arguments().filter_map(|a| a.get_long()).map(str::to_owned).collect()
}
