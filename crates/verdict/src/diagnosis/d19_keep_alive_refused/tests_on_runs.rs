//! What is said of runs whose connections carried one request each.

use super::*;
use crate::live::sample;

#[test]
fn surplus_bytes_are_not_told_as_a_close_of_the_server() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.connections_opened = 20_000;
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n".to_vec();
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.contains("closes it anyway") && !cause.contains("more bytes"), "{cause}");
    run.record.surplus = 20_000;
    run.record.surplus_responses = 20_000;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("more responses than"), "{}", finding.cause);
    run.record.surplus_responses = 0;
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.starts_with("The server sends more bytes"), "{cause}");
    // It may announce what it sends: there must be nothing.
    run.record.statuses = [(204, 20_000)].into();
    assert!(on_run(&run).unwrap().cause.contains("permits no body"));
    run.plan.requests.method = "HEAD".into();
    assert!(on_run(&run).unwrap().cause.contains("responses to HEAD"));
}

/// ab closes unless it is told to keep.
#[test]
fn the_advice_is_in_the_options_of_whoever_asked() {
    let mut run = sample::run();
    sample::asked(&mut run, &[]);
    (run.record.reused, run.record.connections_opened) = (0, 20_000);
    run.record.first_head =
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n".to_vec();
    let mut fix = |front_end| {
        run.asked.as_mut().unwrap().front_end = front_end;
        on_run(&run).unwrap().fix
    };
    assert!(fix(FrontEnd::Load).ends_with("use --no-keepalive."));
    assert!(fix(FrontEnd::Ab).ends_with("leave out -k."));
}

/// RFC 9112, 6.1: the client closes behind a transfer coding of HTTP/1.0, whatever the head says of keep-alive.
#[test]
fn a_coding_that_http_1_0_does_not_have_is_why_the_client_closes() {
    let mut run = sample::run();
    (run.record.reused, run.record.connections_opened) = (0, 20_000);
    run.record.first_head =
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.contains("so the client closes") && !cause.contains("server closes"), "{cause}");
    run.record.first_head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    run.record.surplus = 20_000;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("behind the last chunk"), "{finding:?}");
    assert!(!finding.fix.contains("Content-Length"), "{finding:?}");
}

/// The client ends such a connection, and the server may leave it open.
#[test]
fn a_connection_that_changed_its_protocol_was_not_refused() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.first_head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n".to_vec();
    run.record.statuses = [(101, 20_000)].into();
    assert_eq!(on_run(&run), None);
}

#[test]
fn none_kept_is_not_the_same_as_not_asked() {
    let mut run = sample::run();
    assert_eq!(on_run(&run), None);
    assert_eq!(seen(&run).unwrap(), "20,000 of 20,000 responses left their connection open.");
    run.record.reused = 0;
    run.record.first_head =
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nconnection:Close\r\n\r\n".to_vec();
    assert!(on_run(&run).unwrap().cause.contains("`Connection: close`"));
    run.plan.connections.keep_alive = false;
    assert_eq!(on_run(&run), None);
    assert_eq!(seen(&run), None);
}

#[test]
fn a_head_that_ends_the_connection_is_the_reason_whatever_else_failed() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.first_head = b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n".to_vec();
    assert_eq!(on_run(&run).unwrap().not_explained_by, [D02, D04]);
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".to_vec();
    assert_eq!(on_run(&run).unwrap().not_explained_by, [D04]);
    // What is closed after an error page need not be closed after the intended one.
    run.record.statuses = [(400, 20_000)].into();
    assert!(on_run(&run).unwrap().not_explained_by.is_empty());
}

#[test]
fn what_has_no_body_lacks_no_length() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.first_head = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
    run.record.statuses = [(204, 20_000)].into();
    let cause = on_run(&run).unwrap().cause;
    assert!(!cause.contains("Content-Length") && cause.contains("closes it anyway"), "{cause}");
    run.record.statuses = [(200, 20_000)].into();
    assert!(on_run(&run).unwrap().cause.contains("neither `Content-Length`"));
    run.plan.requests.method = "HEAD".into();
    assert!(!on_run(&run).unwrap().cause.contains("Content-Length"));
}

/// The connections are those to the proxy.
#[test]
fn a_proxy_that_forwards_is_the_one_that_closes() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.plan.target.proxy = Some(sample::proxy());
    for head in [
        "HTTP/1.1 200 OK\r\nVia: 1.1 p\r\nContent-Length: 3\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
    ] {
        run.record.first_head = head.as_bytes().to_vec();
        let found = on_run(&run).unwrap();
        let said = format!("{} {}", found.cause, found.fix);
        assert!(said.contains("proxy") && !said.contains("erver"), "{said}");
    }
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\n".to_vec();
    let fix = on_run(&run).unwrap().fix;
    assert!(fix.starts_with("Have the proxy, or the target behind it, send a"), "{fix}");
}

