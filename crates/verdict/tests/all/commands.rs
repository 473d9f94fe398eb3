//! What stands in the command above a report: held against the report, and in the commands that are advised.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Severity;
use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::{Judged, judge};

fn one(text: &str) -> Judged<Report> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0)
}

fn has(id: DiagnosisId, judged: &Judged<Report>) -> bool {
    judged.findings.iter().any(|finding| finding.id == id)
}

/// Its evidence, cause and fix, of a diagnosis that must be there.
fn of(id: DiagnosisId, judged: &Judged<Report>) -> [String; 3] {
    let found = judged.findings.iter().find(|finding| finding.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {:?}", judged.findings));
    [found.evidence.clone(), found.cause.clone(), found.fix.clone()]
}

/// 147 kB/s and 14,681.51/s: wrk's report of this URL.
fn wrk(options: &str, url: &str) -> String {
    format!(
        "$ wrk -t2 -c50 -d10s {options} '{url}'\nRunning 10s test @ {url}\n  2 threads and 50 connections\n\
         \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     3.41ms   1.81ms  36.34ms   76.32%\n\
         \x20   Req/Sec     7.34k   587.26     8.81k    72.50%\n  150000 requests in 10.22s, 121.59MB read\n\
         Requests/sec:  14681.51\nTransfer/sec:     11.90MB\n"
    )
}

/// 17,640.4/s × 2.8 ms: 50 in flight, in reports of hey and oha below this command.
fn hey(command: &str) -> String {
    let (rate, total) = match command.starts_with("oha") {
        true => ("  Success rate:\t100.00%\n", "116.73 MiB"),
        false => ("", "122400000 bytes"),
    };
    format!(
        "$ {command}\n\nSummary:\n{rate}  Total:\t11.3376 secs\n  Slowest:\t0.0303 secs\n  Fastest:\t0.0002 secs\n\
         \x20 Average:\t0.0028 secs\n  Requests/sec:\t17640.3720\n\n  Total data:\t{total}\n\n\
         Status code distribution:\n  [200]\t200000 responses\n"
    )
}

/// 200,000 × 22.68 ms in 9.07 s: 500 in flight.
fn h2load(command: &str, protocol: &str, savings: &str) -> String {
    format!(
        "$ {command}\nstarting benchmark...\nspawning thread #0: 50 total client(s). 200000 total requests\n{protocol}\n\
         finished in 9.07s, 22050.46 req/s, 17.08MB/s\n\
         requests: 200000 total, 200000 started, 200000 done, 200000 succeeded, 0 failed, 0 errored, 0 timeout\n\
         status codes: 200000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
         traffic: 154.88MB (162400000) total, 34.33MB (36000000) headers (space savings {savings}%), 116.73MB (122400000) data\n\
         \x20                    min         max         mean         sd        +/- sd\n\
         time for request:     1.82ms    242.26ms     22.68ms     12.07ms    71.00%\n\
         time to 1st byte:      500us     20.00ms      4.00ms      3.00ms    80.00%\n"
    )
}

fn siege(command: &str) -> String {
    format!(
        "$ {command}\nTransactions:\t\t       12500 hits\nAvailability:\t\t      100.00 %\n\
         Elapsed time:\t\t       10.02 secs\nData transferred:\t        30.60 MB\nResponse time:\t\t        0.02 secs\n\
         Transaction rate:\t     1247.50 trans/sec\nThroughput:\t\t        3.05 MB/sec\nConcurrency:\t\t       24.95\n\
         Successful transactions:        12500\nFailed transactions:\t           0\nLongest transaction:\t        0.12\n\
         Shortest transaction:\t        0.00\n"
    )
}

/// A shell would run what is in front of the `&`, and expand what is behind the `$`.
#[test]
fn a_url_in_a_command_is_quoted() {
    let url = "http://127.0.0.1:25001/a?x=1&y=$z";
    let report = one(&wrk("", url));
    assert_eq!(
        report.subject.command.as_ref().unwrap().text,
        format!("wrk -t2 -c50 -d10s '{url}'")
    );
    assert!(of(D06, &report)[2].contains(&format!("`ablaze -c 50 '{url}'`")), "{report:?}");
    let failed =
        wrk("", url).replace("Requests/sec", "  Non-2xx or 3xx responses: 150000\nRequests/sec");
    assert!(of(D04, &one(&failed))[2].contains(&format!("`curl -i '{url}'`")));
    let hey = hey("hey -n 100000 -c 50 -H 'X: y z' 'http://h/?a=1&b=2'");
    assert!(
        of(D36, &one(&hey))[0].contains("`hey -n 100000 -c 50 -H 'X: y z' 'http://h/?a=1&b=2'`")
    );
}

/// wrk prints the URL as typed, and ab its path, each with what is no part of host and path.
#[test]
fn who_asks_and_where_in_the_page_are_no_differences() {
    for url in [
        "http://user:pw@127.0.0.1:25001/",
        "http://127.0.0.1:25001/?x=1#frag",
        "http://h?x=1",
        "http://h#top",
    ] {
        assert!(!has(D36, &one(&wrk("", url))), "{url}");
    }
    let ab = "$ ab -n 100 -c 1 'http://127.0.0.1:25001/?x=1#frag'\nServer Software:        nginx/1.22.1\n\
              Server Hostname:        127.0.0.1\nServer Port:            25001\n\nDocument Path:          /?x=1#frag\n\
              Document Length:        612 bytes\n\nConcurrency Level:      1\nTime taken for tests:   1.000 seconds\n\
              Complete requests:      100\nFailed requests:        0\nTotal transferred:      85000 bytes\n\
              HTML transferred:       61200 bytes\nRequests per second:    100.00 [#/sec] (mean)\n";
    assert!(!has(D36, &one(ab)));
    assert!(has(D36, &one(&ab.replace("/?x=1#frag\nDoc", "/?x=2#frag\nDoc"))));
}

#[test]
fn more_in_flight_than_the_command_has_room_for_is_not_of_that_command() {
    let clear = "http://127.0.0.1:25001/";
    for (text, said) in [
        (
            hey(&format!("hey -n 200000 -c 5 {clear}")),
            "asks for 5 connections where 49.4 were in flight on average",
        ),
        (
            hey(&format!("oha -n 200000 -c 5 {clear}")),
            "asks for 5 connections where 49.4 were in flight on average",
        ),
        (
            siege(&format!("siege -b -c5 -t10S {clear}")),
            "asks for 5 connections where 24.95 were in flight",
        ),
        (
            h2load(
                &format!("h2load -n 200000 -c 50 -m 2 {clear}"),
                "Application protocol: h2c",
                "30.00",
            ),
            "asks for 50 connections of 2 requests each where 500 were in flight on average (200,000 responses × 22.7 ms / 9.07 s)",
        ),
    ] {
        let report = one(&text);
        let [evidence, cause, _] = of(D36, &report);
        assert!(evidence.contains(said), "{evidence}");
        // The report may have been changed as well.
        assert!(cause.contains("or figures of it were changed"), "{cause}");
        assert!(!has(D43, &report), "{report:?}");
    }
    for text in [
        hey(&format!("hey -n 200000 -c 50 {clear}")),
        hey(&format!("oha -n 200000 -c 50 {clear}")),
        // The times begin when requests were due.
        hey(&format!("oha -n 200000 -c 5 -q 20000 --latency-correction {clear}")),
        siege(&format!("siege -b -c25 -t10S {clear}")),
        h2load(
            &format!("h2load -n 200000 -c 50 -m 10 {clear}"),
            "Application protocol: h2c",
            "30.00",
        ),
    ] {
        assert!(!has(D36, &one(&text)), "{text}");
    }
}

/// oha's requests at the deadline: one for each connection at most.
#[test]
fn requests_under_way_at_the_deadline_are_no_more_than_connections() {
    let with = |aborted: u64, came: u64| {
        let rate = format!("{:.4}", (came + aborted) as f64 / 11.0);
        let text = hey("oha -z 11s -c 50 http://h/")
            .replace("11.3376", "11.0000")
            .replace("17640.3720", &rate);
        let text = text.replace("200000 responses", &format!("{came} responses"));
        one(&format!("{text}\nError distribution:\n  [{aborted}] aborted due to deadline\n"))
    };
    let said = &of(D36, &with(5000, 190_000))[0];
    assert!(
        said.contains("50 connections where 5,000 requests were under way when the time was up"),
        "{said}"
    );
    assert!(!has(D36, &with(50, 195_000)));
    // 100 responses in 11 s.
    let short = &of(D14, &with(50, 100))[0];
    assert!(
        short.contains("50 of 150 requests (33 %) were under way")
            && short.contains("9.09/s without them"),
        "{short}"
    );
}

#[test]
fn http_2_is_known_where_h2load_does_not_say_it() {
    let fix = |command: &str, protocol: &str, savings: &str| {
        let [.., fix] = of(D06, &one(&h2load(command, protocol, savings)));
        fix.split('`').nth(1).unwrap().to_owned()
    };
    for (command, protocol, savings, expected) in [
        (
            "h2load -n 200000 -c 50 -m 10 https://h/",
            "",
            "93.07",
            "ablaze --http 2 -c 50 --streams 10 --insecure https://h/",
        ),
        // h2load agrees on nothing there.
        (
            "h2load -n 200000 -c 50 -m 10 http://h/",
            "",
            "0.00",
            "ablaze --http 2 -c 50 --streams 10 http://h/",
        ),
        (
            "h2load -n 200000 -c 50 -m 10 --h1 http://h/",
            "",
            "0.00",
            "ablaze -c 50 --pipeline 10 http://h/",
        ),
        (
            "h2load -n 200000 -c 50 -m 10 -p http/1.1 http://h/",
            "",
            "0.00",
            "ablaze -c 50 --pipeline 10 http://h/",
        ),
        (
            "h2load -n 200000 -c 50 -m 10 https://h/",
            "Application protocol: http/1.1",
            "0.00",
            "ablaze -c 50 --pipeline 10 --insecure https://h/",
        ),
    ] {
        assert_eq!(fix(command, protocol, savings), expected, "{command}");
    }
}

/// Most of the tools look at no certificate, and ablaze does.
#[test]
fn an_advised_command_takes_the_certificate_that_the_run_took() {
    let fix = |text: &str| of(D06, &one(text))[2].clone();
    let insecure = |text: &str| fix(text).contains(" --insecure https://h/`");
    assert!(insecure(&wrk("", "https://h/")));
    let siege = "$ siege -b -c 5 -r 20 https://h/\n{\t\"transactions\":\t100,\n\t\"availability\":\t100.00,\n\
                 \t\"elapsed_time\":\t0.07,\n\t\"response_time\":\t0.00,\n\t\"transaction_rate\":\t1428.57,\n\
                 \t\"concurrency\":\t4.29,\n\t\"successful_transactions\":\t100,\n\t\"failed_transactions\":\t0,\n\
                 \t\"longest_transaction\":\t0.01,\n\t\"shortest_transaction\":\t0.00\n}\n";
    assert!(insecure(siege));
    assert!(insecure(&hey("hey -n 200000 -c 50 https://h/")));
    assert!(insecure(&hey("oha -n 200000 -c 50 --insecure https://h/")));
    assert!(insecure(&h2load("h2load -n 200000 -c 50 -m 10 https://h/", "", "30.00")));
    for text in [hey("oha -n 200000 -c 50 https://h/"), hey("hey -n 200000 -c 50 http://h/")] {
        assert!(!fix(&text).contains("--insecure"), "{}", fix(&text));
    }
}

/// ablaze rejects both together.
#[test]
fn an_advised_command_has_no_pipeline_at_a_rate() {
    let of_rate = "h2load -n 200000 -c 50 --rps=500 -m 10 --h1 http://h/";
    let fix = of(D06, &one(&h2load(of_rate, "Application protocol: http/1.1", "0.00")))[2].clone();
    assert!(fix.contains("`ablaze -c 50 --rate 25000/s http://h/`"), "{fix}");
}

/// What the advised command cannot have in it is said.
#[test]
fn what_else_the_command_asks_for_is_named() {
    let fix = |text: &str| of(D06, &one(text))[2].split(": it prints").next().unwrap().to_owned();
    let oha = |options: &str| fix(&hey(&format!("oha -z 10s -c 50 {options}")));
    let url = "http://127.0.0.1:25001/";
    let measure = |command: &str| format!("Measure the times with `ablaze -c {command}");
    let request = "with the method, fields and body of the command above";
    // A file's name is no host.
    let list = oha("--urls-from-file urls.txt");
    assert_eq!(list, measure("50 URL`, with the URLs of the file in the command above (--urls)"));
    let pattern = oha("--rand-regex-url 'http://127.0.0.1:25001/[a-z]{3}'");
    assert_eq!(
        pattern,
        measure("50 URL`, with URLs as the pattern of the command above makes them (--urls)")
    );
    assert_eq!(oha(&format!("--host a.example {url}")), measure(&format!("50 {url}`, {request}")));
    let socket = oha(&format!("--unix-socket /tmp/x {url}"));
    assert_eq!(
        socket,
        measure(&format!("50 {url}`, through the socket of the command above (--unix-socket)"))
    );
    let proxy = oha(&format!("-x http://127.0.0.1:3128 {url}"));
    assert_eq!(
        proxy,
        measure(&format!("50 {url}`, through the proxy of the command above (--proxy)"))
    );
    // siege has the request in the word of its URL.
    for word in
        ["http://127.0.0.1:25001/post POST a=b", "http://127.0.0.1:25001/post POST < body.json"]
    {
        let siege = fix(&siege(&format!("siege -b -c25 -t10S '{word}'")));
        assert_eq!(siege, measure(&format!("25 {url}post`, {request}")));
    }
    let siege = fix(&siege("siege -b -c25 -t10S -f urls.txt"));
    assert!(siege.contains("-c 25 URL`, with the URLs of the file"), "{siege}");
    let elsewhere = |options: &str| {
        fix(&h2load(&format!("h2load -n 200000 -c 50 -m 10 {options}"), "", "30.00"))
    };
    let to = elsewhere("--connect-to=127.0.0.1:25009 http://example.org/");
    assert!(
        to.ends_with("http://example.org/`, to the address in the command above (--connect-to)"),
        "{to}"
    );
    let socket = elsewhere("-B unix:/tmp/x.sock http://h/post");
    assert!(
        socket.ends_with("http://h/post`, through the socket of the command above (--unix-socket)"),
        "{socket}"
    );
    assert!(elsewhere("-B http://h:81 http://x/post").ends_with("http://h:81/post`"));
    // ab asks a proxy in other words, and for the same.
    let ab = "$ ab -n 20000 -c 10 -X proxy:3128 http://h/\nServer Hostname:        h\nServer Port:            80\n\
              Document Path:          /\nConcurrency Level:      10\nTime taken for tests:   2.000 seconds\n\
              Complete requests:      20000\nFailed requests:        0\nTotal transferred:      2000000 bytes\n\
              HTML transferred:       200000 bytes\nRequests per second:    10000.00 [#/sec] (mean)\n";
    assert!(
        fix(ab).ends_with("http://h/`, through the proxy of the command above (--proxy)"),
        "{}",
        fix(ab)
    );
}

/// Four requests each 2 s.
#[test]
fn bursts_of_oha_are_a_rate() {
    let report = one(&hey("oha -n 200000 -c 50 --burst-delay 2s --burst-rate 4 http://h/"));
    assert!(of(D36, &report)[0].contains("asks for at most 2.00/s"), "{report:?}");
}

#[test]
fn one_request_is_one() {
    let report = one(&hey("hey -n 1 -c 50 http://h/"));
    assert!(
        of(D36, &report)[0].contains("asks for 1 request, the report says 200,000"),
        "{report:?}"
    );
}

/// 1,000/s × 2.83 ms.
#[test]
fn a_script_of_wrk_may_pause_on_purpose() {
    let slow = |options: &str| {
        let text = wrk(options, "http://h/")
            .replace("150000 requests in 10.22s", "10000 requests in 10.00s");
        let text = text
            .replace("14681.51", "1000.00")
            .replace("3.41ms", "2.83ms")
            .replace("11.90MB", "12.16MB");
        one(&text.replace("7.34k   587.26     8.81k", "500.00    40.00    600.00"))
    };
    let report = slow("-s delay.lua");
    let found = report.findings.iter().find(|finding| finding.id == D01).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.cause.contains("the script (-s) made them pause"), "{found:?}");
    let report = slow("");
    let found = report.findings.iter().find(|finding| finding.id == D01).unwrap();
    assert_eq!(found.severity, Severity::Invalid);
    assert!(!found.cause.contains("script"), "{found:?}");
}

