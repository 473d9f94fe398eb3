//! What reports are named after: the headings, titles and words above them.

mod setting;

pub use setting::Setting;
use setting::Typing;

use super::headings::BELOW;
use super::naming::{Typed, behind_prompt, shortened, typed};
use super::numbered::{counts_runs, is_warm_up};

/// The words above a report, which it may be named after.
#[derive(Default)]
pub struct Above {
    /// The headings of Markdown, and lines that are underlined, that the text is below: of all reports up to the next of the
    /// same level, or a higher one. Each with its level.
    headings: Vec<(usize, String)>,
    /// `=== nginx ===`: of all reports up to the next.
    framed: Option<Title>,
    /// That alone has named a report; and the group below.
    framed_was_alone: bool,
    group_was_alone: bool,
    /// `nginx:`, of all reports up to the next of its kind, or to one that has other words above it.
    group: Option<Title>,
    /// The group has named a report.
    group_is_used: bool,
    /// The last line of other text.
    words: Option<String>,
    /// That is the line just above.
    is_just_above: bool,
    /// What stands above a loop of the shell: the name of all its reports.
    of_loop: Option<String>,
    /// Lines of the loop are still to come.
    in_loop: bool,
    /// Lines come of a block of code.
    in_block: bool,
    /// Lines come that another command than a load tester printed.
    in_output: bool,
    /// What was typed.
    typing: Typing,
}

/// A title of several reports.
struct Title {
    words: String,
    /// It stands in a block of code, and ends with it.
    in_block: bool,
}

impl Above {
    /// Takes a heading of a level, 1 being the highest: what is below it is about something else.
    pub fn heading(&mut self, level: usize, text: &str) {
        let mut headings = std::mem::take(&mut self.headings);
        headings.retain(|(above, _)| *above < level);
        headings.extend(shortened(text).map(|words| (level, words)));
        let typing = std::mem::take(&mut self.typing);
        *self = Self { headings, typing, in_block: self.in_block, ..Self::default() };
    }

    /// Whether a line of signs alone stands under words, and is as long as these: they are a heading.
    pub fn is_underlined_by(&self, line: &str) -> bool {
        let words = self.words.as_deref().filter(|_| self.is_just_above);
        let is_as_long = |words: &str| line.chars().count() >= words.chars().count().max(4);
        is_rule(line) && words.is_some_and(is_as_long)
    }

    /// Takes a line of other text. What was typed into a shell names nothing, and neither does what most commands print.
    pub fn line(&mut self, line: &str) {
        match typed(line) {
            Some(Typed::Loop { whole }) => {
                self.typing.begins_loop(line);
                self.of_loop = self.words.take();
                (self.in_loop, self.in_output) = (!whole, false);
            }
            Some(Typed::LoopEnds) => self.in_loop = false,
            Some(Typed::Other) if self.in_loop => {}
            Some(Typed::Other) => {
                self.typing.other(line);
                self.has_typed();
                self.in_output = behind_prompt(line).is_some_and(prints_no_title);
            }
            None if self.in_output => {}
            None => self.words_of(line),
        }
    }

    fn words_of(&mut self, line: &str) {
        let in_block = self.in_block;
        let title = |text| shortened(text).map(|words| Title { words, in_block });
        if is_rule(line) {
            // What is underlined is a heading; other rules are none.
            if let Some(words) = self.words.clone().filter(|_| self.is_just_above) {
                self.heading(level_of(line), &words);
            }
        } else if let Some(framed) = framed(line).filter(|framed| !counts_runs(framed)) {
            (self.framed, self.group, self.words) = (title(framed), None, None);
            self.framed_was_alone = false;
        } else if is_title(line) {
            (self.group, self.group_is_used, self.words) = (title(line), false, None);
        } else {
            self.words = shortened(framed(line).unwrap_or(line));
            self.is_just_above = true;
        }
    }

    /// An empty line: what comes below was printed by nobody that is known.
    pub fn empty_line(&mut self) {
        (self.in_output, self.is_just_above) = (false, false);
    }

    /// The line at which a block of code begins or ends.
    pub fn fence(&mut self, begins: bool) {
        (self.in_block, self.in_output) = (begins, false);
        if !begins {
            self.framed = self.framed.take().filter(|title| !title.in_block);
            self.group = self.group.take().filter(|title| !title.in_block);
        }
    }

    /// A command: what comes below is its output, and no longer that of the loop above.
    pub fn command(&mut self) {
        self.typing.command(self.in_loop);
        self.has_typed();
    }

    fn has_typed(&mut self) {
        self.in_output = false;
        if !self.in_loop {
            self.of_loop = None;
        }
    }

    /// The last line of other text is no name.
    pub fn no_words(&mut self) {
        self.words = None;
    }

    /// The lowest heading above.
    pub fn lowest(&self) -> Option<&str> {
        self.headings.last().map(|(_, words)| words.as_str())
    }

    /// What was typed above the report that begins here.
    pub fn setting(&mut self) -> Setting {
        self.typing.of_report()
    }

    /// Whether what comes below only warms up, as the words just above it say.
    pub fn warms_up(&self) -> bool {
        self.words.as_deref().is_some_and(is_warm_up)
    }

    /// The comment behind a command, where it says that this only warms up.
    pub fn comment(&mut self, raw: &str) {
        let comment = raw.rsplit_once(" #").map(|(_, comment)| comment.trim());
        if let Some(comment) = comment.filter(|comment| is_warm_up(comment)) {
            self.words = shortened(comment);
        }
    }

