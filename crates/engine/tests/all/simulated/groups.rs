//! Groups of requests: what becomes of a request is counted in its own group, however it ends.

use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_model::record::GroupRecord;
use ablaze_model::{FailureKind, Run};
use ablaze_net::sim::ConnectReply;

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::Http2Script;
use crate::simulated::support::{
    HELLO, HELLO_CLOSE, MS, Moment, S, Script, US, check_sums, clock_before, closing_each, get,
    pipelined, plan, plan_for, run, with_timeout, with_workers,
};

const MISSING: &[u8] = b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno";

/// The same with these paths in turn, each a group of its own.
pub fn grouped(mut plan: Plan, paths: &[&str]) -> Plan {
    plan.requests.templates = paths.iter().map(|path| get(path)).collect();
    plan.requests.order = (0..paths.len() as u32).collect();
    let names: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    plan.requests.groups = Groups::of(&names);
    plan
}

fn open(mut plan: Plan, per_s: f64, connections: u32) -> Plan {
    let rate = RateProfile::constant(per_s);
    plan.load = Load::Open { rate, arrivals: Arrivals::Constant, connections, bounded: true };
    plan
}

fn group<'a>(run: &'a Run, name: &str) -> &'a GroupRecord {
    run.record.groups.iter().find(|group| group.name == name).unwrap()
}

fn failures(group: &GroupRecord, kind: FailureKind) -> u64 {
    group.failures[kind as usize]
}

/// What the path asks for.
fn by_path(moment: &mut Moment<'_, '_>) {
    match moment.head {
        head if head.starts_with(b"GET /good ") => moment.send(MS, 0),
        head if head.starts_with(b"GET /missing ") => moment.send(3 * MS, 1),
        head if head.starts_with(b"GET /reset ") => moment.far.reset_after(MS),
        head if head.starts_with(b"GET /part ") => {
            moment.send_part(MS, 0, HELLO.len() - 2);
            moment.far.close_after(2 * MS);
        }
        _ => {}
    }
}

fn peer() -> Script {
    Script::new(&[HELLO, MISSING], by_path)
}

const PATHS: [&str; 5] = ["/good", "/missing", "/reset", "/part", "/silent"];

#[test]
fn responses_and_failures_count_where_their_request_belongs() {
    for workers in [1, 3] {
        let plan = with_workers(with_timeout(plan(100, 5), 20 * MS), workers);
        run(&grouped(plan, &PATHS), &peer(), |run| {
            check_sums(run);
            let names: Vec<&str> = run.record.groups.iter().map(|group| &group.name[..]).collect();
            assert_eq!(names, PATHS);
            let good = group(run, "/good");
            assert_eq!((good.responses, good.unexpected, good.failures_total()), (20, 0, 0));
            assert_eq!((good.statuses[&200], good.body_bytes), (20, 100));
            assert_eq!(good.answered.wait.max_ns(), Some(MS));
            assert_eq!(good.answered.total.max_ns(), Some(MS));
            let missing = group(run, "/missing");
            assert_eq!((missing.responses, missing.unexpected), (20, 20));
            assert_eq!((missing.statuses[&404], missing.body_bytes), (20, 40));
            assert_eq!(missing.answered.total.min_ns(), Some(3 * MS));
            assert_eq!(failures(group(run, "/reset"), FailureKind::Reset), 20);
            let part = group(run, "/part");
            assert_eq!(failures(part, FailureKind::ShortBody), 20);
            assert_eq!((part.responses, part.body_bytes), (0, 60));
            assert_eq!(part.failed.wait.max_ns(), Some(MS));
            let silent = group(run, "/silent");
            assert_eq!(failures(silent, FailureKind::Timeout), 20);
            assert!(silent.failed.total.min_ns() >= Some(20 * MS));
        });
    }
}

#[test]
fn in_a_pipeline_too() {
    // What is cut off with a request before it fails with it, or is sent again.
    for depth in [2, 5] {
        let plan = pipelined(with_timeout(plan(400, 3), 20 * MS), depth);
        run(&grouped(plan, &PATHS[..4]), &peer(), |run| {
            check_sums(run);
            for group in &run.record.groups {
                assert_eq!(group.finished(), 100, "{}", group.name);
            }
            let [good, missing] = ["/good", "/missing"].map(|name| group(run, name));
            assert!(good.responses > 0 && missing.responses > 0);
            assert_eq!((good.unexpected, missing.unexpected), (0, missing.responses));
            let cut = ["/reset", "/part"].map(|name| group(run, name).responses);
            assert_eq!(cut, [0, 0]);
            assert!(run.record.repeated > 0);
        });
    }
}

