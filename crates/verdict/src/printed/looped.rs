//! Rates that a loop over the concurrency leaves of its reports: `for c in 1 10 100; do ab -c $c … | grep second; done`.

mod body;

use std::ops::Range;

use super::line::cleaned;
use super::naming::{Typed, behind_prompt, typed};
use super::{Curve, LoneRate, Sweep};
use body::Body;

/// Fewer points show no shape.
const POINTS: usize = 3;
/// A loop has no more lines up to its command.
const LINES: usize = 4;

/// What a loop says of the rates that `grep` left of its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looped {
    /// Each run is of the same: the loop as it was typed.
    Repeats(String),
    /// Each run is of something else: another concurrency, another number of requests, another option.
    Varies,
    /// The loop does not say which of the two.
    Unknown,
}

/// The curves of all such loops, whose rates are then no longer alone. Of the others it is noted what their loop says.
pub fn found(lines: &[&str], rates: &mut Vec<LoneRate>) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    for (at, raw) in lines.iter().enumerate() {
        let line = cleaned(raw);
        if !matches!(typed(&line), Some(Typed::Loop { .. })) {
            continue;
        }
        let body = Body::of(&line, &lines[at + 1..]);
        let end = end(lines, at);
        let first = rates.partition_point(|rate| rate.line <= at + 1);
        let all = rates[first..].iter().take_while(|rate| rate.line < end).count();
        let below = &mut rates[first..first + all];
        let alike = body.alike(below);
        if alike == 0 {
            continue;
        }
        // A command above the loop is not the one in it.
        let above = |rate: &LoneRate| rate.command.as_ref().is_some_and(|one| one.line <= at);
        below.iter_mut().filter(|rate| above(rate)).for_each(|rate| rate.command = None);
        let single = || levels(&line, &lines[at + 1..]);
        let runs = nested(&line).or_else(|| single().map(|(levels, name)| of_one(levels, &name)));
        match runs.filter(|runs| runs.len() == alike) {
            Some(runs) => {
                let below = rates.drain(first..first + alike);
                sweeps.push(Sweep { line: at + 1, curves: curves(runs, below) });
            }
            // Where words of its own tell one from the next, those say what it is of.
            None if alike == 1 && all > 1 => {}
            None => body.tell(&mut below[..alike]),
        }
    }
    sweeps
}

fn curves(runs: Runs, rates: impl Iterator<Item = LoneRate>) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for ((name, level), rate) in runs.into_iter().zip(rates) {
        let point = (level, rate.rate_per_s.value);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    curves
}

/// The line at which something else was typed, below a loop.
fn end(lines: &[&str], at: usize) -> usize {
    let mut next = (at + 2..).zip(&lines[at + 1..]);
    let other = next.find(|(_, line)| is_of_another(line));
    other.map_or(usize::MAX, |(number, _)| number)
}

/// The lines below loops that run wrk, hey or oha: what is left of their reports there is a rate.
pub fn of_peers(lines: &[&str]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for (at, raw) in lines.iter().enumerate() {
        let line = cleaned(raw);
        let is_loop = matches!(typed(&line), Some(Typed::Loop { .. }));
        if is_loop && Body::of(&line, &lines[at + 1..]).runs_peer() {
            ranges.push(at + 2..end(lines, at));
        }
    }
    ranges
}

/// What is loaded, and at which concurrency, in the order of the runs.
type Runs = Vec<(String, u64)>;

fn of_one(levels: Vec<u64>, name: &str) -> Runs {
    levels.into_iter().map(|level| (name.to_owned(), level)).collect()
}

/// `for x in a b c; …`: the variable, its values, and what is behind them.
fn head(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (variable, rest) = text.trim_start().strip_prefix("for ")?.split_once(" in ")?;
    let (values, inner) = rest.split_once(';')?;
    Some((variable, values.split_whitespace().collect(), inner))
}

/// The runs of a loop over targets within one over the concurrency on one line, or the other way round.
fn nested(line: &str) -> Option<Runs> {
    if !matches!(typed(line), Some(Typed::Loop { whole: true })) {
        return None;
    }
    let (outer, outer_values, rest) = head(behind_prompt(line).unwrap_or(line))?;
    let (inner, inner_values, rest) = head(rest.trim_start().strip_prefix("do ")?)?;
    let command = format!("{} ", rest.replace(['"', '{', '}'], ""));
    let asks = |variable: &str| {
        command.contains(&format!("-c ${variable} "))
            || command.contains(&format!("-c${variable} "))
    };
    let of = |targets: &[&str], values: &[&str]| {
        let known = levels_of(values)?;
        // A third loop has more runs, of which the rates tell nothing.
        (targets.len() > 1 && !command.contains(" for ")).then_some(known)
    };
    if asks(inner) {
        let levels = of(&outer_values, &inner_values)?;
        return Some(outer_values.iter().flat_map(|name| of_one(levels.clone(), name)).collect());
    }
    let levels = of(&inner_values, &outer_values).filter(|_| asks(outer))?;
    let at = |level: u64| inner_values.iter().map(move |name| ((*name).to_owned(), level));
    Some(levels.into_iter().flat_map(at).collect())
}

