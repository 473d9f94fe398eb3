//! Journeys that failed by what came back: an assert, a status that a step does not name, a capture of what was not there. Their
//! responses may all be successes.

use ablaze_model::Run;
use ablaze_model::printable::printable;

use super::{MOST, SHARE};
use crate::DiagnosisId::D04;
use crate::finding::{Finding, Severity};
use crate::live::walk;
use crate::words::{counted, grouped, listed, percent};

/// So many steps are named.
const STEPS_NAMED: usize = 3;

const CAUSE: &str = "A journey ends at the step that fails, unless it was told to go on: the rates and times are not those of users \
                     who get through.";

/// What is found where the statuses of the responses were all right, or few were not.
pub(super) fn failed(run: &Run) -> Option<Finding> {
    let journeys = run.record.journeys.as_ref()?;
    let ended = journeys.whole + journeys.failed;
    // Those for which no response came are another finding's.
    let by_responses = journeys.failed.saturating_sub(run.record.failures_total());
    let share = by_responses as f64 / ended.max(1) as f64;
    if share <= SHARE {
        return None;
    }
    let mut steps: Vec<_> = journeys.steps.iter().filter(|step| step.failed > 0).collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.failed));
    let most = if steps.len() > STEPS_NAMED { ", most of them" } else { "" };
    let named = steps.iter().take(STEPS_NAMED);
    let named = named.map(|step| format!("{} ({}×)", printable(&step.name), grouped(step.failed)));
    let evidence = format!(
        "{} of {} that ended ({}) failed{most} in {}.",
        grouped(journeys.failed),
        counted(ended, "journey"),
        percent(journeys.failed as f64 / ended as f64),
        listed(named)
    );
    let fix = format!(
        "Walk one with `{}` to see what fails, and correct the journey, its data or the server.",
        walk::command_with_response(run, "")
    );
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, CAUSE, fix))
}

/// The same beside statuses that were not right, which need not be why: a step may permit any status, and fail by what it
/// captures. With the reason of the first.
pub(super) fn beside(run: &Run) -> String {
    let (Some(found), Some(journeys)) = (failed(run), run.record.journeys.as_ref()) else {
        return String::new();
    };
    // What got no response is no page: another finding tells of it.
    let shown = journeys.steps.iter().filter_map(|step| Some((step.failed, step.first.as_ref()?)));
    let shown = shown.filter(|(_, first)| !walk::is_without_response(first));
    let first = shown.max_by_key(|(failed, _)| *failed).map(|(_, first)| first);
    let first = first.map_or_else(String::new, |first| {
        format!(" The first of them: {}.", printable(first.text.trim_end_matches('.')))
    });
    format!(" {}{first}", found.evidence)
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Journeys;

    use super::*;
    use crate::live::sample;

    fn with(whole: u64, failed: u64) -> Run {
        let mut run = sample::run();
        let mut journeys = Journeys::new(&["login".to_owned(), "buy".to_owned()]);
        (journeys.begun, journeys.whole) = (whole + failed, whole);
        (0..failed).for_each(|_| {
            journeys.fails(1, 5, None, || "line 3: the status is 201, not 200".into())
        });
        run.record.journeys = Some(Box::new(journeys));
        run
    }

    #[test]
    fn journeys_that_fail_by_what_came_back_are_a_doubt_and_half_of_them_more() {
        assert_eq!(failed(&sample::run()), None);
        assert_eq!(failed(&with(2000, 2)), None);
        let some = failed(&with(90, 10)).unwrap();
        assert_eq!(some.severity, Severity::Suspect);
        let evidence = "10 of 100 journeys that ended (10 %) failed in buy (10×).";
        assert_eq!(some.evidence, evidence);
        assert_eq!(failed(&with(0, 400)).unwrap().severity, Severity::Invalid);
        // Each failed at the last of 50 redirects, which nobody follows.
        let mut redirected = with(0, 400);
        redirected.record.statuses = [(200, 19_600), (302, 400)].into();
        let found = super::super::on_run(&redirected).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.starts_with("400 of 400 journeys"), "{found:?}");
    }

    /// The step permits any status (`HTTP *`), so that these are not why the journeys fail.
    #[test]
    fn statuses_do_not_hide_journeys_that_fail() {
        let mut run = with(0, 400);
        run.record.statuses = [(200, 8_000), (404, 12_000)].into();
        let found = super::super::on_run(&run).unwrap();
        assert!(found.evidence.starts_with("12,000 of 20,000 responses"), "{found:?}");
        let journeys = "400 of 400 journeys that ended (100 %) failed in buy (400×). The first of them: line 3: \
                        the status is 201, not 200.";
        assert!(found.evidence.contains(journeys), "{found:?}");
    }

    /// The first row fails before a response comes: it shows nothing of the statuses.
    #[test]
    fn a_journey_without_a_response_shows_no_error_page() {
        let mut run = with(200, 200);
        let first = run.record.journeys.as_mut().unwrap().steps[1].first.as_mut().unwrap();
        (first.text, first.feed_line) = ("line 2: no response: malformed".into(), Some(2));
        run.record.failures[ablaze_model::FailureKind::Malformed as usize] = 100;
        run.record.statuses = [(200, 15_000), (401, 5_000)].into();
        sample::asked(&mut run, &[]);
        let data = ablaze_model::spec::DataSpec {
            feed: ablaze_model::spec::Feed {
                file: ablaze_model::spec::Blob::new("u.csv", Vec::new()),
                part: None,
            },
            order: ablaze_model::feed::Order::Sequential,
        };
        run.asked.as_mut().unwrap().requests.data = Some(data);
        let planned = crate::live::setup::sample::with_failed(0).plan.journey;
        run.plan.journey = planned;
        let found = super::super::on_run(&run).unwrap();
        assert!(found.evidence.contains("200 of 400 journeys"), "{found:?}");
        assert!(!found.evidence.contains("no response"), "{found:?}");
        assert!(found.fix.contains("--feed u.csv"), "{found:?}");
        assert!(!found.fix.contains("--feed-line"), "{found:?}");
    }

    #[test]
    fn a_redirect_that_could_not_be_followed_is_not_told_as_one_that_nobody_followed() {
        let mut run = with(0, 400);
        run.record.statuses = [(302, 20_000)].into();
        run.record.first_head = b"HTTP/1.1 302 Found\r\nLocation: http://other/\r\n\r\n".to_vec();
        let evidence = |run: &Run| super::super::on_run(run).unwrap().evidence;
        assert!(evidence(&run).contains("which nobody followed"), "{}", evidence(&run));
        run.plan.journey = crate::live::setup::sample::with_failed(0).plan.journey;
        let fix = |run: &Run| super::super::on_run(run).unwrap().fix.to_string();
        assert!(fix(&run).contains("`location: true` in their `[Options]`"), "{}", fix(&run));
        sample::asked(&mut run, &[]);
        let blob = ablaze_model::spec::Blob::new("a.hurl", Vec::new());
        let mut journey = ablaze_model::spec::JourneySpec::of(blob);
        journey.location = true;
        run.asked.as_mut().unwrap().requests.journey = Some(journey);
        let said = evidence(&run);
        assert!(said.contains("were redirects that the journey did not follow"), "{said}");
        assert!(fix(&run).contains("with `location: false` in the step's"), "{}", fix(&run));
    }

    #[test]
    fn those_without_a_response_are_another_finding_s() {
        let mut run = with(90, 10);
        run.record.failures[ablaze_model::FailureKind::Reset as usize] = 10;
        assert_eq!(failed(&run), None);
    }
}
