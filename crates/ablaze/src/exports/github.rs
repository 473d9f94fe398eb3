//! What a job on GitHub Actions is told by itself: a summary in Markdown, where `$GITHUB_STEP_SUMMARY` names a file, and
//! annotations on stderr, where `$GITHUB_ACTIONS` is `true`. Standard output gets nothing of it: scripts parse that.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use ablaze_model::printable::{printable_lines, report};
use ablaze_report::exporters::Contents;
use ablaze_report::junit::{Case, CaseOutcome, Suite};
use ablaze_report::system_error::reason;

use crate::{CommandError, outlets};

/// Annotations of one level that a step may have; GitHub drops what comes after them.
const ANNOTATIONS_MAX: usize = 10;
/// Bytes of a step's summary: GitHub refuses one of more than 1 MiB as a whole.
const SUMMARY_BYTES_MAX: u64 = 1 << 20;

/// Tells about the results of an experiment or a search.
pub fn tell_of(contents: &Contents) {
    tell(&contents.suites, || contents.page().map(|page| page.markdown("report").text));
}

/// Tells about results that have these cases; `markdown` is their report.
pub fn tell(suites: &[Suite], markdown: impl FnOnce() -> Result<String, String>) {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if of("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        // With stderr closed there is no one left to tell.
        let _ = std::io::stderr().write_all(printable_lines(&annotations(suites)).as_bytes());
    }
    if let Some(path) = of("GITHUB_STEP_SUMMARY") {
        outlets::attempt("the summary for GITHUB_STEP_SUMMARY", || {
            summarise(&path, &markdown().map_err(CommandError::machine)?)
        });
    }
}

/// Appends to the summary of the step, to which other commands may write, too.
fn summarise(path: &OsString, markdown: &str) -> Result<(), CommandError> {
    let path = PathBuf::from(path);
    append(&path, markdown).map_err(|error| {
        let why = reason(&error);
        CommandError::machine(format!("cannot append to GITHUB_STEP_SUMMARY {path:?}: {why}"))
    })
}

fn append(path: &Path, markdown: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    let there_bytes = file.metadata()?.len();
    let room_bytes = SUMMARY_BYTES_MAX.saturating_sub(there_bytes);
    file.write_all(fitting(&with_own_notes(&report(markdown), there_bytes), room_bytes).as_bytes())
}

/// Behind another report in the same summary, of so many bytes so far, footnotes have names of their own: of two with one name
/// GitHub shows the first.
fn with_own_notes(markdown: &str, there_bytes: u64) -> String {
    if there_bytes == 0 {
        return markdown.to_owned();
    }
    let mut fenced = false;
    let renamed = markdown.split_inclusive('\n').map(|line| {
        fenced ^= line.starts_with("```");
        match fenced {
            true => line.to_owned(),
            false => line.replace("[^d", &format!("[^at-{there_bytes}-d")),
        }
    });
    renamed.collect()
}

/// The report without its pictures, which are files that a summary does not have; where it does not fit, a line that says so;
/// where that does not fit either, nothing.
fn fitting(markdown: &str, room_bytes: u64) -> String {
    let mut fenced = false;
    let is_kept = |line: &&str| {
        fenced ^= line.starts_with("```");
        fenced || !(line.starts_with("![") && line.trim_end().ends_with(')'))
    };
    let lines: Vec<&str> = markdown.lines().filter(is_kept).collect();
    let whole = format!("\n{}\n", lines.join("\n"));
    let instead = format!(
        "\nablaze: the report has {} bytes and does not fit into this summary: use -o FILE.md\n",
        whole.len()
    );
    let fits = |text: &String| text.len() as u64 <= room_bytes;
    [whole, instead].into_iter().find(fits).unwrap_or_default()
}

