//! What bounded the rate of users who walk journeys, on Runs made by hand.

use super::tests::limit;
use super::*;
use crate::live::sample;
use ablaze_model::plan::Load;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::plan::users::Users;
use ablaze_model::record::Journeys;

#[test]
fn journeys_are_counted_where_journeys_were_requested() {
    // 2,000 journeys of 10 requests each in the time of the sample.
    let mut run = sample::with_shares(0.3, 0.2);
    let seconds = run.elapsed_ns as f64 / 1e9;
    let per_s = 2_000.0 / seconds;
    sample::open_loop(&mut run, per_s);
    let mut journeys = ablaze_model::record::Journeys::new(&["a".to_owned(), "b".to_owned()]);
    (journeys.begun, journeys.whole, journeys.failed) = (2_000, 1_990, 10);
    journeys.duration.record_many(4_000_000, 1_990);
    run.record.journeys = Some(Box::new(journeys));
    let limited = of(&run);
    assert_eq!(limited.by, Limit::AskedRate, "{limited}");
    let both = format!("{} journeys/s", crate::words::amount(per_s));
    assert_eq!(limited.evidence, format!("{both} requested, {both} ended"));
    // Those under way at the end are journeys, too.
    let journeys = run.record.journeys.as_mut().unwrap();
    (journeys.whole, journeys.failed) = (1_900, 0);
    journeys.duration.clear();
    journeys.duration.record_many((seconds * 0.05e9) as u64, 1_900);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::AskedRate, "{limited}");
    assert!(limited.evidence.ends_with("100 journeys still under way at the end"), "{limited}");
    // Half of them never began: that is not the requested rate.
    run.record.journeys.as_mut().unwrap().begun = 1_000;
    assert_ne!(limit(&run), Limit::AskedRate);
}

#[test]
fn users_who_think_for_most_of_their_time_are_the_limit_as_they_were_counted() {
    let mut run = sample::with_shares(0.03, 0.01);
    run.record.in_flight_ns = 10 * u128::from(run.elapsed_ns);
    let mut journeys = ablaze_model::record::Journeys::new(&["a".to_owned()]);
    // Of 100 users 90 think at any time.
    journeys.pauses_ns = 90 * run.elapsed_ns;
    run.record.journeys = Some(Box::new(journeys));
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ThinkTime, "{limited}");
    let text = "limited by the load: its users think for 900 s of 1,000 s, all of them together";
    assert_eq!(limited.to_string(), text);
    // A CPU at its limit comes before, and so does what they wait for.
    let journeys = run.record.journeys.clone();
    let mut full = sample::with_shares(0.96, 0.75);
    full.record.journeys.clone_from(&journeys);
    assert_eq!(limit(&full), Limit::Server);
    run.record.in_flight_ns = 30 * u128::from(run.elapsed_ns);
    assert_ne!(limit(&run), Limit::ThinkTime);
    sample::open_loop(&mut run, 2_100.0);
    assert_ne!(limit(&run), Limit::ThinkTime);
}

/// They end at different times, and nobody thinks.
#[test]
fn users_who_have_walked_their_journeys_do_not_pause() {
    let with = |in_flight: u64| {
        let mut run = sample::with_shares(0.1, 0.1);
        let in_flight_ns = in_flight * run.elapsed_ns / 10;
        run.plan.load = Load::Closed { connections: 10, pipeline: 1 };
        run.record.in_flight_ns = in_flight_ns.into();
        run.record.answered.total.clear();
        run.record.answered.total.record_many(in_flight_ns / 20_000, 20_000);
        let users = Users { pause: true, iterations: Some(20), ..Users::default() };
        let (name, steps, any_status) = ("a".to_owned(), Vec::new(), Vec::new());
        run.plan.journey = Some(PlannedJourney { name, steps, any_status, users, route: None });
        run.record.journeys = Some(Box::new(Journeys::new(&["a".to_owned()])));
        run
    };
    let limited = of(&with(92));
    assert_eq!(limited.by, Limit::ResponseTime, "{limited}");
    assert!(limited.evidence.starts_with("with 10 requests in flight"), "{limited}");
    let limited = of(&with(20));
    assert_eq!(limited.by, Limit::Unknown);
    assert!(limited.evidence.starts_with("of 10 users 2.00 had a request in flight"), "{limited}");
    // Whoever thinks has nothing in flight meanwhile.
    let mut run = with(92);
    run.record.journeys.as_mut().unwrap().pauses_ns = 1_000_000;
    assert!(of(&run).evidence.starts_with("users had nothing in flight"), "{}", of(&run));
}
