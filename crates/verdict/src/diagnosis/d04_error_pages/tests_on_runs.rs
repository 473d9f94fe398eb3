//! Tests of D04 on Runs.

use super::*;
use crate::live::sample;

#[test]
fn a_thousandth_is_an_accident_and_half_another_experiment() {
    let mut run = sample::run();
    let with = |run: &mut Run, status: u16, number: u64| {
        run.record.statuses = [(200, 20_000 - number), (status, number)].into();
        on_run(run).map(|finding| finding.severity)
    };
    assert_eq!(with(&mut run, 404, 20), None);
    assert_eq!(with(&mut run, 404, 21), Some(Severity::Suspect));
    assert_eq!(with(&mut run, 404, 20_000), Some(Severity::Invalid));
    assert_eq!(with(&mut run, 302, 20_000), Some(Severity::Invalid));
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("were redirects, which nobody followed: 302 (20,000×)"));
    assert!(!format!("{finding:?}").contains("did not succeed"), "{finding:?}");
    assert!(finding.fix.contains("load the URL that it leads to"), "{}", finding.fix);
    run.record.first_head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    let finding = on_run(&run).unwrap();
    assert!(finding.fix.contains("has no Location, and leads nowhere"), "{}", finding.fix);
    assert!(!finding.evidence.contains("nobody followed"), "{}", finding.evidence);
    run.record.first_head = Vec::new();
    // Named, they are meant.
    run.plan.expect = vec![302..=302, 404..=404];
    assert_eq!(with(&mut run, 302, 20_000), None);
    run.plan.expect = vec![200..=299];
    assert_eq!(with(&mut run, 302, 20_000), Some(Severity::Invalid));
    run.plan.expect = vec![200..=399];
    sample::asked(&mut run, &[]);
    assert_eq!(with(&mut run, 302, 20_000), Some(Severity::Invalid));
    run.asked.as_mut().unwrap().expect_asked = true;
    assert_eq!(with(&mut run, 302, 20_000), None);
}

/// A server that says 408 to idle connections: one that comes as a request leaves is not its answer.
#[test]
fn a_408_on_a_kept_connection_may_be_no_answer() {
    let mut run = sample::run();
    run.record.statuses = [(200, 19_800), (408, 200)].into();
    // In a closed loop no connection is idle: it is the answer to the request.
    let busy = on_run(&run).unwrap();
    assert!(!format!("{busy:?}").contains("idle"), "{busy:?}");
    sample::open_loop(&mut run, 2_000.0);
    let found = on_run(&run).unwrap();
    assert!(found.fix.contains("or lower --connections"), "{found:?}");
    let mut one = run.clone();
    let ablaze_model::plan::Load::Open { connections, .. } = &mut one.plan.load else {
        unreachable!("opened above")
    };
    *connections = 1;
    assert!(!on_run(&one).unwrap().fix.contains("--connections"));
    assert!(found.evidence.contains("A 408 that was sent before the request came"), "{found:?}");
    assert!(found.cause.contains("Which of these does not show"), "{found:?}");
    assert!(!found.fix.contains("answers to the same request"), "{found:?}");
    run.record.circumstances.idle_timeouts = 3;
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("On 3 other connections a 408 came with no request"), "{evidence}");
    // Each connection carries one request.
    run.plan.connections.keep_alive = false;
    assert!(!on_run(&run).unwrap().evidence.contains("before the request came"));
}

/// A server that ends a connection by a 408 right behind a response: in a closed loop, too, the next request may get it.
#[test]
fn where_responses_come_that_nobody_asked_for_an_error_need_be_no_answer() {
    let mut run = sample::run();
    sample::asked(&mut run, &[]);
    run.record.statuses = [(200, 19_800), (408, 200)].into();
    (run.record.surplus, run.record.surplus_responses) = (500, 500);
    let found = on_run(&run).unwrap();
    assert!(!found.fix.contains("answers to the same request"), "{found:?}");
    assert!(found.evidence.contains("On 500 other connections another response came"), "{found:?}");
    assert!(found.cause.contains("Which of these does not show"), "{found:?}");
    // And one of another status.
    run.record.statuses = [(200, 19_800), (500, 200)].into();
    let found = on_run(&run).unwrap();
    assert!(!found.fix.contains("answers to the same request"), "{found:?}");
    assert!(found.fix.contains("whether they were answers"), "{found:?}");
    (run.record.surplus, run.record.surplus_responses) = (0, 0);
    assert!(on_run(&run).unwrap().fix.contains("answers to the same request"));
}

