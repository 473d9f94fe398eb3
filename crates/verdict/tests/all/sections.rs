//! Which report is of what, in pages whose headings are nested, and which command is a report's where several stand above.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::{Judgement, judge};

fn judged(text: &str) -> Judgement {
    judge(&read(text))
}

/// wrk's report of so many connections and requests per second.
fn wrk(connections: u64, per_s: f64, url: &str) -> String {
    let latency_us = connections as f64 / per_s * 1e6;
    format!(
        "Running 30s test @ {url}\n  4 threads and {connections} connections\n\
         \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
         \x20   Latency  {latency_us:.2}us  150.00us   90.00ms   78.12%\n\
         \x20   Req/Sec    {:.2}k   400.00    90.00k    68.33%\n\
         \x20 {} requests in 30.00s, 85.92MB read\n\
         Requests/sec:  {per_s:.2}\nTransfer/sec:      2.86MB\n",
        per_s / 4e3,
        (per_s * 30.0) as u64,
    )
}

const URL: &str = "http://127.0.0.1:8080/";

fn fenced(connections: u64, per_s: f64) -> String {
    format!("```\n{}```\n", wrk(connections, per_s, URL))
}

/// What is said of all of it beside each other.
fn said(text: &str) -> String {
    let judgement = judged(text);
    let comparisons = judgement.comparisons.iter().flat_map(|one| &one.findings);
    let sweeps = judgement.sweeps.iter().flat_map(|one| &one.findings);
    comparisons.chain(sweeps).map(|one| format!("{} {}\n", one.id, one.evidence)).collect()
}

fn in_reports(text: &str, id: DiagnosisId) -> Vec<String> {
    let reports = judged(text).reports;
    let findings = reports.into_iter().flat_map(|report| report.findings);
    findings.filter(|one| one.id == id).map(|one| one.evidence).collect()
}

#[test]
fn two_servers_with_the_same_headings_below_are_no_runs_of_one() {
    for lower in ["### c=100", "### Results", "### plaintext"] {
        let text = format!(
            "# Servers\n## nginx\n\n{lower}\n{}## caddy\n\n{lower}\n{}",
            fenced(100, 50_000.0),
            fenced(100, 41_000.0)
        );
        assert!(
            said(&text).contains("D15 Only one run of each of the two"),
            "{lower}: {}",
            said(&text)
        );
    }
    // Runs of one.
    let text = format!(
        "# Servers\n## nginx\n### Run 1\n{}### Run 2\n{}### Run 3\n{}",
        fenced(100, 50_000.0),
        fenced(100, 50_500.0),
        fenced(100, 50_200.0)
    );
    assert_eq!(said(&text), "");
}

#[test]
fn two_servers_over_the_concurrency_are_two_curves() {
    let server = |name: &str, rates: [f64; 3]| {
        let points = [10, 100, 400].into_iter().zip(rates);
        let points: String =
            points.map(|(c, rate)| format!("### c={c}\n{}", fenced(c, rate))).collect();
        format!("## {name}\n{points}")
    };
    let nginx = server("nginx", [20_000.0, 50_000.0, 52_000.0]);
    let caddy = server("caddy", [16_000.0, 40_000.0, 41_600.0]);
    let text = format!("{nginx}{caddy}");
    let judgement = judged(&text);
    let curves = &judgement.sweeps[0].subject.curves;
    let names: Vec<_> = curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, [format!("nginx {URL}"), format!("caddy {URL}")]);
    assert!(!said(&text).contains("Runs at the same point"), "{}", said(&text));
}

fn ab(requests: u64, concurrency: u64, host: &str) -> String {
    format!(
        "This is ApacheBench, Version 2.3\nServer Software:        x\nServer Hostname:        {host}\n\
         Server Port:            80\n\nDocument Path:          /\nDocument Length:        612 bytes\n\n\
         Concurrency Level:      {concurrency}\nTime taken for tests:   10.000 seconds\n\
         Complete requests:      {requests}\nFailed requests:        0\nKeep-Alive requests:    {requests}\n\
         Total transferred:      {}\nHTML transferred:       {}\nRequests per second:    {:.2} [#/sec] (mean)\n",
        requests * 850,
        requests * 612,
        requests as f64 / 10.0,
    )
}

