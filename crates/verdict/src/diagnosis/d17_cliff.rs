//! D17: where a curve breaks off, and from where on more clients bring nothing.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::{self, D08, D11, D14, D17, D20};
use crate::finding::{Finding, Severity};
use crate::printed::Curve;
use crate::rules::curve::{Curves, knee, steps};
use crate::words::{grouped, listed, rate};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D17,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note],
    explained_by: &[D08, D11, D20],
    forms: Forms { curves: Some(on_curves), ..Forms::NONE },
};

/// A fall to less than this of the neighbour.
const FALL: f64 = 0.8;

fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    finding(shown, |curve, asked| shown.found_at(curve, asked))
}

/// `found` names what was found in the runs of a curve at a concurrency, where there are any.
fn finding(shown: &Curves<'_>, found: impl Fn(&Curve, u64) -> Vec<DiagnosisId>) -> Option<Finding> {
    let curves = shown.curves;
    let steepest: Vec<(&Curve, [(u64, f64); 2])> =
        curves.iter().filter_map(|curve| Some((curve, steepest(shown, curve)?))).collect();
    if steepest.is_empty() {
        return None;
    }
    let mut evidence: Vec<String> = steepest
        .iter()
        .map(|(curve, [(c1, x1), (c2, x2)])| {
            format!(
                "{}: from c = {} to {} the rate falls from {} to {}/s ({:+.0} %).",
                curve.name,
                grouped(*c1),
                grouped(*c2),
                rate(*x1),
                rate(*x2),
                ((x2 / x1 - 1.0) * 100.0).round()
            )
        })
        .collect();
    evidence.extend(beside(curves, &steepest));
    let new = |(curve, [(c1, _), (c2, _)]): &(&Curve, [(u64, f64); 2])| {
        let before = found(curve, *c1);
        // Fewer requests per connection follow from the fall.
        let after = found(curve, *c2).into_iter().filter(|id| *id != D14);
        let (both, new): (Vec<_>, Vec<_>) = after.partition(|id| before.contains(id));
        let named =
            |ids: Vec<DiagnosisId>| listed(ids.into_iter().map(|id| format!("{id} {}", id.name())));
        let (name, at) = (&curve.name, grouped(*c2));
        // What was there before may have become worse.
        let both = match both.is_empty() {
            true => String::new(),
            false => format!("; at both points: {}", named(both)),
        };
        (!new.is_empty())
            .then(|| format!("{name}: found at c = {at} but not before: {}{both}.", named(new)))
    };
    evidence.extend(steepest.iter().filter_map(new));
    for curve in curves {
        if let Some((level, reached)) = knee(&shown.served(curve)) {
            evidence.push(format!(
                "{} reaches 95 % of its highest rate at c = {} ({}/s).",
                curve.name,
                grouped(level),
                rate(reached)
            ));
        }
    }
    Some(Finding::new(
        D17,
        Severity::Note,
        evidence.join("\n"),
        "More clients can have met a limit there (an accept queue, memory, a table, a lock, the client itself), or something \
         changed between these runs: what the target had to do, or what else the machine did. The rates do not tell which.",
        "Measure both points again, in turns. If the drop stays, compare just before and just after it: `ss -lnt`, `nstat`, and \
         the CPU time of the client and the server.",
    ))
}

/// The steepest fall of a curve, if it has a cliff.
fn steepest(shown: &Curves<'_>, curve: &Curve) -> Option<[(u64, f64); 2]> {
    // From a rate of error pages there is no fall.
    let falls = steps(curve).filter(|[before, _]| shown.is_served(curve, before.0));
    let falls = falls.filter(|[before, after]| {
        let ((low, _), (_, high)) = (shown.bounds(curve, *before), shown.bounds(curve, *after));
        high < FALL * low
    });
    falls.min_by(|[(_, a1), (_, a2)], [(_, b1), (_, b2)]| (a2 / a1).total_cmp(&(b2 / b1)))
}

/// What the other curves do at the first cliff.
fn beside(curves: &[Curve], cliffs: &[(&Curve, [(u64, f64); 2])]) -> Vec<String> {
    let Some(at) = cliffs.iter().map(|(_, [_, (c2, _)])| *c2).min() else { return Vec::new() };
    let told = |curve: &Curve| {
        cliffs.iter().any(|(other, [_, (c2, _)])| other.name == curve.name && *c2 == at)
    };
    let others = curves.iter().filter(|curve| !told(curve));
    others
        .filter_map(|curve| {
            let [(_, x1), (_, x2)] = steps(curve).find(|[_, (c2, _)]| *c2 == at)?;
            (x1 > 0.0).then(|| {
                let change = ((x2 / x1 - 1.0) * 100.0).round();
                format!("At the same step {} changes by {change:+.0} %.", curve.name)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_by_more_than_a_fifth_is_a_cliff() {
        let curve = |name: &str, rates: [f64; 4]| Curve {
            name: name.into(),
            points: [1, 10, 100, 1000].into_iter().zip(rates).collect(),
        };
        let nothing = |_: &Curve, _| Vec::new();
        let flat = [curve("a", [50.0, 90.0, 100.0, 80.0])];
        assert_eq!(finding(&Curves::of_table(&flat, None, None), nothing), None);
        let both = [curve("a", [50.0, 98.0, 100.0, 60.0]), curve("b", [50.0, 90.0, 100.0, 90.0])];
        let found = |curve: &Curve, c| match (curve.name.as_str(), c) {
            ("a", 1000) => vec![DiagnosisId::D08, DiagnosisId::D10, DiagnosisId::D14],
            _ => vec![DiagnosisId::D10],
        };
        let evidence = finding(&Curves::of_table(&both, None, None), found).unwrap().evidence;
        for part in [
            "a: from c = 100 to 1,000 the rate falls from 100 to 60.0/s (-40 %)",
            "At the same step b changes by -10 %",
            "a reaches 95 % of its highest rate at c = 10 (98.0/s)",
            "a: found at c = 1,000 but not before: D08 connection attempts lost; at both points: D10 ",
            "b reaches 95 % of its highest rate at c = 100 (100/s)",
        ] {
            assert!(evidence.contains(part), "{part}: {evidence}");
        }
    }
}
