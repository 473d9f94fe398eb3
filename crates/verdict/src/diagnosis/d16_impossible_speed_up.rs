//! D16: more clients made every single request faster. In a closed loop with a steady service time
//! the rate grows at most as fast as the number of clients (the asymptotic bound of operational
//! analysis: Denning and Buzen, ACM Computing Inspects 10(3), 1978), and does not fall where much
//! more would still go through.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D16;
use crate::finding::{Finding, Severity};
use crate::printed::Curve;
use crate::rules::curve::{Curves, steps};
use crate::words::{grouped, rate, time};

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

fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    let all: Vec<String> = shown.curves.iter().flat_map(evidence).collect();
    (!all.is_empty()).then(|| {
        Finding::new(
            D16,
            Severity::Suspect,
            all.join("\n"),
            "At the low point most of the time is not spent on the work itself: waking a sleeping \
             thread or CPU costs tens of microseconds, and with more clients nothing goes to \
             sleep.",
            "Read the low points as wake-up time, not as capacity, and compare targets where the \
             rate no longer grows. A fixed CPU frequency makes the low points steadier (`cpupower \
             frequency-set -g performance`).",
        )
    })
}

fn evidence(curve: &Curve) -> Vec<String> {
    let mut found = Vec::new();
    for [(c1, x1), (c2, x2)] in steps(curve).filter(|[(_, x1), _]| *x1 > 0.0) {
        let (name, grown) = (&curve.name, x2 / x1);
        if grown > TOLERANCE * c2 as f64 / c1 as f64 {
            found.push(format!(
                "{name}: from c = {} to {} the rate grows from {} to {}/s (×{grown:.2}), so each \
                 request takes {} instead of {}.",
                grouped(c1),
                grouped(c2),
                rate(x1),
                rate(x2),
                time(c2 as f64 * 1e3 / x2),
                time(c1 as f64 * 1e3 / x1),
            ));
        }
        let later = curve.points.iter().filter(|(c, _)| *c > c2).map(|(_, x)| *x);
        let highest = later.fold(0.0, f64::max);
        if x2 < x1 && x1 < FAR_FROM_THE_LIMIT * highest {
            found.push(format!(
                "{name}: at c = {} the rate falls from {} to {}/s, although {}/s are reached \
                 later.",
                grouped(c2),
                rate(x1),
                rate(x2),
                rate(highest)
            ));
        }
    }
    found
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
}
