//! The same answer for programs, with the facts it rests on.

use serde_json::{Value, json};

use crate::doctor::check::{Check, State};
use crate::doctor::facts::Facts;

/// Version of this JSON. It rises when a reader of the old one would be misled.
const FORMAT: u32 = 1;

/// The answer, indented, ending in a newline.
pub fn write(facts: &Facts, checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let answer = json!({
        "format": FORMAT,
        "problems": count(State::Problem),
        "notes": count(State::Note),
        "url": facts.target.as_ref().map(|target| &target.url),
        "connections": facts.load.connections,
        "rate_per_s": facts.load.rate_per_s,
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
        "machine": facts.preflight,
        "server": facts.target.as_ref().map(|target| &target.server),
    });
    format!("{answer:#}\n")
}

fn check(check: &Check) -> Value {
    json!({
        "name": check.name,
        "state": match check.state {
            State::Problem => "problem",
            State::Note => "note",
            State::Ok => "ok",
            State::Unknown => "unknown",
        },
        "figure": check.figure,
        "effect": check.effect,
        "advice": check.advice,
        "command": check.command,
        "anchor": format!("docs/doctor.md#{}", check.name),
    })
}