/// wrk 4 counts late responses there: of 15 no more than 15.
#[test]
fn more_timeouts_of_wrk_than_responses_are_no_late_responses() {
    let with = |timeouts: u64| {
        let text = wrk("", "http://h/")
            .replace("150000 requests in 10.22s, 121.59MB", "15 requests in 10.02s, 12.45KB");
        let text = text
            .replace("14681.51", "1.50")
            .replace("11.90MB", "1.24KB")
            .replace("7.34k   587.26     8.81k", "0.75     0.06     0.90");
        let text = text.replace("3.41ms   1.81ms  36.34ms", "2.99ms   1.38ms   6.19ms");
        one(&text.replace(
            "Requests/sec",
            &format!(
                "  Socket errors: connect 0, read 0, write 0, timeout {timeouts}\nRequests/sec"
            ),
        ))
    };
    let report = with(35);
    let [evidence, cause, _] = of(D02, &report);
    assert!(
        evidence.contains("35 under `timeout`, and only 15 requests got a response"),
        "{evidence}"
    );
    assert!(cause.contains("Versions before it"), "{cause}");
    assert!(report.findings.iter().all(|one| !one.evidence.contains("35 of 15")), "{report:?}");
    // On 50 connections no version counts so many in 10.02 s.
    let report = with(251);
    assert!(has(D43, &report) && !has(D02, &report), "{report:?}");
    assert!(report.findings.iter().all(|one| !one.evidence.contains("251 of 15")), "{report:?}");
    assert!(!has(D43, &with(250)) && has(D02, &with(250)));
    let report = with(14);
    assert!(!has(D02, &report) && of(D06, &report)[0].contains("14 of 15 responses"), "{report:?}");
}

