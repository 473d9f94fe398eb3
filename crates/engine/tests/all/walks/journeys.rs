//! Journeys over the simulated network: what is captured flows into the next request, what fails ends one journey and
//! no other, every iteration begins anew, and the numbers are right.

use std::sync::{Arc, Mutex};

use ablaze_engine::journey::JourneyWalks;
use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_journey::{Files, Site, Value, compile, parse};
use ablaze_model::Run;
use ablaze_model::feed::{Encoding, Format, Order, Table, Wanted};
use ablaze_model::plan::data::Data;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::{PlannedJourney, Route};
use ablaze_model::plan::users::{Users, Ways};
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_model::record::Journeys;
use ablaze_net::sim::SimPeer;
use ablaze_wire::url::Url;

use crate::simulated::support::*;

/// The plan with this file as its journey.
pub fn journey(plan: Plan, text: &str, change: impl FnOnce(&mut Route, &mut Plan)) -> Plan {
    let mut plan = plan;
    let file = parse(text, "t.hurl").unwrap_or_else(|error| panic!("{error}"));
    let journey = compile(&file, "t.hurl").unwrap_or_else(|error| panic!("{error}"));
    let steps: Vec<String> = journey.steps.iter().map(|step| step.name.clone()).collect();
    plan.requests.templates = vec![get("/"); steps.len()];
    plan.requests.groups = Groups::of(&steps);
    let mut route = Route {
        given: journey.variables(),
        sites: vec![Site::of(&Url::parse("http://there/").unwrap(), "test")],
        files: Files::new(),
        columns: Vec::new(),
        secrets: Vec::new(),
        redirects: Vec::new(),
        continue_on_error: false,
        trace: None,
        ways: Ways::default(),
        journey,
    };
    change(&mut route, &mut plan);
    let (steps_of, users) = (&route.journey.steps, Users::default());
    let is_any = |step: &usize| steps_of[*step].permits_any_status();
    let any_status = (0..steps_of.len()).filter(is_any).collect();
    let (name, route) = ("t.hurl".to_owned(), Some(Arc::new(route)));
    plan.journey = Some(PlannedJourney { name, steps, any_status, users, route });
    plan
}

/// Over both kinds of driver.
pub fn walk(plan: &Plan, peer: &Script, check: impl Fn(&Run, &Journeys)) {
    walk_among(plan, std::slice::from_ref(peer), check);
}

/// As [`walk`], with a peer per address.
pub fn walk_among<P: SimPeer + Sync>(plan: &Plan, peers: &[P], check: impl Fn(&Run, &Journeys)) {
    let control = Control::new();
    for at_once in [false, true] {
        let plan = plan.clone();
        let walks = JourneyWalks::of(&plan).unwrap();
        let make = |of| walks.walk(of);
        let done = match at_once {
            false => run_simulated_with_sinks::<P, _, false>(plan, peers, &control, make),
            true => run_simulated_with_sinks::<P, _, true>(plan, peers, &control, make),
        };
        let (run, _) = done.unwrap();
        check_sums(&run);
        check(&run, run.record.journeys.as_ref().unwrap());
    }
}

pub fn first_line(head: &[u8]) -> String {
    String::from_utf8_lossy(head).lines().next().unwrap_or_default().to_owned()
}

pub fn field(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head).into_owned();
    let line = head.lines().find(|line| line.starts_with(&format!("{name}: ")))?;
    Some(line[name.len() + 2..].to_owned())
}

const LOGIN: &[u8] = b"HTTP/1.1 200 OK\r\nSet-Cookie: session=s1; Path=/\r\nX-Id: i7\r\nContent-Length: 15\r\n\r\n{\"token\":\"t&1\"}";
pub(super) const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const BROKEN: &[u8] = b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno";

const THREE: &str = "# name: login
GET http://there/login
[Query]
user: ann b
HTTP 200
[Captures]
token: jsonpath \"$.token\"
id: header \"X-Id\"
[Asserts]
jsonpath \"$.token\" exists

# name: item
GET http://there/items/{{id}}
[Query]
token: {{token}}
HTTP 200

# name: list
GET http://there/list
HTTP 200
[Asserts]
body == \"ok\"
";

