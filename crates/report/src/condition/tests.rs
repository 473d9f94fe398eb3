//! Conditions of `--fail-if`: how they are read, and when they are met.

use super::{Condition, Metric, Outcome};
use crate::sample;
use ablaze_model::Run;
use ablaze_model::record::Phases;

fn met(text: &str, run: &Run) -> Option<String> {
    match text.parse::<Condition>().unwrap().judge(run) {
        Outcome::Met(text) => Some(text),
        Outcome::NotMet => None,
        Outcome::Unknown(text) => panic!("{text}"),
    }
}

fn error(text: &str) -> String {
    text.parse::<Condition>().unwrap_err().to_string()
}

#[test]
fn conditions_are_judged_on_the_figures_of_the_run() {
    let run = sample::troubled();
    // 20,000 responses in 10 s; 15 errors of 20,015 = 0.0749 %; 100 unexpected; ten 503.
    for holds in [
        "rate<2001",
        "rate <= 2k",
        "rate>1.9/ms",
        "errors>0",
        "errors>=15",
        "errors>0.07%",
        "unexpected>99",
        "status.503>0",
        "status.503>=10",
        "max>300ms",
        "p50>40ms",
        "p50<0.07s",
        "p99.9>69ms",
        "mean<51ms",
        "cpu>5us",
        "cpu<6000ns",
        "status.500<1",
    ] {
        assert!(met(holds, &run).is_some(), "{holds}");
    }
    for fails in [
        "rate<2000",
        "rate>2k",
        "errors>15",
        "errors>0.08%",
        "unexpected>100",
        "status.500>0",
        "status.404>90",
        "max>1m",
        "p50>0.07s",
        "p99>80ms",
        "cpu>6us",
    ] {
        assert_eq!(met(fails, &run), None, "{fails}");
    }
}

#[test]
fn what_was_met_is_said_with_its_figure() {
    let run = sample::troubled();
    assert_eq!(met("errors>0.01%", &run).unwrap(), "errors>0.01% met: 15 (0.075 %)");
    assert_eq!(met("rate<10k", &run).unwrap(), "rate<10k met: 2,000/s");
    assert_eq!(met("status.404 > 5", &run).unwrap(), "status.404 > 5 met: 90");
}

#[test]
fn the_figure_is_there_whether_or_not_the_condition_holds() {
    let run = sample::troubled();
    let figure = |text: &str| text.parse::<Condition>().unwrap().figure(&run);
    assert_eq!(figure("errors<0.01%").unwrap(), "15 (0.075 %)");
    assert_eq!(figure("rate>10k").unwrap(), "2,000/s");
    assert_eq!(figure("lag<1ms"), None);
    let limit = |text: &str| text.parse::<Condition>().unwrap().limit_ns();
    assert_eq!((limit("p99<20ms"), limit("rate>10")), (Some(2e7), None));
}

/// Where the table prints `-`, nothing is judged either.
#[test]
fn a_percentile_that_too_few_responses_came_for_is_not_judged() {
    let mut run = sample::ordinary();
    run.record.answered = Phases::default();
    run.record.answered.total.record_many(100_000, 50);
    let judged = |text: &str| text.parse::<Condition>().unwrap().judge(&run);
    for condition in ["p99>1us", "p99<1s"] {
        let Outcome::Unknown(text) = judged(condition) else { panic!("{condition}") };
        assert!(text.ends_with("it needs 368 values, and there are 50"), "{text}");
    }
    assert!(matches!(judged("p50>1us"), Outcome::Met(_)));
    assert!(matches!(judged("max>1s"), Outcome::NotMet));
    let stand_in = |text: &str| text.parse::<Condition>().unwrap().stand_in(&run);
    assert_eq!(stand_in("p99<1us"), ", the longest: p99 needs 368 values, and there are 50");
    assert_eq!(stand_in("p50<1us"), "");
}

#[test]
fn a_figure_that_does_not_exist_never_passes_for_good() {
    for condition in ["p99>50ms", "rate<1", "cpu>1ms"] {
        let outcome = condition.parse::<Condition>().unwrap().judge(&sample::refused());
        assert!(matches!(outcome, Outcome::Unknown(_)), "{condition}: {outcome:?}");
    }
    let empty = "errors>1%".parse::<Condition>().unwrap().judge(&sample::empty());
    assert!(matches!(empty, Outcome::Unknown(_)));
    assert!(met("errors>0", &sample::refused()).is_some());
}

#[test]
fn a_time_without_a_unit_is_refused() {
    for metric in ["p99", "mean", "max", "lag", "cpu", "p99.9"] {
        for limit in ["20", " 0.5", "0"] {
            let refused = error(&format!("{metric}<{limit}"));
            assert!(refused.contains("needs a unit"), "{refused}");
            assert!(refused.contains(&format!("`{metric}<{limit}ms`")), "{refused}");
        }
    }
    for fine in ["rate<20", "errors<20", "status.503>0", "unexpected<5"] {
        assert!(fine.parse::<Condition>().is_ok(), "{fine}");
    }
}

