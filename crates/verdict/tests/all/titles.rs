//! What reports are named after: words that somebody wrote above one, and none that a tool printed.

use ablaze_verdict::DiagnosisId::D36;
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;

const PRINTED: [&str; 9] = [
    include_str!("../printed/real-bombardier.txt"),
    include_str!("../printed/real-h2load-2.txt"),
    include_str!("../printed/real-siege.txt"),
    include_str!("../printed/real-vegeta.txt"),
    include_str!("../printed/real-wrk-2.txt"),
    include_str!("../printed/real-wrk2.txt"),
    include_str!("../printed/real-ab-2.txt"),
    include_str!("../printed/real-ablaze-ab.txt"),
    include_str!("../printed/peers.txt"),
];

/// Nobody wrote a word between these.
#[test]
fn what_a_tool_printed_is_no_title() {
    for text in PRINTED {
        for report in read(text).reports {
            // `ablaze:` is what ablaze says of the run, on stderr.
            let label = report.label.filter(|label| !label.starts_with("ablaze: "));
            assert_eq!(label, None, "line {} of {}", report.line, text.lines().next().unwrap());
        }
    }
}

const SIEGE: &str = "$ siege -b -c 50 -t 30S http://10.0.0.5:8080/\n** SIEGE 4.0.4\n\
    ** Preparing 50 concurrent users for battle.\nThe server is now under siege...\n\
    HTTP/1.1 200     0.00 secs:     612 bytes ==> GET  /\n\
    [error] socket: unable to connect sock.c:282: Connection refused\n\nLifting the server siege...\n\
    Transactions:\t\t       14784 hits\nAvailability:\t\t      100.00 %\nElapsed time:\t\t       29.27 secs\n\
    Transaction rate:\t      505.09 trans/sec\nConcurrency:\t\t       49.94\nFailed transactions:\t           1\n";

#[test]
fn siege_announces_its_report_and_does_not_name_it() {
    let label = |text: &str| {
        let mut reports = read(text).reports;
        assert_eq!(reports.len(), 1, "{text}");
        reports.remove(0).label
    };
    assert_eq!(label(SIEGE), None);
    let gives_up = "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n";
    assert_eq!(label(&SIEGE.replace("** SIEGE", &format!("{gives_up}** SIEGE"))), None);
    assert_eq!(label(&format!("## nginx\n{SIEGE}")), Some("nginx".to_owned()));
    assert_eq!(label(&SIEGE.replace("...\nTrans", "...^C\nTrans")), None);
    // An interrupt is typed beside what the tool prints.
    let ab = "$ ab -n 1000 -c 10 http://h/\nBenchmarking h (be patient)\n^C\n\nConcurrency Level:      10\n\
              Complete requests:      120\nRequests per second:    10.00 [#/sec] (mean)\n";
    assert_eq!(label(ab), None);
    // `time` and `date` of a script name nothing either.
    let ab = &ab[ab.find("Benchmarking").unwrap()..];
    assert_eq!(label(&format!("real\t0m3.204s\nuser\t0m0.100s\nsys\t0m3.200s\n{ab}")), None);
    assert_eq!(label(&format!("Mon Nov 21 10:00:01 UTC 2026\n{ab}")), None);
    assert_eq!(label(&format!("real life\n{ab}")), Some("real life".to_owned()));
}

const AB: &str = "This is ApacheBench, Version 2.3\nServer Software: x\nServer Hostname: h\nServer Port: 80\n\
    Document Path: /\nDocument Length: 5 bytes\nConcurrency Level: 10\nTime taken for tests: 10.000 seconds\n\
    Complete requests: 10000\nFailed requests: 0\nTotal transferred: 900000 bytes\nHTML transferred: 50000 bytes\n\
    Requests per second: 1000.00 [#/sec] (mean)\n\n\
    Percentage of the requests served within a certain time (ms)\n 50% 9\n 100% 45 (longest request)\n";

/// `R` is a report of ab; the labels of all.
fn labels(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| if line == "R" { AB } else { line });
    let text: Vec<&str> = lines.collect();
    let reports = read(&text.join("\n")).reports.into_iter();
    reports.map(|report| report.label.unwrap_or_default()).collect()
}

