//! What a loop of the shell runs each time, and whether that is the same.

use super::super::command::program_name;
use super::super::line::cleaned;
use super::super::naming::{CLIENTS, behind_prompt};
use super::{LINES, LoneRate, Looped};

/// What the shell runs and a load test is none of.
const SPEAKS: [&str; 4] = ["echo", "printf", "sleep", "date"];
/// More values than this are no runs by hand.
const MOST: u64 = 1000;

/// The lines of a loop, as far as its rates depend on them.
pub struct Body {
    /// As it was typed.
    text: String,
    /// The name of its variable; empty where it counts otherwise.
    variable: String,
    /// The values of that, where they are known.
    values: Option<Vec<String>>,
    /// The commands in it, without quotes and braces.
    commands: Vec<String>,
}

impl Body {
    /// The loop that begins in this cleaned line.
    pub fn of(line: &str, below: &[&str]) -> Self {
        let text = behind_prompt(line).unwrap_or(line).trim_start_matches('#').trim();
        let head = text.strip_prefix("for ").and_then(|rest| rest.split_once(" in "));
        let (variable, rest) = head.unwrap_or(("", text));
        let (values, inner) = rest.split_once(';').unwrap_or((rest, ""));
        let mut text = text.to_owned();
        let mut inner = inner.to_owned();
        let is_whole = |inner: &str| inner.split([';', ' ']).any(|word| word == "done");
        if !is_whole(&inner) {
            let below = below.iter().take(LINES).map(|line| cleaned(line));
            for line in below.take_while(|line| !line.starts_with("done")) {
                text.push_str(&format!("; {line}"));
                inner.push_str(&format!("; {line}"));
            }
        }
        let plain = inner.replace(['"', '\'', '{', '}'], "");
        let commands = plain.split([';', '|']).map(|part| part.trim().trim_start_matches("do "));
        let commands = commands.map(|part| part.trim().to_owned()).collect();
        let values = head.and_then(|_| values_of(values));
        Self { text, variable: variable.trim().to_owned(), values, commands }
    }

    /// The commands of load testers.
    fn tests(&self) -> impl Iterator<Item = &String> {
        let is_client = |word: &str| CLIENTS.contains(&program_name(word)) && word != "curl";
        self.commands
            .iter()
            .filter(move |command| !speaks(command) && command.split_whitespace().any(is_client))
    }

    /// Whether wrk, hey or oha run in it.
    pub fn runs_peer(&self) -> bool {
        let is_peer = |word: &str| matches!(program_name(word), "wrk" | "wrk2" | "hey" | "oha");
        self.tests().any(|command| command.split_whitespace().any(is_peer))
    }

    /// Whether a word of a command has the variable.
    fn uses(&self, word: &str) -> bool {
        let name = format!("${}", self.variable);
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        !self.variable.is_empty()
            && word.match_indices(&*name).any(|(at, _)| ends(&word[at + name.len()..]))
    }

    /// How many of the rates below have the same words above them, but for the values of the loop.
    pub fn alike(&self, below: &[LoneRate]) -> usize {
        let all_same = |rates: &[LoneRate]| {
            rates.iter().take_while(|rate| rate.label == rates[0].label).count()
        };
        if below.is_empty() || all_same(below) > 1 {
            return if below.is_empty() { 0 } else { all_same(below) };
        }
        let rests: Vec<&str> =
            (0..below.len()).map(|at| self.without_value(below[at].label.as_deref(), at)).collect();
        rests.iter().take_while(|rest| **rest == rests[0]).count()
    }

    /// A label without the part that says which value the run has.
    fn without_value<'a>(&self, label: Option<&'a str>, at: usize) -> &'a str {
        let label = label.unwrap_or_default();
        let (before, last) = label.rsplit_once(", ").unwrap_or(("", label));
        let value = self.values.as_ref().and_then(|values| values.get(at));
        let mut words = last.split(|c: char| !c.is_alphanumeric());
        match value.is_some_and(|value| words.any(|word| word == value)) {
            true => before,
            false => label,
        }
    }

    /// Notes in the rates what the loop says of them.
    pub fn tell(&self, rates: &mut [LoneRate]) {
        let are_named = rates.iter().any(|rate| rate.label != rates[0].label);
        let mut tests = self.tests().flat_map(|command| command.split_whitespace());
        let in_url = tests.any(|word| word.contains("://") && self.uses(word));
        if are_named && in_url {
            return;
        }
        let said = self.said(rates.len());
        rates.iter_mut().for_each(|rate| rate.looped = Some(said.clone()));
    }

    fn said(&self, rates: usize) -> Looped {
        let nested = self.commands.iter().any(|command| command.starts_with("for "));
        let varies = |command: &&String| command.contains('$');
        if nested || self.values.is_none() {
            return if self.tests().any(|test| varies(&test)) {
                Looped::Varies
            } else {
                Looped::Unknown
            };
        }
        let mut others = self.commands.iter().filter(|command| !speaks(command));
        if others.any(|command| self.uses(command)) {
            return Looped::Varies;
        }
        // What is assigned in the loop may be another value each time.
        let assigns = self.commands.iter().any(|command| {
            let first = command.split_whitespace().next().unwrap_or_default();
            first.contains('=') || first.contains("((") || first == "let"
        });
        let one_each = self.tests().count() == 1;
        let is_counted = self.values.as_ref().is_some_and(|values| values.len() == rates);
        match one_each && is_counted && !assigns {
            true => Looped::Repeats(self.text.clone()),
            false => Looped::Unknown,
        }
    }
}

fn speaks(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|program| SPEAKS.contains(&program))
}

/// `1 2 3`, `{1..3}`, `$(seq 3)`; `None` where the text does not say how many they are.
fn values_of(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let counted = |first: &str, last: &str| {
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last - first < MOST)
            .then(|| (first..=last).map(|value| value.to_string()).collect())
    };
    if let Some(range) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let (first, last) = range.split_once("..")?;
        return counted(first, last);
    }
    let called = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    let called = called.or_else(|| text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')));
    if let Some(called) = called {
        let words: Vec<&str> = called.split_whitespace().collect();
        return match words[..] {
            ["seq", last] => counted("1", last),
            ["seq", first, last] => counted(first, last),
            _ => None,
        };
    }
    let plain = !text.contains(['$', '*', '{', '`', '(']);
    plain.then(|| text.split_whitespace().map(str::to_owned).collect())
}
