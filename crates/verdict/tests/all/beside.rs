//! Reports beside each other in one text: which are repeats of one target, which are points of a curve, and
//! which are neither. The expected figures were worked out by hand from the printed ones.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::{Judged, Judgement, judge};
use ablaze_verdict::{Finding, Severity, Verdict};

fn judged(text: &str) -> Judgement {
    judge(&read(text))
}

fn finding<T>(judged: &Judged<T>, id: DiagnosisId) -> Option<&Finding> {
    judged.findings.iter().find(|finding| finding.id == id)
}

/// ab's report of 100,000 requests in so many seconds, of which so many had no status of 2xx.
fn ab(concurrency: u64, taken_s: f64, others: u64) -> String {
    let non_2xx = match others {
        0 => String::new(),
        others => format!("Non-2xx responses:      {others}\n"),
    };
    let rate_per_s = 1e5 / taken_s;
    format!(
        "This is ApacheBench, Version 2.3 <$Revision: 1843412 $>\n\nBenchmarking 10.0.0.5 (be patient)\n\n\n\
         Server Software:        nginx/1.18.0\nServer Hostname:        10.0.0.5\n\
         Server Port:            8080\n\nDocument Path:          /index.html\n\
         Document Length:        612 bytes\n\nConcurrency Level:      {concurrency}\n\
         Time taken for tests:   {taken_s:.3} seconds\nComplete requests:      100000\n\
         Failed requests:        0\n{non_2xx}Keep-Alive requests:    100000\n\
         Total transferred:      85000000 bytes\nHTML transferred:       61200000 bytes\n\
         Requests per second:    {rate_per_s:.2} [#/sec] (mean)\n\n\
         Percentage of the requests served within a certain time (ms)\n"
    )
}

/// A sweep by hand: each report below its command.
fn sweep(points: &[(u64, f64, u64)]) -> String {
    let each = |&(c, taken_s, others): &(u64, f64, u64)| {
        format!(
            "$ ab -k -n 100000 -c {c} http://10.0.0.5:8080/index.html\n{}",
            ab(c, taken_s, others)
        )
    };
    points.iter().map(each).collect()
}

#[test]
fn the_reports_of_a_loop_are_runs_of_one_target() {
    let line = "for i in 1 2 3; do ab -n 100000 -c 100 -k http://10.0.0.5:8080/index.html; done";
    let three = [8.123, 8.2, 8.15].map(|taken_s| ab(100, taken_s, 0)).concat();
    for prompt in ["", "$ ", "me@host:~$ ", "[root@host ~]# ", "# "] {
        let judgement = judged(&format!("{prompt}{line}\n{three}"));
        assert!(judgement.reports.iter().all(|report| report.subject.label.is_none()), "{prompt}");
        let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
        assert_eq!(
            (comparison.verdict(), comparison.findings.len()),
            (Verdict::Valid, 0),
            "{prompt}"
        );
    }
}

#[test]
fn a_sweep_with_repeats_is_a_curve() {
    let points =
        [(10, 20.0, 0), (50, 11.111, 0), (50, 10.989, 0), (100, 10.526, 0), (100, 25.0, 0)];
    let judgement = judged(&sweep(&points));
    assert!(judgement.comparisons.is_empty());
    let [sweep] = judgement.sweeps.as_slice() else { panic!("one curve") };
    let points = &sweep.subject.curves[0].points;
    let points: Vec<(u64, u64)> = points.iter().map(|(c, x)| (*c, x.round() as u64)).collect();
    // Between 9,000 and 9,100; between 9,500 and 4,000.
    assert_eq!(points, [(10, 5000), (50, 9050), (100, 6750)]);
    assert_eq!(finding(sweep, D05), None);
    let noise = finding(sweep, D15).unwrap();
    assert_eq!(noise.severity, Severity::Note);
    // 5,500 of 6,750.
    let expected = "Runs at the same point differ by up to 81 % of their median: nginx/1.18.0 \
                    http://10.0.0.5:8080/index.html at c = 100 ranged from 4,000 to 9,500/s.";
    assert_eq!(noise.evidence, expected);
    // One of the two at c = 100 was as fast as those at c = 50: no fall is shown.
    assert_eq!(finding(sweep, D17), None);
    assert_eq!(sweep.verdict(), Verdict::Valid);
}

#[test]
fn repeats_that_agree_are_points_like_any_other() {
    let points =
        [(1, 100.0), (10, 20.0), (10, 20.1), (100, 10.0), (100, 10.1), (500, 30.0), (500, 31.0)];
    let text = sweep(&points.map(|(c, taken_s)| (c, taken_s, 0)));
    let judgement = judged(&text);
    let [curve] = judgement.sweeps.as_slice() else { panic!("one curve") };
    let ids: Vec<DiagnosisId> = curve.findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, [D17]);
    // The medians of 10,000 and 9,901, and of 3,333 and 3,226.
    let cliff = &curve.findings[0].evidence;
    assert!(cliff.contains("from c = 100 to 500 the rate falls from 9,950 to 3,280/s"), "{cliff}");
}

