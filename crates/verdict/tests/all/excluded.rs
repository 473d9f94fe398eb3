//! What is said of reports whose cause is known, made to see which causes the figures exclude: nothing that they exclude, and
//! nothing as certain that they do not prove.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::{Judgement, judge};
use ablaze_verdict::{Finding, Severity, Verdict};

const CAUSES: &str = include_str!("../printed/real-causes.txt");

/// The run that begins with this command.
fn run(command: &str) -> String {
    let runs = CAUSES.split("\n$ ").map(|run| format!("$ {}\n", run.trim_start_matches("$ ")));
    let mut runs = runs.filter(|run| run.lines().next() == Some(command));
    let run = runs.next().unwrap_or_else(|| panic!("no {command}"));
    assert_eq!(runs.next(), None, "{command} stands there twice");
    run
}

fn judged(command: &str) -> Judgement {
    judge(&read(&run(command)))
}

/// What is found in the one report of that run, as `id`.
fn found(command: &str, id: DiagnosisId) -> Option<Finding> {
    let judgement = judged(command);
    let [report] = judgement.reports.as_slice() else { panic!("no report of {command}") };
    report.findings.iter().find(|finding| finding.id == id).cloned()
}

/// Three in a thousand requests take 0.5 s, or one in a hundred takes 1 s, each for itself; the server answers the others meanwhile.
#[test]
fn requests_that_are_slow_one_by_one_are_no_stall() {
    for command in [
        "$ ab -k -q -n 9000 -c 20 http://127.0.0.1:22210/",
        "$ ab -k -q -n 3000 -t 2 -n 3000 -c 20 http://127.0.0.1:22027/",
    ] {
        let stall = found(command, D07).unwrap();
        assert_eq!(stall.severity, Severity::Note);
        assert!(stall.cause.starts_with("Either everything in flight stopped"), "{stall:?}");
        assert!(!stall.evidence.contains("without it the rate"), "{stall:?}");
        assert!(!stall.fix.contains("Exclude"), "{stall:?}");
    }
}

/// What `ablaze wrk`, `h2load` and `hey` say on stderr of a run is what it was.
#[test]
fn what_the_front_ends_say_of_their_run_is_taken_over() {
    for (command, verdict, ids) in [
        (
            "$ ablaze wrk -t2 -c20 -d2s --latency http://127.0.0.1:22011/",
            Verdict::Invalid,
            &[D04, D13][..],
        ),
        ("$ ablaze h2load -D 2 -c 20 -t 2 --h1 http://127.0.0.1:22005/", Verdict::Invalid, &[D02]),
        ("$ ablaze hey -z 2s -c 20 http://127.0.0.1:22002/", Verdict::Suspect, &[D02, D13]),
    ] {
        let text = run(command);
        let two = format!("{text}\n{}", run("$ ablaze hey -z 2s -c 20 http://127.0.0.1:22002/"));
        // Also without the command, and each of two reports has its own.
        for text in [&text, text.split_once('\n').unwrap().1, &two] {
            let judgement = judge(&read(text));
            let first = &judgement.reports[0];
            let found: Vec<DiagnosisId> = first.findings.iter().map(|one| one.id).collect();
            assert_eq!((first.verdict(), found.as_slice()), (verdict, ids), "{command}");
        }
        let judgement = judge(&read(&two));
        assert_eq!(judgement.reports[1].verdict(), Verdict::Suspect);
    }
    // wrk itself said nothing of the kind.
    let text = run("$ ablaze wrk -t2 -c20 -d2s --latency http://127.0.0.1:22011/");
    let judgement = judge(&read(&text.replacen("$ ablaze wrk", "$ wrk", 1)));
    assert_eq!(judgement.reports[0].verdict(), Verdict::Valid);
}

fn said(command: &str, id: DiagnosisId) -> Finding {
    found(command, id).unwrap_or_else(|| panic!("no {id} of {command}"))
}

