//! Responses that came in time and are no success: statuses outside of `--expect`, and journeys that failed. Error pages are
//! fast, so that no limit of time finds them.

use ablaze_model::Run;
use ablaze_report::condition::{Condition, Metric};
use ablaze_report::number::{counted, grouped, percent};

use super::goal::ANSWERED;

/// What keeps a rate from holding, where more than the share that may be missing was no success. A condition that is on just
/// that decides by itself.
pub(super) fn why(run: &Run, conditions: &[Condition]) -> Option<String> {
    let asked = |these: fn(Metric) -> bool| conditions.iter().any(|one| these(one.metric()));
    let of_statuses = asked(|metric| matches!(metric, Metric::Unexpected | Metric::Status(_)));
    let of_journeys = asked(|metric| metric == Metric::Checks);
    statuses(run)
        .filter(|_| !of_statuses)
        .or_else(|| journeys(run).filter(|_| !of_statuses && !of_journeys))
}

fn too_many(bad: u64, of: u64) -> bool {
    bad as f64 > of as f64 * (1.0 - ANSWERED)
}

fn statuses(run: &Run) -> Option<String> {
    let record = &run.record;
    let expected = |status: u16| run.plan.expect.iter().any(|range| range.contains(&status));
    let others = record.statuses.iter().filter(|(status, _)| !expected(**status));
    let named: Vec<String> =
        others.map(|(status, responses)| format!("{status} ({}×)", grouped(*responses))).collect();
    too_many(record.unexpected, record.responses).then(|| {
        format!(
            "{} of {} ({}) had a status outside of --expect: {}",
            grouped(record.unexpected),
            counted(record.responses, "response"),
            percent(record.unexpected as f64, record.responses as f64),
            named.join(", ")
        )
    })
}

fn journeys(run: &Run) -> Option<String> {
    let journeys = run.record.journeys.as_ref()?;
    let ended = journeys.whole + journeys.failed;
    too_many(journeys.failed, ended).then(|| {
        format!(
            "{} of {} that ended ({}) failed",
            grouped(journeys.failed),
            counted(ended, "journey"),
            percent(journeys.failed as f64, ended as f64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(statuses: &[(u16, u64)]) -> Run {
        let saved = ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
        let mut run = ablaze_report::json::load(&saved).unwrap().run;
        run.plan.expect = vec![200..=399];
        run.record.statuses = statuses.iter().copied().collect();
        run.record.responses = statuses.iter().map(|(_, responses)| responses).sum();
        let unexpected = statuses.iter().filter(|(status, _)| *status >= 400);
        run.record.unexpected = unexpected.map(|(_, responses)| responses).sum();
        run
    }

    fn said(run: &Run, goal: &str) -> Option<String> {
        why(run, &goal.split(',').map(|one| one.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn refusals_do_not_hold_a_rate_unless_they_are_expected() {
        let mut refused = run(&[(200, 870), (429, 130)]);
        let why = "130 of 1,000 responses (13 %) had a status outside of --expect: 429 (130×)";
        assert_eq!(said(&refused, "p99<200ms").unwrap(), why);
        assert_eq!(said(&run(&[(200, 980), (429, 20)]), "p99<200ms"), None);
        assert_eq!(said(&refused, "p99<200ms,unexpected<20%"), None, "it decides by itself");
        refused.plan.expect.push(429..=429);
        refused.record.unexpected = 0;
        assert_eq!(said(&refused, "p99<200ms"), None);
    }

    #[test]
    fn journeys_that_fail_hold_no_rate() {
        let mut run = run(&[(200, 1000)]);
        let mut journeys = ablaze_model::record::Journeys::new(&["login".to_owned()]);
        (journeys.begun, journeys.whole) = (1000, 0);
        journeys.failed = 1000;
        run.record.journeys = Some(Box::new(journeys));
        let why = "1,000 of 1,000 journeys that ended (100 %) failed";
        assert_eq!(said(&run, "p99<200ms").unwrap(), why);
        assert_eq!(said(&run, "p99<200ms,checks>=0%"), None);
    }
}