/// Neither the length nor the words above are those of a repeat.
#[test]
fn reports_of_one_concurrency_that_are_no_repeats_are_a_comparison() {
    let three = sweep(&[(1, 100.0, 0), (10, 20.0, 0), (100, 10.0, 0)]);
    let long =
        ab(100, 100.0, 0).replace("100000\n", "1000000\n").replace("1000.00 [", "10000.00 [");
    for other in [long, format!("with epoll:\n{}", ab(100, 9.0, 0))] {
        let judgement = judged(&format!("{three}{other}"));
        assert_eq!((judgement.sweeps.len(), judgement.comparisons.len()), (0, 1), "{other}");
        assert!(judgement.comparisons[0].subject.members.len() == 4, "{other}");
    }
}

#[test]
fn a_point_of_error_pages_is_no_point_of_the_curve() {
    let points =
        [(10, 20.0, 0), (50, 11.111, 0), (100, 10.526, 0), (200, 3.448, 100_000), (500, 11.111, 0)];
    let judgement = judged(&sweep(&points));
    let [sweep_of_five] = judgement.sweeps.as_slice() else { panic!("one curve") };
    let levels = sweep_of_five.subject.curves[0].points.iter().map(|(c, _)| *c);
    assert_eq!(levels.collect::<Vec<u64>>(), [10, 50, 100, 500]);
    let ids: Vec<DiagnosisId> = sweep_of_five.findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, [D05]);
    let other = &sweep_of_five.findings[0];
    let expected = "nginx/1.18.0 http://10.0.0.5:8080/index.html: the other points against c = 200: \
                    status 2xx against no status of 2xx";
    assert_eq!((other.severity, other.evidence.as_str()), (Severity::Invalid, expected));
    // However many points are error pages, those are the others.
    let points = [(10, 20.0, 0), (50, 11.0, 0), (100, 10.0, 0)];
    let errors =
        [(200, 3.0, 100_000), (500, 3.0, 100_000), (900, 2.0, 100_000), (950, 2.0, 100_000)];
    let judgement = judged(&sweep(&[&errors[..], &points].concat()));
    let levels = judgement.sweeps[0].subject.curves[0].points.iter().map(|(c, _)| *c);
    assert_eq!(levels.collect::<Vec<u64>>(), [10, 50, 100]);
    let other = &judgement.sweeps[0].findings[0].evidence;
    assert!(other.contains("against c = 200, 500, 900 and 950: status 2xx against no"), "{other}");
    // So is a point that was measured without -k.
    let without_k = sweep(&[(10, 20.0, 0), (50, 11.0, 0), (200, 10.0, 0)])
        + &sweep(&[(100, 25.0, 0)]).replace("ab -k", "ab").replace("Keep-Alive requests", "#");
    let judgement = judged(&without_k);
    let levels = judgement.sweeps[0].subject.curves[0].points.iter().map(|(c, _)| *c);
    assert_eq!(levels.collect::<Vec<u64>>(), [10, 50, 200]);
    // All of them are a curve.
    let judgement = judged(&sweep(&errors[..3]));
    assert_eq!((judgement.sweeps.len(), judgement.sweeps[0].findings.len()), (1, 0));
}

/// Three points are needed, and two are left.
#[test]
fn without_enough_points_of_equal_work_there_is_no_curve() {
    let judgement = judged(&sweep(&[(10, 20.0, 0), (50, 11.0, 0), (200, 3.0, 100_000)]));
    let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
    assert!(judgement.sweeps.is_empty());
    assert_eq!(finding(comparison, D05).unwrap().severity, Severity::Invalid);
}

/// hey: so many responses and so many failures in 2.0008 s.
fn hey(port: u16, responses: u64, failures: u64) -> String {
    let rate = (responses + failures) as f64 / 2.0008;
    let answered = match responses {
        0 => String::new(),
        _ => format!(
            "  Total data:\t{} bytes\n  Size/request:\t327 bytes\n\n\
             Status code distribution:\n  [200]\t{responses} responses\n\n",
            responses * 327
        ),
    };
    let failed = match failures {
        0 => String::new(),
        _ => format!(
            "Error distribution:\n  [{failures}]\tGet \"http://127.0.0.1:{port}/\": dial tcp \
             127.0.0.1:{port}: connect: connection refused\n"
        ),
    };
    format!(
        "$ hey -z 2s -c 20 http://127.0.0.1:{port}/\n\nSummary:\n  Total:\t2.0008 secs\n\
         \x20 Slowest:\t0.0100 secs\n  Fastest:\t0.0001 secs\n  Average:\t0.0029 secs\n\
         \x20 Requests/sec:\t{rate:.4}\n  \n{answered}{failed}\n\n"
    )
}

