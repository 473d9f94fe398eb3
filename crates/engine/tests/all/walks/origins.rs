//! Journeys to several hosts: every user has a connection to each, what is captured and the cookies go along, and a host
//! that fails or closes keeps nobody from the others.

use ablaze_journey::Site;
use ablaze_model::plan::origins::Origin;
use ablaze_model::plan::{Arrivals, Close, Load, Plan, RateProfile};
use ablaze_model::run::Ended;
use ablaze_net::sim::ConnectReply;
use ablaze_wire::url::Url;

use super::journeys::{PLAIN, field, first_line, journey, walk_among};
use crate::simulated::support::*;

const REFUSED: i32 = 111;

/// The plan with a journey to two hosts; the second has this many addresses.
pub(crate) fn to_two(mut plan: Plan, text: &str, addresses: u8) -> Plan {
    plan.target.others = vec![Origin {
        url: "http://other.there:81".to_owned(),
        host: "other.there".to_owned(),
        port: 81,
        addresses: (0..addresses).map(|last| ([127, 0, 1, last], 81).into()).collect(),
        tls: None,
    }];
    journey(plan, text, |route, _| {
        let other = Url::parse("http://other.there:81/").unwrap();
        route.sites.push(Site::of(&other, "test"));
    })
}

const TOKEN: &[u8] =
    b"HTTP/1.1 200 OK\r\nSet-Cookie: of=first\r\nX-Id: i7\r\nContent-Length: 2\r\n\r\nok";
const OTHERS: &[u8] =
    b"HTTP/1.1 200 OK\r\nSet-Cookie: of=second\r\nX-Id: o9\r\nContent-Length: 2\r\n\r\nok";

const THERE_AND_BACK: &str = "# name: login
GET http://there/login
HTTP 200
[Captures]
id: header \"X-Id\"

# name: other
GET http://other.there:81/{{id}}
HTTP 200
[Captures]
id: header \"X-Id\"

# name: again
GET http://other.there:81/again
HTTP 200

# name: back
GET http://there/{{id}}
HTTP 200
";

/// Responds as the first host and as the second, and looks at what comes.
fn both() -> [Script; 2] {
    let first = Script::new(&[TOKEN, PLAIN], |moment| {
        assert_eq!(field(moment.head, "Host").as_deref(), Some("there"));
        let cookie = field(moment.head, "Cookie");
        match first_line(moment.head).as_str() {
            "GET /login HTTP/1.1" => {
                assert_eq!(cookie, None);
                moment.send(100 * US, 0);
            }
            "GET /o9 HTTP/1.1" => {
                assert_eq!(cookie.as_deref(), Some("of=first"));
                moment.send(100 * US, 1);
            }
            other => panic!("{other}"),
        }
    });
    let second = Script::new(&[OTHERS], |moment| {
        assert_eq!(field(moment.head, "Host").as_deref(), Some("other.there:81"));
        let cookie = field(moment.head, "Cookie");
        match first_line(moment.head).as_str() {
            "GET /i7 HTTP/1.1" => assert_eq!(cookie, None),
            "GET /again HTTP/1.1" => assert_eq!(cookie.as_deref(), Some("of=second")),
            other => panic!("{other}"),
        }
        moment.send(70 * US, 0);
    });
    [first, second]
}

#[test]
fn users_go_there_and_back_with_a_connection_to_each_host() {
    for (connections, workers) in [(1, 1), (5, 2)] {
        let plan = to_two(with_workers(plan(40, connections), workers), THERE_AND_BACK, 1);
        walk_among(&plan, &both(), |run, journeys| {
            assert_eq!((journeys.begun, journeys.whole, journeys.failed), (40, 40, 0));
            assert_eq!((run.record.responses, run.record.failures_total()), (160, 0));
            // One worker may take all numbers before the other; then its users go nowhere.
            let opened = run.record.connections_opened;
            let all = u64::from(connections);
            assert!(
                opened == 2 * all || workers > 1 && (all..2 * all).contains(&opened),
                "{opened}"
            );
            assert_eq!(run.record.repeated, 0);
            let groups: Vec<u64> = run.record.groups.iter().map(|group| group.responses).collect();
            assert_eq!(groups, [40; 4]);
        });
    }
}

