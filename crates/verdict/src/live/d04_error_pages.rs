//! D04: answers that are no success: outside what was expected, or, where nothing was said about
//! that, redirects, which nobody followed.

use ablaze_model::Run;

use super::Rule;
use crate::DiagnosisId::D04;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, listed, percent};

/// Fewer than this are accidents.
const SHARE: f64 = 0.001;
/// From here on the rate is that of the other answers.
const MOST: f64 = 0.5;

pub const RULE: Rule = Rule { id: D04, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let others = || record.statuses.iter().filter(|(status, _)| !is_success(run, **status));
    let count: u64 = others().map(|(_, answers)| answers).sum();
    let share = count as f64 / record.answers as f64;
    if record.answers == 0 || share <= SHARE {
        return None;
    }
    let statuses = others().map(|(status, answers)| format!("{status} ({}×)", grouped(*answers)));
    let evidence = format!(
        "{} of {} ({}) were no success: {}.",
        grouped(count),
        counted(record.answers, "answer"),
        percent(share),
        listed(statuses)
    );
    let cause = if share > MOST {
        "The rate is that of an error page or a redirect, which costs a server other work than the \
         page that was meant."
    } else {
        "Some answers are error pages or redirects, which cost a server other work than the page \
         that was meant, and they are in the rate and in the times."
    };
    let remedy = format!(
        "Look at one answer with `curl -i {}`, mend the URL or the server, and measure again; if \
         these answers are meant, say so with --expect.",
        run.plan.target.url
    );
    let severity = if share > MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, cause, remedy))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let statuses = record.statuses.iter();
    let listed =
        listed(statuses.map(|(status, answers)| format!("{status} ({}×)", grouped(*answers))));
    (record.answers > 0)
        .then(|| format!("Of {} the status was {listed}.", counted(record.answers, "answer")))
}

/// What was expected; of a redirect that is so only if it was named.
fn is_success(run: &Run, status: u16) -> bool {
    let by_default = run.plan.expect == [200..=399];
    let expected = run.plan.expect.iter().any(|range| range.contains(&status));
    expected && !(by_default && status >= 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_thousandth_is_an_accident_and_half_another_experiment() {
        let mut run = sample::run();
        let with = |run: &mut Run, status: u16, number: u64| {
            run.record.statuses = [(200, 20_000 - number), (status, number)].into();
            check(run).map(|finding| finding.severity)
        };
        assert_eq!(with(&mut run, 404, 20), None);
        assert_eq!(with(&mut run, 404, 21), Some(Severity::Suspect));
        assert_eq!(with(&mut run, 404, 20_000), Some(Severity::Invalid));
        assert_eq!(with(&mut run, 302, 20_000), Some(Severity::Invalid));
        assert!(check(&run).unwrap().evidence.contains("302 (20,000×)"));
        // Named, they are meant.
        run.plan.expect = vec![302..=302, 404..=404];
        assert_eq!(with(&mut run, 302, 20_000), None);
        run.plan.expect = vec![200..=299];
        assert_eq!(with(&mut run, 302, 20_000), Some(Severity::Invalid));
    }
}