/// A limit that was not reached is no schedule that was kept.
#[test]
fn a_limit_of_the_rate_that_was_not_reached_is_noted() {
    for (command, is_noted) in [
        ("oha -q 40000 -z 11s -c 50 http://h/", true),
        ("hey -q 800 -z 11s -c 50 http://h/", true),
        ("hey -q 353 -z 11s -c 50 http://h/", false),
        ("hey -z 11s -c 50 http://h/", false),
    ] {
        assert_eq!(has(D30, &one(&hey(command))), is_noted, "{command}");
    }
    let report = one(&hey("hey -q 800 -z 11s -c 50 http://h/"));
    assert!(
        of(D30, &report)[0].contains("At most 40,000/s were requested, and 17,640.37/s"),
        "{report:?}"
    );
}

#[test]
fn half_of_the_responses_do_not_make_the_rate_of_an_error_page() {
    let with = |good: u64, others: u64| {
        let text = hey("hey -n 200000 -c 50 http://h/");
        let statuses = format!("  [200]\t{good} responses\n  [401]\t{others} responses\n");
        let [_, cause, _] = of(D04, &one(&text.replace("  [200]\t200000 responses\n", &statuses)));
        cause
    };
    assert!(with(100_000, 100_000).starts_with("The rate is in large part that of error pages"));
    assert!(with(0, 200_000).starts_with("The rate is that of an error page"));
}