#[test]
fn what_cannot_be_understood_names_the_fix() {
    assert!(error("p99").contains("such as p99>50ms"));
    assert!(error("latency>5ms").contains("rate mean p50 p90 p99 p99.9"));
    assert!(error("p>5ms").contains("unknown metric"));
    assert!(error("p100>5ms").contains("between 0 and 100"));
    assert!(error("p0>5ms").contains("between 0 and 100"));
    assert!(error("pNaN>5ms").contains("unknown metric"));
    assert!(error("p99>50kg").contains("50ms"));
    assert!(error("p99>1%").contains("a time"));
    assert!(error("p99>-5ms").contains("a time"));
    assert!(error("rate<10ms").contains("a rate"));
    assert!(error("errors>101%").contains("a share"));
    assert!(error("errors>").contains("a share"));
    assert!(error("status.5xx>0").contains("three digits"));
    assert!(error("lag>1%").contains("a time"));
    assert!(error("").contains("such as p99>50ms"));
}

/// A percentile of a few is their largest, of lag as of latency.
#[test]
fn a_lag_of_few_requests_is_judged_by_the_latest() {
    let mut run = crate::sample::ordinary();
    let mut intended = ablaze_model::record::Intended::default();
    intended.lag.record_many(3_000_000, 125);
    run.record.answered.intended = Some(Box::new(intended));
    let judged = |text: &str| text.parse::<Condition>().unwrap().judge_by_slowest(&run);
    assert!(matches!(judged("lag<50ms"), Outcome::Met(_)), "{:?}", judged("lag<50ms"));
    assert_eq!(judged("lag<1ms"), Outcome::NotMet);
    let plain = "lag<50ms".parse::<Condition>().unwrap().judge(&run);
    assert!(matches!(plain, Outcome::Unknown(_)), "{plain:?}");
}

#[test]
fn a_percentile_of_few_values_excludes_what_the_shortest_and_longest_exclude() {
    let mut run = sample::ordinary();
    run.record.answered.total.clear();
    for ns in [2_000_000, 3_000_000] {
        run.record.answered.total.record(ns);
    }
    assert_eq!(met("p99.9>1s", &run), None);
    assert_eq!(met("p99.9<1ms", &run), None);
    let open = "p99.9>2500us".parse::<Condition>().unwrap();
    assert!(matches!(open.judge(&run), Outcome::Unknown(_)), "between the two nobody knows");
    let shown = "p99.9>1ms".parse::<Condition>().unwrap();
    assert!(matches!(shown.judge(&run), Outcome::Unknown(_)), "no figure is there to show");
    assert_eq!(met("p50>1h", &run), None);
}

