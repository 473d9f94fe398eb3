//! Users in words: how many there are and when, what they did before the clock started, and a row for each of several
//! journeys.

use ablaze_model::Run;
use ablaze_model::plan::users::{ThinkTime, Users};
use ablaze_model::plan::{Load, Plan};
use ablaze_model::printable::printable;
use ablaze_model::record::{Journeys, OneJourney};
use ablaze_stats::Latency;

use crate::number::{counted, grouped, percent, rate, time};

/// Who comes within this time comes at the beginning: users are asked one after the other.
const BEGINNING_NS: u64 = 5_000_000;

/// The columns of the table of journeys.
const HEAD: [&str; 9] =
    ["journey", "begun", "share", "whole", "failed", "journeys/s", "p50", "p95", "p99"];

/// Who of a plan walks journeys, if anybody.
pub(crate) fn of(plan: &Plan) -> Option<&Users> {
    plan.journey.as_ref().map(|journey| &journey.users)
}

/// How many users a closed loop has: `10 to 1,000 users`, `100 users on 10 connections`.
pub(crate) fn number(plan: &Plan) -> Option<String> {
    let users = of(plan)?;
    let Load::Closed { connections, pipeline } = plan.load else { return None };
    let shared = match pipeline {
        1 => String::new(),
        _ => format!(" on {}", counted(connections.into(), "connection")),
    };
    Some(match users.ramp {
        Some(ramp) => {
            let to = counted(ramp.to.into(), "user");
            format!("{} to {to}{shared}", grouped(ramp.from.into()))
        }
        None => format!("{}{shared}", counted(plan.users(), "user")),
    })
}

/// What else was asked of them: `thinking 1.00 s between steps`, `2 journeys each`, `sessions kept`.
pub(crate) fn asked(plan: &Plan) -> Vec<String> {
    let Some(users) = of(plan) else { return Vec::new() };
    let ns = |ns: u64| time(ns as f64);
    let journeys = users.journeys.len().max(1);
    let of_one_step = plan.journey.as_ref().is_some_and(|own| own.steps.len() <= journeys);
    let think = users.think_time.filter(|_| !of_one_step).map(|think| match think {
        ThinkTime::Constant { ns: think_ns } => format!("thinking {} between steps", ns(think_ns)),
        ThinkTime::Uniform { from_ns, to_ns } => {
            format!("thinking {} to {} between steps", ns(from_ns), ns(to_ns))
        }
        ThinkTime::Exponential { mean_ns } => {
            format!("thinking {} on average between steps", ns(mean_ns))
        }
    });
    let none = users.think_time.filter(|_| of_one_step);
    let none = none.map(|_| "no time to think, as there is one step".to_owned());
    let iterations = users.iterations.map(|most| format!("{} each", counted(most, "journey")));
    let kept = users.keep_session.then(|| "sessions kept".to_owned());
    [think, none, iterations, kept].into_iter().flatten().collect()
}

/// How many users had come when, of a number that grew, as it was counted: `users: 10 at the beginning, 505 after 5.00 s, 1,000
/// at the end`.
pub(crate) fn over_time(run: &Run) -> Option<String> {
    of(&run.plan)?.ramp?;
    let came = &run.record.journeys.as_ref()?.came;
    if came.count() == 0 {
        return None;
    }
    let (half_ns, end_ns) = (run.elapsed_ns / 2, run.elapsed_ns);
    // Those of the beginning begin one after the other.
    let begin_ns = (run.elapsed_ns / 1_000).max(BEGINNING_NS);
    let [begin, half, end] = [begin_ns, half_ns, end_ns].map(|ns| grouped(came.count_at_most(ns)));
    Some(format!(
        "users: {begin} at the beginning, {half} after {}, {end} at the end",
        time(half_ns as f64)
    ))
}

/// What became of the setup: `setup login.hurl: 98 of 100 users; 2 failed and walked no journey, the first at line 5: …`, and
/// whether any failed.
pub(crate) fn setup(run: &Run) -> Option<(String, bool)> {
    let setup = run.record.journeys.as_ref()?.setup.as_ref()?;
    let name = of(&run.plan)?.setup.as_deref().unwrap_or_default();
    let done = grouped(setup.whole);
    let mut text = format!("setup {}: {done} of {}", printable(name), counted(setup.begun, "user"));
    if setup.failed > 0 {
        let first = setup.first.as_ref().map_or("", |first| &first.text);
        text.push_str(&format!(
            "; {} failed and walked no journey, the first at {}",
            grouped(setup.failed),
            printable(first)
        ));
    }
    match setup.unfinished() {
        0 => {}
        1 => text.push_str("; 1 was in the middle of it at the end"),
        more => text.push_str(&format!("; {} were in the middle of it at the end", grouped(more))),
    }
    Some((text, setup.failed > 0))
}

