//! Workers that come back: under their name and with nothing of what was said, or by a channel that was broken for a while. A
//! stream is never joined again: what comes behind the break is not counted.

use super::*;

fn beside_a_sound_one(trouble: Trouble) -> WorkerOutcome {
    let scripts = vec![script(Trouble::None), script(trouble)];
    let mut outcome = play(scripts, Lost::GoOn, &[]);
    assert!(outcome.workers[0].run.is_some() && outcome.workers[0].lost.is_none());
    outcome.workers.remove(1)
}

#[test]
fn a_new_process_on_the_old_channel_is_lost_with_what_the_old_one_said_kept() {
    for (moment, rows) in [(Moment::InMidRun, 216), (Moment::BeforeItsRun, 2120)] {
        let worker = beside_a_sound_one(Trouble::Restarts(moment));
        assert_eq!((worker.lost.as_deref(), worker.run), (Some("no assignment"), None));
        assert_eq!(worker.rows.responses, rows, "once, and nothing of the second");
        let worker = beside_a_sound_one(Trouble::RestartsAssigned(moment));
        assert_eq!(worker.lost.as_deref(), Some("said something out of turn"));
        assert_eq!((worker.rows.responses, worker.run), (rows, None));
    }
    let worker = beside_a_sound_one(Trouble::Restarts(Moment::AfterReady));
    assert_eq!((worker.lost.as_deref(), worker.started_ns), (Some("no assignment"), None));
}

#[test]
fn one_that_starts_again_before_it_was_ready_is_as_good_as_any_if_it_is_told_what_to_do() {
    let worker = beside_a_sound_one(Trouble::RestartsAssigned(Moment::BeforeReady));
    assert_eq!((worker.lost, worker.run.as_deref()), (None, Some("2120")));
}

#[test]
fn what_comes_behind_a_run_that_has_arrived_takes_nothing_away_from_it() {
    for moment in [Moment::BehindItsRun, Moment::BeforeGoodbye] {
        for trouble in [
            Trouble::Dies(moment),
            Trouble::Restarts(moment),
            Trouble::RestartsAssigned(moment),
            Trouble::Breaks(moment),
        ] {
            let worker = beside_a_sound_one(trouble);
            assert_eq!((worker.run.as_deref(), worker.lost), (Some("2120"), None), "{trouble:?}");
            // Nor does it end the others.
            let scripts = vec![script(Trouble::None), script(trouble)];
            let outcome = play(scripts, Lost::Fail, &[]);
            assert!(outcome.workers.iter().all(|worker| worker.run.as_deref().is_some()));
        }
    }
}

#[test]
fn a_channel_that_breaks_and_comes_back_is_not_listened_to_again() {
    let worker = beside_a_sound_one(Trouble::Breaks(Moment::InMidRun));
    assert_eq!((worker.lost.as_deref(), worker.run), (Some("the connection ended"), None));
    assert_eq!(worker.rows.responses, 216, "of the rows before it broke");
    let worker = beside_a_sound_one(Trouble::Breaks(Moment::AfterReady));
    assert_eq!((worker.lost.as_deref(), worker.started_ns), (Some("the connection ended"), None));
}