    /// The name of the report that begins here.
    pub fn name(&mut self) -> Option<String> {
        let words = self.words.take();
        // What warmed up stands under these words alone, and `run 1` below it is another.
        let is_over = |title: &Option<Title>, was_alone: bool| {
            let warms_up = title.as_ref().is_some_and(|title| is_warm_up(&title.words));
            warms_up && was_alone && words.is_some()
        };
        if is_over(&self.framed, self.framed_was_alone) {
            self.framed = None;
        }
        if is_over(&self.group, self.group_was_alone) {
            self.group = None;
        }
        (self.framed_was_alone, self.group_was_alone) = (words.is_none(), words.is_none());
        let is_of_group = words.as_deref().is_none_or(counts_runs) || !self.group_is_used;
        self.group = self.group.take().filter(|_| is_of_group);
        self.group_is_used = true;
        let of = |title: &Option<Title>| title.as_ref().map(|title| title.words.clone());
        let headings: Vec<&str> = self.headings.iter().map(|(_, words)| words.as_str()).collect();
        let headings = (!headings.is_empty()).then(|| headings.join(BELOW));
        let titles = [headings, of(&self.framed), of(&self.group)];
        let parts: Vec<String> =
            titles.into_iter().chain([self.of_loop.clone(), words]).flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The level of the heading that is underlined so, as most write it.
fn level_of(rule: &str) -> usize {
    match rule.chars().next() {
        Some('=') => 1,
        Some('-') => 2,
        Some('~') => 3,
        _ => 4,
    }
}

/// A line of signs alone: `-----`, `=====`.
fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|sign| "=-~_+#^".contains(sign))
}

/// What stands between signs: `=== nginx ===`, `--- nginx`, `==> nginx.log <==`.
fn framed(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| "=-~#".contains(*sign))?;
    let rest = line.trim_start_matches(sign);
    let signs = line.len() - rest.len();
    let is_closed = line.ends_with([sign, '<']);
    let inner = rest.strip_prefix('>').unwrap_or(rest).strip_prefix(' ')?;
    let inner = inner.trim_end_matches([sign, '<']).trim();
    let has_words = inner.chars().any(char::is_alphanumeric);
    (has_words && (signs > 2 || signs == 2 && is_closed)).then_some(inner)
}

/// A title of more words than this is a sentence.
const TITLE_WORDS: usize = 4;

/// `nginx:`, and neither a sentence that leads to what follows nor the number of a run.
fn is_title(line: &str) -> bool {
    line.ends_with([':', '：'])
        && line.split_whitespace().count() <= TITLE_WORDS
        && line.chars().any(char::is_alphabetic)
        && !line.contains("://")
        && !counts_runs(line)
}

/// Programs that print what they are told to, or run scripts that may print what each run is.
const SPEAKERS: [&str; 26] = [
    "awk", "bash", "bun", "cargo", "cat", "deno", "docker", "echo", "go", "head", "java", "just",
    "kubectl", "less", "make", "node", "npm", "perl", "php", "podman", "printf", "python",
    "python3", "ruby", "sh", "ssh",
];
/// What stands before the program on a line.
const BEFORE: [&str; 6] = ["sudo", "time", "nohup", "nice", "env", "exec"];

/// Whether what was typed behind a prompt runs a program whose output names no report, as `uname -a` and `nproc` do.
fn prints_no_title(typed: &str) -> bool {
    let mut words = typed.split_whitespace();
    let program = words.find(|word| !BEFORE.contains(word) && !word.contains('='));
    let Some(program) = program else { return false };
    let of_the_system =
        words.any(|word| ["/proc/", "/sys/", "/etc/"].iter().any(|start| word.starts_with(start)));
    let is_script = program.contains('/') || program.contains('.');
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_client = super::naming::CLIENTS.contains(&name);
    of_the_system || !is_script && !is_client && !SPEAKERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    const REPORT: &str = "This is ApacheBench, Version 2.3\nServer Software: x\nServer Hostname: h\n\
        Server Port: 80\nDocument Path: /\nDocument Length: 5 bytes\nConcurrency Level: 10\n\
        Time taken for tests: 10.000 seconds\nComplete requests: 10000\nFailed requests: 0\n\
        Total transferred: 900000 bytes\nHTML transferred: 50000 bytes\n\
        Requests per second: 1000.00 [#/sec] (mean)\n\n\
        Percentage of the requests served within a certain time (ms)\n 50% 9\n 100% 45 (longest request)\n";

    fn labels(text: &str) -> Vec<Option<String>> {
        read(text).reports.into_iter().map(|report| report.label).collect()
    }

    #[test]
    fn the_line_of_a_loop_names_no_report_and_what_is_above_it_names_all() {
        let three = REPORT.repeat(3);
        for line in [
            "$ for i in 1 2 3; do ab -n 10000 -c 10 http://h/; done",
            "me@host:~$ for i in 1 2 3; do ab -n 10000 -c 10 http://h/; done",
            "for i in 1 2 3; do\n  ab -n $n -c 10 http://h/\ndone",
            "$ ./three-times.sh",
        ] {
            assert_eq!(labels(&format!("{line}\n{three}")), [None, None, None], "{line}");
        }
        let nginx = Some("nginx".to_owned());
        let looped = "$ for i in 1 2 3; do ab -n 10000 -c 10 http://h/; done\n";
        let after = format!("{looped}{three}$ ab -n 10000 -c 10 http://h/\n{REPORT}");
        let of_loop = [nginx.clone(), nginx.clone(), nginx.clone(), None];
        assert_eq!(labels(&format!("nginx\n{after}")), of_loop);
        // A heading goes on behind the loop.
        assert_eq!(labels(&format!("# nginx\n{after}")), [(); 4].map(|()| nginx.clone()));
        // The loop prints what each run is.
        let each = format!("{looped}epoll\n{REPORT}poll\n{REPORT}");
        assert_eq!(labels(&each), [Some("epoll".to_owned()), Some("poll".to_owned())]);
    }
}
