//! The rows of docs/ab-compatibility.md that no other test shows.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustix::process::Signal;

use ablaze_testing::Bounded;
use ablaze_testing::process::eventually;

use crate::ab::report_reader::Report;
use crate::ab::support::{Scratch, Server, ablaze, ok, real_ab};

/// Row 7: the server says it keeps the connection, but closes it. ab counts each such close as a
/// request that failed by its length.
#[test]
fn an_idle_connection_that_the_server_closed_costs_no_request() {
    let server = Server::start(|client| {
        client.request();
        client.send(&ok("hello"));
    });
    let ran = ablaze(&["-k", "-n", "6", &server.url()]);
    let report = Report::read(&ran.stdout);
    assert_eq!((report.complete_and_failed(), ran.status), ((6, 0), 0), "{}", ran.stdout);
    assert_eq!(server.connections(), 6);
}

/// Row 8: every connection is opened at once, not after the first response.
#[test]
fn all_connections_are_opened_before_the_first_response() {
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let server = Server::start(move |client| {
        if client.request().is_none() {
            return;
        }
        let (arrived, changed) = &*gate;
        let mut arrived = arrived.lock().unwrap();
        *arrived += 1;
        changed.notify_all();
        // Nobody is answered before four have asked.
        let waited = changed
            .wait_timeout_while(arrived, Duration::from_secs(10), |arrived| *arrived < 4)
            .unwrap();
        if *waited.0 >= 4 {
            client.send(&ok("hello"));
        }
    });
    let ran = ablaze(&["-n", "8", "-c", "4", "-s", "15", &server.url()]);
    assert_eq!(Report::read(&ran.stdout).complete_and_failed(), (8, 0), "{}", ran.stdout);
}

/// Row 10: ab drops an option it does not know and measures without it.
#[test]
fn an_unknown_option_is_refused() {
    let server = Server::answering(ok("hello"));
    let ran = ablaze(&["-K", &server.url()]);
    assert_eq!(ran.status, 22);
    assert!(
        ran.stderr.starts_with("ablaze ab: illegal option -- K\nablaze: ab has no option -K"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.connections(), 0);
}

/// Row 13: HTTP/1.1 without `close` persists, whether it says so or not.
#[test]
fn http_1_1_keeps_connections_without_saying_so() {
    let server = Server::keeping(ok("hello"));
    let ran = ablaze(&["-k", "-n", "20", "-c", "2", "-s", "10", &server.url()]);
    let report = Report::read(&ran.stdout);
    assert_eq!(report.complete_and_failed(), (20, 0), "{}", ran.stdout);
    assert_eq!(report.value("Keep-Alive requests"), Some("20"));
    assert_eq!(server.connections(), 2);
}

#[test]
fn http_1_0_keeps_connections_only_when_it_says_so() {
    let response = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let server = Server::keeping(response);
    let ran = ablaze(&["-k", "-n", "3", "-s", "5", &server.url()]);
    let report = Report::read(&ran.stdout);
    assert_eq!(report.complete_and_failed(), (3, 0), "{}", ran.stdout);
    assert_eq!(report.value("Keep-Alive requests"), Some("0"));
    assert_eq!(server.connections(), 3);
}

/// Row 14: ab's index runs past the end of its table for up to 50 requests.
#[test]
fn the_csv_of_few_requests_rises_to_the_longest() {
    let file = Scratch::new("few.csv");
    let server = Server::start(|client| {
        client.request();
        std::thread::sleep(Duration::from_millis(client.number as u64));
        client.send(&ok("hello"));
    });
    ablaze(&["-n", "20", "-e", file.word(), &server.url()]);
    let text = std::fs::read_to_string(file.path()).unwrap();
    let times: Vec<f64> =
        text.lines().skip(1).map(|l| l.split_once(',').unwrap().1.parse().unwrap()).collect();
    assert_eq!(times.len(), 101);
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[100] >= 19.0 && times[0] < times[100]);
}

/// Row 15: ab warns of healthy runs faster than a millisecond, because it compares rounded times.
#[test]
fn a_healthy_fast_run_is_not_warned_of() {
    let server = Server::keeping(ok("hello"));
    let ran = ablaze(&["-k", "-n", "300", "-c", "3", &server.url()]);
    assert!(!ran.stdout.contains("WARNING") && !ran.stdout.contains("ERROR"), "{}", ran.stdout);
}

