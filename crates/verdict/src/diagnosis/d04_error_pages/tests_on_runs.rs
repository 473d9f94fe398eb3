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
    let found = on_run(&run).unwrap();
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
