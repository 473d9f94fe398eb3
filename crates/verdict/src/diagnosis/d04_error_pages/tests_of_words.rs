//! What D04 says of which statuses in Runs.

use super::*;
use crate::live::sample;

fn with(statuses: &[(u16, u64)]) -> Run {
    let mut run = sample::run();
    run.record.statuses = statuses.iter().copied().collect();
    run
}

#[test]
fn errors_alone_are_not_called_redirects() {
    for responses in [20_000, 15_000, 100] {
        let finding = on_run(&with(&[(200, 20_000 - responses), (404, responses)])).unwrap();
        assert!(!finding.cause.contains("redirect"), "{finding:?}");
    }
    let both = on_run(&with(&[(302, 10_000), (404, 10_000)])).unwrap();
    assert!(both.cause.contains("an error page or a redirect"), "{both:?}");
}

/// `--expect 404`: what succeeded, and what leads elsewhere, is no error page.
#[test]
fn statuses_that_are_no_errors_are_not_called_error_pages() {
    for others in [&[(200, 5_000), (302, 5_000)][..], &[(200, 9_000), (500, 1_000)]] {
        let mut run = with(&[others, &[(404, 10_000)]].concat());
        run.plan.expect = vec![404..=404];
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("had a status that is not expected: 200"), "{finding:?}");
        assert!(!finding.cause.contains("error page"), "{finding:?}");
        assert!(finding.cause.contains("outside of those expected"), "{finding:?}");
    }
}

#[test]
fn a_server_that_refuses_a_part_has_no_wrong_url() {
    let finding = on_run(&with(&[(200, 4_000), (429, 16_000)])).unwrap();
    assert!(finding.cause.contains("refuses a part of the load"), "{finding:?}");
    assert!(
        finding.fix.contains("Use a rate (--rate)") && !finding.fix.contains("URL"),
        "{finding:?}"
    );
    // Whatever made it unavailable: 503 does not say.
    let finding = on_run(&with(&[(200, 4_000), (503, 16_000)])).unwrap();
    assert!(finding.cause.contains("Why, the status does not say"), "{finding:?}");
    let mut run = with(&[(200, 20_000)]);
    run.plan.expect = vec![500..=500];
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("had a status that is not expected: 200"), "{finding:?}");
    assert!(finding.cause.starts_with("Neither errors nor redirects"), "{finding:?}");
    assert!(!on_run(&with(&[(304, 20_000)])).unwrap().evidence.contains("redirect"));
    let mut run = with(&[(304, 20_000)]);
    sample::asked(&mut run, &["If-None-Match: *"]);
    assert_eq!(on_run(&run), None, "asked for");
    // All of them: nobody knows of a limit.
    let finding = on_run(&with(&[(503, 20_000)])).unwrap();
    assert!(finding.fix.contains("fix the URL or the server"), "{finding:?}");
    // Others may have been taken, and lasted: no response of theirs came in time.
    let mut run = with(&[(503, 20_000)]);
    run.record.failures[FailureKind::Timeout as usize] = 3;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("refuses a part of the load"), "{finding:?}");
    assert!(!finding.fix.contains("fix the URL"), "{finding:?}");
    assert!(on_run(&with(&[(101, 20_000)])).unwrap().cause.contains("another protocol"));
}

/// A journey that follows redirects: `GET /` leads on once.
fn following(redirects: u64, then: u64) -> Run {
    use ablaze_model::record::GroupRecord;
    let mut run = with(&[(200, then), (302, redirects)]);
    run.record.responses = redirects + then;
    let group = |name, responses| GroupRecord { responses, ..GroupRecord::new(name, false) };
    run.record.groups = vec![group("GET /", redirects), group("GET / redirect 1", then)];
    run
}

#[test]
fn redirects_that_a_journey_follows_are_no_error_pages() {
    assert_eq!(on_run(&following(10_000, 10_000)), None);
    // Of 10,000 the last was under way when the run ended.
    assert_eq!(on_run(&following(10_000, 9_999)), None);
    let some = on_run(&following(10_000, 4_000)).unwrap();
    assert!(
        some.evidence.contains("6,000 of 14,000") && some.evidence.contains("302 (6,000×)"),
        "{some:?}"
    );
}