/// h2load prints the length in lines that are often left out.
#[test]
fn in_flight_follows_without_the_length_of_a_run_of_h2load() {
    let report = |clients: u64| {
        let below = h2load(&format!("h2load -D 9 -c {clients} --h1 http://h/"), "", "0.00");
        let lines = below
            .lines()
            .filter(|line| !line.starts_with("spawning") && !line.starts_with("Application"));
        let text: Vec<&str> = lines.collect();
        one(&text
            .join("\n")
            .replace("200000 total, 200000 started", "200000 total, 200500 started"))
    };
    let [evidence, ..] = of(D36, &report(10));
    assert!(
        evidence.contains("asks for 10 connections where 500 were in flight on average"),
        "{evidence}"
    );
    assert!(!has(D36, &report(500)));
}

/// Only wrk2 says this.
#[test]
fn wrk2_without_a_rate_sends_nothing() {
    let text =
        "$ wrk2 -t1 -c1 http://h/\nThroughput MUST be specified with the --rate or -R option\n";
    let aborts = judge(&read(text)).aborts;
    let finding = &aborts[0].findings[0];
    assert!(finding.evidence.starts_with("wrk2 ended with `Throughput MUST"), "{finding:?}");
    assert!(finding.cause.contains("no request was sent"), "{finding:?}");
}

