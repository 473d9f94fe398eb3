//! How an experiment was asked for, beside its results: title, note and the command that repeats it.

use std::path::Path;

use ablaze_model::experiment::Description;
use ablaze_report::file::write_report;

use crate::CommandError;
use crate::carry_out::own_command_line;

/// The file in the folder of the results.
const FILE: &str = "asked.json";

/// By this process's command line, which says where the results are kept too: that is no part of it.
pub fn here(title: &str, about: &str) -> Description {
    let command = without_folder(own_command_line().0);
    Description { title: title.to_owned(), about: about.to_owned(), command }
}

/// Repeated, results have a folder of their own.
fn without_folder(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--folder" => drop(words.next()),
            joined if joined.starts_with("--folder=") => {}
            _ => kept.push(word),
        }
    }
    // However this program was called, it is found under its name.
    if let Some(program) = kept.first_mut() {
        *program = Path::new(program)
            .file_name()
            .map_or_else(|| "ablaze".to_owned(), |name| name.to_string_lossy().into_owned());
    }
    kept
}

/// Keeps it in the folder of the results.
///
/// # Errors
/// When it cannot be written.
pub fn keep(asked: &Description, folder: &Path) -> Result<(), CommandError> {
    let not_kept = |error: &dyn std::fmt::Display| {
        CommandError::machine(format!("cannot save the results: {error}"))
    };
    let text = serde_json::to_string_pretty(asked).map_err(|error| not_kept(&error))?;
    write_report(&folder.join(FILE), &format!("{text}\n")).map_err(|error| not_kept(&error))
}

/// What is kept in this folder; nothing is known of folders of older versions.
pub fn kept(folder: &Path) -> Description {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::without_folder;

    #[test]
    fn a_command_is_repeated_with_a_folder_of_its_own() {
        for line in [
            "/usr/bin/ablaze run a.toml --folder old --quick",
            "./ablaze run a.toml --folder=old --quick",
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            assert_eq!(without_folder(words).join(" "), "ablaze run a.toml --quick");
        }
    }
}
