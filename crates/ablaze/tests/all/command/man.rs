//! The pages of `ablaze man`, by mandoc, which reads them as man does.

use std::path::Path;
use std::process::Command;

use ablaze_testing::skip::{find, skip};
use ablaze_testing::{Bounded, Scratch};

use crate::command::support::ablaze;

/// Every page, in a folder of its own: the names of the files, sorted.
fn pages() -> (Scratch, Vec<String>) {
    let folder = Scratch::new("man");
    let path = folder.path().to_str().unwrap().to_owned();
    let said = ablaze(&["man", "--folder", &path]);
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    let files = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    (folder, names)
}

/// What mandoc makes of a page: its status and what it prints.
fn mandoc(program: &Path, words: &[&str], page: &Path) -> (bool, String) {
    let ran = Command::new(program).args(words).arg(page).bounded_output().unwrap();
    (ran.status.success(), String::from_utf8(ran.stdout).unwrap())
}

/// The words that begin with a dash, without what follows the name of an option.
fn options(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "[]()'`,=;:".contains(c));
    words.filter(|word| word.starts_with('-') && word.len() > 1).collect()
}

#[test]
fn every_command_of_the_help_has_a_page_that_mandoc_accepts() {
    let Some(program) = find("mandoc") else { return skip("mandoc is not installed") };
    let (folder, names) = pages();
    let help = ablaze(&["--help"]).stdout;
    for name in ["ablaze.1", "ablaze-ab.1", "ablaze-load.1", "ablaze-man.1"] {
        assert!(names.iter().any(|own| own == name), "{name}: {names:?}");
    }
    for name in &names {
        let path = folder.path().join(name);
        let (_, said) = mandoc(&program, &["-T", "lint", "-W", "warning"], &path);
        // A build that does not know its commit has no date.
        let said: Vec<_> = said.lines().filter(|line| !line.contains("missing date")).collect();
        assert!(said.is_empty(), "{said:?}");
        let command = name.trim_start_matches("ablaze-").trim_end_matches(".1");
        assert!(command == "ablaze" || help.contains(command), "{command} is not in the help");
    }
    // The table of the help is as long as there are pages: with ablaze's own, and those of its own commands.
    let listed = help.lines().filter(|line| line.len() > 21 && !line.starts_with("  ablaze"));
    let listed = listed.filter(|line| line.chars().nth(11) == Some(' ') && !line.contains('`'));
    assert!(names.len() >= listed.count() + 3, "{names:?}");
}

#[test]
fn a_page_has_every_option_of_the_help_as_the_command_takes_it() {
    let Some(program) = find("mandoc") else { return skip("mandoc is not installed") };
    let (folder, _) = pages();
    for command in ["load", "ab", "gurl", "wrk", "compare", "serve", "import", "man"] {
        let path = folder.path().join(format!("ablaze-{command}.1"));
        // Backspaces overstrike what is bold.
        let (read, page) = mandoc(&program, &["-T", "utf8", "-O", "width=100"], &path);
        let letters: Vec<char> = page.chars().collect();
        let kept = (0..letters.len()).filter(|at| {
            letters[*at] != '\u{8}' && letters.get(at + 1).is_none_or(|next| *next != '\u{8}')
        });
        let page: String = kept.map(|at| letters[at]).collect();
        let shown = options(&page);
        let help = ablaze(&[command, "--help"]).stdout;
        // Lines about an option begin with its names.
        let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
        let names: Vec<&str> = lines
            .flat_map(|line| {
                let line = line.trim_start();
                options(line.split("  ").next().unwrap_or(line))
            })
            .filter(|name| *name != "--name")
            .collect();
        assert!(read && names.len() >= 2, "{command}: {names:?}");
        for name in names {
            assert!(shown.contains(&name), "{command}: the page lacks {name}\n{page}");
        }
    }
}

#[test]
fn a_page_is_printed_and_a_command_that_is_none_is_refused() {
    let own = ablaze(&["man"]);
    assert!(own.status == 0 && own.stdout.starts_with(".TH ABLAZE 1 "), "{}", own.stdout);
    let load = ablaze(&["man", "load"]);
    assert!(load.stdout.starts_with(".TH ABLAZE\\-LOAD 1 "), "{}", load.stdout);
    let none = ablaze(&["man", "laod"]);
    assert_eq!((none.status, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("did you mean `ablaze man load`?"), "{}", none.stderr);
    let folder = ablaze(&["man", "--folder", "/proc/pages"]);
    assert_eq!(folder.status, 1);
    assert!(folder.stderr.contains("cannot write /proc/pages"), "{}", folder.stderr);
}

/// `ablaze man --markdown --folder docs/commands` writes them again.
#[test]
fn the_pages_of_docs_are_those_of_this_program() {
    let folder = Scratch::new("man-markdown");
    let path = folder.path().to_str().unwrap().to_owned();
    let said = ablaze(&["man", "--markdown", "--folder", &path]);
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let files = |folder: &Path| -> Vec<(String, String)> {
        let all = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let name = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut all: Vec<_> =
            all.map(|file| (name(&file), std::fs::read_to_string(&file).unwrap())).collect();
        all.sort();
        all
    };
    let (written, kept) = (files(folder.path()), files(&docs.join("commands")));
    let names =
        |files: &[(String, String)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let again = "`ablaze man --markdown --folder docs/commands` writes the pages again";
    assert_eq!(names(&written), names(&kept), "{again}");
    for ((name, now), (_, before)) in written.iter().zip(&kept) {
        assert!(now == before, "docs/commands/{name} is not what the program says: {again}");
    }
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for (name, _) in &written {
        assert!(
            summary.contains(&format!("(commands/{name})")),
            "{name} is not in docs/SUMMARY.md"
        );
    }
}
