//! D16: more clients made every single request faster. In a closed loop with a steady service time
//! the rate grows at most as fast as the number of clients (the asymptotic bound of operational
//! analysis: Denning and Buzen, ACM Computing Surveys 10(3), 1978), and does not fall where much
//! more would still go through.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::{D14, D16};
use crate::finding::{Finding, Severity};
use crate::printed::Curve;
use crate::rules::curve::{Curves, steps};
use crate::words::{grouped, listed, rate, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D16,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect],
    explained_by: &[],
    forms: Forms { curves: Some(on_curves), ..Forms::NONE },
};

/// Measuring may be off by so much.
const TOLERANCE: f64 = 1.1;
/// A rate below this share of the later highest is far from any limit.
const FAR_FROM_THE_LIMIT: f64 = 0.5;

/// Waking a thread and a CPU costs tens of microseconds: a longer time is not explained by it.
const WAKE_UP_S: f64 = 100e-6;

const CAUSE: &str = "The slower point was disturbed, or the server took less for each request at the faster one, as with a cache \
                     that was filled in between, error pages, requests that it collects and answers together, or threads that \
                     it starts only under load. Waking threads and CPUs costs tens of microseconds, and explains a part of it \
                     at most.";
const CAUSE_BESIDE_WHAT_WAS_FOUND: &str = "What was found at the slower point alone may be all of it or a part; or the server took less for each \
                                           request at the faster one, as with a cache that was filled in between, error pages, \
                                           requests that it collects and answers together, or threads that it starts only under \
                                           load.";

fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    let all: Vec<Step> = shown.curves.iter().flat_map(|curve| steps_of(shown, curve)).collect();
    let (cause, fix) = why(&all)?;
    let evidence: Vec<String> = all.into_iter().map(|step| step.evidence).collect();
    Some(Finding::new(D16, Severity::Suspect, evidence.join("\n"), cause, fix))
}

/// Two neighbouring points that no steady service time explains.
struct Step {
    evidence: String,
    /// What a request took longer at the slower point, in seconds; `None` where that is not known.
    longer_s: Option<f64>,
    /// Whether something was found in the runs at the slower point and not in those at the other.
    is_found: bool,
}

/// Cause and fix: what the rates leave open, or waking up if that can take so long.
fn why(steps: &[Step]) -> Option<(&'static str, &'static str)> {
    let longest_s = steps.iter().map(|step| step.longer_s.unwrap_or(f64::MAX)).reduce(f64::max)?;
    let is_found = steps.iter().any(|step| step.is_found);
    Some(if longest_s <= WAKE_UP_S && !is_found {
        (
            "A request took at most 100 µs longer at the slower point. Waking a sleeping thread or CPU costs \
             that much, and with more requests in flight fewer of them sleep; the rates do not show whether it \
             was that.",
            "Do not take the slower point for the server's capacity; compare targets where the \
             rate no longer grows. A fixed CPU frequency makes the low points steadier (`cpupower \
             frequency-set -g performance`).",
        )
    } else {
        (
            match is_found {
                true => CAUSE_BESIDE_WHAT_WAS_FOUND,
                false => CAUSE,
            },
            "Repeat these points, alternating them: if they differ again, compare what the server did and sent at \
             each of them.",
        )
    })
}

