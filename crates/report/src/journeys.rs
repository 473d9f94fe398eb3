//! Journeys in words: how many per second, how long whole ones took, in which steps the others failed and why.

use ablaze_model::printable::printable;
use ablaze_model::record::{JourneyStep, Journeys};
use ablaze_model::{Plan, Run};

use crate::number::{grouped, rate, time};

/// Journeys that came whole to their end, per second.
pub(crate) fn rate_text(run: &Run, journeys: &Journeys) -> String {
    match run.elapsed_ns {
        0 => "-".to_owned(),
        ns => rate(journeys.whole as f64 / (ns as f64 / 1e9)),
    }
}

/// Percentiles of the durations of whole journeys.
pub(crate) fn durations(journeys: &Journeys) -> [String; 3] {
    [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].map(|(name, q)| {
        let ns = journeys.duration.supported_quantile_ns(q);
        format!("{name} {}", ns.map_or("-".to_owned(), |ns| time(ns as f64)))
    })
}

/// What became of them, and of their asserts.
pub(crate) fn counts(journeys: &Journeys) -> Vec<String> {
    let mut items =
        vec![format!("{} of {} whole", grouped(journeys.whole), grouped(journeys.begun))];
    items.push(format!("{} failed", grouped(journeys.failed)));
    if journeys.unfinished() > 0 {
        items.push(format!("{} unfinished at the end", grouped(journeys.unfinished())));
    }
    let (passed, failed) = (journeys.asserts_passed, journeys.asserts_failed);
    if passed + failed > 0 {
        items.push(format!("asserts: {} passed, {} failed", grouped(passed), grouped(failed)));
    }
    match journeys.cookies_refused {
        0 => {}
        1 => items.push("1 cookie refused".to_owned()),
        refused => items.push(format!("{} cookies refused", grouped(refused))),
    }
    items
}

/// The steps in which journeys failed.
pub(crate) fn failed(journeys: &Journeys) -> impl Iterator<Item = &JourneyStep> {
    journeys.steps.iter().filter(|step| step.failed > 0)
}

/// Why the first of them did.
pub(crate) fn reason(step: &JourneyStep) -> String {
    step.first.as_ref().map_or_else(String::new, |first| printable(&first.text).into_owned())
}

/// The file and how many steps it has: `journey shop.hurl, 4 steps`; of several their weights: `journeys buy ×1, browse ×3`.
pub(crate) fn title(plan: &Plan) -> Option<String> {
    let journey = plan.journey.as_ref()?;
    let steps = crate::number::counted(journey.steps.len() as u64, "step");
    let several = journey.users.journeys.iter();
    let several: Vec<String> =
        several.map(|one| format!("{} ×{}", printable(&one.name), one.weight)).collect();
    let what = match several.is_empty() {
        true => format!("journey {}", printable(&journey.name)),
        false => format!("journeys {}", several.join(", ")),
    };
    Some(format!("{what}, {steps}, to {}{}", plan.target.url, and_others(plan)))
}

/// The hosts beside the target: `, http://b and https://c`.
pub(crate) fn and_others(plan: &Plan) -> String {
    let others = &plan.target.others;
    let mut text = String::new();
    for (index, origin) in others.iter().enumerate() {
        text += if index + 1 == others.len() { " and " } else { ", " };
        text += &printable(&origin.url);
    }
    text
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::journey::PlannedJourney;

    use crate::sample;
    use crate::text::{self, Style};

    #[test]
    fn the_report_says_what_became_of_journeys_and_where_they_failed() {
        let mut assessed = sample::assessed(&sample::grouped());
        let run = &mut assessed.run;
        let steps = ["/item".to_owned(), "/search?q=a,b".to_owned()];
        let mut journeys = super::Journeys::new(&steps);
        (journeys.begun, journeys.whole) = (10_000, 9_980);
        (journeys.asserts_passed, journeys.asserts_failed) = (29_000, 15);
        journeys.cookies_refused = 1_200;
        (0..9_980).for_each(|_| journeys.duration.record(3_000_000));
        for _ in 0..15 {
            journeys.fails(1, 7, None, || "line 9: there is\u{1b}[31m nothing".to_owned());
        }
        run.record.journeys = Some(Box::new(journeys));
        let name = "shop.hurl".to_owned();
        let users = Default::default();
        let steps = steps.to_vec();
        run.plan.journey =
            Some(PlannedJourney { name, steps, any_status: Vec::new(), users, route: None });
        let text = text::write(&assessed, &Style::default());
        assert!(text.contains("journey shop.hurl, 2 steps, to http"), "{text}");
        // Whatever else names what was loaded: the method and the URL are those of one step at most.
        let suite = crate::junit::of_run(&assessed, &crate::condition::Conditions::default()).name;
        assert!(suite.starts_with("journey shop.hurl, 2 steps, to http"), "{suite}");
        assert!(
            crate::hlog::write(&assessed.run).contains(": journey shop.hurl, 2 steps, to http")
        );
        assert!(text.contains(" journeys/s    p50 3.00 ms"), "{text}");
        assert!(text.contains("9,980 of 10,000 whole"), "{text}");
        assert!(text.contains("5 unfinished at the end"), "{text}");
        assert!(text.contains("asserts: 29,000 passed, 15 failed"), "{text}");
        assert!(text.contains("1,200 cookies refused"), "{text}");
        assert!(
            text.contains("failed in /search?q=a,b: 15, the first at line 9: there is"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
        let page = crate::page::section::journeys(&assessed.run).unwrap();
        assert_eq!(page.heading, "Journeys");
    }
}