/// A URL of a list that says 503 to every request refuses no part of the load; one that also succeeds may.
#[test]
fn what_fails_each_time_is_refused_for_no_load() {
    use ablaze_model::record::GroupRecord;
    let mut run = sample::run();
    run.record.statuses = [(200, 10_000), (503, 10_000)].into();
    let group = |name, statuses: &[(u16, u64)]| GroupRecord {
        responses: statuses.iter().map(|(_, responses)| responses).sum(),
        statuses: statuses.iter().copied().collect(),
        ..GroupRecord::new(name, false)
    };
    run.record.groups = vec![group("/x", &[(200, 10_000)]), group("/down", &[(503, 10_000)])];
    let finding = on_run(&run).unwrap();
    assert!(!finding.cause.contains("a part of the load"), "{finding:?}");
    assert!(finding.fix.contains("/down"), "{finding:?}");
    run.record.groups =
        vec![group("/x", &[(200, 9_000), (503, 1_000)]), group("/down", &[(503, 9_000)])];
    assert!(on_run(&run).unwrap().cause.contains("a part of the load"));
    // Of a redirect it is the line that redirects.
    run.record.statuses = [(200, 10_000), (302, 10_000)].into();
    run.record.groups = vec![group("/x", &[(200, 10_000)]), group("/moved", &[(302, 10_000)])];
    assert!(on_run(&run).unwrap().fix.contains("/moved"));
}

/// Its steps have header fields of their own, which are not among those of the load.
#[test]
fn of_a_journey_304_may_have_been_asked_for() {
    let mut run = sample::run();
    run.record.statuses = [(200, 10_000), (304, 10_000)].into();
    assert!(on_run(&run).unwrap().evidence.contains("without being asked"));
    let mut run = crate::live::setup::sample::with_failed(0);
    run.record.statuses = [(200, 10_000), (304, 10_000)].into();
    let finding = on_run(&run).unwrap();
    assert!(!format!("{finding:?}").contains("without being asked"), "{finding:?}");
    assert!(!finding.cause.contains("no request said"), "{finding:?}");
}

/// `HTTP *`: the file says that any status is right there, an error or a redirect, and what the other steps get still counts.
#[test]
fn a_step_that_permits_any_status_has_no_unexpected_one() {
    use ablaze_model::record::GroupRecord;
    let mut run = crate::live::setup::sample::with_failed(0);
    let planned = run.plan.journey.as_mut().unwrap();
    planned.steps = vec!["GET /any".to_owned(), "GET /b".to_owned()];
    planned.any_status = vec![0];
    let group = |name, statuses: &[(u16, u64)]| GroupRecord {
        responses: statuses.iter().map(|(_, responses)| responses).sum(),
        statuses: statuses.iter().copied().collect(),
        ..GroupRecord::new(name, false)
    };
    let with = |run: &mut Run, groups: Vec<GroupRecord>| {
        run.record.statuses.clear();
        for (status, responses) in groups.iter().flat_map(|group| &group.statuses) {
            *run.record.statuses.entry(*status).or_default() += responses;
        }
        run.record.groups = groups;
        on_run(run)
    };
    let any = group("GET /any", &[(302, 2_000), (404, 5_000), (503, 3_000)]);
    let behind = group("GET /any redirect 1", &[(404, 2_000)]);
    let of_two = vec![any.clone(), behind.clone(), group("GET /b", &[(200, 8_000)])];
    assert_eq!(with(&mut run, of_two), None);
    let found = with(&mut run, vec![any, behind, group("GET /b", &[(200, 4_000), (404, 4_000)])]);
    assert!(
        found.as_ref().unwrap().evidence.contains("did not succeed: 404 (4,000×)."),
        "{found:?}"
    );
    // One step has no group.
    run.plan.journey.as_mut().unwrap().steps.truncate(1);
    run.record.groups.clear();
    assert_eq!(on_run(&run), None);
}
