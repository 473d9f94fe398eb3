//! Redirects of journeys: each is a request of its own with its own row, also to another host, and the step sees the last
//! response.

use std::sync::Arc;

use ablaze_model::plan::Plan;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::RedirectRow;

use super::journeys::{PLAIN, first_line, walk_among};
use super::origins::to_two;
use crate::simulated::support::*;

const THERE: &[u8] =
    b"HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: c=1\r\nContent-Length: 4\r\n\r\ngone";
const ELSEWHERE: &[u8] =
    b"HTTP/1.1 307 Temporary\r\nLocation: http://other.there:81/c\r\nContent-Length: 0\r\n\r\n";
const NOWHERE: &[u8] =
    b"HTTP/1.1 302 Found\r\nLocation: http://nobody/\x07\r\nContent-Length: 0\r\n\r\n";
const BROKEN: &[u8] = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";

/// The first step follows redirects, of which two have a row.
fn following(plan: Plan, text: &str) -> Plan {
    let mut plan = to_two(plan, text, 1);
    let journey = plan.journey.as_mut().unwrap();
    let mut names = journey.steps.clone();
    names.extend(["one", "two"].map(str::to_owned));
    let route = Arc::get_mut(journey.route.as_mut().unwrap()).unwrap();
    let first = route.journey.steps.len() as u32;
    route.redirects =
        vec![[first, first + 1].map(|row| RedirectRow { get: row, same: row }).to_vec()];
    plan.requests.groups = Groups::of(&names);
    plan.requests.templates = vec![get("/"); names.len()];
    plan
}

const STEPS: &str = "# name: login
POST http://there/a
[Options]
location: true
HTTP 200
[Captures]
url: url
[Asserts]
body == \"ok\"

# name: next
GET http://there/next
[Query]
from: {{url}}
HTTP 200
";

#[test]
fn each_redirect_is_a_request_with_a_row_and_the_step_sees_the_last_response() {
    let first =
        Script::new(&[THERE, ELSEWHERE, PLAIN], |moment| match first_line(moment.head).as_str() {
            "POST /a HTTP/1.1" => moment.send(100 * US, 0),
            "GET /b HTTP/1.1" => moment.send(100 * US, 1),
            "GET /next?from=http%3A%2F%2Fother.there%3A81%2Fc HTTP/1.1" => moment.send(100 * US, 2),
            other => panic!("{other}"),
        });
    let second = Script::new(&[PLAIN], |moment| {
        assert_eq!(first_line(moment.head), "GET /c HTTP/1.1");
        moment.send(100 * US, 0);
    });
    for plan in [plan(20, 3), closing_each(plan(20, 3))] {
        walk_among(&following(plan, STEPS), &[first.clone(), second.clone()], |run, journeys| {
            assert_eq!((journeys.whole, journeys.failed), (20, 0));
            assert_eq!((journeys.asserts_passed, journeys.asserts_failed), (3 * 20, 0));
            let groups: Vec<_> = run
                .record
                .groups
                .iter()
                .map(|group| (group.name.as_str(), group.responses))
                .collect();
            assert_eq!(groups, [("login", 20), ("next", 20), ("one", 20), ("two", 20)]);
            assert_eq!((run.record.responses, run.record.failures_total()), (80, 0));
        });
    }
}

#[test]
fn what_a_redirect_fails_for_is_counted_and_told() {
    // (response to the first, to the redirect, requests of each journey, the reason)
    let table: [(&[u8], &[u8], u64, &str); 4] = [
        (THERE, BROKEN, 2, "line 6: the status is 500, not 200"),
        (NOWHERE, PLAIN, 1, "line 2: the redirect goes to http://nobody, and "),
        (THERE, THERE, 2, "line 2: too many redirects: the limit is 1 (fix: max-redirs)"),
        (THERE, b"nonsense", 2, "line 2: no response behind redirect 1: malformed"),
    ];
    for (first, then, requests, why) in table {
        let peer = Script::new(&[first, then], |moment| {
            moment.send(100 * US, usize::from(moment.head.starts_with(b"GET /b ")));
        });
        let text = STEPS.replace("location: true", "location: true\nmax-redirs: 1");
        let plan = without_repeat(following(plan(10, 2), &text));
        walk_among(&plan, &[peer.clone(), peer], |run, journeys| {
            assert_eq!((journeys.whole, journeys.failed), (0, 10), "{why}");
            assert_eq!(run.record.finished(), 10 * requests, "{why}");
            let text = &journeys.steps[0].first.as_ref().unwrap().text;
            assert!(text.starts_with(why), "{text}");
        });
    }
}

#[test]
fn a_step_that_is_tried_again_begins_with_its_own_request_and_unused_rows_are_left_out() {
    let peer = Script::new(&[THERE, BROKEN, PLAIN], |moment| {
        let response = match (moment.head.starts_with(b"POST /a "), moment.request) {
            (true, _) => 0,
            (false, 1) => 1,
            _ => 2,
        };
        moment.send(100 * US, response);
    });
    let text = "# name: login\nPOST http://there/a\n[Options]\nlocation: true\nretry: 1\nretry-interval: 1ms\nHTTP 200\n";
    walk_among(&following(plan(1, 1), text), &[peer.clone(), peer], |run, journeys| {
        assert_eq!((journeys.whole, journeys.failed), (1, 0));
        let groups: Vec<_> =
            run.record.groups.iter().map(|group| (group.name.as_str(), group.responses)).collect();
        assert_eq!(groups, [("login", 2), ("one", 2)]);
    });
}
