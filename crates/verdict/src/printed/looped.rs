//! Rates that a loop over the concurrency leaves of its reports: `for c in 1 10 100; do ab -c $c … | grep second; done`.

use super::line::cleaned;
use super::naming::{Typed, behind_prompt, typed};
use super::{Curve, LoneRate, Sweep};

/// Fewer points show no shape.
const POINTS: usize = 3;
/// A loop has no more lines up to its command.
const LINES: usize = 4;

/// The curves of all such loops, whose rates are then no longer alone.
pub fn found(lines: &[&str], rates: &mut Vec<LoneRate>) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    for (at, raw) in lines.iter().enumerate() {
        let line = cleaned(raw);
        let Some((levels, name)) = levels(&line, &lines[at + 1..]) else { continue };
        let next = (at + 2..).zip(&lines[at + 1..]);
        let mut others = next.filter(|(_, line)| is_of_another(line));
        let end = others.next().map_or(usize::MAX, |(number, _)| number);
        let first = rates.partition_point(|rate| rate.line <= at + 1);
        let below =
            rates[first..].iter().take_while(|rate| rate.line < end && rate.label.is_none());
        if below.count() != levels.len() {
            continue;
        }
        let below = rates.drain(first..first + levels.len());
        let points = levels.into_iter().zip(below.map(|rate| rate.rate_per_s.value)).collect();
        sweeps.push(Sweep { line: at + 1, curves: vec![Curve { name, points }] });
    }
    sweeps
}

/// The concurrencies of a loop, and what it loads.
fn levels(line: &str, below: &[&str]) -> Option<(Vec<u64>, String)> {
    let text = behind_prompt(line).unwrap_or(line).trim();
    if !matches!(typed(line), Some(Typed::Loop { .. })) {
        return None;
    }
    let (variable, rest) = text.strip_prefix("for ")?.split_once(" in ")?;
    let (values, inner) = rest.split_once(';').unwrap_or((rest, ""));
    let levels: Vec<u64> =
        values.split_whitespace().map(|value| value.parse().ok()).collect::<Option<_>>()?;
    if levels.len() < POINTS || levels[0] == 0 || !levels.is_sorted_by(|one, other| one < other) {
        return None;
    }
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
