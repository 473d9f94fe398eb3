//! The answer for a person: what is in the way first, with how to fix it, and the rest in a line.

use ablaze_verdict::words::{amount, counted};

use crate::doctor::check::{Check, State};
use crate::doctor::facts::Facts;
use crate::terminal::paragraph;

/// What stands before each line of a check but its first.
const INDENT: &str = "    ";

/// The whole answer.
pub fn write(facts: &Facts, checks: &[Check]) -> String {
    let of = |state: State| checks.iter().filter(move |check| check.state == state);
    let mut text = head(facts, checks);
    for (state, word) in [(State::Problem, "PROBLEM"), (State::Note, "note")] {
        for check in of(state) {
            text.push('\n');
            text.push_str(&block(word, check));
        }
    }
    text.push('\n');
    for (state, start) in [(State::Ok, "fine: "), (State::Unknown, "cannot be read here: ")] {
        let names: Vec<String> = of(state)
            .map(|check| match state {
                State::Unknown => format!("{} ({})", check.name, check.figure),
                _ => check.name.to_owned(),
            })
            .collect();
        if !names.is_empty() {
            text.push_str(&paragraph(start, &names.join(", ")));
        }
    }
    text
}

fn head(facts: &Facts, checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count() as u64;
    let mut about = vec!["this machine".to_owned()];
    if let Some(target) = &facts.target {
        about.push(target.url.clone());
    }
    let load = &facts.load;
    about.extend(load.connections.map(|number| counted(number.into(), "connection")));
    about.extend(load.rate_per_s.map(|rate| format!("{}/s", amount(rate))));
    if !load.keep_alive {
        about.push("a connection for each request".to_owned());
    }
    format!(
        "{}, {} for {}\n",
        counted(count(State::Problem), "problem"),
        counted(count(State::Note), "note"),
        about.join(" · ")
    )
}

fn block(word: &str, check: &Check) -> String {
    let first = paragraph(INDENT, &format!("{word} {}: {}", check.name, check.figure));
    let mut text = first.trim_start().to_owned();
    if let Some(effect) = &check.effect {
        text.push_str(&paragraph(INDENT, effect));
    }
    if let Some(advice) = &check.advice {
        text.push_str(&paragraph(&format!("{INDENT}fix: "), advice));
    }
    if let Some(command) = &check.command {
        // Never wrapped: it is to be copied.
        let fix = if check.advice.is_none() { "fix: " } else { "" };
        text.push_str(&format!("{INDENT}{fix}$ {command}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::checks::judge;
    use crate::doctor::sample::{quiet, set, unset};

    #[test]
    fn problems_come_first_and_commands_stay_whole() {
        let facts = &mut quiet();
        set(facts, "net.core.somaxconn", "5");
        set(facts, "net.ipv4.ip_local_port_range", "60000 60100");
        unset(facts, "net.ipv4.tcp_tw_reuse");
        let text = write(facts, &judge(facts));
        assert!(text.starts_with("1 problem, 1 note for this machine\n"), "{text}");
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        assert!(at("PROBLEM local-ports: 101 local ports") < at("note accept-queue: "));
        assert!(at("note accept-queue: ") < at("fine: "));
        assert!(at("fine: ") < at("cannot be read here: "));
        let command = "$ sudo sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"\n";
        assert!(text.contains(command), "{text}");
        // A command without advice is the fix by itself.
        let commands = text.lines().filter(|line| line.contains("$ sudo"));
        let fixes = text.lines().filter(|line| line.starts_with("    fix: "));
        assert_eq!(commands.count(), fixes.count(), "{text}");
    }
}