#[test]
fn captures_and_cookies_flow_into_the_next_requests_and_every_iteration_begins_anew() {
    let peer = Script::new(&[LOGIN, PLAIN], |moment| {
        let cookie = field(moment.head, "Cookie");
        match first_line(moment.head).as_str() {
            "GET /login?user=ann%20b HTTP/1.1" => {
                assert_eq!(cookie, None, "a cookie of the iteration before");
                moment.send(100 * US, 0);
            }
            "GET /items/i7?token=t%261 HTTP/1.1" | "GET /list HTTP/1.1" => {
                assert_eq!(cookie.as_deref(), Some("session=s1"));
                moment.send(100 * US, 1);
            }
            other => panic!("{other}"),
        }
    });
    for (connections, workers) in [(1, 1), (5, 2)] {
        for plan in [plan(20, connections), closing_each(plan(20, connections))] {
            let plan = journey(with_workers(plan, workers), THREE, |_, _| {});
            walk(&plan, &peer, |run, journeys| {
                assert_eq!((journeys.begun, journeys.whole, journeys.failed), (20, 20, 0));
                assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (5 * 20, 0));
                assert_eq!(journeys.duration.count(), 20);
                let groups: Vec<_> = run
                    .record
                    .groups
                    .iter()
                    .map(|group| (group.name.as_str(), group.responses))
                    .collect();
                assert_eq!(groups, [("login", 20), ("item", 20), ("list", 20)]);
                assert_eq!((run.record.responses, run.record.failures_total()), (60, 0));
            });
        }
    }
}

#[test]
fn what_fails_ends_its_journey_and_nothing_else() {
    // Every fourth login gives another status, every fourth of the others no token.
    const NO_TOKEN: &[u8] = b"HTTP/1.1 200 OK\r\nX-Id: i7\r\nContent-Length: 2\r\n\r\n{}";
    let logins = Arc::new(Mutex::new(0));
    let count = Arc::clone(&logins);
    let peer = Script::new(&[LOGIN, PLAIN, BROKEN, NO_TOKEN], move |moment| {
        if !moment.head.starts_with(b"GET /login") {
            return moment.send(100 * US, 1);
        }
        let mut count = count.lock().unwrap();
        *count += 1;
        moment.send(
            100 * US,
            match *count % 4 {
                1 => 2,
                2 => 3,
                _ => 0,
            },
        );
    });
    let plan = journey(plan(40, 4), THREE, |_, _| {});
    walk(&plan, &peer, |run, journeys| {
        assert_eq!((journeys.begun, journeys.whole, journeys.failed), (40, 20, 20));
        assert_eq!(journeys.unfinished(), 0);
        assert_eq!(run.record.responses, 40 + 2 * 20);
        let failed: Vec<u64> = journeys.steps.iter().map(|step| step.failed).collect();
        assert_eq!(failed, [20, 0, 0]);
        let why = &journeys.steps[0].first.as_ref().unwrap().text;
        assert_eq!(why, "line 5: the status is 500, not 200");
        assert_eq!(journeys.asserts_failed, 10);
        // The peer of the second driver counts on from a multiple of four.
        assert_eq!(*logins.lock().unwrap() % 4, 0);
    });
}

#[test]
fn a_journey_goes_on_after_an_error_when_asked_and_counts_as_failed_once() {
    let text = "GET http://there/a\nHTTP 201\n\nGET http://there/b\nHTTP 201\n\nGET http://there/c\nHTTP 200\n";
    let plan = journey(plan(10, 2), text, |route, _| route.continue_on_error = true);
    walk(&plan, &Script::always(PLAIN, 100 * US), |run, journeys| {
        assert_eq!((journeys.begun, journeys.whole, journeys.failed), (10, 0, 10));
        assert_eq!(run.record.responses, 30);
        assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (10, 20));
        let failed: Vec<u64> = journeys.steps.iter().map(|step| step.failed).collect();
        assert_eq!(failed, [10, 0, 0]);
    });
}

