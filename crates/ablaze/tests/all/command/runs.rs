//! Whole runs of the command against a server that counts for itself: what arrived must be what
//! was asked for.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ablaze_testing::{Bounded, Running, ScratchFile};

use crate::command::support::{Server, ablaze};

/// A file that is gone when the test is.
struct File(ScratchFile);

impl File {
    fn new(name: &str, text: &str) -> Self {
        Self(ScratchFile::with(name, text.as_bytes()))
    }

    fn nowhere(name: &str) -> Self {
        Self(ScratchFile::new(name))
    }

    fn path(&self) -> &str {
        self.0.word()
    }
}

#[test]
fn exactly_n_requests_arrive_whatever_the_number_of_threads() {
    for threads in ["1", "2"] {
        let server = Server::start(200);
        let said = ablaze(&[&server.url("/"), "-n", "1003", "-c", "7", "-t", threads]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(server.seen().len(), 1003);
    }
}

#[test]
fn a_request_is_sent_as_described() {
    let server = Server::start(200);
    let said = ablaze(&[
        &server.url("/a?b={seq}"),
        "-n3",
        "-c1",
        "-XPUT",
        "-bnumber {seq} {rand:4}",
        "-HX-Number: {seq}",
        "-HAccept:",
        "-uAladdin:open sesame",
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    for (number, request) in server.seen().iter().enumerate() {
        assert_eq!(request.head[0], format!("PUT /a?b={number:010} HTTP/1.1"));
        assert_eq!(request.fields("X-Number"), [format!("{number:010}")]);
        assert_eq!(request.fields("Host"), [server.address.to_string()]);
        assert_eq!(request.fields("Authorization"), ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]);
        assert!(request.fields("Accept").is_empty());
        assert!(request.body.starts_with(&format!("number {number:010} ")), "{}", request.body);
        assert_eq!(request.body.len(), "number 0123456789 4444".len());
    }
}

#[test]
fn urls_arrive_as_often_as_their_weights_say() {
    let server = Server::start(200);
    let list = File::new("urls", &format!("# two\n{}\n{} 3\n", server.url("/a"), server.url("/b")));
    let said = ablaze(&["--urls", list.path(), "-n", "400", "-c", "4"]);
    assert_eq!(said.status, 0, "{said:?}");
    let mut counts = BTreeMap::new();
    for request in server.seen() {
        *counts.entry(request.path().to_owned()).or_insert(0) += 1;
    }
    assert_eq!(counts, BTreeMap::from([("/a".to_owned(), 100), ("/b".to_owned(), 300)]));
}

#[test]
fn body_lines_arrive_in_order_and_over_again() {
    let server = Server::start(200);
    let lines = File::new("lines", "first\n{\"second\":2}\nthird\n");
    let said = ablaze(&[&server.url("/"), "--body-lines", lines.path(), "-n", "5", "-c", "1"]);
    assert_eq!(said.status, 0, "{said:?}");
    let bodies: Vec<String> = server.seen().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, ["first", "{\"second\":2}", "third", "first", "{\"second\":2}"]);
}

#[test]
fn other_ways_to_the_same_server() {
    let server = Server::start(200);
    let port = server.address.port().to_string();
    let to = server.address.to_string();
    let elsewhere = format!("shop.example:80:127.0.0.1:{port}");
    for arguments in [
        &["shop.example/", "--connect-to", &to][..],
        &["shop.example/", "--connect-to", &elsewhere],
        &[&format!(":{port}"), "--no-keepalive"],
        &[&format!(":{port}"), "--requests-per-connection", "2", "--close", "fin"],
        &[&format!(":{port}"), "--local-address", "127.0.0.2,127.0.0.4/30"],
        &[&format!(":{port}"), "--io", "epoll", "--spin", "off", "-4"],
        &[&format!(":{port}"), "--http", "1.0", "-m", "HEAD"],
        &[&format!(":{port}"), "--pipeline", "4"],
    ] {
        let before = server.seen().len();
        let said = ablaze(&[arguments, &["-n", "20", "-c", "2"]].concat());
        assert_eq!(said.status, 0, "{arguments:?}: {said:?}");
        assert_eq!(server.seen().len() - before, 20, "{arguments:?}");
    }
    assert_eq!(server.seen()[0].fields("Host"), ["shop.example"]);
}

#[test]
fn no_response_and_no_expected_response_are_status_1() {
    // Bound and dropped: nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = ablaze(&[&format!("http://{free}/"), "-n", "10", "-c", "2"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("is the server running"), "{said:?}");
    let server = Server::start(404);
    let url = server.url("/");
    assert_eq!(ablaze(&[&url, "-n", "10"]).status, 1);
    assert_eq!(ablaze(&[&url, "-n", "10", "--expect", "404"]).status, 0);
}

#[test]
fn the_duration_ends_a_run() {
    let server = Server::start(200);
    let begun = Instant::now();
    let said = ablaze(&[&server.url("/"), "-d", "800ms", "-c", "2"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(begun.elapsed() >= Duration::from_millis(800));
    assert!(!server.seen().is_empty());
}

#[test]
fn ctrl_c_ends_a_run_with_its_report_and_status_130() {
    // SIGTERM is what timeout(1) sends; the result is not lost either.
    for signal in ["-INT", "-TERM"] {
        interrupted_by(signal);
    }
}

fn interrupted_by(signal: &str) {
    let server = Server::start(200);
    let child = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["gurl", "-an", "-1", "-bench", &server.url("/")])
        .stdout(Stdio::piped())
        .start()
        .unwrap();
    let begun = Instant::now();
    while server.seen().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing arrives");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill =
        Command::new("kill").args([signal, &child.id().to_string()]).bounded_status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("Requests per second:"), "{stdout}");
}

/// Ctrl-C is no response, whoever's report is printed.
#[test]
fn ctrl_c_before_the_first_response_is_no_success() {
    // It accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    for tool in [&["wrk", "-c2", "-d9"][..], &["hey", "-z", "9s"], &["oha", "-z", "9s", "--no-tui"]]
    {
        let child = Command::new(env!("CARGO_BIN_EXE_ablaze"))
            .args(tool)
            .arg(&url)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .start()
            .unwrap();
        let (mut accepted, _) = silent.accept().unwrap();
        let mut request = [0; 4];
        std::io::Read::read_exact(&mut accepted, &mut request).unwrap();
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).bounded_status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{tool:?}: {stderr}");
        assert!(stderr.contains("D02"), "{tool:?}: {stderr}");
        // Connections of the first are not taken for those of the next.
        silent.set_nonblocking(true).unwrap();
        while silent.accept().is_ok() {}
        silent.set_nonblocking(false).unwrap();
    }
}

