//! What was typed beside the load tester's commands: it may have put another target in the place of the one before, or
//! have run the load test itself.

use super::super::command::program_name;
use super::super::naming::{CLIENTS, behind_prompt};
use super::BEFORE;

/// What a text shows of how a report came about, besides its command and its title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setting {
    /// The other commands that were typed last, above it or above a report before it.
    pub typed: String,
    /// Some command was typed since the report before.
    pub is_own: bool,
    /// It is one of a loop's: whether this only counts them.
    pub in_counting_loop: Option<bool>,
}

/// Programs that change no target.
const HARMLESS: [&str; 22] = [
    "cd", "clear", "curl", "date", "export", "free", "htop", "ls", "lscpu", "netstat", "nproc",
    "ps", "pwd", "sleep", "ss", "sysctl", "top", "ulimit", "uname", "uptime", "vmstat", "whoami",
];

/// Gathers them line by line.
#[derive(Default)]
pub struct Typing {
    now: Setting,
    /// A report has come since the last of the lines.
    is_used: bool,
}

impl Typing {
    /// Takes a load tester's command.
    pub fn command(&mut self, in_loop: bool) {
        self.now.is_own = true;
        if !in_loop {
            self.now.in_counting_loop = None;
        }
    }

    /// Takes the first line of a loop.
    pub fn begins_loop(&mut self, line: &str) {
        self.other(line);
        self.now.in_counting_loop = Some(counts(behind_prompt(line).unwrap_or(line)));
    }

    /// Takes another line that was typed.
    pub fn other(&mut self, line: &str) {
        self.command(false);
        let text = behind_prompt(line).unwrap_or(line).trim();
        let mut words = text.split_whitespace();
        let program = words.find(|word| !BEFORE.contains(word) && !word.contains('='));
        let program = program.map(program_name).unwrap_or_default();
        let is_alone = !text.contains(['&', ';', '|']);
        let changes_nothing = is_alone && HARMLESS.contains(&program) || CLIENTS.contains(&program);
        if changes_nothing || text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_used) {
            self.now.typed.clear();
        }
        self.now.typed.push_str(text);
        self.now.typed.push('\n');
    }

    /// The setting of the report that begins here.
    pub fn of_report(&mut self) -> Setting {
        self.is_used = true;
        let setting = self.now.clone();
        self.now.is_own = false;
        setting
    }
}

/// Whether the values of a loop are numbers, which name no target: `for i in 1 2 3`, `for i in {1..3}`, `for i in $(seq 3)`.
fn counts(text: &str) -> bool {
    let Some((_, rest)) = text.split_once(" in ") else {
        return text.starts_with("for ((") || text.starts_with("while ");
    };
    let values = rest.split(';').next().unwrap_or_default();
    let is_number = |word: &str| {
        let word = word.trim_matches(|c: char| "$(){}`".contains(c));
        word == "seq" || !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    values.split_whitespace().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_only_count() {
        for text in [
            "for i in 1 2 3; do x; done",
            "for i in {1..3}",
            "for i in $(seq 1 3); do",
            "for i in `seq 3`; do",
        ] {
            assert!(counts(text), "{text}");
        }
        for text in
            ["for s in nginx caddy; do x; done", "for v in v1 v2; do", "for f in $FILES; do"]
        {
            assert!(!counts(text), "{text}");
        }
    }
}
