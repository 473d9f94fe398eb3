//! `ablaze sweep`: several targets over several loads, interleaved, as a table and a curve each.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use ablaze_lab::curve::Pick;
use ablaze_lab::experiment::Load;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::options::{ExperimentOptions, LOAD, RUN_LENGTH, load_words};
use super::outputs::Files;
use super::shown::{self, Showing};
use crate::refusal::{INTERRUPTED, NOTHING_MEASURED};
use crate::{Refusal, help, values};

/// What is swept, beside what all experiments have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
struct SweepOptions {
    /// What changes from load to load, as threads=1,2,4: any option of load
    #[arg(long, value_name = "OPTION=LIST")]
    vary: Option<String>,
    /// What is drawn of the repeats: median or best [default: median]
    #[arg(long, value_name = "WHICH", value_parser = ["median", "best"], default_value = "median", hide_default_value = true, hide_possible_values = true)]
    pick: String,
}

const AFTER_HELP: &str = "\
Each target meets each load --repeat times (1 unless given), the targets of a load right after
each other in random order. Loads last 3 s unless -d or -n says otherwise. Every run is kept in the
folder as soon as it has ended; the same command with --folder goes on with what is missing.
  ablaze sweep -c 1,2,5,10,20,50,100 serve:epoll-lt serve:epoll-et --control nginx
Exit status: 0 answered; 1 nothing could be measured, or not all could be written; 2 usage; 130
interrupted.";

fn command() -> Command {
    let command = Command::new("ablaze sweep")
        .bin_name("ablaze sweep")
        .override_usage("ablaze sweep -c 1,2,5,… [OPTIONS] TARGET…")
        .after_help(AFTER_HELP)
        .disable_version_flag(true)
        .max_term_width(100);
    let command = SweepOptions::augment_args(ExperimentOptions::augment_args(command));
    let list = || clap::builder::NonEmptyStringValueParser::new();
    LOAD.iter()
        .fold(command, |command, group| group(command))
        // Each group of options brings a description of its own.
        .about("Load several targets over a range of loads, interleaved.")
        .mut_arg("connections", |argument| {
            argument.value_name("N…").value_parser(list()).help("Connections, as 1,2,5,10")
        })
        .mut_arg("duration", |argument| argument.help(RUN_LENGTH))
        .mut_arg("arrivals", |argument| {
            argument.help("Spacing of --rates: constant or poisson [default: constant]")
        })
        // A list of rates has no two between which there could be steps.
        .mut_arg("steps", |argument| argument.hide(true))
        .mut_arg("rate", |argument| {
            argument
                .long("rates")
                .alias("rate")
                .value_name("LIST")
                .value_parser(list())
                .help("Open loop at these rates, as 1k,2k,5k")
        })
}

/// Runs `ablaze sweep` with the words behind `sweep`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from("ablaze sweep");
    let matches = match command().try_get_matches_from(std::iter::once(&program).chain(arguments)) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return help::print(&error.render().to_string());
        }
        Err(error) => return crate::serve::usage(&error, "sweep").report(),
    };
    swept(&matches).unwrap_or_else(|refusal| refusal.report())
}

fn swept(matches: &ArgMatches) -> Result<ExitCode, Refusal> {
    let read = |error: clap::Error| Refusal::usage(error.to_string());
    let options = ExperimentOptions::from_arg_matches(matches).map_err(read)?;
    let sweep = SweepOptions::from_arg_matches(matches).map_err(read)?;
    let subjects = options.subjects()?;
    if subjects.is_empty() {
        return Err(Refusal::usage(
            "no target: write a URL, serve:MODEL or --start 'NAME=COMMAND {port}'",
        ));
    }
    let loads = loads(load_words(matches), sweep.vary.as_deref())?;
    let repeats = options.repeat.unwrap_or(1);
    let experiment = super::experiment("sweep", &options, subjects, loads, repeats)?;
    let files = Files::checked(&options.outputs)?;
    let (folder, stem) = (options.folder.as_deref(), Path::new("sweep"));
    let (folder, results) = super::carried_out(&experiment, folder, options.quiet, stem, None)?;
    let pick = if sweep.pick == "best" { Pick::Best } else { Pick::Median };
    let showing = Showing { json: options.json, pick, ..Showing::default() };
    let several = super::beside_each_other(&experiment, &folder, &results)?;
    let kept = super::kept(&experiment, &folder, &results, several.as_ref(), showing, &files);
    help::print(&shown::sweep(&experiment, &results, several.as_ref(), showing));
    super::print_chart(&experiment, &results, several.as_ref(), showing);
    super::told_at_the_end(&kept, &folder, showing, &files);
    super::told_if_interrupted(&folder, &results);
    Ok(ExitCode::from(match (results.interrupted, results.measured().next().is_some()) {
        (true, _) => INTERRUPTED,
        (false, false) => NOTHING_MEASURED,
        (false, true) => 0,
    }))
}