#[test]
fn an_exchange_that_fails_ends_its_journey() {
    let peer = Script::new(&[PLAIN], |moment| {
        if !(moment.connection == 0 && moment.head.starts_with(b"GET /b ")) {
            moment.send(100 * US, 0);
        }
    });
    let text = "GET http://there/a\n\nGET http://there/b\n\nGET http://there/c\n";
    let plan = with_timeout(without_repeat(plan(10, 2)), 50 * MS);
    walk(&journey(plan, text, |_, _| {}), &peer, |run, journeys| {
        assert_eq!((journeys.whole, journeys.failed), (9, 1));
        assert_eq!(journeys.steps[1].first.as_ref().unwrap().text, "line 3: no response: timeout");
        assert_eq!(run.record.failures_total(), 1);
    });
}

/// Deadlines are looked for once in a while: what is read whole between its deadline and the look is as late as the others.
#[test]
fn a_response_behind_its_time_ends_its_journey_too() {
    let peer = Script::new(&[PLAIN], |moment| {
        let around = (moment.connection * 97 + moment.request * 131) % 1_000;
        moment.send(50 * MS - 500 * US + around * US, 0);
    });
    let plan = with_timeout(without_repeat(plan(400, 8)), 50 * MS);
    walk(&journey(plan, "GET http://there/a\n", |_, _| {}), &peer, |run, journeys| {
        let late = run.record.circumstances.came_late;
        assert!(late > 0 && run.record.failures_total() >= late, "{late}: none came late");
        assert_eq!(journeys.whole, run.record.responses);
        assert_eq!(journeys.failed, run.record.failures_total());
    });
}

#[test]
fn delays_repeats_and_retries() {
    let text = "GET http://there/a\n[Options]\ndelay: 5ms\nrepeat: 3\n\nGET http://there/b\n[Options]\nretry: 2\n\
                retry-interval: 10ms\nHTTP 200\n\nGET http://there/c\n[Options]\nskip: true\n";
    let peer = Script::new(&[PLAIN, BROKEN], |moment| {
        let fails = moment.head.starts_with(b"GET /b ") && moment.request < 5;
        assert!(!moment.head.starts_with(b"GET /c "));
        moment.send(100 * US, usize::from(fails));
    });
    // One user, one connection: requests 0 to 2 are a, 3 and 4 fail, 5 is the last try.
    walk(&journey(plan(1, 1), text, |_, _| {}), &peer, |run, journeys| {
        assert_eq!((journeys.whole, journeys.failed), (1, 0));
        assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (1, 0));
        assert_eq!(run.record.responses, 6);
        let duration_ns = journeys.duration.max_ns().unwrap();
        assert!((35 * MS..40 * MS).contains(&duration_ns), "{duration_ns}");
    });
    let never = Script::always(BROKEN, 100 * US);
    let text = "GET http://there/b\n[Options]\nretry: 2\nretry-interval: 10ms\nHTTP 200\n";
    walk(&journey(plan(3, 1), text, |_, _| {}), &never, |run, journeys| {
        assert_eq!((journeys.failed, journeys.asserts_failed, run.record.responses), (3, 3, 9));
    });
}

#[test]
fn rows_of_a_feed_and_reserved_variables_are_set_in_every_iteration() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&seen);
    let peer = Script::new(&[PLAIN], move |moment| {
        log.lock().unwrap().push(first_line(moment.head));
        moment.send(100 * US, 0);
    });
    let text = "GET http://there/{{ablaze_seq}}/{{user}}/{{other}}\n[Options]\nvariable: other=x\n\n\
                GET http://there/2/{{user}}\n";
    let plan = journey(plan(3, 1), text, |route, plan| {
        let wanted = [Wanted { column: "user".to_owned(), encoding: Encoding::Raw }];
        let table = Table::read(b"id,user\n1,ann\n2,bob c\n", Format::Csv, &wanted).unwrap();
        plan.requests.data = Some(Data::new("u.csv", Order::Sequential, table));
        route.columns = vec![route.journey.names().slot("user").unwrap()];
    });
    walk(&plan, &peer, |_, journeys| {
        assert_eq!(journeys.whole, 3);
        let expected = ["/0/ann/x", "/2/ann", "/1/bob%20c/x", "/2/bob%20c", "/2/ann/x", "/2/ann"];
        let expected: Vec<_> = expected.map(|path| format!("GET {path} HTTP/1.1")).into();
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
    });
}