#[test]
fn a_rate_of_refused_connections_is_not_ranked() {
    let unequal = |texts: [String; 2]| {
        let judgement = judged(&texts.concat());
        let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
        finding(comparison, D05).map(|found| (found.severity, found.evidence.clone()))
    };
    let all = unequal([hey(23001, 13_592, 0), hey(23099, 0, 43_604)]);
    let said = |one: &str, other: &str| {
        format!(
            "report 1 against report 2: {one} of the requests without a response against {other}"
        )
    };
    assert_eq!(all, Some((Severity::Invalid, said("0 %", "100 %"))));
    let few = unequal([hey(23001, 13_592, 0), hey(23002, 13_100, 405)]);
    assert_eq!(few, Some((Severity::Suspect, said("0 %", "3.0 %"))));
    assert_eq!(unequal([hey(23001, 13_100, 405), hey(23002, 13_100, 405)]), None);
}

/// Which figure is wrong is not known, and so neither is the rate.
#[test]
fn a_report_whose_rate_is_contradicted_stands_beside_none() {
    let wrong = hey(23001, 13_592, 0).replace("Total:\t2.0008", "Total:\t20.0008");
    let judgement = judged(&format!("{wrong}{}", hey(23001, 13_592, 0)));
    assert!(finding(&judgement.reports[0], D43).is_some());
    assert!(judgement.comparisons.is_empty());
    let judgement = judged(&format!("{wrong}{}{}", hey(23001, 13_592, 0), hey(23002, 13_000, 0)));
    let members = judgement.comparisons[0].subject.members.iter();
    let names: Vec<&str> = members.map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["report 2", "report 3"]);
}

/// Methods, fields and bodies are in the command, and in no figure.
#[test]
fn another_request_is_other_work() {
    let one = sweep(&[(100, 8.123, 0)]);
    let post = sweep(&[(100, 9.0, 0)]).replace("ab -k", "ab -k -p body.txt -m POST");
    let judgement = judged(&format!("{one}{post}"));
    let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
    let unequal = comparison.findings.iter().find(|finding| finding.id == D05).unwrap();
    assert_eq!(unequal.severity, Severity::Suspect);
    assert!(unequal.evidence.contains("another method, field or body"), "{unequal:?}");
    // Another host is another target, of the same request.
    let host = |name: &str| format!("ab -k -H 'Host: {name}'");
    let two = [host("a"), host("b")].map(|with| one.replace("ab -k", &with));
    let judgement = judged(&two.concat());
    let findings = judgement.comparisons.iter().flat_map(|comparison| &comparison.findings);
    assert!(findings.into_iter().all(|finding| finding.id != D05), "{judgement:?}");
}

/// h2load prints what was agreed upon, and says nothing where its report is cut off.
#[test]
fn the_version_is_what_was_agreed_upon() {
    let report = |protocol: &str| {
        format!(
            "$ h2load -n 100000 -c 100 https://h/\nstarting benchmark...\nspawning thread #0: 100 total client(s). 100000 total \
             requests\n{protocol}\nfinished in 10.00s, 10000.00 req/s, 4.87MB/s\nrequests: 100000 total, 100000 started, 100000 \
             done, 100000 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 100000 2xx, 0 3xx, 0 4xx, 0 5xx\n\n"
        )
    };
    let said = |one: &str, other: &str| {
        let judgement = judged(&(report(one) + &report(other)));
        let findings = judgement.comparisons.into_iter().flat_map(|comparison| comparison.findings);
        findings.map(|finding| finding.evidence).collect::<String>()
    };
    let [h1, h2, h3] = ["http/1.1", "h2", "h3"].map(|name| format!("Application protocol: {name}"));
    assert!(said(&h1, &h2).contains("HTTP/1.1 against HTTP/2"), "{}", said(&h1, &h2));
    assert!(said(&h3, &h2).contains("HTTP/3 against HTTP/2"), "{}", said(&h3, &h2));
    assert!(!said("", &h2).contains("HTTP/"), "{}", said("", &h2));
}

