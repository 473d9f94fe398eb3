//! Requests that were sent again, as their connection ended before a byte of a response: closed or reset, and
//! whether that has to do with reuse.

use ablaze_model::{FailureKind, Run};

use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::live::figures::{asked_in_flight, server_ended};
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent};

use super::{REPEATED, were_connections};

/// Fewer requests than this that failed on connections of their own prove nothing.
const FEWEST_FAILED: u64 = 5;
/// So many responses beyond those of connections that ended behind one leave it open what most connections carried.
const FEW_OTHERS: f64 = 0.05;
/// Their share of the new connections is this part of the share on reused ones, or more: reuse is not why.
const AS_OFTEN: f64 = 0.5;

/// Requests whose connection the server closed or reset, so that they were sent again.
fn repeated(run: &Run) -> u64 {
    let record = &run.record;
    // Where the client gave the connection up, the server ended nothing; what it announced is no surprise.
    let others = record.repeated_after_failure
        + record.repeated_after_surplus
        + record.repeated_after_announced;
    record.repeated.saturating_sub(others)
}

/// Failures of these kinds always have a byte of a response before them.
const BEGUN: [FailureKind; 4] =
    [FailureKind::ShortBody, FailureKind::ShortHead, FailureKind::Malformed, FailureKind::TooLarge];

/// Requests that failed as their connection ended before a byte of a response, on connections that had carried none.
pub(super) fn failed_on_new(run: &Run) -> u64 {
    let record = &run.record;
    let ended = [FailureKind::ClosedWithoutResponse, FailureKind::Reset];
    let of = |kinds: &[FailureKind]| kinds.iter().map(|kind| record.failures_of(*kind)).sum();
    let (ended, begun): (u64, u64) = (of(&ended), of(&BEGUN));
    // Of the others with a byte of a response nobody knows the kind.
    let others = record.failed.wait.count().saturating_sub(begun);
    // A connection that never stood carried no request, and dropped none.
    let connecting = record.circumstances.reset_connecting + record.circumstances.closed_connecting;
    ended.saturating_sub(record.ended_idle.failed.count + others + connecting)
}

/// ` On connections that had carried no response 3 requests failed in the same way.`
fn on_new_as_well(run: &Run) -> String {
    match failed_on_new(run) {
        0 => String::new(),
        failed => format!(
            " On connections that had carried no response {} failed in the same way: whether reuse is why is open.",
            counted(failed, "request")
        ),
    }
}

/// How many requests were sent again, where the server ended new connections about as often as reused ones: it dropped
/// requests, and closed no idle connection. `None` where that is not shown.
pub(in crate::diagnosis) fn dropped(run: &Run) -> Option<u64> {
    let record = &run.record;
    let again = repeated(run);
    let failed = failed_on_new(run);
    let opened = record.connections_opened;
    let on_reused = (record.finished() + again).saturating_sub(opened);
    if run.plan.streams().is_some() || again == 0 || failed < FEWEST_FAILED || on_reused == 0 {
        return None;
    }
    let of_new = failed as f64 / opened.max(1) as f64;
    let of_reused = again as f64 / on_reused as f64;
    (of_new >= AS_OFTEN * of_reused).then_some(again)
}