#[test]
fn what_cannot_be_sent_fails_without_holding_the_worker_up() {
    // The variable is text with a line end, which must not reach the head.
    let text = "GET http://there/a\nX-Name: {{name}}\n";
    let plan = plan_for(20 * MS, 2);
    let plan = journey(plan, text, |route, _| {
        let slot = route.journey.names().slot("name").unwrap();
        route.given.set(slot, Some(Value::from("a\r\nX-Evil: 1")));
    });
    walk(&plan, &Script::always(PLAIN, 100 * US), |run, journeys| {
        assert_eq!((run.record.responses, journeys.whole), (0, 0));
        assert!((10..=100).contains(&journeys.failed), "{}", journeys.failed);
        let why = &journeys.steps[0].first.as_ref().unwrap().text;
        assert_eq!(
            why,
            "line 1: the value of the header field X-Name has a line end or a zero byte in it"
        );
    });
}

#[test]
fn secrets_are_not_in_messages() {
    let text = "GET http://there/a\nHTTP *\n[Asserts]\nbody == \"{{password}}\"\nheader \"X-Id\" == \"{{password}}\"\n";
    let plan = journey(plan(1, 1), text, |route, _| {
        let slot = route.journey.names().slot("password").unwrap();
        route.given.set(slot, Some(Value::from("i7")));
        route.secrets = vec!["i7".to_owned(), "t&1".to_owned()];
    });
    walk(&plan, &Script::always(LOGIN, 100 * US), |_, journeys| {
        let why = &journeys.steps[0].first.as_ref().unwrap().text;
        assert!(why.contains("***") && !why.contains("t&1"), "{why}");
        assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (1, 1));
    });
}

#[test]
fn a_body_beyond_the_limit_fails_its_journey_with_the_reason() {
    let mut large = b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n".to_vec();
    large.resize(large.len() + 2_000_000, b'x');
    let text = "GET http://there/a\n[Options]\nvariable: x=1\nHTTP 200\n[Captures]\nall: body\n\nGET http://there/b\n";
    walk(
        &journey(plan(2, 1), text, |_, _| {}),
        &Script::always(&large, 100 * US),
        |run, journeys| {
            assert_eq!((journeys.failed, run.record.responses), (2, 2));
            let why = &journeys.steps[0].first.as_ref().unwrap().text;
            assert_eq!(
                why,
                "line 6: the capture of all: the body has 2000000 bytes, and captures and asserts look at 1048576 at most"
            );
        },
    );
}

#[test]
fn journeys_of_the_warm_up_do_not_count_and_those_cut_off_are_unfinished() {
    let text =
        "GET http://there/a\n[Options]\ndelay: 3ms\n\nGET http://there/b\n[Options]\ndelay: 3ms\n";
    let mut plan = plan_for(20 * MS, 3);
    plan.limits.warmup_ns = 10 * MS;
    walk(&journey(plan, text, |_, _| {}), &Script::always(PLAIN, 100 * US), |_, journeys| {
        // 6.2 ms each: per user the rest of one from the warm-up, two whole ones, the beginning of a third.
        assert_eq!((journeys.begun, journeys.whole, journeys.failed), (9, 6, 0));
        assert_eq!(journeys.unfinished(), 3);
    });
}

#[test]
fn arrivals_are_journeys_and_late_ones_are_timed_from_when_they_were_due() {
    let text = "GET http://there/a\n\nGET http://there/b\n";
    let mut plan = plan(20, 1);
    let rate = RateProfile::constant(10_000.0);
    plan.load = Load::Open { rate, arrivals: Arrivals::Constant, connections: 1, bounded: true };
    walk(&journey(plan, text, |_, _| {}), &Script::always(PLAIN, MS), |_, journeys| {
        assert_eq!((journeys.begun, journeys.whole), (20, 20));
        // One user needs 2 ms for each, and one is due every 0.1 ms.
        let longest_ns = journeys.duration.max_ns().unwrap();
        assert!(longest_ns > 35 * MS, "{longest_ns}");
    });
}