/// A rate that `grep` left, each below a command of its own.
#[test]
fn rates_of_the_same_command_are_repeats_and_others_are_alone() {
    let ab = "$ ab -n 10000 -c 10 http://127.0.0.1/ | grep 'Requests per second'\n\
              Requests per second:    4000.12 [#/sec] (mean)\n";
    let judgement = judged(&ab.repeat(2));
    let [comparison] = judgement.comparisons.as_slice() else { panic!("{judgement:?}") };
    assert_eq!(comparison.subject.members.len(), 2);
    assert!(judgement.commands.is_empty() && judgement.rates.is_empty());
    let wrk = |port: u16, rate: &str| {
        format!(
            "$ wrk -t2 -c50 -d10s http://127.0.0.1:{port}/ | grep Requests/sec\nRequests/sec:  {rate}\n"
        )
    };
    let judgement = judged(&format!("{}{}", wrk(80, "45197.11"), wrk(81, "55197.11")));
    assert!(judgement.comparisons.is_empty(), "other targets are no repeats");
    let alone: Vec<_> = judgement.rates.iter().map(|rate| rate.rate_per_s.value).collect();
    assert_eq!((alone, judgement.commands.len()), (vec![45_197.11, 55_197.11], 2));
}

#[test]
fn a_report_that_breaks_off_before_its_counts_has_begun() {
    let text = "$ ab -n 20000 -c 10 http://127.0.0.1/\nThis is ApacheBench, Version 2.3 <$Revision$>\n\
                Server Software:        nginx\nConcurrency Level:      10\n";
    let judgement = judged(text);
    assert!(judgement.commands.is_empty() && judgement.reports.is_empty());
    assert!(judgement.begun[0].has_head && judgement.begun[0].command.is_some());
}

/// hey has what was refused in its rate: 40 % of it is no point of a curve.
#[test]
fn a_point_of_refused_connections_is_no_point_of_the_curve() {
    let point = |concurrency: u64, responses: u64, failures: u64| {
        hey(23001, responses, failures).replace("-c 20", &format!("-c {concurrency}"))
    };
    let curve = |failures: u64| {
        let text = [
            point(10, 18_000, 0),
            point(20, 19_000, 0),
            point(40, 38_000, failures),
            point(80, 19_500, 0),
        ];
        let judgement = judged(&text.concat());
        let [sweep] = judgement.sweeps.as_slice() else { panic!("one curve") };
        let ids = sweep.findings.iter().map(|found| found.id).collect::<Vec<_>>();
        (sweep.subject.curves[0].points.len(), ids, finding(sweep, D05).cloned())
    };
    let (points, ids, unequal) = curve(25_000);
    assert_eq!((points, ids), (3, vec![D05]));
    let unequal = unequal.unwrap();
    assert_eq!(unequal.severity, Severity::Invalid);
    let said =
        "the other points against c = 40: 0 % of the requests without a response against 40 %";
    assert!(unequal.evidence.contains(said), "{unequal:?}");
    // 400 of them do not make its rate.
    let (points, ids, _) = curve(400);
    assert_eq!(points, 4);
    assert!(ids.contains(&D17), "{ids:?}");
}

/// The rate of the one is what was asked for.
#[test]
fn a_limited_rate_is_not_compared_with_one_that_is_not() {
    let unlimited = hey(23001, 35_280, 0);
    let limited =
        |options: &str| hey(23002, 20_000, 0).replace("-c 20", &format!("-c 20 {options}"));
    let unequal = |one: &str, other: &str| {
        let judgement = judged(&format!("{one}{other}"));
        let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
        finding(comparison, D05).map(|found| (found.severity, found.evidence.clone()))
    };
    let said = |said: &str| Some((Severity::Suspect, format!("report 1 against report 2: {said}")));
    assert_eq!(
        unequal(&limited("-q 500"), &unlimited),
        said("at most 10,000/s requested against no limit")
    );
    assert_eq!(
        unequal(&limited("-q 500"), &limited("-q 600")),
        said("at most 10,000/s requested against at most 12,000/s")
    );
    assert_eq!(unequal(&limited("-q 500"), &limited("-q 500")), None);
    // Without its command nobody knows.
    let (_, alone) = unlimited.split_once('\n').unwrap();
    let said = unequal(&limited("-q 500"), alone).map_or(String::new(), |(_, said)| said);
    assert!(!said.contains("limit"), "{said}");
}

#[test]
fn other_threads_of_the_client_are_other_work() {
    let wrk = |threads: u64, port: u16| {
        format!(
            "$ wrk -t{threads} -c48 -d10s http://127.0.0.1:{port}/\nRunning 10s test @ http://127.0.0.1:{port}/\n\
             \x20 {threads} threads and 48 connections\n  150000 requests in 10.00s, 121.59MB read\n\
             Requests/sec:  15000.00\nTransfer/sec:     12.16MB\n"
        )
    };
    let unequal = |one: String, other: String| {
        let judgement = judged(&(one + &other));
        let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
        finding(comparison, D05).map(|found| (found.severity, found.evidence.clone()))
    };
    let said = "report 1 against report 2: 2 threads of the client against 4".to_owned();
    assert_eq!(unequal(wrk(2, 81), wrk(4, 82)), Some((Severity::Suspect, said)));
    assert_eq!(unequal(wrk(2, 81), wrk(2, 82)), None);
}