#[test]
fn connections_for_one_request_each_and_pauses_between_the_hosts() {
    for close in [Close::Await, Close::Fin, Close::Reset] {
        let mut each = closing_each(plan(20, 3));
        each.connections.close = close;
        walk_among(&to_two(each, THERE_AND_BACK, 1), &both(), |run, journeys| {
            assert_eq!((journeys.whole, journeys.failed), (20, 0), "{close:?}");
            assert_eq!((run.record.responses, run.record.connections_opened), (80, 80));
        });
    }
    let text = THERE_AND_BACK.replacen(
        "GET http://other.there:81/again\n",
        "GET http://other.there:81/again\n[Options]\ndelay: 3ms\n",
        1,
    );
    walk_among(&to_two(plan(20, 3), &text, 1), &both(), |run, journeys| {
        assert_eq!((journeys.whole, run.record.responses), (20, 80));
        assert_eq!(run.record.connections_opened, 6);
    });
}

#[test]
fn arrivals_find_users_at_whichever_host_they_are() {
    for rate_per_s in [100.0, 10_000.0] {
        for plan in [plan(50, 4), closing_each(plan(50, 4))] {
            let mut plan = to_two(plan, THERE_AND_BACK, 1);
            let rate = RateProfile::constant(rate_per_s);
            plan.load =
                Load::Open { rate, arrivals: Arrivals::Constant, connections: 4, bounded: true };
            walk_among(&plan, &both(), |run, journeys| {
                assert_eq!((journeys.begun, journeys.whole), (50, 50), "{rate_per_s}");
                assert_eq!(run.record.responses, 200);
            });
        }
    }
}

#[test]
fn a_host_that_refuses_fails_its_steps_and_nothing_else() {
    let refusing =
        Script::always(PLAIN, US).connecting(|_, _| ConnectReply::RefuseAfter(200 * US, REFUSED));
    let [first, second] = both();
    for connections in [1, 4] {
        let plan = without_repeat(to_two(plan(20, connections), THERE_AND_BACK, 1));
        walk_among(&plan, &[first.clone(), refusing.clone()], |run, journeys| {
            assert_eq!(run.ended, Ended::Complete);
            assert_eq!((journeys.begun, journeys.whole, journeys.failed), (20, 0, 20));
            assert_eq!(journeys.steps[1].failed, 20);
            let why = &journeys.steps[1].first.as_ref().unwrap().text;
            assert_eq!(why, "line 8: no response: refused");
            assert_eq!((run.record.responses, run.record.failures_total()), (20, 20));
        });
    }
    // Of two addresses the first refuses: the second is connected to, and no request is lost.
    let plan = to_two(plan(20, 2), THERE_AND_BACK, 2);
    walk_among(&plan, &[first, refusing, second], |run, journeys| {
        assert_eq!((journeys.whole, journeys.failed), (20, 0));
        assert_eq!(run.record.failures_total(), 0);
    });
}

#[test]
fn hosts_that_close_whenever_they_like_are_connected_to_again() {
    // Some close behind a response, some while the user is elsewhere, some in the middle of a response.
    for seed in 0..40_u64 {
        let closing = |of: u64| {
            Script::new(&[TOKEN, OTHERS], move |moment| {
                let response = usize::from(of > 0);
                let mut random = (seed * 31 + of) ^ moment.connection << 8 ^ moment.request;
                random = random.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
                match random {
                    0..4 => {
                        moment.send(50 * US, response);
                        moment.far.close_after(50 * US);
                    }
                    4..8 => {
                        moment.send(50 * US, response);
                        moment.far.close_after(120 * US);
                    }
                    8 => moment.send_part(50 * US, response, 20),
                    9 => {
                        moment.send_part(50 * US, response, 30);
                        moment.far.close_after(60 * US);
                    }
                    10 => moment.far.close_after(20 * US),
                    _ => moment.send(50 * US, response),
                }
            })
        };
        for plan in [plan(60, 3), without_repeat(plan(60, 3))] {
            let plan = with_timeout(to_two(plan, THERE_AND_BACK, 1), 5 * MS);
            walk_among(&plan, &[closing(0), closing(1)], |run, journeys| {
                assert_eq!(run.ended, Ended::Complete, "{seed}");
                assert_eq!(journeys.begun, 60, "{seed}");
                assert_eq!(journeys.whole + journeys.failed, 60, "{seed}");
                assert_eq!(journeys.failed, run.record.failures_total(), "{seed}");
            });
        }
    }
}

#[test]
fn a_url_of_an_unknown_host_fails_its_step_with_the_reason() {
    let text = "GET http://there/login\nHTTP 200\n[Captures]\nid: header \"X-Id\"\n\nGET http://{{id}}:9/x\n";
    walk_among(&to_two(plan(3, 1), text, 1), &both(), |run, journeys| {
        assert_eq!((journeys.failed, run.record.responses), (3, 3));
        let why = &journeys.steps[1].first.as_ref().unwrap().text;
        assert!(why.starts_with("line 6: the URL goes to http://i7:9, and "), "{why}");
    });
}
