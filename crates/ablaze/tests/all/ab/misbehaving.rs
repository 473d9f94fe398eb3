//! Servers that close, reset, cut short, stall or talk garbage: nothing is lost, every request
//! is counted once, and the exit status is the one docs/ab-compatibility.md names.

use std::time::Duration;

use crate::ab::report_reader::Report;
use crate::ab::support::{Client, Ran, Server, ablaze, ok};

/// Runs and reads the report: what it says about complete and failed requests by column.
fn counted(words: &[&str], server: &Server) -> (Ran, Report) {
    let url = server.url();
    let words: Vec<&str> = words.iter().copied().chain([&url[..]]).collect();
    let ran = ablaze(&words);
    let report = Report::read(&ran.stdout);
    (ran, report)
}

fn expect(ran: &Ran, report: &Report, complete: u64, columns: [u64; 4], status: i32) {
    let failed = columns.iter().sum();
    assert_eq!(
        (report.complete_and_failed(), ran.status),
        ((complete, failed), status),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(report.failed_columns.unwrap_or_default(), columns, "{}", ran.stdout);
}

#[test]
fn closed_without_a_response() {
    let server = Server::start(|client| drop(client.request()));
    let (ran, report) = counted(&["-n", "10", "-c", "2"], &server);
    expect(&ran, &report, 10, [0, 10, 0, 0], 1);
    assert!(ran.stderr.contains("10 closed without a response"), "{}", ran.stderr);
}

#[test]
fn closed_without_a_response_now_and_then() {
    let server = Server::start(|client| {
        if client.request().is_some() && client.number % 2 == 0 {
            client.send(&ok("hello"));
        }
    });
    let (ran, report) = counted(&["-n", "10"], &server);
    expect(&ran, &report, 10, [0, 5, 0, 0], 0);
}

fn reset_every_third(client: &mut Client) {
    if client.number % 3 == 2 {
        client.reset();
    } else if client.request().is_some() {
        client.send(&ok("hello"));
    }
}

#[test]
fn a_reset_does_not_stop_the_run_and_still_sets_the_status() {
    let server = Server::start(reset_every_third);
    let (ran, report) = counted(&["-n", "12", "-c", "1"], &server);
    expect(&ran, &report, 12, [0, 4, 0, 0], 104);
    assert!(ran.stderr.starts_with("apr_socket_recv: Connection reset by peer (104)\n"));
    assert_eq!(report.value("Document Length"), Some("5 bytes"));
}

#[test]
fn a_reset_with_r_is_no_failure_of_the_run() {
    let server = Server::start(reset_every_third);
    let (ran, report) = counted(&["-r", "-n", "12"], &server);
    expect(&ran, &report, 12, [0, 4, 0, 0], 0);
    assert_eq!(ran.stderr, "");
    let (ran, _) = counted(&["-r", "-v", "1", "-n", "12"], &server);
    assert_eq!(ran.stderr.matches("apr_socket_recv: Connection reset by peer (104)").count(), 4);
}

#[test]
fn nothing_but_resets_is_a_failure_even_with_r() {
    let server = Server::start(Client::reset);
    let (ran, report) = counted(&["-r", "-n", "3"], &server);
    expect(&ran, &report, 3, [0, 3, 0, 0], 1);
}

#[test]
fn reset_in_the_middle_of_a_body_is_counted_once() {
    let server = Server::start(|client| {
        if client.number == 0 {
            client.request();
            client.send(&ok("hello"));
        } else {
            // Half a body, then RST, because the request was never read.
            let _ = client.stream.peek(&mut [0]);
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let (ran, report) = counted(&["-r", "-n", "4"], &server);
    assert_eq!(report.complete_and_failed(), (4, 3), "{}", ran.stdout);
    assert_eq!(report.value("Document Length"), Some("5 bytes"), "{}", ran.stdout);
}

#[test]
fn a_response_cut_short_fails_by_its_length() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    let (ran, report) = counted(&["-n", "4"], &server);
    expect(&ran, &report, 4, [0, 0, 4, 0], 1);
    let server = Server::start(|client| {
        client.request();
        let length = if client.number < 2 { 5 } else { 100 };
        client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nshort").as_bytes());
    });
    let (ran, report) = counted(&["-n", "4"], &server);
    expect(&ran, &report, 4, [0, 0, 2, 0], 0);
}

#[test]
fn other_lengths_fail_unless_they_may_vary() {
    let vary = |client: &mut Client| {
        client.request();
        client.send(&ok(&"x".repeat(client.number + 1)));
    };
    let (ran, report) = counted(&["-n", "4"], &Server::start(vary));
    expect(&ran, &report, 4, [0, 0, 3, 0], 0);
    assert_eq!(report.value("Document Length"), Some("1 bytes"));
    let (ran, report) = counted(&["-l", "-n", "4"], &Server::start(vary));
    expect(&ran, &report, 4, [0; 4], 0);
    assert_eq!(report.value("Document Length"), Some("Variable"));
}

#[test]
fn a_request_that_hangs_ends_by_itself_and_the_others_are_reported() {
    let server = Server::start(|client| {
        client.request();
        if client.number == 1 {
            client.stay_silent();
        } else {
            client.send(&ok("hello"));
        }
    });
    let (ran, report) = counted(&["-s", "1", "-n", "10", "-c", "2"], &server);
    expect(&ran, &report, 10, [0, 1, 0, 0], 119);
    assert!(
        ran.stderr.starts_with("apr_pollset_poll: The timeout specified has expired (70007)\n")
    );
    assert!(ran.took < Duration::from_secs(10), "{:?}", ran.took);
    // The longest request took the second that it was given.
    assert!(report.percentiles.last().unwrap().1 >= 1000, "{}", ran.stdout);
}

#[test]
fn a_server_that_says_nothing_at_all() {
    let server = Server::start(Client::stay_silent);
    let (ran, report) = counted(&["-s", "1", "-n", "2", "-c", "2"], &server);
    expect(&ran, &report, 2, [0, 2, 0, 0], 119);
}

#[test]
fn the_time_limit_holds_while_the_server_is_silent() {
    let server = Server::start(Client::stay_silent);
    let (ran, report) = counted(&["-t", "1", "-s", "15"], &server);
    assert!(ran.took < Duration::from_secs(8), "{:?}", ran.took);
    assert_eq!(report.complete_and_failed(), (0, 0), "{}", ran.stdout);
    assert_eq!(ran.status, 1);
    assert_eq!(report.labels().last(), Some(&"HTML transferred"));
}

#[test]
fn late_responses_are_responses() {
    let server = Server::start(|client| {
        client.request();
        std::thread::sleep(Duration::from_millis(200));
        client.send(&ok("hello"));
    });
    let (ran, report) = counted(&["-n", "3", "-c", "3"], &server);
    expect(&ran, &report, 3, [0; 4], 0);
    let total = &report.times[3].1;
    assert!(total[0] >= 200.0, "{}", ran.stdout);
}

#[test]
fn chunked_bodies_are_counted_without_their_framing() {
    let server = Server::start(|client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
            std::thread::sleep(Duration::from_millis(20));
            client.send(b"2;x=y\r\nde\r\n0\r\nTrailer: z\r\n\r\n");
        }
    });
    let (ran, report) = counted(&["-k", "-n", "6", "-c", "2"], &server);
    expect(&ran, &report, 6, [0; 4], 0);
    assert_eq!(report.value("Document Length"), Some("5 bytes"));
    assert_eq!(report.value("HTML transferred"), Some("30 bytes"));
    assert_eq!(server.connections(), 2);
}

#[test]
fn garbage_is_an_exception() {
    let server = Server::answering("this is not HTTP, it only says so\r\n\r\n");
    let (ran, report) = counted(&["-n", "3"], &server);
    expect(&ran, &report, 3, [0, 0, 0, 3], 1);
    assert!(ran.stderr.contains("3 malformed"), "{}", ran.stderr);
}

#[test]
fn an_interim_response_is_not_the_response() {
    let mut response = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    response.extend(ok("hello"));
    let (ran, report) = counted(&["-k", "-n", "3"], &Server::keeping(response));
    expect(&ran, &report, 3, [0; 4], 0);
    assert_eq!(report.value("Document Length"), Some("5 bytes"));
    assert_eq!(report.value("Non-2xx responses"), None);
}

#[test]
fn long_heads_are_read_and_too_long_ones_are_told_with_their_fix() {
    let head = |bytes: usize| {
        let field = format!("X-Long: {}\r\n", "y".repeat(bytes));
        let text = String::from_utf8(ok("hello")).unwrap();
        text.replacen("\r\n", &format!("\r\n{field}"), 1)
    };
    // ab ends at 8191 bytes.
    let (ran, report) = counted(&["-n", "3"], &Server::answering(head(20_000)));
    expect(&ran, &report, 3, [0; 4], 0);
    let (ran, report) = counted(&["-n", "3"], &Server::answering(head(70_000)));
    expect(&ran, &report, 3, [0, 0, 0, 3], 1);
    assert!(ran.stderr.contains("--max-head"), "{}", ran.stderr);
    let server = Server::answering(head(70_000));
    let (ran, report) = counted(&["--max-head", "1MiB", "-n", "3"], &server);
    expect(&ran, &report, 3, [0; 4], 0);
}

#[test]
fn statuses_are_counted_and_are_no_failures() {
    let response = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!";
    let (ran, report) = counted(&["-n", "4"], &Server::answering(response));
    expect(&ran, &report, 4, [0; 4], 0);
    assert_eq!(report.value("Non-2xx responses"), Some("4"));
}

#[test]
fn a_response_before_the_whole_request_was_read_ends_the_run_all_the_same() {
    // ab sends such a request again and again, for ever.
    let body = crate::ab::support::Scratch::with("early-response", &vec![b'x'; 8 << 20]);
    let server = Server::start(|client| {
        let _ = client.stream.peek(&mut [0]);
        client.send(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    let (ran, report) = counted(&["-r", "-n", "3", "-p", body.word()], &server);
    assert_eq!(report.complete_and_failed().0, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.took < Duration::from_secs(20), "{:?}", ran.took);
}

/// ab reads until the server closes, and ends with status 70007 after its timeout. Here no request waits for that, and
/// it is said.
#[test]
fn a_server_that_never_closes_holds_no_request_up() {
    let server = Server::keeping(ok("hello"));
    let (ran, report) = counted(&["-n", "12", "-c", "3"], &server);
    expect(&ran, &report, 12, [0, 0, 0, 0], 0);
    // Where the machine held the server up for some ms, the client has closed at once since.
    let left = ran
        .stderr
        .split("the server did not close ")
        .nth(1)
        .unwrap_or_else(|| panic!("{}", ran.stderr));
    let count: u32 = left.split(' ').next().unwrap().parse().unwrap();
    assert!((1..=12).contains(&count), "{}", ran.stderr);
}