/// The lines that make annotations: an error for each case that failed, a warning for a doubtful verdict.
fn annotations(suites: &[Suite]) -> String {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for (suite, case) in suites.iter().flat_map(|suite| suite.cases.iter().map(move |c| (suite, c)))
    {
        match &case.outcome {
            CaseOutcome::Failed(why) => errors.push(annotation("error", suite, case, why)),
            CaseOutcome::Doubtful(why) => warnings.push(annotation("warning", suite, case, why)),
            CaseOutcome::Skipped(why) if case.class == "verdict" => {
                warnings.push(annotation("warning", suite, case, why));
            }
            CaseOutcome::Skipped(_) | CaseOutcome::Passed => {}
        }
    }
    errors.truncate(ANNOTATIONS_MAX);
    warnings.truncate(ANNOTATIONS_MAX);
    errors.into_iter().chain(warnings).collect()
}

fn annotation(level: &str, suite: &Suite, case: &Case, why: &str) -> String {
    let title = property(&format!("ablaze: {}: {}", case.class, suite.name));
    format!("::{level} title={title}::{}\n", data(why))
}

/// The message of a workflow command, escaped as GitHub's toolkit does (`escapeData` of `@actions/core`).
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of one (`escapeProperty`).
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(outcome: &CaseOutcome, cases: usize) -> Suite {
        let case = Case {
            class: "condition",
            name: String::new(),
            outcome: outcome.clone(),
            output: String::new(),
        };
        Suite { name: "a:b,c%".to_owned(), elapsed_ns: 0, cases: vec![case; cases] }
    }

    #[test]
    fn commands_cannot_be_broken_out_of() {
        let failed = CaseOutcome::Failed("100%\r\n::error::forged, a:b".to_owned());
        assert_eq!(
            annotations(&[suite(&failed, 1)]),
            "::error title=ablaze%3A condition%3A a%3Ab%2Cc%25::100%25%0D%0A::error::forged, a:b\n"
        );
    }

    #[test]
    fn there_are_ten_of_a_level_at_most() {
        let failed = CaseOutcome::Failed("x".to_owned());
        let doubtful = CaseOutcome::Doubtful("y".to_owned());
        let text = annotations(&[suite(&doubtful, 11), suite(&failed, 12)]);
        let of = |level: &str| text.lines().filter(|line| line.starts_with(level)).count();
        assert_eq!((of("::error "), of("::warning "), text.lines().count()), (10, 10, 20));
        assert_eq!(annotations(&[suite(&CaseOutcome::Passed, 3)]), "");
    }

    #[test]
    fn footnotes_of_several_reports_have_names_of_their_own() {
        let scratch = ablaze_testing::Scratch::new("summary");
        let path = scratch.path().join("summary.md");
        for text in ["first", "second"] {
            append(&path, &format!("- D04[^d04-1]\n\n```\n[^d04-1]\n```\n\n[^d04-1]: {text}\n"))
                .unwrap();
        }
        let summary = scratch.read("summary.md");
        let notes = |line: &&str| line.starts_with("[^") && line.contains("]: ");
        let names: Vec<&str> =
            summary.lines().filter(notes).filter_map(|line| line.split(']').next()).collect();
        assert_eq!((names.len(), names[0]), (2, "[^d04-1"), "{summary}");
        assert_ne!(names[0], names[1], "{summary}");
        for name in names {
            assert_eq!(
                summary
                    .lines()
                    .filter(|line| line.starts_with("- ") && line.contains(name))
                    .count(),
                1
            );
        }
    }

    #[test]
    fn pictures_are_left_out_and_what_does_not_fit_is_said() {
        let markdown = "# title\n\n![chart](report.svg)\n\n```text\n![kept](x.svg)\n```\n";
        let whole = "\n# title\n\n\n```text\n![kept](x.svg)\n```\n";
        assert_eq!(fitting(markdown, 1_000), whole);
        assert!(fitting(&"x".repeat(2_000), 1_000).contains("does not fit"));
        assert_eq!(fitting(&"x".repeat(2_000), 3), "");
    }
}