/// A row for each of several journeys, with its head.
pub(crate) fn table(run: &Run) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let journeys = run.record.journeys.as_ref().filter(|journeys| journeys.each.len() > 1)?;
    let rows = journeys.each.iter().map(|one| row(run, journeys, one)).collect();
    Some((HEAD.map(str::to_owned).to_vec(), rows))
}

fn row(run: &Run, all: &Journeys, one: &OneJourney) -> Vec<String> {
    let per_s = match run.elapsed_ns {
        0 => "-".to_owned(),
        ns => rate(one.whole as f64 / (ns as f64 / 1e9)),
    };
    let mut cells = vec![
        printable(&one.name).into_owned(),
        grouped(one.begun),
        percent(one.begun as f64, all.begun as f64),
        grouped(one.whole),
        grouped(one.failed),
        per_s,
    ];
    cells.extend([0.5, 0.95, 0.99].map(|q| quantile(&one.duration, q)));
    cells
}

fn quantile(duration: &Latency, q: f64) -> String {
    duration.supported_quantile_ns(q).map_or("-".to_owned(), |ns| time(ns as f64))
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::journey::PlannedJourney;
    use ablaze_model::plan::users::{Ramp, WeightedJourney};
    use ablaze_model::record::{FirstMessage, Setup};

    use super::*;
    use crate::sample;
    use crate::text::{self, Style};

    #[test]
    fn every_report_has_a_row_for_each_journey_and_says_what_was_asked_of_users() {
        let mut assessed = sample::assessed(&sample::grouped());
        let run = &mut assessed.run;
        let names = ["buy", "browse"].map(str::to_owned);
        let mut journeys = Journeys::of_several(&[], names.clone().into_iter());
        (journeys.begun, journeys.whole, journeys.failed) = (4_000, 3_990, 10);
        for (one, begun) in journeys.each.iter_mut().zip([1_000, 3_000]) {
            (one.begun, one.whole, one.failed) = (begun, begun - 5, 5);
            one.duration.record_many(begun * 1_000, begun - 5);
        }
        let first = Some(FirstMessage {
            at_ns: 1,
            text: "line 5: the status is 401".to_owned(),
            feed_line: None,
        });
        journeys.setup = Some(Setup { begun: 100, whole: 98, failed: 2, first });
        for (after_ns, users) in [(0, 10), (run.elapsed_ns / 3, 40), (run.elapsed_ns / 4 * 3, 47)] {
            journeys.came.record_many(after_ns, users);
        }
        run.record.journeys = Some(Box::new(journeys));
        let users = Users {
            ramp: Some(Ramp { from: 10, to: 100, over_ns: run.elapsed_ns }),
            think_time: Some(ThinkTime::Uniform { from_ns: 500_000_000, to_ns: 2_000_000_000 }),
            setup: Some("login.hurl".to_owned()),
            journeys: names
                .iter()
                .map(|name| WeightedJourney { name: name.clone(), weight: 1 })
                .collect(),
            pause: true,
            ..Users::default()
        };
        let name = "buy.hurl".to_owned();
        let steps = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        run.plan.journey =
            Some(PlannedJourney { name, steps, any_status: Vec::new(), users, route: None });
        let text = text::write(&assessed, &Style::default());
        for expected in [
            "journeys buy ×1, browse ×1, 3 steps, to http",
            "closed loop, 10 to 100 users, thinking 500 ms to 2.00 s between steps",
            // As they were counted, and not as they were planned.
            "users: 10 at the beginning, 50 after",
            ", 97 at the end",
            "setup login.hurl: 98 of 100 users; 2 failed and walked no journey, the first at line 5: the",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        // One step has no other to think before.
        let mut short = assessed.run.plan.clone();
        short.journey.as_mut().unwrap().users.journeys.clear();
        short.journey.as_mut().unwrap().steps.truncate(1);
        assert_eq!(asked(&short), ["no time to think, as there is one step"]);
        let row = text.lines().find(|line| line.trim_start().starts_with("browse ")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[..6], ["browse", "3,000", "75", "%", "2,995", "5"], "{row}");
        let csv = crate::csv::write(&assessed.run);
        for expected in [
            "journeys,begun,4000,journeys\r\n",
            "journeys:browse,whole,2995,journeys\r\n",
            "journey-duration:browse,count,2995,values\r\n",
            "setup,failed,2,users\r\n",
        ] {
            assert!(csv.contains(expected), "{expected}: {csv}");
        }
        let page = crate::page::section::journeys(&assessed.run).unwrap();
        let shown = format!("{page:?}");
        assert!(shown.contains("browse") && shown.contains("2,995"), "{shown}");
        assert!(shown.contains("401"), "{shown}");
        let setup = assessed.run.record.journeys.as_mut().unwrap().setup.as_mut().unwrap();
        (setup.whole, setup.failed, setup.first) = (97, 0, None);
        let (stopped, failed) = super::setup(&assessed.run).unwrap();
        let said = "setup login.hurl: 97 of 100 users; 3 were in the middle of it at the end";
        assert_eq!((stopped.as_str(), failed), (said, false));
    }
}
