//! Users who think: the rate is that of their pauses, in an open loop if all of those permitted are in a journey.

use ablaze_model::Run;
use ablaze_model::finding::{Limit, Limited};
use ablaze_model::plan::users::ThinkTime;
use ablaze_model::run::Ended;

use crate::live::setup;
use crate::words::{amount, counted, time};

/// Users think for this share of the time in which they think or have something in flight: without any response time the
/// rate would be no more than a quarter higher.
const THINK_TIME: f64 = 0.8;

/// With this share of its users in a journey an open loop had none to spare.
const IN_USE: f64 = 0.9;

/// Users had nothing in flight for most of their time, because they thought or a step says so: faster responses would change
/// little. Counted, not planned: those who wait in vain, or failed in their setup, do not think.
pub(super) fn limit(run: &Run) -> Option<Limited> {
    if tries_again(run) {
        return None;
    }
    let in_flight_ns = run.record.in_flight_ns as f64;
    let pauses_ns = run.record.journeys.as_ref()?.pauses_ns as f64;
    // Pauses that the end cuts short are in it as far as anything still happened: where all users were there to the end, they
    // had something in flight or thought.
    let pauses_ns = match all_users_stay(run) {
        true => {
            (setup::users_left(run) as f64 * run.elapsed_ns as f64 - in_flight_ns).max(pauses_ns)
        }
        false => pauses_ns,
    };
    let whole_ns = pauses_ns + in_flight_ns;
    if whole_ns == 0.0 || pauses_ns < THINK_TIME * whole_ns {
        return None;
    }
    if run.plan.load.is_open() {
        return all_are_taken(run, whole_ns).then(|| of_open_loop(run, whole_ns, pauses_ns));
    }
    let evidence = format!(
        "its users think for {} of {}, all of them together",
        time(pauses_ns / 1e6),
        time(whole_ns / 1e6)
    );
    Some(Limited { by: Limit::ThinkTime, evidence })
}

/// Whether all users of an open loop were in a journey, so that what was due waited for one of them. The pause that each had begun
/// when the run ended may not be counted.
fn all_are_taken(run: &Run, whole_ns: f64) -> bool {
    let users = setup::users_left(run) as f64;
    let think = run.plan.journey.as_ref().and_then(|journey| journey.users.think_time);
    let mean_ns = match think {
        None => 0.0,
        Some(ThinkTime::Constant { ns }) => ns as f64,
        Some(ThinkTime::Uniform { from_ns, to_ns }) => (from_ns as f64 + to_ns as f64) / 2.0,
        Some(ThinkTime::Exponential { mean_ns }) => mean_ns as f64,
    };
    let cut_ns = mean_ns * users;
    run.record.never_sent > 0 && whole_ns + cut_ns >= IN_USE * users * run.elapsed_ns as f64
}

fn of_open_loop(run: &Run, whole_ns: f64, pauses_ns: f64) -> Limited {
    let of_all = |ns: f64| amount(ns / run.elapsed_ns as f64);
    let evidence = format!(
        "{} may walk one journey at a time each, {} were in one on average, and {} of these paused between two requests",
        counted(setup::users_left(run), "user"),
        of_all(whole_ns),
        of_all(pauses_ns)
    );
    Limited { by: Limit::ThinkTime, evidence }
}

/// Whether a step is tried until something is so: who waits to try it again waits for the server. A saved run does not tell.
fn tries_again(run: &Run) -> bool {
    let route = run.plan.journey.as_ref().and_then(|journey| journey.route.as_ref());
    route.is_some_and(|route| route.journey.steps.iter().any(|step| step.options.retry.is_some()))
}

/// Whether every user that came through its setup walks from the beginning of the run to its end.
fn all_users_stay(run: &Run) -> bool {
    let (limits, users) =
        (&run.plan.limits, run.plan.journey.as_ref().map(|journey| &journey.users));
    // Who rests behind a failure does not think.
    let whole = run.ended == Ended::Complete && run.record.failures_total() == 0;
    let by_time = limits.duration_ns.is_some() && limits.requests.is_none();
    let stay = users.is_some_and(|users| users.ramp.is_none() && users.iterations.is_none());
    by_time && stay && whole
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::Load;
    use ablaze_model::plan::journey::PlannedJourney;
    use ablaze_model::plan::users::Users;
    use ablaze_model::record::Journeys;

    use super::*;
    use crate::live::sample;

    /// Ten users for ten seconds, who had something in flight for half a second each; the pauses that the end cut short were not
    /// counted.
    #[test]
    fn pauses_that_the_end_cuts_short_are_thinking() {
        let mut run = sample::with_shares(0.03, 0.01);
        run.plan.load = Load::Closed { connections: 10, pipeline: 1 };
        run.plan.limits.requests = None;
        run.plan.limits.duration_ns = Some(run.elapsed_ns);
        run.record.failures = [0; ablaze_model::FailureKind::ALL.len()];
        run.record.in_flight_ns = 5_000_000_000;
        let users = Users { pause: true, ..Users::default() };
        run.plan.journey = Some(PlannedJourney {
            name: "a".to_owned(),
            steps: Vec::new(),
            any_status: Vec::new(),
            users,
            route: None,
        });
        let mut journeys = Journeys::new(&["a".to_owned()]);
        journeys.pauses_ns = 15_000_000_000;
        run.record.journeys = Some(Box::new(journeys));
        let said = |run: &Run| limit(run).map(|limited| limited.evidence);
        let text = "its users think for 95.0 s of 100 s, all of them together";
        assert_eq!(said(&run).as_deref(), Some(text));
        // Of some who came later only what was counted is known.
        run.plan.journey.as_mut().unwrap().users.iterations = Some(1);
        assert_eq!(said(&run), None);
    }

    /// `--rate 100 --users 3 --think-time 500ms`: all three are in a journey, and think.
    #[test]
    fn users_of_an_open_loop_who_think_are_the_limit_where_all_are_taken() {
        let mut run = sample::with_shares(0.03, 0.01);
        sample::open_loop(&mut run, 100.0);
        if let Load::Open { connections, .. } = &mut run.plan.load {
            *connections = 3;
        }
        run.record.never_sent = 500;
        run.record.in_flight_ns = u128::from(run.elapsed_ns / 50);
        let mut journeys = Journeys::new(&["a".to_owned()]);
        journeys.pauses_ns = run.elapsed_ns / 100 * 271;
        run.record.journeys = Some(Box::new(journeys));
        let limited = limit(&run).unwrap();
        assert_eq!(limited.by, Limit::ThinkTime);
        let said = "3 users may walk one journey at a time each, 2.73 were in one on average, and 2.71 of these paused";
        assert!(limited.evidence.starts_with(said), "{limited}");
        // Some were free: it is not known what they waited for.
        run.record.journeys.as_mut().unwrap().pauses_ns = run.elapsed_ns * 2;
        assert_eq!(limit(&run), None);
    }
}