/// Requests that were sent again, as their connection ended on them.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let repeated = repeated(run);
    // Those in flight at the end may have been sent again, too.
    let of = record.finished() + record.unfinished;
    let share = repeated as f64 / of as f64;
    if record.finished() == 0 || share <= REPEATED || dropped(run).is_some() {
        return None;
    }
    let reset = record.repeated_after_reset.min(repeated);
    let closed = repeated - reset;
    let ended = match (closed, reset) {
        (_, 0) => "the server had closed the reused connection".to_owned(),
        (0, _) => "the reused connection had been reset".to_owned(),
        _ => format!(
            "the reused connection had been closed by the server ({}) or reset ({})",
            grouped(closed),
            grouped(reset)
        ),
    };
    let ((cause, fix), what_it_means) = match run.plan.load.pipeline() > 1 {
        _ if may_be_the_end_of_the_server(run, repeated) => (of_the_end(), TIMED_TWICE),
        false if carried_one_each(run, repeated) => (of_single_responses(run), MAY_BE_TWICE),
        true => (of_pipelines(run, reset), MAY_BE_SOME),
        false if reset > 0 && closed > 0 => (of_both(run), MAY_BE_TWICE),
        false if reset > 0 => (of_resets(run), MAY_BE_TWICE),
        false => (of_closes(run), MAY_BE_TWICE),
    };
    Some(Finding::new(
        D18,
        Severity::Suspect,
        format!(
            "{} of {} ({}) were sent again because {ended} before responding; {} opened.",
            grouped(repeated),
            counted(of, "request"),
            percent(share),
            were_connections(record.connections_opened)
        ) + &on_new_as_well(run),
        format!("{cause} {what_it_means}"),
        fix,
    ))
}

const TIMED_TWICE: &str = "The time of such a request includes both attempts.";

const MAY_BE_TWICE: &str = "The time of such a request includes both attempts, and where the first had reached the server, that may \
    have carried it out twice.";

const MAY_BE_SOME: &str = "They are sent again, their times include all attempts, and the server may have carried some out twice.";

/// Whether next to no connection carried a second response. Each request that is sent again ended a connection that had carried
/// one: of all responses only those beyond that number can be second ones.
fn carried_one_each(run: &Run, repeated: u64) -> bool {
    let others = run.record.responses.saturating_sub(repeated);
    others as f64 <= FEW_OTHERS * repeated as f64
}

fn of_single_responses(run: &Run) -> (&'static str, String) {
    (
        "Next to no connection carried a second response: the server ends each one behind its response without announcing it \
         (`Connection: close`), or when the next request comes.",
        format!(
            "Have the server keep connections open or announce that it closes them; if it is meant to close, use {}.",
            spelled(run, Opt::NoKeepAlive)
        ),
    )
}

/// Whether the process that served ended, and no more requests were lost than it takes along: one connection for each place.
fn may_be_the_end_of_the_server(run: &Run, repeated: u64) -> bool {
    let places =
        u64::from(run.plan.load.connections()) * u64::from(run.plan.places_per_connection());
    server_ended(run) && repeated <= places
}

fn of_the_end() -> (&'static str, String) {
    (
        "The process that served ended during the run, and its connections with it: these requests are no more than were on \
         them at a time. Whether the server closed others as well was not recorded.",
        "See in the server's log why it ended, and measure again.".to_owned(),
    )
}

/// Requests leave before the response to the one before them is there: with a connection all those are lost that were
/// pipelined on it.
fn of_pipelines(run: &Run, reset: u64) -> (&'static str, String) {
    (
        match reset {
            0 => {
                "The server closed these connections without an announcement (`Connection: close`) while requests were \
                 pipelined on them: all of them are lost with the connection, read or not."
            }
            _ => {
                "The server, or something in front of it, ended these connections without an announcement (`Connection: \
                 close`) while requests were pipelined on them: all of them are lost with the connection, read or not."
            }
        },
        format!(
            "Have the server announce the close, close first with {} below its limit, or pipeline fewer requests, so \
             that fewer are lost each time.",
            spelled(run, Opt::RequestsPerConnection)
        ),
    )
}

fn of_closes(run: &Run) -> (&'static str, String) {
    if asked_in_flight(run).is_some() {
        return of_closes_in_use(run);
    }
    (
        "The server, or something in front of it, closed these connections without announcing it in the previous response \
         (`Connection: close`): either while they were idle, as the next request was on its way, or after it had read the request, which it then dropped.",
        format!(
            "Use {}, which counts such requests as errors, and see in the server's log whether it read \
         them. If it closes idle connections, have it announce the close or keep them open longer, \
         or close first with {} below the server's limit.",
            spelled(run, Opt::NoRepeat),
            spelled(run, Opt::RequestsPerConnection)
        ),
    )
}