/// The concurrencies among the values of a loop, each larger than the one before.
fn levels_of(values: &[&str]) -> Option<Vec<u64>> {
    let levels: Vec<u64> = values.iter().map(|value| value.parse().ok()).collect::<Option<_>>()?;
    let many = levels.len() >= POINTS && levels[0] > 0;
    (many && levels.is_sorted_by(|one, other| one < other)).then_some(levels)
}

/// The concurrencies of a loop, and what it loads.
fn levels(line: &str, below: &[&str]) -> Option<(Vec<u64>, String)> {
    let text = behind_prompt(line).unwrap_or(line).trim();
    if !matches!(typed(line), Some(Typed::Loop { .. })) {
        return None;
    }
    let (variable, rest) = text.strip_prefix("for ")?.split_once(" in ")?;
    let (values, inner) = rest.split_once(';').unwrap_or((rest, ""));
    let levels = levels_of(&values.split_whitespace().collect::<Vec<&str>>())?;
    let inner =
        std::iter::once(inner.to_owned()).chain(below.iter().take(LINES).map(|line| cleaned(line)));
    let varies = |line: &String| {
        let line = line.replace(['"', '{', '}'], "");
        let asks = [format!("-c ${variable} "), format!("-c${variable} ")];
        asks.iter().any(|option| line.contains(option))
    };
    let command = inner.take_while(|line| line != "done").find(varies)?;
    let url = command.split_whitespace().find(|word| word.contains("://")).unwrap_or_default();
    let name = if url.is_empty() { variable } else { url.trim_end_matches(';') };
    Some((levels, name.to_owned()))
}

/// Another loop, or another command behind a prompt.
fn is_of_another(raw: &str) -> bool {
    let line = cleaned(raw);
    matches!(typed(&line), Some(Typed::Loop { .. })) || behind_prompt(&line).is_some()
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    #[test]
    fn the_rates_below_a_loop_are_points() {
        let rates = "Requests per second:    4000.12 [#/sec] (mean)\nRequests per second:    31000.55 [#/sec] (mean)\n\
                     Requests per second:    12000.01 [#/sec] (mean)\n";
        let points = vec![(1, 4000.12), (10, 31_000.55), (100, 12_000.01)];
        for command in [
            "$ for c in 1 10 100; do ab -n 10000 -c $c http://h/ | grep second; done",
            "for n in 1 10 100; do\n  ab -k -c\"${n}\" -n 9000 http://h/ | grep second\ndone",
        ] {
            let text = read(&format!("{command}\n{rates}"));
            assert_eq!(text.sweeps.len(), 1, "{command}");
            let curve = &text.sweeps[0].curves[0];
            assert_eq!((curve.name.as_str(), &curve.points), ("http://h/", &points), "{command}");
            assert!(text.rates.is_empty());
        }
        // Two loops, either of which may be the outer one.
        let both = format!("{rates}{}", rates.replace("0.", "1."));
        for (command, second) in [
            (
                "for s in nginx caddy; do for c in 1 10 100; do ab -n 9000 -c $c http://$s/ | grep second; done; done",
                31_000.55,
            ),
            (
                "for c in 1 10 100; do for s in nginx caddy; do ab -n 9000 -c $c http://$s/ | grep second; done; done",
                12_000.01,
            ),
        ] {
            let text = read(&format!("$ {command}\n{both}"));
            let curves = &text.sweeps[0].curves;
            let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
            assert_eq!(names, ["nginx", "caddy"], "{command}");
            assert_eq!(curves[0].points[1], (10, second), "{command}");
            assert!(text.rates.is_empty());
        }
        // Runs of the same, and one rate more or less than there were runs.
        for (command, rates) in [
            (
                "$ for i in 1 2 3; do ab -n 10000 -c 10 http://h/ | grep second; done",
                rates.to_owned(),
            ),
            (
                "$ for c in 1 10 100 200; do ab -n 10000 -c $c http://h/ | grep second; done",
                rates.to_owned(),
            ),
            (
                "$ for c in 1 10 100; do ab -n 10000 -c $c http://h/ | grep second; done",
                rates.repeat(2),
            ),
        ] {
            let text = read(&format!("{command}\n{rates}"));
            assert!(text.sweeps.is_empty() && text.rates.len() >= 3, "{command}");
        }
    }
}