fn steps_of(shown: &Curves<'_>, curve: &Curve) -> Vec<Step> {
    let mut found = Vec::new();
    let served = shown.served(curve);
    for [(c1, x1), (c2, x2)] in steps(curve).filter(|[(_, x1), _]| *x1 > 0.0) {
        let (name, grown) = (&curve.name, x2 / x1);
        let bounds = |point| shown.bounds(curve, point);
        let ((low1, high1), (low2, high2)) = (bounds((c1, x1)), bounds((c2, x2)));
        // Error pages may come as fast as they like.
        let is_served = shown.is_served(curve, c2);
        if is_served && low2 > TOLERANCE * high1 * c2 as f64 / c1 as f64 {
            let evidence = format!(
                "{name}: from c = {} to {} the rate grows from {} to {}/s (×{grown:.2}), so each \
                 request takes {} instead of {}.",
                grouped(c1),
                grouped(c2),
                rate(x1),
                rate(x2),
                time(c2 as f64 * 1e3 / x2),
                time(c1 as f64 * 1e3 / x1),
            );
            let longer_s = Some(c1 as f64 / x1 - c2 as f64 / x2);
            found.push(step(shown, curve, evidence, longer_s, [c1, c2]));
        }
        let later = || served.points.iter().filter(|(c, _)| *c > c2);
        let highest = later().map(|(_, x)| *x).fold(0.0, f64::max);
        let at_least = later().map(|point| bounds(*point).0).fold(0.0, f64::max);
        if shown.is_served(curve, c1) && high2 < low1 && high1 < FAR_FROM_THE_LIMIT * at_least {
            let evidence = format!(
                "{name}: at c = {} the rate falls from {} to {}/s, although {}/s are reached \
                 later.",
                grouped(c2),
                rate(x1),
                rate(x2),
                rate(highest)
            );
            found.push(step(shown, curve, evidence, None, [c2, c1]));
        }
    }
    found
}

/// With what was found at the slower of two points and not at the other. Fewer requests follow from being slower.
fn step(
    shown: &Curves<'_>,
    curve: &Curve,
    mut evidence: String,
    longer_s: Option<f64>,
    [slower, faster]: [u64; 2],
) -> Step {
    let at_both = shown.found_at(curve, faster);
    let found = shown.found_at(curve, slower).into_iter();
    let alone = found.filter(|id| !at_both.contains(id) && *id != D14);
    let named: Vec<String> = alone.map(|id| format!("{id} {}", id.name())).collect();
    let is_found = !named.is_empty();
    if is_found {
        let (slower, faster) = (grouped(slower), grouped(faster));
        evidence
            .push_str(&format!(" Found at c = {slower} and not at {faster}: {}.", listed(named)));
    }
    Step { evidence, longer_s, is_found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rates: [f64; 4]) -> Option<String> {
        let points = [1, 2, 5, 10].into_iter().zip(rates).collect();
        on_curves(&Curves::of_table(&[Curve { name: "x".into(), points }], None, None))
            .map(|finding| finding.evidence)
    }

    #[test]
    fn growth_beyond_the_clients_is_impossible() {
        assert_eq!(found([100.0, 200.0, 500.0, 1000.0]), None);
        assert_eq!(found([100.0, 219.0, 500.0, 1000.0]), None);
        // 1 / 100 s and 2 / 250 s.
        let evidence = found([100.0, 250.0, 500.0, 1000.0]).unwrap();
        assert!(evidence.contains("×2.50") && evidence.contains("8.00 ms instead of 10.0 ms"));
    }

    #[test]
    fn a_fall_far_below_the_limit_is_impossible_and_one_near_it_is_not() {
        assert!(found([100.0, 190.0, 180.0, 400.0]).unwrap().contains("at c = 5 the rate falls"));
        assert_eq!(found([100.0, 190.0, 180.0, 300.0]), None);
    }

    #[test]
    fn waking_up_is_blamed_only_for_what_it_can_cost() {
        let cause = |rates: [f64; 4]| {
            let points = [1, 2, 5, 10].into_iter().zip(rates).collect();
            let curve = Curve { name: "x".into(), points };
            on_curves(&Curves::of_table(&[curve], None, None)).unwrap().cause
        };
        // 50 µs instead of 33 µs.
        assert!(cause([20_000.0, 60_000.0, 61_000.0, 62_000.0]).contains("Waking a sleeping"));
        // 391 µs instead of 150 µs.
        let cause = cause([2_558.0, 13_333.0, 14_000.0, 14_000.0]);
        assert!(cause.contains("a part of it at most"), "{cause}");
    }
}