/// Row 16 and section 12: Ctrl-C keeps the report, in the form asked for, and the files.
#[test]
fn an_interrupted_run_is_reported_in_the_form_asked_for() {
    let answered = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&answered);
    let server = Server::start(move |client| {
        while client.request().is_some() {
            client.send(&ok("hello"));
            counter.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    for (html, start) in [(false, "\n\nServer Software:"), (true, "</p>\n\n\n<table >")] {
        answered.store(0, Ordering::SeqCst);
        let csv = Scratch::new("interrupted.csv");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
        command.args(["ab", "-k", "-n", "10000000", "-e", csv.word()]);
        if html {
            command.arg("-w");
        }
        let child = command
            .arg(server.url())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .start()
            .unwrap();
        assert!(eventually(|| answered.load(Ordering::SeqCst) >= 20), "the load does not begin");
        child.signal(Signal::INT);
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stdout}");
        assert!(stdout.contains(start), "{stdout}");
        assert!(!stdout.contains("done\n") && !stdout.contains("Finished"), "{stdout}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("Finished"), "{stderr}");
        assert_eq!(std::fs::read_to_string(csv.path()).unwrap().lines().count(), 102);
    }
}

/// Row 16: no `..done` in the HTML of a quiet run, and every `<p>` is closed.
#[test]
fn html_is_whole() {
    let ran = ablaze(&["-w", "-n", "3", &Server::answering(ok("hello")).url()]);
    assert!(!ran.stdout.contains("..done"));
    assert_eq!(ran.stdout.matches("<p>").count(), ran.stdout.matches("</p>").count());
}

/// Row 20: all bytes written are "body sent", the head among them.
#[test]
fn total_body_sent_is_every_byte_sent() {
    let body = Scratch::with("body-sent", b"a=1&b=2&c=hello");
    let server = Server::answering(ok("hello"));
    let ran = ablaze(&["-n", "4", "-p", body.word(), &server.url()]);
    let sent: usize = server.requests.lock().unwrap().iter().map(Vec::len).sum();
    let report = Report::read(&ran.stdout);
    assert_eq!(report.value("Total body sent"), Some(&sent.to_string()[..]), "{}", ran.stdout);
}

/// Row 21: fields are read as HTTP has them, blanks or not, and only where they are.
#[test]
fn fields_are_read_by_their_names() {
    let server = Server::keeping(
        "HTTP/1.1 200 OK\r\nX-Server: no\r\nX-Content-Length: 3\r\nSERVER:raw/1.0\r\n\
         Content-Length:5\r\n\r\nhello",
    );
    let ran = ablaze(&["-k", "-n", "5", "-s", "5", &server.url()]);
    let report = Report::read(&ran.stdout);
    assert_eq!(report.value("Server Software"), Some("raw/1.0"));
    assert_eq!(report.value("Document Length"), Some("5 bytes"));
    assert_eq!((report.complete_and_failed(), ran.status), ((5, 0), 0), "{}", ran.stdout);
}

/// Row 22: files are written beside HTML, too, and the failed line has all four columns.
#[test]
fn html_does_not_swallow_files_nor_columns() {
    let (csv, tsv) = (Scratch::new("html.csv"), Scratch::new("html.tsv"));
    let server = Server::start(|client| {
        if client.request().is_some() && client.number > 0 {
            client.send(&ok("hello"));
        }
    });
    let words = ["-w", "-n", "3", "-e", csv.word(), "-g", tsv.word(), &server.url()];
    let ran = ablaze(&words);
    assert!(csv.path().exists() && tsv.path().exists());
    let columns = "(Connect: 0, Receive: 1, Length: 0, Exceptions: 0)";
    assert!(ran.stdout.contains(columns), "{}", ran.stdout);
}

/// Row 23.
#[test]
fn no_connections_is_refused_with_a_fix() {
    let ran = ablaze(&["-c", "0", "http://127.0.0.1:9/"]);
    assert_eq!(ran.status, 22);
    let expected = "ablaze ab: Cannot use concurrency level 0\n\
                    ablaze: 0 connections send nothing: use -c 1 or more\n";
    assert_eq!(ran.stderr, expected);
}

/// A method chosen by `-m HEAD` has no body in its response; ab waits for one.
#[test]
fn a_custom_head_is_head() {
    let server = Server::keeping("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    let ran = ablaze(&["-k", "-m", "HEAD", "-n", "4", "-s", "5", &server.url()]);
    let report = Report::read(&ran.stdout);
    assert_eq!((report.complete_and_failed(), ran.status), ((4, 0), 0), "{}", ran.stdout);
    assert_eq!(report.value("Document Length"), Some("0 bytes"));
}

/// The kernel refuses to connect to the broadcast address (connect(2), ENETUNREACH): no packet is
/// sent.
#[test]
fn an_address_that_cannot_be_reached_ends_as_with_ab() {
    let url = "http://255.255.255.255/";
    let ours = ablaze(&["-n", "20", url]);
    let expected = "apr_socket_connect(): Network is unreachable (101)\n\
                    ablaze: 255.255.255.255:80 cannot be reached from here\n";
    assert_eq!((ours.status, &ours.stderr[..]), (101, expected));
    let tolerant = ablaze(&["-r", "-n", "20", url]);
    let report = Report::read(&tolerant.stdout);
    assert_eq!((tolerant.status, report.failed_columns), (101, Some([20, 0, 0, 0])));
    if let Some(theirs) = real_ab(&["-n", "20", url]) {
        assert!(theirs.stderr.contains(expected.lines().next().unwrap()), "{}", theirs.stderr);
        assert_eq!(theirs.status, 101);
    }
}

/// From the second failure in a row on a connection waits 2, 4, 8, 16 ms before the next attempt: what
/// is counted is not how fast this machine can be refused.
#[test]
fn a_refused_connection_waits_before_the_next_attempt() {
    let ran = ablaze(&["-r", "-n", "6", "http://127.0.0.1:1/"]);
    let report = Report::read(&ran.stdout);
    assert_eq!(report.complete_and_failed(), (6, 6), "{}", ran.stdout);
    assert!(report.number("Time taken for tests") >= 0.030, "{}", ran.stdout);
}

/// Every address of a name is tried, and one that refuses costs no request.
#[test]
fn a_name_with_an_address_that_refuses_loses_nothing() {
    let server = Server::answering(ok("hello"));
    let url = format!("http://localhost:{}/", server.address.port());
    let ran = ablaze(&["-n", "6", "-c", "2", &url]);
    let report = Report::read(&ran.stdout);
    assert_eq!((report.complete_and_failed(), ran.status), ((6, 0), 0), "{}", ran.stdout);
}