/// Forty requests of 2,156 held the connections for 40 of 43 s, until hey's `-t 1` ended them.
#[test]
fn requests_that_time_out_count_by_the_time_that_they_held() {
    let judgement = judged("$ hey -z 2s -t 1 -c 20 http://127.0.0.1:22005/");
    assert_eq!(judgement.reports[0].verdict(), Verdict::Invalid);
    let silent = said("$ hey -z 2s -t 1 -c 20 http://127.0.0.1:22005/", D02);
    assert!(
        silent.evidence.contains("40 × 1 s is 92 % of the time of 20 connections"),
        "{silent:?}"
    );
    // Without the command nobody knows how long each was waited for.
    let text = run("$ hey -z 2s -t 1 -c 20 http://127.0.0.1:22005/");
    let judgement = judge(&read(text.split_once('\n').unwrap().1));
    let without = judgement.reports[0].findings.iter().find(|one| one.id == D02).unwrap();
    assert_eq!(without.severity, Severity::Suspect);
}

#[test]
fn redirects_without_end_are_responses() {
    let looped = said("$ hey -z 2s -t 1 -c 20 http://127.0.0.1:22011/", D02);
    assert!(!looped.evidence.contains("no whole response"), "{looped:?}");
    assert!(
        looped.cause.contains("redirect") && looped.fix.contains("-disable-redirects"),
        "{looped:?}"
    );
}

/// The server accepts, and never sends.
#[test]
fn who_accepted_the_connections_listens() {
    let silent = said("$ h2load -p http/1.1 -n 2000 -c 20 -t 2 -N 2 http://127.0.0.1:22004/", D02);
    assert!(!silent.cause.contains("Nothing listens"), "{silent:?}");
    assert!(silent.cause.contains("timed out"), "{silent:?}");
}

/// wrk counts neither 2xx nor 3xx there.
#[test]
fn what_wrk_counts_as_errors_are_no_redirects() {
    for port in [22009, 22010] {
        let command =
            format!("$ wrk -t2 -c20 -d2s --latency --timeout 1s http://127.0.0.1:{port}/");
        let errors = said(&command, D04);
        assert!(!errors.cause.contains("redirect"), "{errors:?}");
    }
}

/// ab without -r ends at the first reset, refused connection or timeout, and counts none here.
#[test]
fn what_ab_s_table_excludes_is_no_cause() {
    let closed = said("$ ab -k -q -n 3000 -t 2 -n 3000 -c 20 http://127.0.0.1:22015/", D02);
    assert!(closed.cause.contains("closed these connections without a byte"), "{closed:?}");
    assert!(
        !closed.cause.contains("timed out") && !closed.cause.contains("refused, or"),
        "{closed:?}"
    );
}

/// The server closes after each response with a chance of one in a hundred.
#[test]
fn a_mean_of_a_hundred_is_no_limit_of_a_hundred() {
    let closes = said("$ ab -k -q -n 20000 -c 20 http://127.0.0.1:22202/", D18);
    assert!(closes.cause.contains("on average"), "{closes:?}");
    assert!(!closes.cause.contains("closes each connection"), "{closes:?}");
}

#[test]
fn where_no_request_succeeded_there_are_no_times_to_miss() {
    assert_eq!(found("$ hey -z 2s -t 1 -c 20 http://127.0.0.1:22014/", D06), None);
}

#[test]
fn over_http3_streams_are_measured_by_streams() {
    let absent = said("$ h2load --npn-list=h3 -n 1000 -c 1 -m 10 https://127.0.0.1:4433/", D06);
    assert!(absent.fix.contains("`ablaze --http 3 -c 1 --streams 10 "), "{absent:?}");
}

/// Both asked for connections that are kept, and one server closed each.
#[test]
fn kept_connections_against_one_per_request_are_unequal_as_observed() {
    let both = [22000, 22001].map(|port| {
        run(&format!("$ ab -k -q -n 3000 -t 2 -n 3000 -c 20 http://127.0.0.1:{port}/"))
    });
    let judgement = judge(&read(&both.concat()));
    let unequal = judgement.comparisons[0].findings.iter().find(|one| one.id == D05).unwrap();
    assert_eq!(unequal.severity, Severity::Invalid);
    assert!(unequal.evidence.contains("0 % of the responses against 100 %"), "{unequal:?}");
}