#[test]
fn a_redirect_that_a_step_asks_for_is_a_success() {
    let mut run = with(&[(200, 10_000), (302, 10_000)]);
    run.plan.expect = vec![200..=399, 302..=302];
    assert_eq!(on_run(&run), None);
    run.plan.expect = vec![200..=399, 404..=404];
    assert!(on_run(&run).is_some());
}

/// Over HTTP/2 the limit is advice: what is larger is sent, and the server's answer is told with what it had said.
#[test]
fn fields_that_are_too_large_are_told_with_the_server_s_limit() {
    let statuses = [(200, 4_000), (431, 16_000)];
    let mut run = sample::over_http2(100);
    run.record.statuses = statuses.iter().copied().collect();
    let said = |run: &Run| on_run(run).unwrap().evidence;
    assert!(!said(&run).contains("SETTINGS"), "{}", said(&run));
    run.record.http2.as_mut().unwrap().settings.as_mut().unwrap().header_list_bytes = Some(16_384);
    assert!(said(&run).contains("accepts header fields of 16,384 bytes"), "{}", said(&run));
    run.record.statuses = [(200, 4_000), (404, 16_000)].into_iter().collect();
    assert!(!said(&run).contains("SETTINGS"), "{}", said(&run));
}

#[test]
fn errors_among_answers_to_the_same_request_are_no_wrong_url() {
    let mut run = with(&[(200, 500), (500, 500)]);
    sample::asked(&mut run, &[]);
    let fix = on_run(&run).unwrap().fix;
    assert!(fix.contains("server's log") && !fix.contains("URL"), "{fix}");
    let mut run = with(&[(500, 1_000)]);
    sample::asked(&mut run, &[]);
    assert!(on_run(&run).unwrap().fix.contains("fix the URL"));
}

/// Rows of a feed, a journey of several steps, `{seq}`: one request fails, and another of the same line does not.
#[test]
fn requests_that_differ_are_not_called_the_same() {
    use ablaze_model::feed::Order;
    use ablaze_model::spec::{Blob, DataSpec, Feed};
    let mut run = with(&[(200, 900), (401, 100)]);
    sample::asked(&mut run, &[]);
    let fix = |run: &Run| on_run(run).unwrap().fix.to_string();
    assert!(fix(&run).contains("to the same request"), "{}", fix(&run));
    let mut fed = run.clone();
    let file = Blob::new("users.csv", Vec::new());
    let feed = Feed { file, part: None };
    fed.asked.as_mut().unwrap().requests.data = Some(DataSpec { feed, order: Order::Sequential });
    assert!(fix(&fed).contains("others of the same URL had success, with other"), "{}", fix(&fed));
    let mut run = crate::live::setup::sample::with_failed(0);
    run.record.statuses = [(200, 15_000), (401, 5_000)].into();
    let group = |name, unexpected| ablaze_model::record::GroupRecord {
        responses: 10_000,
        unexpected,
        ..ablaze_model::record::GroupRecord::new(name, false)
    };
    run.record.groups = vec![group("POST /login", 5_000), group("GET /me", 0)];
    sample::asked(&mut run, &[]);
    run.plan.journey.as_mut().unwrap().steps = vec!["POST /login".into(), "GET /me".into()];
    assert!(fix(&run).contains("others of the same steps had success"), "{}", fix(&run));
    assert!(fix(&run).starts_with("Walk a journey with `ablaze run "), "{}", fix(&run));
}

/// Half of the rate is that of the intended page.
#[test]
fn the_rate_is_that_of_an_error_page_only_where_nothing_else_came() {
    let cause = |failed| on_run(&with(&[(200, 20_000 - failed), (404, failed)])).unwrap().cause;
    assert!(cause(10_000).starts_with("Some responses are error pages"), "{}", cause(10_000));
    assert!(cause(10_001).starts_with("Most responses are error pages"), "{}", cause(10_001));
    assert!(cause(20_000).starts_with("The rate is that of an error page"), "{}", cause(20_000));
}
