//! `ablaze report` of several saved runs: on one page, or as the shards of one run.

use std::path::PathBuf;
use std::process::ExitCode;

use ablaze_lab::{saved, shards};
use ablaze_model::finding::Finding;
use ablaze_model::{Assessed, Run};
use ablaze_report::exporters::{Exported, Kind};
use ablaze_report::page;
use ablaze_verdict::several;

use super::{CommandLine, Saved};
use crate::experiments::saved::note_if_of_another_command;
use crate::outputs::Files;
use crate::{CommandError, terminal, verdict};

/// The runs with a name each: that of the file, and its whole path where two would be alike.
///
/// # Errors
/// When something else is among them.
pub fn only_runs(paths: &[PathBuf], saved: Vec<Saved>) -> Result<Vec<(String, Run)>, CommandError> {
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut runs = Vec::new();
    for (path, saved) in paths.iter().zip(saved) {
        let Saved::Run(run) = saved else {
            return Err(CommandError::usage(format!(
                "{} is a folder: only files of runs can be combined, such as those in its runs/",
                path.display()
            )));
        };
        note_if_of_another_command(path, &run);
        let alike = paths.iter().filter(|other| stem(other) == stem(path)).count() > 1;
        let name = stem(path).filter(|_| !alike).unwrap_or_else(|| path.display().to_string());
        runs.push((name, *run));
    }
    Ok(runs)
}

/// Shards as the one run that they were.
///
/// # Errors
/// When they were not.
pub fn merged(runs: Vec<(String, Run)>) -> Result<Run, CommandError> {
    if runs.len() < 2 {
        return Err(CommandError::usage("--merge needs the files of two or more runs"));
    }
    let one = runs.iter().enumerate().find_map(|(at, (name, run))| {
        let (first, _) = runs[..at].iter().find(|(_, other)| saved::are_one(run, other))?;
        Some(format!("`{first}` and `{name}` hold the same run: each part is merged once"))
    });
    let merged = shards::merged(runs).map_err(CommandError::usage)?;
    one.map_or(Ok(merged), |why| Err(CommandError::usage(why)))
}

/// Runs on one page, in every format that a page has. What cannot be written is told, and does not keep the
/// others from being written.
///
/// # Errors
/// When a file has a format of one run, or cannot be written there at all.
pub fn kept_in_one(runs: Vec<(String, Run)>, line: &CommandLine) -> Result<ExitCode, CommandError> {
    if !line.fail_if.is_empty() || !line.slo.is_empty() {
        return Err(CommandError::usage(
            "several runs on one page have no conditions: leave out -o, and each is held against them",
        ));
    }
    let files = Files::checked(&line.outputs, Kind::Runs)?;
    let runs: Vec<(String, Assessed)> =
        runs.into_iter().map(|(name, run)| (name, verdict::assessed(run))).collect();
    let page = page::of_runs(&runs, &found_together(&runs));
    let exported = Exported::Runs(&page);
    files.keep_files(&exported);
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let paths: Vec<String> = line.outputs.iter().map(|path| path.display().to_string()).collect();
    terminal::print(&format!("{}: on one page, {}\n", names.join(", "), paths.join(" · ")));
    files.keep_streams(&exported);
    Ok(ExitCode::SUCCESS)
}

/// What was found in runs beside each other.
fn found_together(runs: &[(String, Assessed)]) -> Vec<Finding> {
    let version = Some(env!("CARGO_PKG_VERSION"));
    let of = |(name, Assessed { run, judged }): &(String, Assessed)| {
        several::member(run, &judged.findings, name, name, version)
    };
    let together = several::beside_each_other(runs.iter().filter_map(of).collect(), None);
    together.map(|together| together.findings().to_vec()).unwrap_or_default()
}