#[test]
fn more_connections_than_requests_are_capped_in_the_words_of_the_command_line() {
    let server = Server::start(200);
    let url = server.url("/");
    for (words, expected) in [
        (&[&url[..], "-n", "5", "-c", "9"][..], "-c 9 is more than the 5 requests of -n"),
        (
            &["gurl", "-an", "5", "-ac", "9", "-bench", &url],
            "-ac 9 is more than the 5 requests of -an",
        ),
        (&["ab", "-n", "2", "-c", "2", "--threads", "3", &url], "--threads 3 is more than the 2 "),
    ] {
        let said = ablaze(words);
        // Runs of five requests are too short to be VALID, and this server does not close what ab's requests ask it
        // to: other matters.
        let others = ["ablaze: D", "ablaze: the server did not close"];
        let is_other = |line: &&str| others.iter().any(|other| line.starts_with(other));
        let lines = said.stderr.lines().filter(|line| !is_other(line));
        assert_eq!((said.status, lines.count()), (0, 1), "{words:?}: {said:?}");
        assert!(said.stderr.contains(expected), "{words:?}: {said:?}");
    }
}

#[test]
fn gurl_prints_its_report_with_the_servers_numbers() {
    let server = Server::start(200);
    let port = server.address.port();
    let said = ablaze(&["gurl", "-ac", "3", "-an", "500", "-bench", &format!(":{port}/x")]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(server.seen().len(), 500);
    assert_eq!(server.seen()[0].fields("User-Agent"), ["gurl"]);
    let head = "HTTP/1.1 200 Text\r\nServer: oracle\r\nContent-Length: 5\r\n\r\n";
    let transferred = 500 * (head.len() + 5);
    for line in [
        "Benchmarking 127.0.0.1 (be patient)",
        "Completed 100 requests",
        "Completed 500 requests",
        "Finished 500 requests",
        "Server Software:        oracle",
        "Server Hostname:        127.0.0.1",
        &format!("Server Port:            {port}"),
        "Document Path:          /x",
        "Document Length:        5 bytes",
        "Status Codes:           200:500  [code:count]",
        "Concurrency Level:      3",
        "Complete requests:      500",
        "Failed requests:        0",
        &format!("Total transferred:      {transferred} bytes"),
        "HTML transferred:       2500 bytes",
    ] {
        assert!(said.stdout.lines().any(|own| own == line), "{line}\n{}", said.stdout);
    }
}

#[test]
fn reports_go_to_stdout_and_to_every_file() {
    let server = Server::start(200);
    let files =
        ["json", "csv", "txt", "hlog"].map(|extension| File::nowhere(&format!("r.{extension}")));
    let url = server.url("/");
    let mut arguments = vec![url.as_str(), "-n", "50", "-c", "5"];
    for file in &files {
        arguments.extend(["-o", file.path()]);
    }
    let said = ablaze(&arguments);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    assert!(said.stdout.contains("200: 50"), "{}", said.stdout);
    assert!(said.stdout.contains("closed loop, 5 connections"), "{}", said.stdout);
    for file in &files {
        assert!(!fs::read(file.path()).unwrap().is_empty(), "{}", file.path());
    }
    let said = ablaze(&[&url, "-n", "5", "--json"]);
    assert_eq!(said.status, 0);
    assert!(said.stdout.starts_with('{') && said.stdout.ends_with("}\n"), "{}", said.stdout);
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_anything_is_sent() {
    let server = Server::start(200);
    let url = server.url("/");
    for (path, expected) in [
        ("/no/such/folder/r.csv", "create it first"),
        ("/tmp", "extension"),
        ("report.pdf", ".csv"),
        ("report", ".csv"),
    ] {
        let said = ablaze(&[&url, "-n", "5", "-o", path]);
        assert_eq!(said.status, 2, "{path}: {said:?}");
        assert!(said.stderr.contains(path) && said.stderr.contains(expected), "{path}: {said:?}");
        assert_eq!(said.stderr.lines().count(), 1);
    }
    assert_eq!(ablaze(&[&url, "-n", "5", "--fail-if", "p99"]).status, 2);
    assert!(server.seen().is_empty());
}

#[test]
fn a_condition_that_is_met_is_status_3_after_the_report() {
    let server = Server::start(404);
    let url = server.url("/");
    let fails = |condition: &str| {
        ablaze(&[
            &url,
            "-n",
            "20",
            "--expect",
            "4xx",
            "--fail-if",
            "rate<0",
            "--fail-if",
            condition,
        ])
    };
    let said = fails("status.404>=20");
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.stderr.contains("status.404>=20") && said.stdout.contains("404: 20"), "{said:?}");
    assert_eq!(fails("status.404>20").status, 0);
    assert_eq!(fails("errors>0").status, 0);
}

#[test]
fn a_full_disk_is_told_and_costs_the_status_but_not_the_run() {
    let server = Server::start(200);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args([&server.url("/"), "-n", "5"])
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped())
        .start()
        .and_then(Running::wait_with_output)
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("-o FILE") && stderr.lines().count() == 1, "{stderr}");
}