/// Any of a response's intermediaries may end the connection; one that names itself is said (RFC 9110, 7.6.3).
#[test]
fn a_proxy_that_names_itself_is_said() {
    let mut run = sample::run();
    run.record.reused = 0;
    let head = |via: &str| {
        format!("HTTP/1.1 200 OK\r\n{via}Content-Length: 3\r\nConnection: close\r\n\r\n")
    };
    run.record.first_head = head("Via: 1.1 edge\r\n").into_bytes();
    assert!(on_run(&run).unwrap().cause.ends_with("the proxy may close, not the server."));
    run.record.first_head = head("").into_bytes();
    assert!(!on_run(&run).unwrap().cause.contains("proxy"));
}

#[test]
fn a_server_that_was_asked_to_close_is_not_to_blame() {
    let asked = |header: &str, minor_version| {
        let mut run = sample::run();
        run.record.reused = 0;
        run.record.first_head =
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n".to_vec();
        sample::asked(&mut run, &[header]);
        run.plan.requests.minor_version = minor_version;
        on_run(&run).unwrap().cause.starts_with("The request itself asks")
    };
    assert!(asked("Connection: close", 1));
    assert!(asked("Connection:", 0), "HTTP/1.0 needs the field");
    assert!(!asked("Connection: Keep-Alive", 0));
    assert!(!asked("X-Key: close", 1));
}

#[test]
fn nobody_is_told_to_do_what_was_done() {
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.first_head = b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n".to_vec();
    assert_eq!(run.plan.http_version(), "1.1");
    let finding = on_run(&run).unwrap();
    assert!(!finding.fix.contains("--http 1.1"), "{}", finding.fix);
    assert!(finding.cause.contains("HTTP/1.0 to a request of HTTP/1.1"), "{}", finding.cause);
}

#[test]
fn the_head_tells_what_is_missing() {
    let reason = |lines: &str| Reason::of(lines.replace('|', "\r\n").as_bytes());
    assert_eq!(reason("HTTP/1.0 200 OK|Content-Length: 3||"), Reason::NoKeepAlive);
    let kept = "HTTP/1.0 200 OK|Connection: Keep-Alive|";
    assert_eq!(reason(&format!("{kept}|")), Reason::NoLength);
    assert_eq!(reason(&format!("{kept}Content-Length: 3||")), Reason::None);
    assert_eq!(reason("HTTP/1.1 200 OK|Date: now||"), Reason::NoLength);
    assert_eq!(reason("HTTP/1.1 200 OK|Transfer-Encoding: gzip, Chunked||"), Reason::None);
    assert_eq!(reason("HTTP/1.1 200 OK|Connection: upgrade, close||"), Reason::Close);
    assert_eq!(reason(""), Reason::Unknown);
}

/// The connections of an open loop are a bound: how many it may have says nothing of how many it needs.
#[test]
fn an_open_loop_needs_no_more_requests_than_it_may_have_connections() {
    let mut run = sample::run();
    sample::open_loop(&mut run, 2_000.0);
    run.record.reused = 0;
    run.record.first_head =
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nconnection:Close\r\n\r\n".to_vec();
    if let Load::Open { connections, .. } = &mut run.plan.load {
        *connections = u32::MAX;
    }
    assert!(on_run(&run).unwrap().cause.contains("`Connection: close`"));
    // All may have been in flight at once.
    run.elapsed_ns = run.record.answered.total.max_ns().unwrap();
    assert_eq!(on_run(&run), None);
}

/// With the one that is missing alone the connection would end as before.
#[test]
fn where_both_are_missing_both_are_asked_for() {
    let said = |head: &str| {
        let mut run = sample::run();
        run.record.reused = 0;
        run.record.first_head = head.replace('|', "\r\n").into_bytes();
        on_run(&run).unwrap()
    };
    let old = said("HTTP/1.0 200 OK|Server: x||");
    assert!(old.cause.contains("lacks both"), "{old:?}");
    assert!(old.fix.contains("send both"), "{old:?}");
    let close = said("HTTP/1.1 200 OK|Connection: close||");
    assert!(close.cause.contains("announces the end") && close.fix.contains("Content-Length"));
    for one in [
        "HTTP/1.0 200 OK|Content-Length: 3||",
        "HTTP/1.1 200 OK|Connection: close|Content-Length: 3||",
    ] {
        assert!(!said(one).cause.contains("only closing"), "{one}");
    }
    assert!(said("HTTP/1.0 200 OK|Transfer-Encoding: chunked||").fix.contains("send both"));
    // Who asks for HTTP/1.0 and for the end of the connection gets it.
    let mut run = sample::run();
    run.record.reused = 0;
    run.record.first_head = b"HTTP/1.0 200 OK\r\n\r\n".to_vec();
    sample::asked(&mut run, &["Connection: close"]);
    assert!(on_run(&run).unwrap().cause.starts_with("The request itself"));
}

/// The steps of a saved run are not known: one may have asked for the end of each connection.
#[test]
fn a_step_of_a_journey_may_have_asked_to_close() {
    let mut run = crate::live::setup::sample::with_failed(0);
    (run.record.reused, run.record.connections_opened) = (0, 20_000);
    run.record.first_head =
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n".to_vec();
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("A step of the journey may ask it to"), "{finding:?}");
}