/// Its table of times stands above its counts.
#[test]
fn a_report_that_lacks_its_last_lines_is_no_run_without_one() {
    let wrk = wrk("", "http://h/");
    let cut = &wrk[..wrk.find("  150000 requests").unwrap()];
    assert!(read(cut).begun[0].has_head);
    let begun = &wrk[..wrk.find(" Thread Stats").unwrap()];
    assert!(!read(begun).begun[0].has_head);
}

#[test]
fn users_that_siege_prints_are_those_of_the_run() {
    let under = |command: &str, users: u64| {
        let said = format!("** SIEGE 4.0.4\n** Preparing {users} concurrent users for battle.\n");
        one(&siege(command).replacen('\n', &format!("\n{said}"), 1))
    };
    // 24.95 of 25 were in flight.
    let other = under("siege -b -c 100 -t 10S http://h/", 25);
    let [said, ..] = of(D36, &other);
    assert!(said.contains("a concurrency of 100, the report says 25"), "{said}");
    assert!(!has(D01, &other), "{:?}", other.findings);
    for command in ["siege -b -c 25 -t 10S http://h/", "siege -c 25 -t 10S http://h/"] {
        assert!(under(command, 25).findings.iter().all(|one| ![D01, D36].contains(&one.id)));
    }
    // Its configuration permits 255, if not fewer.
    let capped = under("siege -b -c 1000 -t 10S http://h/", 25);
    assert!(!has(D36, &capped) && !has(D01, &capped), "{:?}", capped.findings);
    // Without that line the command alone says how many there were to be.
    assert!(has(D01, &one(&siege("siege -b -c 100 -t 10S http://h/"))));
}