#[test]
fn the_share_of_checks_that_passed_is_a_metric() {
    let run = sample::checked();
    let judged = |run: &Run, text: &str| text.parse::<Condition>().unwrap().judge(run);
    // 59,800 of 60,000.
    assert_eq!(judged(&run, "checks<99%"), Outcome::NotMet);
    assert_eq!(judged(&run, "checks<99.9%"), Outcome::Met("checks<99.9% met: 99.7 %".to_owned()));
    assert_eq!(judged(&run, "checks>=99.5%"), Outcome::Met("checks>=99.5% met: 99.7 %".to_owned()));
    let unknown = |run: &Run| match judged(run, "checks<99%") {
        Outcome::Unknown(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        unknown(&sample::ordinary()),
        "checks<99%: cannot be evaluated, nothing is checked (--assert)"
    );
    let mut without = sample::checked();
    without.record.checks = Some(Box::new(ablaze_model::record::Checks::new(["size>0"])));
    assert_eq!(unknown(&without), "checks<99%: cannot be evaluated, no response was checked");
    for wrong in ["checks<99", "checks<101%", "checks<5ms"] {
        let error = wrong.parse::<Condition>().unwrap_err().to_string();
        assert!(error.ends_with("use a share such as 99%"), "{error}");
    }
}

#[test]
fn a_condition_can_be_put_on_a_group_or_a_journey() {
    let condition = |text: &str| text.parse::<Condition>().unwrap();
    for (text, name, metric) in [
        ("login.p99<300ms", Some("login"), Metric::Percentile(99.0)),
        ("browse.item.p99.9<1s", Some("browse.item"), Metric::Percentile(99.9)),
        ("GET /a.html.errors>1%", Some("GET /a.html"), Metric::Errors),
        ("login.status.500>0", Some("login"), Metric::Status(500)),
        ("status.500>0", None, Metric::Status(500)),
        ("p99.9>1s", None, Metric::Percentile(99.9)),
    ] {
        let condition = condition(text);
        assert_eq!((condition.name(), condition.metric()), (name, metric), "{text}");
    }
    assert!("login.speed<1s".parse::<Condition>().is_err());
    assert!(".p99<1s".parse::<Condition>().is_err());
    let run = sample::grouped();
    let judged = |text: &str| condition(text).judge(&run);
    // 15 of 5,000 searches failed, and none of the items.
    assert_eq!(judged("/item.errors>0"), Outcome::NotMet);
    assert!(matches!(judged("/search?q=a,b.errors>0.29%"), Outcome::Met(_)));
    assert_eq!(judged("/search?q=a,b.errors>0.31%"), Outcome::NotMet);
    let p99 = |name: &str| {
        let group = run.record.groups.iter().find(|group| group.name == name).unwrap();
        group.answered.latency().quantile_ns(0.99).unwrap()
    };
    let (fast, slow) = (p99("/item"), p99("/search?q=a,b"));
    assert!(fast < slow);
    let between = format!("p99>{}ns", (fast + slow) / 2);
    assert_eq!(judged(&format!("/item.{between}")), Outcome::NotMet);
    assert!(matches!(judged(&format!("/search?q=a,b.{between}")), Outcome::Met(_)));
    let Outcome::Unknown(text) = judged("nobody.p99>1s") else { panic!() };
    assert!(text.contains("no group `nobody`"), "{text}");
}

#[test]
fn journeys_have_figures_and_names_that_no_plan_has_are_refused() {
    use ablaze_model::plan::journey::PlannedJourney;
    use ablaze_model::plan::users::{Users, WeightedJourney};
    use ablaze_model::record::Journeys;
    let mut run = sample::grouped();
    let mut journeys = Journeys::of_several(&[], ["buy", "browse"].map(str::to_owned).into_iter());
    (journeys.begun, journeys.whole, journeys.failed) = (1_000, 990, 10);
    journeys.duration.record_many(1_000_000, 990);
    let buy = &mut journeys.each[0];
    (buy.begun, buy.whole, buy.failed) = (100, 90, 10);
    buy.duration.record_many(2_000_000, 90);
    run.record.journeys = Some(Box::new(journeys));
    let one = |name: &str| WeightedJourney { name: name.to_owned(), weight: 1 };
    run.plan.journey = Some(PlannedJourney {
        name: "buy.hurl".to_owned(),
        steps: vec!["/item".to_owned(), "/search?q=a,b".to_owned()],
        any_status: Vec::new(),
        users: Users { journeys: vec![one("buy"), one("browse")], ..Users::default() },
        route: None,
    });
    run.plan.requests.groups.names = vec!["/item".to_owned(), "/search?q=a,b".to_owned()];
    let condition = |text: &str| text.parse::<Condition>().unwrap();
    assert!(matches!(condition("buy.errors>9%").judge(&run), Outcome::Met(_)));
    assert_eq!(condition("browse.errors>0").judge(&run), Outcome::NotMet);
    assert!(matches!(condition("journey.errors>0.9%").judge(&run), Outcome::Met(_)));
    assert!(matches!(condition("buy.p90>1.5ms").judge(&run), Outcome::Met(_)));
    assert_eq!(condition("journey.p95>1.5ms").judge(&run), Outcome::NotMet);
    let check = |text: &str| {
        let plan = &run.plan;
        condition(text).check(&plan.requests.groups, plan.journey.as_ref())
    };
    for good in ["buy.p90>1s", "journey.rate<1", "/item.status.500>0", "p99>1s"] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    let wrong = check("by.p90>1s").unwrap_err().to_string();
    let names = "there is no group `by`; there are: /item, /search?q=a,b, buy, browse, journey";
    assert!(wrong.contains(names), "{wrong}");
    assert!(check("buy.cpu>1ms").is_err());
    assert!(check("journey.unexpected>0").is_err());
}

/// What is printed must not contradict what is said of it.
#[test]
fn a_figure_is_told_from_its_limit() {
    let mut run = sample::ordinary();
    let times = &mut run.record.answered.total;
    times.clear();
    times.record_many(29_960_000, 20_000);
    let p99 = super::Metric::Percentile(99.0).value(&run).unwrap();
    assert!((29_950_000.0..30_000_000.0).contains(&p99), "{p99}");
    let said = met("p99<30ms", &run).unwrap();
    assert!(said.contains("29.9") && !said.contains("30.0 ms"), "{said}");
    let said = "p99<31ms".parse::<Condition>().unwrap().figure(&run).unwrap();
    assert_eq!(said, "30.0 ms", "no more than is needed");
    assert_eq!(super::time_from(30e6, 30e6), "30.0 ms");
    assert_eq!(super::time_from(999_999.0, 1e6), "0.999999 ms");
    assert_eq!(super::rate_from(999.96, 1000.0), "999.96");
    assert_eq!(super::percent_from(0.99996, 1.0), "0.99996 %");
}
