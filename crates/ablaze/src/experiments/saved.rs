//! Saved runs on the command line of `compare`: `before.json after.json`, `NAME=before.json`, the
//! same name several times for repeats. Read before anything else happens.

use std::path::{Path, PathBuf};

use ablaze_lab::saved;
use ablaze_model::Run;
use ablaze_model::experiment::Target;
use ablaze_model::spec::TargetSpec;

use crate::CommandError;
use crate::error::note;

/// Targets as they were written, with the words they were read from: files of one given name become
/// repeats of one target; files whose made-up names are equal are told apart by their folders.
///
/// # Errors
/// When a file cannot be read, or holds no run with an answer.
pub fn gathered(read: Vec<(&str, Target)>) -> Result<Vec<Target>, CommandError> {
    let mut gathered: Vec<Target> = Vec::new();
    let is_given = |text: &str, name: &str| text.starts_with(&format!("{name}="));
    let taken = |name: &str| read.iter().filter(|(_, target)| target.name == name).count() > 1;
    for (text, target) in &read {
        let Some([file]) = target.saved_runs() else {
            gathered.push(target.clone());
            continue;
        };
        let given = is_given(text, &target.name);
        let mut before = gathered.iter_mut().filter(|other| other.name == target.name);
        if given
            && let Some(TargetSpec::Saved(files)) = before.next().map(|other| &mut other.source)
        {
            files.push(file.clone());
            continue;
        }
        let mut target = target.clone();
        if !given && taken(&target.name) {
            target.name = text.trim_end_matches(".json").to_owned();
        }
        gathered.push(target);
    }
    let mut runs = Vec::new();
    for target in &mut gathered {
        if let TargetSpec::Saved(files) = &mut target.source {
            in_order(files, &mut runs)?;
        }
    }
    Ok(gathered)
}

/// In the order in which the runs began. `before` are all that were read: none of them is this one.
fn in_order(
    files: &mut Vec<PathBuf>,
    before: &mut Vec<(PathBuf, Run)>,
) -> Result<(), CommandError> {
    let mut began = Vec::new();
    for file in files.drain(..) {
        let run = saved::read(&file).map_err(CommandError::usage)?;
        if let Some((other, _)) = before.iter().find(|(_, other)| saved::are_one(other, &run)) {
            return Err(CommandError::usage(one_run(other, &file)));
        }
        before.push((file.clone(), run.clone()));
        note_if_of_another_command(&file, &run);
        began.push((run.started_unix_ns, file));
    }
    began.sort();
    files.extend(began.into_iter().map(|(_, file)| file));
    Ok(())
}

/// What is said of a run that was given twice.
fn one_run(one: &Path, other: &Path) -> String {
    match one == other {
        true => format!(
            "`{}` is given twice: a run cannot be its own repeat; give another",
            one.display()
        ),
        false => format!(
            "`{}` and `{}` hold the same run: a run cannot be its own repeat; give another",
            one.display(),
            other.display()
        ),
    }
}

/// Says on stderr that a saved run does not fit the command saved with it (D36).
pub fn note_if_of_another_command(file: &Path, run: &Run) {
    for finding in ablaze_verdict::saved::besides(run) {
        note(&format!(
            "{}: {} {} {}: {} {} {}",
            file.display(),
            finding.id,
            finding.severity,
            finding.id.name(),
            finding.evidence,
            finding.cause,
            finding.fix
        ));
    }
}