/// In a closed loop the next request leaves as soon as a response is complete: no connection is idle.
fn of_closes_in_use(run: &Run) -> (&'static str, String) {
    (
        "The server, or something in front of it, closed these connections behind a response that did not announce it \
         (`Connection: close`), or after it had read the next request, which it then dropped.",
        format!(
            "Use {}, which counts such requests as errors, and see in the server's log whether it read them. If not, \
             have it announce the close, or close first with {} below the server's limit.",
            spelled(run, Opt::NoRepeat),
            spelled(run, Opt::RequestsPerConnection)
        ),
    )
}

fn of_resets(run: &Run) -> (&'static str, String) {
    (
        "The server, or something in front of it, reset these connections after the request was sent: it dropped the request, \
         closed the connection with the request unread in it, or had closed it before the request arrived.",
        format!(
            "See in the server's log why it resets connections; {} counts such requests as errors.",
            spelled(run, Opt::NoRepeat)
        ),
    )
}

/// A close with a request unread in it is seen as a reset or as a close, as it comes.
fn of_both(run: &Run) -> (&'static str, String) {
    (
        "Some of these connections were closed, others reset, by the server or something in front of it: behind a response \
         that did not announce it (`Connection: close`), before the next request arrived or with it unread, or after it had \
         been read, and dropped. Which of these, and whether all for one reason, this run does not show.",
        format!(
            "See in the server's log why it ends connections, and whether it read these requests; {} counts them as errors.",
            spelled(run, Opt::NoRepeat)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::D02;
    use crate::live::{judge, sample};

    #[test]
    fn requests_sent_twice_are_a_doubt_above_one_in_a_hundred() {
        let mut run = sample::run();
        run.record.repeated = 200;
        assert_eq!(found(&run), None);
        run.record.repeated = 201;
        let finding = found(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.starts_with("201 of 20,000 requests (1.0 %)"), "{finding:?}");
        run.record.repeated_after_announced = 100;
        assert_eq!(found(&run), None, "the server said so before");
        run.record.repeated_after_announced = 0;
        // What the client gave up itself was not the server's end.
        run.record.repeated_after_surplus = 100;
        assert_eq!(found(&run), None);
    }

    #[test]
    fn a_server_that_ends_every_connection_behind_its_response_is_named_so() {
        let mut run = sample::run();
        (run.record.repeated, run.record.repeated_after_reset) = (19_900, 13_000);
        run.record.connections_opened = 20_000;
        let finding = found(&run).unwrap();
        assert!(
            finding.cause.starts_with("Next to no connection carried a second response"),
            "{finding:?}"
        );
        assert!(finding.fix.contains("--no-keepalive"), "{finding:?}");
        // Two responses on each, and as many connections that just opened or carried none: the mean is one.
        (run.record.repeated, run.record.repeated_after_reset) = (10_000, 0);
        let finding = found(&run).unwrap();
        assert!(!finding.cause.contains("second response"), "{finding:?}");
        assert!(!finding.fix.contains("--no-keepalive"), "{finding:?}");
    }

    /// What was in flight when it ended is no sign of how it closes connections.
    #[test]
    fn the_end_of_the_server_is_no_close_behind_a_response() {
        let mut run = sample::run();
        (run.record.responses, run.record.repeated) = (90, 4);
        sample::monitor(&mut run).target.processes[0].ended = true;
        let finding = found(&run).unwrap();
        assert!(finding.cause.starts_with("The process that served ended"), "{finding:?}");
        assert!(!finding.fix.contains("announce"), "{finding:?}");
        // It lost more than the hundred that were on its connections.
        (run.record.responses, run.record.repeated) = (9_000, 400);
        assert!(found(&run).unwrap().cause.contains("behind a response"));
    }

    #[test]
    fn with_a_connection_all_is_lost_that_was_pipelined_on_it() {
        use ablaze_model::plan::Load;
        let mut run = sample::run();
        (run.record.repeated, run.record.repeated_after_reset) = (14_000, 3_000);
        run.record.connections_opened = 2_000;
        run.plan.load = Load::Closed { connections: 100, pipeline: 8 };
        let finding = found(&run).unwrap();
        assert!(finding.cause.contains("all of them are lost with the connection"), "{finding:?}");
        assert!(!finding.cause.contains("carried it out twice"), "{finding:?}");
    }

    #[test]
    fn a_reset_is_no_close_of_an_idle_connection() {
        let mut run = sample::run();
        (run.record.repeated, run.record.repeated_after_reset) = (400, 400);
        let finding = found(&run).unwrap();
        let said = format!("{} {} {}", finding.evidence, finding.cause, finding.fix);
        assert!(said.contains("had been reset before responding"), "{said}");
        for wrong in ["server had closed", "announc", "--requests-per-connection", "idle"] {
            assert!(!said.contains(wrong), "{wrong}: {said}");
        }
        run.record.repeated_after_reset = 100;
        let finding = found(&run).unwrap();
        let evidence = finding.evidence;
        assert!(evidence.contains("closed by the server (300) or reset (100)"), "{evidence}");
        // None of the two speaks for the other.
        for reset in [100, 300] {
            run.record.repeated_after_reset = reset;
            let cause = found(&run).unwrap().cause;
            assert!(cause.starts_with("Some of these connections were closed, others"), "{cause}");
        }
    }

    /// Nothing is idle where each response is followed by a request.
    #[test]
    fn a_closed_loop_has_no_idle_connections() {
        let mut run = sample::run();
        run.record.repeated = 400;
        let closed = found(&run).unwrap();
        assert!(!format!("{} {}", closed.cause, closed.fix).contains("idle"), "{closed:?}");
        assert!(closed.cause.contains("behind a response"), "{closed:?}");
        sample::open_loop(&mut run, 1000.0);
        assert!(found(&run).unwrap().cause.contains("while they were idle"));
    }

    /// 5 % of all requests, those on new connections included.
    #[test]
    fn a_server_that_drops_requests_on_new_connections_too_has_no_idle_timeout() {
        let mut run = sample::run();
        let record = &mut run.record;
        (record.repeated, record.connections_opened) = (1_000, 1_150);
        record.failures[FailureKind::ClosedWithoutResponse as usize] = 60;
        let findings = judge(&run).findings;
        let found: Vec<_> = findings.iter().map(|finding| finding.id).collect();
        assert!(found.contains(&D02) && !found.contains(&D18), "{findings:?}");
        let evidence = &findings.iter().find(|finding| finding.id == D02).unwrap().evidence;
        assert!(evidence.contains("1,060 of 21,060 requests sent (5.0 %)"), "{evidence}");
        assert!(evidence.contains("1,000 sent again, 60 closed without"), "{evidence}");
        // One in a thousand on new ones: the others were closed while idle.
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] = 1;
        let findings = judge(&run).findings;
        assert!(findings.iter().any(|finding| finding.id == D18), "{findings:?}");
    }

    /// Responses that broke off have a first byte, and are of another kind.
    #[test]
    fn responses_that_broke_off_hide_no_new_connection_that_ended() {
        let mut run = sample::run();
        let record = &mut run.record;
        (record.repeated, record.connections_opened) = (1_000, 1_150);
        record.failures[FailureKind::ClosedWithoutResponse as usize] = 60;
        record.failures[FailureKind::ShortBody as usize] = 60;
        record.failed.wait.record_many(1_000_000, 60);
        assert_eq!(dropped(&run), Some(1_000));
        // Too few to tell are said.
        run.record.failures[FailureKind::ClosedWithoutResponse as usize] = 3;
        let evidence = found(&run).unwrap().evidence;
        assert!(evidence.contains("3 requests failed in the same way"), "{evidence}");
    }
}