/// One load per value of the one option that is a list.
fn loads(words: Vec<String>, vary: Option<&str>) -> Result<Vec<Load>, Refusal> {
    let mut words = words;
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for (option, named) in [("--connections", "--connections"), ("--rates", "--rate")] {
        if let Some(at) = words.iter().position(|word| word == option) {
            let values = pieces(&words[at + 1]);
            words.drain(at..at + 2);
            axes.push((named.to_owned(), values));
        }
    }
    if let Some(vary) = vary {
        let Some((option, list)) = vary.split_once('=') else {
            return Err(Refusal::usage(format!(
                "--vary {vary}: write OPTION=VALUE,VALUE…, as threads=1,2,4"
            )));
        };
        axes.push((format!("--{}", option.trim_start_matches('-')), pieces(list)));
    }
    let several = axes.iter().filter(|(_, values)| values.len() > 1).count();
    if several > 1 {
        return Err(Refusal::usage(
            "more than one option is a list: a sweep has one axis; keep the others to one value",
        ));
    }
    let at = axes.iter().position(|(_, values)| values.len() > 1);
    let Some((option, values)) = at.or((!axes.is_empty()).then_some(0)).map(|at| axes.remove(at))
    else {
        return Err(Refusal::usage("nothing to sweep over: give -c 1,2,5,10, --rates or --vary"));
    };
    for (option, value) in axes {
        words.extend([option, value.concat()]);
    }
    Ok(along(words, &option, values))
}

/// One load per value of an option, each as long as a load of an experiment unless the words say
/// otherwise.
pub(super) fn along(mut words: Vec<String>, option: &str, values: Vec<String>) -> Vec<Load> {
    let has_length = |word: &str| word == "--duration" || word == "--requests";
    if !words.iter().any(|word| has_length(word)) && !has_length(option) {
        words.extend(["--duration".to_owned(), "3s".to_owned()]);
    }
    let short = option.trim_start_matches('-');
    let short = if short == "connections" { "c" } else { short };
    let load = |value: String| {
        let mut options = words.clone();
        options.extend([option.to_owned(), value.clone()]);
        Load { label: format!("{short}={value}"), x: number(&value), options }
    };
    values.into_iter().map(load).collect()
}

fn pieces(list: &str) -> Vec<String> {
    let piece = |piece: &str| piece.trim().to_owned();
    list.split(',').map(piece).filter(|piece| !piece.is_empty()).collect()
}

/// The value as a place on an axis: counts and rates are.
fn number(text: &str) -> Option<f64> {
    values::count(text).ok().map(|count| count as f64).or_else(|| {
        values::rate(text).ok().filter(|rate| rate.is_constant()).map(|rate| rate.from_per_s)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(words: &[&str], vary: Option<&str>) -> Result<Vec<String>, String> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        match loads(words, vary) {
            Ok(loads) => Ok(loads
                .iter()
                .map(|load| format!("{} {}", load.label, load.options.join(" ")))
                .collect()),
            Err(refusal) => Err(refusal.line),
        }
    }

    #[test]
    fn one_load_per_value() {
        let swept = labels(&["--connections", "1,2, 5", "--duration", "1s"], None).unwrap();
        assert_eq!(swept[0], "c=1 --duration 1s --connections 1");
        assert_eq!(swept.len(), 3);
        let swept = labels(&["--rates", "1k,2k"], None).unwrap();
        assert_eq!(swept[1], "rate=2k --duration 3s --rate 2k");
        let swept = labels(&["--connections", "10"], Some("threads=1,2")).unwrap();
        assert_eq!(swept[1], "threads=2 --connections 10 --duration 3s --threads 2");
    }

    #[test]
    fn a_sweep_has_one_axis() {
        assert!(labels(&["--connections", "1,2"], Some("threads=1,2")).is_err());
        assert!(labels(&[], None).unwrap_err().contains("nothing to sweep over"));
        assert!(labels(&[], Some("threads")).is_err());
    }
}