#[test]
fn connections_that_h2load_prints_are_not_those_of_another_command() {
    let tls = "TLS Protocol: TLSv1.3\nApplication protocol: h2";
    for command in
        ["h2load -n 200000 -c 500 -m 10 https://h/", "h2load -n 200000 -c 5000 https://h/"]
    {
        let other = one(&h2load(command, tls, "10.00"));
        assert!(has(D36, &other) && !has(D01, &other), "{command}: {:?}", other.findings);
    }
    let its_own = one(&h2load("h2load -n 200000 -c 50 -m 100 https://h/", tls, "10.00"));
    assert!(has(D01, &its_own) && !has(D36, &its_own), "500 of 5,000");
}

#[test]
fn a_command_may_ask_the_server_to_close() {
    let report = "Server Hostname:        h\nServer Port:            80\n\nDocument Path:          /\n\
        Document Length:        5 bytes\n\nConcurrency Level:      10\nTime taken for tests:   10.000 seconds\n\
        Complete requests:      1000\nFailed requests:        0\nKeep-Alive requests:    0\n\
        Total transferred:      100000 bytes\nHTML transferred:       5000 bytes\n\
        Requests per second:    100.00 [#/sec] (mean)\n";
    for (field, is_asked) in
        [("Connection: close", true), ("connection:close", true), ("X-A: b", false)]
    {
        let judged = one(&format!("$ ab -k -n 1000 -c 10 -H '{field}' http://h/\n{report}"));
        let [_, cause, _] = of(D19, &judged);
        assert_eq!(cause.starts_with("The command itself asks"), is_asked, "{field}: {cause}");
        assert_eq!(cause.starts_with("The server closes"), !is_asked, "{field}: {cause}");
    }
}

#[test]
fn a_report_of_tls_is_of_no_command_without() {
    let tls = "TLS Protocol: TLSv1.3\nApplication protocol: h2";
    let under = |scheme: &str| {
        one(&h2load(&format!("h2load -n 200000 -c 50 -m 10 {scheme}://h/"), tls, "10.00"))
    };
    let [said, ..] = of(D36, &under("http"));
    assert!(said.contains("asks for plain HTTP, the report says TLS"), "{said}");
    assert!(!has(D36, &under("https")));
}