#[test]
fn a_heading_names_all_reports_up_to_the_next() {
    for (text, expected) in [
        ("## nginx\nR\nR\n## apache\nR\nR", ["nginx", "nginx", "apache", "apache"]),
        (
            "=== server A ===\nR\nR\n=== server B ===\nR\nR",
            ["server A", "server A", "server B", "server B"],
        ),
        (
            "=== nginx\n$ ab -n 9 http://h/\nR\n$ ab -n 9 http://h/\nR\n--- B ---\nR\nR",
            ["nginx", "nginx", "B", "B"],
        ),
        ("nginx\n=====\nR\nR\napache\n======\nR\nR", ["nginx", "nginx", "apache", "apache"]),
        (
            "nginx\n-----\nR\nR\n-----\nother\n\n-----\nR\nR",
            ["nginx", "nginx", "nginx, other", "nginx"],
        ),
        ("epoll:\nR\nR\npoll:\nR\nR", ["epoll", "epoll", "poll", "poll"]),
        (
            "epoll:\nrun 1\nR\nrun 2\nR\npoll:\nrun 1\nR\nR",
            ["epoll, run 1", "epoll, run 2", "poll, run 1", "poll"],
        ),
        (
            "## nginx\nkept\nR\nclosed\nR\n## apache\nkept\nR\nR",
            ["nginx, kept", "nginx, closed", "apache, kept", "apache"],
        ),
        ("## wrk\n=== A ===\nR\nR\n=== B ===\nR\n## ab\nR", ["wrk, A", "wrk, A", "wrk, B", "ab"]),
        // What has a title of its own is of no group above it, nor is what follows it.
        ("epoll:\nR\nnginx\nR\nR\npoll:\nR", ["epoll", "nginx", "", "poll"]),
        // The last line of a paragraph is no heading.
        ("nginx\nR\nR\nIt is fast\nR\nR", ["nginx", "", "It is fast", ""]),
    ] {
        assert_eq!(labels(text), expected, "{text}");
    }
    // A title within a block of code ends with it.
    let fenced = "```\n=== A ===\nR\nR\n```\n\n```\n$ ab -n 9 http://h/\nR\n```";
    assert_eq!(labels(fenced), ["A", "A", ""]);
}

/// A shell's other commands print what is about no report.
#[test]
fn what_another_command_printed_is_no_title() {
    let run = "$ ab -n 10000 -c 10 http://h/\nR";
    for output in [
        "$ uname -a\nLinux host 6.1.0-18-amd64 #1 SMP x86_64 GNU/Linux",
        "$ ulimit -n\n1024",
        "$ nproc\n2",
        "me@host:~$ free -m\n        total used free\nMem:     7936 1200 6000\nSwap:       0    0    0",
        "[root@web ~]# cat /proc/loadavg\n0.00 0.01 0.05 1/123 4567",
        "$ lscpu\nModel name: x\nFlags:",
    ] {
        assert_eq!(labels(&format!("{output}\n{run}")), [""], "{output}");
        assert_eq!(labels(&format!("nginx\n{output}\n{run}")), ["nginx"], "{output}");
        // Up to an empty line.
        assert_eq!(labels(&format!("{output}\n\nnginx\n{run}")), ["nginx"], "{output}");
    }
    // What prints titles, or runs what does.
    for output in [
        "$ echo nginx\nnginx",
        "$ ./bench.sh\nnginx",
        "$ sudo bash bench.sh\nnginx",
        "$ cat results.txt\nnginx",
    ] {
        assert_eq!(labels(&format!("{output}\nR")), ["nginx"], "{output}");
    }
}

/// Above a heading stands the command of the report above it, as of the last one.
#[test]
fn a_heading_below_a_report_leaves_it_its_command() {
    let wrk = |asked: u64| {
        format!(
            "$ wrk -t2 -c{asked} -d10s http://127.0.0.1:25001/\nRunning 10s test @ http://127.0.0.1:25001/\n  2 threads and \
             50 connections\n  150000 requests in 10.22s, 121.59MB read\nRequests/sec:  14681.51\n\n"
        )
    };
    for heading in ["## B", "# ./restart.sh", "# Conclusion\n\nIt is fast.", "B\n-----"] {
        let text = format!("## A\n{}{heading}\n{}", wrk(70), wrk(50));
        let reports = judge(&read(&text)).reports;
        let commands: Vec<_> =
            reports.iter().map(|one| one.subject.command.as_ref().map(|line| line.line)).collect();
        assert!(commands.iter().all(Option::is_some), "{heading}: {commands:?}");
        let found = |at: usize| reports[at].findings.iter().any(|one| one.id == D36);
        assert!(found(0) && !found(1), "{heading}");
    }
    // So do an error that ended a run, a run that only began, and a rate alone.
    let text = "$ ab -n 9 http://h/\napr_socket_recv: Connection refused (111)\n## B\n";
    assert!(read(text).aborts[0].command.is_some());
    let text = "$ ab -n 9 http://h/\nThis is ApacheBench, Version 2.3\n## B\n";
    assert!(read(text).begun[0].command.is_some());
    let rate = "Requests per second:    4000.12 [#/sec] (mean)\n";
    let text = format!("$ ab -n 9 http://h/ | grep second\n{rate}## B\n{rate}");
    let rates = read(&text).rates;
    let commands: Vec<_> = rates.iter().map(|rate| rate.command.is_some()).collect();
    assert_eq!(commands, [true, false]);
}