/// The lines of the reports' commands.
fn lines(text: &str) -> Vec<Option<usize>> {
    let reports = read(text).reports.into_iter();
    reports.map(|report| report.command.map(|command| command.line)).collect()
}

#[test]
fn commands_above_all_reports_go_with_theirs() {
    let other = "http://127.0.0.1:8081/";
    let ports = format!(
        "```bash\nwrk -t4 -c100 -d30s {URL}\nwrk -t4 -c100 -d30s {other}\n```\n\n```\n{}\n{}```\n",
        wrk(100, 50_000.0, URL),
        wrk(100, 41_000.0, other)
    );
    let list = format!(
        "1. `wrk -t4 -c100 -d30s {URL}`\n2. `wrk -t4 -c400 -d30s {URL}`\n\nResults:\n\n{}\n{}",
        fenced(100, 50_000.0),
        fenced(400, 52_000.0)
    );
    let hosts = format!(
        "ab -k -n 100000 -c 100 http://a/\nab -k -n 100000 -c 100 http://b/\n\nResults for the first:\n{}\n\
         and the second:\n{}",
        ab(100_000, 100, "a"),
        ab(100_000, 100, "b")
    );
    for (text, expected) in
        [(ports, [Some(2), Some(3)]), (list, [Some(1), Some(2)]), (hosts, [Some(1), Some(2)])]
    {
        assert_eq!(in_reports(&text, D36), [""; 0], "{text}");
        assert_eq!(lines(&text), expected, "{text}");
    }
    // In no order.
    let turned = format!(
        "wrk -t4 -c400 -d30s {URL}\nwrk -t4 -c100 -d30s {URL}\n{}{}",
        fenced(100, 50_000.0),
        fenced(400, 52_000.0)
    );
    assert_eq!(in_reports(&turned, D36), [""; 0]);
    // The output of none of them, which may be that of a third one; but behind a prompt the last is the command.
    let none = |prompt: &str| {
        let (first, second) = ("wrk -t4 -c5 -d30s", "wrk -t4 -c9 -d30s");
        format!("{first} {URL}\n{prompt}{second} {URL}\n{}", wrk(100, 5e4, URL))
    };
    assert_eq!((in_reports(&none(""), D36).len(), in_reports(&none("$ "), D36).len()), (0, 1));
    // What was listed above a command that has its report below is of no report behind it.
    let over = format!(
        "$ wrk -t4 -c5 -d5s {URL} > log\n$ wrk -t4 -c100 -d30s {URL}\n{}{}",
        wrk(100, 5e4, URL),
        wrk(400, 5e4, URL)
    );
    assert_eq!(lines(&over), [Some(2), None]);
}

#[test]
fn a_warm_up_on_the_same_line_is_not_the_command_of_the_report() {
    let warm_wrk = format!(
        "$ wrk -t4 -c10 -d5s {URL} > /dev/null && wrk -t4 -c100 -d30s --latency {URL}\n{}",
        wrk(100, 5e4, URL)
    );
    let warm_ab = format!(
        "$ ab -n 1000 -c 1 http://h/ >/dev/null; ab -k -n 100000 -c 100 http://h/\n{}",
        ab(100_000, 100, "h")
    );
    // Both print.
    let both = format!(
        "$ ab -k -n 1000 -c 1 http://h/; ab -k -n 100000 -c 100 http://h/\n{}{}",
        ab(1000, 1, "h"),
        ab(100_000, 100, "h")
    );
    for text in [warm_wrk, warm_ab, both] {
        assert_eq!(in_reports(&text, D36), [""; 0], "{text}");
        assert!(lines(&text).iter().all(Option::is_some), "{text}");
    }
}

#[test]
fn an_example_in_a_sentence_is_the_command_of_no_report() {
    let below = |words: &str| format!("{words}\n\nMy numbers:\n{}", fenced(100, 5e4));
    let example = |command: &str| {
        below(&format!("Install: `apt install wrk`, then e.g. `{command}` (see the wrk README)."))
    };
    let other = format!("wrk -t12 -c400 -d30s {URL}index.html");
    assert_eq!(in_reports(&example(&other), D36), [""; 0]);
    assert_eq!(lines(&example(&other)), [None]);
    // One that is of the report all the same.
    assert_eq!(lines(&example(&format!("wrk -t4 -c100 -d30s {URL}"))), [Some(1)]);
    assert_eq!(in_reports(&below(&format!("I ran `{other}`:")), D36).len(), 1);
}

