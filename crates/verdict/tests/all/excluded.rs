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
