//! Users who failed in what they walk before the clock starts (`--setup`): they walk no journey, and the load is that of the
//! others.

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::printable::printable;
use ablaze_model::record::Setup;

use crate::words::{counted, grouped};

/// The setup of a run in which users failed in it.
pub(crate) fn failed(run: &Run) -> Option<&Setup> {
    let setup = run.record.journeys.as_ref()?.setup.as_ref()?;
    (setup.failed > 0).then_some(setup)
}

/// How many users walk no journey because they failed in their setup.
pub(crate) fn users_out(run: &Run) -> u64 {
    run.record.users_out()
}

/// How many did: those of a run that has no setup are all of them.
pub(crate) fn users_left(run: &Run) -> u64 {
    run.plan.users().saturating_sub(users_out(run))
}

/// The users of a closed loop that are left, each with a request in flight all the time, where others failed in their setup
/// and nobody pauses.
pub(crate) fn in_flight_of_others(run: &Run) -> Option<u64> {
    let pauses = run.plan.journey.as_ref().is_some_and(|journey| journey.users.pause);
    let is_closed = matches!(run.plan.load, Load::Closed { .. });
    (is_closed && !pauses && users_out(run) > 0).then(|| users_left(run))
}

/// `9 of 10 users failed in their setup`.
pub(crate) fn in_words(run: &Run) -> Option<String> {
    let setup = failed(run)?;
    let users = counted(setup.begun, "user");
    Some(format!("{} of {users} failed in their setup", grouped(setup.failed)))
}

/// The file that they walked, as it was given.
pub(crate) fn file(run: &Run) -> String {
    let users = run.plan.journey.as_ref().map(|journey| &journey.users);
    let file = users.and_then(|users| users.setup.as_deref()).unwrap_or_default();
    printable(file).into_owned()
}

#[cfg(test)]
pub(crate) mod sample {
    use ablaze_model::plan::journey::PlannedJourney;
    use ablaze_model::plan::users::Users;
    use ablaze_model::record::{FirstMessage, Journeys};

    use super::*;
    use crate::live::sample;

    /// As many users as the sample has connections, so many of whom failed in their setup; the others had something in flight
    /// all the time, and no thread was full.
    pub(crate) fn with_failed(count: u64) -> Run {
        let mut run = sample::with_shares(0.3, 0.1);
        let users = Users { setup: Some("login.hurl".to_owned()), ..Users::default() };
        run.plan.journey = Some(PlannedJourney {
            name: "a.hurl".to_owned(),
            steps: Vec::new(),
            any_status: Vec::new(),
            users,
            route: None,
        });
        let mut journeys = Journeys::new(&["a".to_owned()]);
        (journeys.begun, journeys.whole) = (run.record.responses, run.record.responses);
        let text = "line 5: the status is 500, not 200".to_owned();
        let first = (count > 0).then_some(FirstMessage { at_ns: 1, text, feed_line: None });
        let begun = run.plan.users();
        journeys.setup = Some(Setup { begun, whole: begun - count, failed: count, first });
        run.record.journeys = Some(Box::new(journeys));
        let per_user = u128::from(run.elapsed_ns);
        run.record.in_flight_ns = per_user * u128::from(begun - count);
        let each_ns = u64::try_from(run.record.in_flight_ns).unwrap_or(0) / run.record.responses;
        run.record.answered.total.clear();
        run.record.answered.total.record_many(each_ns, run.record.responses);
        run
    }
}
