//! Rates that `grep` left of the runs of a shell's loop: runs of one, points of a curve, or neither. Which of them is what
//! the loop says.

use ablaze_verdict::DiagnosisId::D15;
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::{Judgement, judge};

fn judged(text: &str) -> Judgement {
    judge(&read(text))
}

fn ab(rates: &[f64]) -> String {
    let line = |rate: &f64| format!("Requests per second:    {rate:.2} [#/sec] (mean)\n");
    rates.iter().map(line).collect()
}

const OVER_C: &str = "for c in 1 10 100; do ab -q -n 10000 -c $c http://h:8080/ | grep 'Requests per second'; done\n";
const COUNTS: &str =
    "for i in 1 2 3; do ab -q -n 10000 -c 50 http://h:8080/ | grep Requests; done\n";

/// What D15 says of rates beside each other.
fn of_comparisons(judgement: &Judgement) -> Vec<String> {
    let comparisons = judgement.comparisons.iter();
    let findings = comparisons.flat_map(|one| one.findings.iter());
    findings.filter(|one| one.id == D15).map(|one| one.evidence.clone()).collect()
}

#[test]
fn words_above_a_loop_make_no_runs_of_its_points() {
    let rates = ab(&[5000.0, 9000.0, 9100.0]);
    for above in ["", "# nginx, 8 cores\n", "## nginx\n\n", "nginx:\n", "best of 3 runs:\n"] {
        let judgement = judged(&format!("{above}$ {OVER_C}{rates}"));
        assert!(judgement.comparisons.is_empty(), "{above}: {judgement:?}");
        let [sweep] = judgement.sweeps.as_slice() else { panic!("one curve: {above}") };
        let points = &sweep.subject.curves[0].points;
        assert_eq!(*points, [(1, 5000.0), (10, 9000.0), (100, 9100.0)], "{above}");
        let best = sweep.findings.iter().any(|one| one.evidence.contains("best of several"));
        assert_eq!(best, above.starts_with("best"), "{above}");
    }
    let other = ab(&[4000.0, 8000.0, 8100.0]);
    let two = format!("## nginx\n\n$ {OVER_C}{rates}\n## caddy\n\n$ {OVER_C}{other}");
    let judgement = judged(&two);
    assert_eq!((judgement.comparisons.len(), judgement.sweeps.len()), (0, 2));
}

#[test]
fn the_loop_may_print_which_point_comes() {
    let loops = OVER_C.replace("do ab", "do echo $c; ab");
    let [one, ten, hundred] = [5000.0, 9000.0, 3000.0].map(|rate| ab(&[rate]));
    for [a, b, c] in [["1", "10", "100"], ["c=1", "c=10", "c=100"]] {
        let judgement = judged(&format!("$ {loops}{a}\n{one}{b}\n{ten}{c}\n{hundred}"));
        assert!(judgement.comparisons.is_empty(), "{a}");
        assert_eq!(judgement.sweeps[0].subject.curves[0].points.len(), 3, "{a}");
    }
}

#[test]
fn runs_that_differ_are_neither_repeats_nor_targets() {
    let two = ab(&[5000.0, 15_000.0]);
    let three = ab(&[5000.0, 9000.0, 9100.0]);
    for (line, rates) in [
        ("for k in '' -k; do ab -q -n 10000 $k -c 10 http://h/ | grep Requests; done", &two),
        ("for c in 10 100; do ab -q -n 10000 -c $c http://h/ | grep Requests; done", &two),
        ("for c in 10 50 100; do\n  ab -q -n 10000 -c ${c} http://h/ | grep Requests\ndone", &two),
        ("for n in 100 1000 9000; do ab -q -n $n -c 10 http://h/ | grep Requests; done", &three),
        ("for p in / /json /db; do ab -q -n 9 -c 10 http://h$p | grep Requests; done", &three),
        ("while read c; do ab -q -n 9 -c $c http://h/ | grep Requests; done < levels", &three),
    ] {
        for above in ["", "## nginx\n", "best of 3:\n"] {
            let judgement = judged(&format!("{above}$ {line}\n{rates}"));
            assert!(judgement.comparisons.is_empty(), "{above}{line}: {judgement:?}");
            assert!(judgement.sweeps.is_empty(), "{above}{line}");
        }
    }
}

