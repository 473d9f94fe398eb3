//! `ablaze report` of several saved runs: on one page, or as the shards of one run.

use std::path::PathBuf;
use std::process::ExitCode;

use ablaze_lab::shards;
use ablaze_model::Run;
use ablaze_report::page;
use ablaze_report::{Format, file};

use super::{CommandLine, Saved};
use crate::experiments::saved::note_if_of_another_command;
use crate::outputs::{stem, written};
use crate::{Refusal, outlets, terminal};

/// The runs with a name each: that of the file, and its whole path where two would be alike.
///
/// # Errors
/// When something else is among them.
pub fn only_runs(paths: &[PathBuf], saved: Vec<Saved>) -> Result<Vec<(String, Run)>, Refusal> {
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut runs = Vec::new();
    for (path, saved) in paths.iter().zip(saved) {
        let Saved::Run(run) = saved else {
            return Err(Refusal::usage(format!(
                "{} is a folder: only files of runs are put together, such as those in its runs/",
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
pub fn merged(runs: Vec<(String, Run)>) -> Result<Run, Refusal> {
    if runs.len() < 2 {
        return Err(Refusal::usage("--merge puts two runs or more together: name their files"));
    }
    shards::merged(runs).map_err(Refusal::usage)
}

/// Runs on one page, in every format that a page has. What cannot be written is told, and does not keep the
/// others from being written.
///
/// # Errors
/// When a file has a format of one run, or cannot be written there at all.
pub fn kept_in_one(runs: &[(String, Run)], line: &CommandLine) -> Result<ExitCode, Refusal> {
    let mut files = Vec::new();
    for path in &line.outputs {
        let usage = |error: file::FileError| Refusal::usage(format!("--output {error}"));
        let format = Format::of_path(path).map_err(usage)?;
        if !matches!(format, Format::Html | Format::Markdown | Format::Svg) {
            return Err(Refusal::usage(format!(
                "--output {}: this format holds one run; several make a page (.html .md .svg), \
                 shards of one run are put together by --merge",
                path.display()
            )));
        }
        file::check_writable(path).map_err(usage)?;
        files.push((path, format));
    }
    let page = page::of_runs(runs);
    for (path, format) in files {
        let markdown = page.markdown(&stem(path));
        let mut contents = Vec::new();
        match format {
            Format::Markdown => {
                let beside = markdown.files.into_iter();
                contents.extend(beside.map(|(name, svg)| (path.with_file_name(name), svg)));
                contents.push((path.clone(), markdown.text));
            }
            // The first chart: latency by percentile.
            Format::Svg => {
                let svg = markdown.files.into_iter().next().map(|(_, svg)| svg);
                contents.push((path.clone(), svg.unwrap_or_default()));
            }
            _ => contents.push((path.clone(), page.html())),
        }
        for (path, text) in contents {
            outlets::attempt(&path.display().to_string(), || written(&path, &text));
        }
    }
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let paths: Vec<String> = line.outputs.iter().map(|path| path.display().to_string()).collect();
    terminal::print(&format!("{}: on one page, {}\n", names.join(", "), paths.join(" · ")));
    Ok(ExitCode::SUCCESS)
}