/// As versions of 2006 and 2016 printed them.
#[test]
fn banners_and_bars_of_old_versions_are_no_titles() {
    let siege =
        SIEGE.replace("** SIEGE 4.0.4\n    ** Prep", "..Siege 2.65 2006/05/11 23:42:16\n..Prep");
    let siege = siege.replace("** SIEGE 4.0.4", "..Siege 2.65 2006/05/11 23:42:16");
    let (_, below) = siege.split_once('\n').unwrap();
    assert_eq!(read(below).reports[0].label, None);
    for bar in ["200 / 200 ∎∎∎∎∎∎∎∎∎∎∎∎ 100.00%", "100 / 200 ∎∎∎∎ 50.00% 1s"]
    {
        let hey = format!(
            "$ hey -n 200 -c 50 http://h/\n{bar}\n\nSummary:\n  Total:\t0.9171 secs\n  Requests/sec:\t218.0786\n\n\
             Status code distribution:\n  [200]\t200 responses\n"
        );
        assert_eq!(read(&hey).reports[0].label, None, "{bar}");
    }
}

#[test]
fn a_heading_may_be_a_request_and_a_report_a_comment() {
    let wrk = "Running 30s test @ http://h/\n  5 threads and 10 connections\n  1787208 requests in 30.08s, 218.17MB read\n\
               Requests/sec:  59419.98\nTransfer/sec:      7.25MB\n";
    let below =
        |heading: &str| read(&format!("{heading}\n\n```\n{wrk}```\n")).reports.remove(0).label;
    assert_eq!(below("#### POST http://h/team/add"), Some("POST http://h/team/add".to_owned()));
    let lines: Vec<String> = wrk.lines().map(|line| format!("// {line}\n")).collect();
    let report = read(&format!("func main() {{\n}}\n\n{}", lines.concat())).reports.remove(0);
    assert_eq!((report.complete, report.label), (Some(1_787_208), None));
}

#[test]
fn html_may_begin_in_the_line_of_a_report() {
    let wrk = |port: u16| {
        format!(
            "Running 30s test @ http://h:{port}/\n  5 threads and 10 connections\n  1787208 requests in 30.08s, 218.17MB read\n\
             Requests/sec:  59419.98\nTransfer/sec:      7.25MB"
        )
    };
    for (begins, ends) in
        [("<pre>", "</pre>"), ("<pre><code class=\"x\">", "</code></pre>"), ("  <PRE>", "\n</PRE>")]
    {
        let text = [8080, 8081].map(|port| format!("{begins}{}{ends}\n", wrk(port))).concat();
        let reports = read(&text).reports;
        let read: Vec<_> =
            reports.iter().map(|one| (one.line, one.port, one.label.clone())).collect();
        let lines = [1, text.lines().count() / 2 + 1];
        assert_eq!(read, [(lines[0], Some(8080), None), (lines[1], Some(8081), None)], "{text}");
    }
}

#[test]
fn what_warmed_up_is_not_compared_with_what_was_measured() {
    let wrk = |rate: &str| {
        format!(
            "Running 30s test @ http://h/\n  4 threads and 100 connections\n  1200000 requests in 30.00s, 218.17MB read\n\
             Requests/sec:  {rate}\nTransfer/sec:      7.25MB\n"
        )
    };
    let (first, second) = (wrk("40000.00"), wrk("40000.12"));
    let compared = |one: &str, other: &str| {
        let judgement = judge(&read(&format!("{one}:\n\n{first}\n{other}:\n\n{second}")));
        assert_eq!(judgement.reports.len(), 2);
        !judgement.comparisons.is_empty()
    };
    assert!(!compared("Warm-up", "Measurement"));
    assert!(compared("Before", "After warm-up"));
    assert!(compared("Warm-up of nginx", "Warm-up of caddy"));
}