#[test]
fn a_loop_that_counts_has_runs_of_one() {
    let close = ab(&[5000.0, 5010.0, 4990.0]);
    let apart = ab(&[5000.0, 9000.0, 5010.0]);
    for line in [
        format!("$ {COUNTS}"),
        COUNTS.to_owned(),
        format!("$ {}", COUNTS.replace("1 2 3", "{1..3}")),
        format!("$ {}", COUNTS.replace("1 2 3", "$(seq 3)")),
        format!("## nginx\n$ {COUNTS}"),
        "for i in 1 2 3; do\n  ab -n 10000 -c 50 http://h/ | grep Requests\ndone\n".to_owned(),
    ] {
        assert_eq!(of_comparisons(&judged(&format!("{line}{close}"))), [""; 0], "{line}");
        // 4,000 of 5,010.
        let said = of_comparisons(&judged(&format!("{line}{apart}")));
        assert!(said.len() == 1 && said[0].contains("a spread of 80 %"), "{line}: {said:?}");
        assert_eq!(said[0].starts_with("3 runs ranged from"), !line.starts_with('#'), "{said:?}");
    }
    // Those of two loops are of two.
    let other = COUNTS.replace("8080", "8081");
    let said = of_comparisons(&judged(&format!("$ {COUNTS}{close}$ {other}{apart}")));
    assert!(said[0].contains("but their runs overlap"), "{said:?}");
    // With one rate more or less than it has runs, or two commands in it, it says nothing.
    let both = COUNTS.replace("; done", "; ab -k -n 9 -c 50 http://h:8080/ | grep Requests; done");
    for text in [
        format!("$ {COUNTS}{}", ab(&[5000.0, 9000.0])),
        format!("$ {both}{}", ab(&[5000.0, 9000.0, 5010.0])),
    ] {
        let said = of_comparisons(&judged(&text));
        assert!(said.iter().all(|said| said.contains("the text does not say")), "{said:?}");
        assert_eq!(said.len(), 1, "{text}");
    }
}

#[test]
fn numbered_rates_are_runs_of_one_and_bare_numbers_may_be_anything() {
    let numbered = |labels: [&str; 3]| {
        let rates = labels.iter().zip([5000.0, 5100.0, 5050.0]);
        let text: String = rates.map(|(label, rate)| format!("{label}\n{}", ab(&[rate]))).collect();
        of_comparisons(&judged(&text))
    };
    // 100 of 5,050 are 2 %.
    assert_eq!(numbered(["run 1", "run 2", "run 3"]), [""; 0]);
    assert_eq!(numbered(["nginx, run 1", "nginx, run 2", "nginx, run 3"]), [""; 0]);
    let bare = numbered(["1", "10", "50"]);
    assert!(bare.len() == 1 && bare[0].contains("the text does not say"), "{bare:?}");
    let servers = numbered(["nginx", "caddy", "h2o"]);
    assert!(servers[0].contains("Only one run of each of the 3 is shown."), "{servers:?}");
}

#[test]
fn the_rates_of_wrk_and_hey_in_a_loop_are_read() {
    for line in [
        "$ for c in 1 10 100; do wrk -t1 -c $c -d10s http://h/ | grep Requests/sec; done\n",
        "for c in 1 10 100; do\n  hey -c $c -z 10s http://h/ | grep Requests/sec\ndone\n",
    ] {
        let rates = "Requests/sec:  9000.00\n  Requests/sec:\t42000.12\nRequests/sec:  30000.00\n";
        let judgement = judged(&format!("{line}{rates}"));
        let points = &judgement.sweeps[0].subject.curves[0].points;
        assert_eq!(*points, [(1, 9000.0), (10, 42_000.12), (100, 30_000.0)], "{line}");
    }
}

#[test]
fn rates_below_headings_are_of_the_one_command_of_the_page() {
    let page = |second: &str| {
        format!(
            "## client\n```\nwrk -c 100 -d 20 -t 4 http://h:8081/hello\n{second}```\n## server\n### epoll\n```\n\
             Requests/sec: 425484.66\nTransfer/sec:     20.29MB\n```\n### mio\n```\nRequests/sec: 218872.47\n\
             Transfer/sec:     26.72MB\n```\n"
        )
    };
    let judgement = judged(&page(""));
    let [comparison] = judgement.comparisons.as_slice() else { panic!("{judgement:?}") };
    let names: Vec<_> =
        comparison.subject.members.iter().map(|one| (one.name.as_str(), one.rate_per_s)).collect();
    assert_eq!(names, [("epoll", 425_484.66), ("mio", 218_872.47)]);
    // Of which of two they are nobody knows.
    let judgement = judged(&page("wrk -c 900 -d 20 -t 4 http://h:8081/hello\n"));
    assert!(judgement.comparisons.is_empty());
}