#[test]
fn streams_count_where_their_request_belongs() {
    let peer = Http2Script::new(|asked| match asked.request % 3 {
        0 => asked.response(MS),
        1 => asked.reset(2 * MS),
        _ => asked.begin(MS),
    });
    let plan = over_http2(with_timeout(plan(90, 1), 20 * MS), 6);
    run(&grouped(plan, &["/good", "/reset", "/begun"]), &peer, |run| {
        check_sums(run);
        let good = group(run, "/good");
        assert_eq!((good.responses, good.failures_total(), good.body_bytes), (30, 0, 150));
        let reset = group(run, "/reset");
        assert_eq!((reset.responses, failures(reset, FailureKind::StreamReset)), (0, 30));
        let begun = group(run, "/begun");
        assert_eq!((begun.responses, failures(begun, FailureKind::Timeout)), (0, 30));
        assert_eq!((begun.failed.wait.count(), reset.failed.wait.count()), (30, 0));
    });
}

#[test]
fn a_refused_connection_counts_for_the_request_it_was_made_for() {
    let refusing = peer().connecting(|_, number| match number % 2 {
        0 => ConnectReply::RefuseAfter(50 * US, libc::ECONNREFUSED),
        _ => ConnectReply::AcceptAfter(0),
    });
    let mut plan = closing_each(clock_before(plan(80, 1)));
    plan.limits.unreachable_after = u32::MAX;
    // A connection each: those of even numbers are refused, and so is every other path.
    run(&grouped(plan, &["/good", "/missing"]), &refusing, |run| {
        check_sums(run);
        let refused = |name| failures(group(run, name), FailureKind::Refused);
        assert_eq!((refused("/good"), refused("/missing")), (40, 0));
        assert_eq!(group(run, "/missing").responses, 40);
    });
}

#[test]
fn arrivals_that_were_never_sent_count_where_they_belong() {
    let plan = grouped(open(plan_for(S, 1), 1000.0, 1), &["/a", "/b"]);
    run(&plan, &Script::new(&[], |_| {}), |run| {
        check_sums(run);
        assert_eq!(run.record.never_sent, 999);
        let unfinished: Vec<u64> = run.record.groups.iter().map(|group| group.unfinished).collect();
        assert_eq!(unfinished, [500, 500]);
    });
}

#[test]
fn arrivals_whose_time_was_over_before_they_were_sent_count_where_they_belong() {
    // The only connection is refused, and tried again after up to 100 ms: by then the time of many is over.
    let peer = Script::new(&[], |_| {})
        .connecting(|_, _| ConnectReply::RefuseAfter(50 * US, libc::ECONNREFUSED));
    let mut plan = clock_before(with_timeout(open(plan_for(10 * S, 1), 10_000.0, 1), 50 * MS));
    plan.limits.requests = Some(2_000);
    plan.limits.unreachable_after = u32::MAX;
    run(&grouped(plan, &["/a", "/b"]), &peer, |run| {
        check_sums(run);
        assert!(run.record.failures_of(FailureKind::Timeout) > 1_000, "{:?}", run.record.failures);
        let finished: Vec<u64> = run.record.groups.iter().map(GroupRecord::finished).collect();
        assert_eq!(finished, [1_000, 1_000]);
    });
}

#[test]
fn in_open_loop_a_group_has_response_times() {
    let peer = Script::new(&[HELLO, HELLO_CLOSE], |moment| match moment.head {
        head if head.starts_with(b"GET /slow ") => moment.send(30 * MS, 0),
        _ => moment.send(MS, 0),
    });
    let mut plan = open(plan_for(10 * S, 1), 100.0, 1);
    plan.limits.requests = Some(200);
    run(&grouped(plan, &["/slow", "/fast"]), &peer, |run| {
        check_sums(run);
        // One connection: each fast one is due while a slow one is under way.
        let fast = &group(run, "/fast").answered;
        assert_eq!(fast.total.max_ns(), Some(MS));
        assert!(fast.latency().min_ns() > Some(20 * MS), "{:?}", fast.latency().min_ns());
    });
}

#[test]
fn without_groups_there_are_none() {
    run(&plan(10, 1), &peer(), |run| assert!(run.record.groups.is_empty()));
}