/// At one request in about a quarter of an hour, none falls into a tenth of a second.
#[test]
fn a_run_in_which_nothing_was_due_is_invalid() {
    let server = Server::start(200);
    let words = ["-d", "100ms", "--rate", "0.001", "--arrivals", "poisson"];
    let said = ablaze(&[&[&server.url("/")[..]], &words[..]].concat());
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stdout.starts_with("INVALID"), "{}", said.stdout);
    assert!(said.stdout.contains("No request was due in 0.10 s"), "{}", said.stdout);
    assert!(said.stderr.contains("no request was due"), "{}", said.stderr);
}

#[test]
fn who_gets_no_response_is_told_why_in_one_line() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let said = ablaze(&[&url, "-n", "2", "-c", "2", "--timeout", "50ms"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("--timeout") && said.stderr.lines().count() == 1, "{said:?}");

    let closing = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", closing.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in closing.incoming().flatten() {
            // The request is read first: closing before would be a reset.
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
        }
    });
    let said = ablaze(&[&url, "-n", "2", "-c", "1"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.stderr.contains("without a response"), "{said:?}");
}

#[test]
fn gurls_echo_answers_every_path_and_gives_back_what_is_posted() {
    let mut echo = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["gurl", "-echo", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .start()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(echo.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();

    let got = ablaze(&["gurl", "-an", "20", "-bench", &format!("{url}any/path")]);
    let posted = ablaze(&["gurl", "-an", "20", "-d", "twelve bytes", "-bench", &url]);
    // What gurl's own server sent, by the totals of its reports: 137 bytes to either version.
    let of_ab = ablaze(&["ab", "-n", "10", &url]);
    assert!(of_ab.stdout.contains("Total transferred:      1370 bytes\n"), "{of_ab:?}");
    let kill =
        Command::new("kill").args(["-TERM", &echo.id().to_string()]).bounded_status().unwrap();
    assert!(kill.success());
    assert_eq!(echo.wait().unwrap().code(), Some(0));

    assert_eq!((got.status, posted.status), (0, 0), "{got:?} {posted:?}");
    for (said, length) in [(&got, 0), (&posted, 12)] {
        assert!(said.stdout.contains("Server Software:        gurl-server\n"), "{said:?}");
        let line = format!("Document Length:        {length} bytes\n");
        assert!(said.stdout.contains(&line), "{said:?}");
        assert!(said.stdout.contains("200:20 "), "{said:?}");
    }
}

#[test]
fn a_run_is_kept_as_a_page_a_chart_and_markdown_with_its_chart_beside_it() {
    let server = Server::start(200);
    let folder = std::env::temp_dir().join(format!("ablaze-pages-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [html, svg, markdown] = ["run.html", "chart.svg", "BENCH.md"].map(path);
    let said = ablaze(&[
        &server.url("/"),
        "-n",
        "300",
        "-c",
        "2",
        "-o",
        &html,
        "-o",
        &svg,
        "-o",
        &markdown,
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["BENCH.md", "BENCH.svg", "chart.svg", "run.html"]);
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert!(read(&html).starts_with("<!DOCTYPE html>") && read(&svg).starts_with("<svg"));
    let explained = ablaze(&["explain", &markdown]);
    assert_eq!(explained.status, 0, "{explained:?}");
    assert!(explained.stdout.contains("· 300 requests · concurrency 2"), "{explained:?}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_place_that_cannot_take_the_chart_of_markdown_is_said_before_the_run() {
    let server = Server::start(200);
    let folder = std::env::temp_dir().join(format!("ablaze-no-chart-{}", std::process::id()));
    fs::create_dir_all(folder.join("BENCH.svg")).unwrap();
    let markdown = folder.join("BENCH.md");
    let said = ablaze(&[&server.url("/"), "-n1", "-c1", "-o", markdown.to_str().unwrap()]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.stderr.contains("BENCH.svg: is a folder"), "{said:?}");
    assert_eq!(server.seen().len(), 0);
    fs::remove_dir_all(&folder).unwrap();
}