#[test]
fn a_table_whose_caption_says_what_else_it_holds_is_none_of_rates() {
    let table = "| connections | nginx | caddy |\n|--:|--:|--:|\n| 10 | 20 | 24 |\n| 100 | 85 | 99 |\n| 1000 | 40 | 99 |\n";
    for caption in
        ["### CPU usage (%)", "### Mean latency in ms by concurrency", "Memory (MB):", "**p99**"]
    {
        assert!(judged(&format!("{caption}\n\n{table}")).sweeps.is_empty(), "{caption}");
    }
    for caption in ["### Requests per second", "### Results", "req/s, CPU pinned", ""] {
        assert_eq!(judged(&format!("{caption}\n\n{table}")).sweeps.len(), 1, "{caption}");
    }
    let orders = "| clients | 1 | 2 | 3 |\n|--|--|--|--|\n| name | Bob | Ann | Eve |\n| orders | 10 | 12 | 9 |\n";
    assert!(judged(orders).sweeps.is_empty());
}

/// A command is held against a report only where nothing else may have printed that.
#[test]
fn a_command_that_need_not_be_the_one_of_the_report_is_held_against_none() {
    let other = format!("$ wrk -t4 -c10 -d5s {URL}");
    let report = wrk(100, 5e4, URL);
    let found = |text: &str| in_reports(text, D36).len();
    assert_eq!(found(&format!("{other}\n{report}")), 1);
    for between in [
        "$ ./bench.sh",
        "$ wrk --no-such-option -c100 http://127.0.0.1:8080/",
        "$ cat results.txt",
        "for i in 1 2; do ./bench.sh; done",
    ] {
        assert_eq!(found(&format!("{other} > log\n{between}\n{report}")), 0, "{between}");
    }
    // The words of a program that has more options than are known here.
    let h2load = |options: &str| {
        format!(
            "$ h2load -n 1000 -c 10 {options} https://h/\nstarting benchmark...\n\
             spawning thread #0: 20 total client(s). 1000 total requests\nApplication protocol: h2\n\n\
             finished in 1.00s, 1000.00 req/s, 1.00MB/s\n\
             requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout\n"
        )
    };
    assert_eq!(found(&h2load("--no-udp-gso --warm-up-time 1")), 1);
    assert_eq!(found(&h2load("--new-option 5")), 0);
}

/// What another program carries out, and what stands in the place of a block's language.
#[test]
fn a_command_is_read_wherever_people_put_it() {
    let run = "wrk -t4 -c100 -d30s --latency http://127.0.0.1:8080/";
    let report = wrk(100, 5e4, URL);
    for text in [
        format!("$ ssh -i key.pem ubuntu@10.0.0.5 \"{run}\"\n{report}"),
        format!("$ bash -c \"ulimit -n 65535; {run}\"\n{report}"),
        format!("$ docker exec bench sh -c '{run}'\n{report}"),
        format!("``` {run}\n{report}```\n"),
    ] {
        let command = read(&text).reports.remove(0).command.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(command.text, run);
        assert_eq!(in_reports(&text.replace("-c100", "-c50"), D36).len(), 1, "{text}");
    }
}

/// A heading for each of the two.
#[test]
fn a_command_and_its_output_may_have_headings_of_their_own() {
    let server = |name: &str, asked: u64, output: &str| {
        format!(
            "## {name}\n\n### Command\n\n```\nwrk -t4 -c{asked} -d30s {URL}\n```\n\n### {output}\n\n{}",
            fenced(100, 50_000.0)
        )
    };
    let text = format!("{}{}", server("nginx", 100, "Output"), server("caddy", 100, "Results:"));
    assert_eq!(lines(&text), [Some(6), Some(26)]);
    assert_eq!(in_reports(&server("nginx", 400, "Output"), D36).len(), 1);
    // Two headings below the report.
    let below = format!(
        "{}## More\n### Output\n",
        server("nginx", 100, "Output").replace("```\n\n##", "```\n##")
    );
    assert_eq!(lines(&below), [Some(6)]);
    // Another subject.
    assert_eq!(lines(&server("nginx", 400, "Conclusion")), [None]);
}
