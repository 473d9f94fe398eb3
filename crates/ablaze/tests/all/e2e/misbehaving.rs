//! Every way to misbehave of the hostile server, natively: each request ends once, in the right
//! place of the report, and the exit status follows from that.

use std::io::Write;
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use ablaze_testing::Bounded;
use ablaze_testing::hostile::{Behaviour as B, Chunks, Hostile, Script};
use ablaze_testing::skip::skip;
use serde_json::json;

use crate::e2e::support::{BACKENDS, measured, number, run};

/// What every one of the requests has to come to.
#[derive(Debug, Clone, Copy)]
enum All {
    Succeed,
    AreUnexpected,
    Fail(&'static str),
}

const REQUESTS: u64 = 12;
const MS: fn(u64) -> Duration = Duration::from_millis;

/// Every behaviour, and what it comes to by the definitions of DESIGN.md and RFC 9112.
fn table() -> Vec<(B, All)> {
    use All::{AreUnexpected, Fail, Succeed};
    let chunked = |chunks| B::Chunked { body_bytes: 100, chunks };
    vec![
        (B::Fine { body_bytes: 5 }, Succeed),
        (B::Fine { body_bytes: 0 }, Succeed),
        (B::Status(302), Succeed),
        (B::Status(404), AreUnexpected),
        (B::Status(503), AreUnexpected),
        (B::CloseAtOnce, Fail("closed-without-response")),
        (B::CloseWithoutResponse, Fail("closed-without-response")),
        (B::ResetAtOnce, Fail("reset")),
        (B::Reset, Fail("reset")),
        (B::ResetMidBody { announced: 100, sent: 10 }, Fail("reset")),
        (B::ShortBody { announced: 100, sent: 10 }, Fail("short-body")),
        (B::ShortHead, Fail("short-head")),
        (B::Late(MS(30)), Succeed),
        (B::Hang, Fail("timeout")),
        (B::Stall { announced: 100, sent: 10 }, Fail("timeout")),
        (B::Trickle { body_bytes: 5, pause: MS(1) }, Succeed),
        (chunked(Chunks::Whole), Succeed),
        (chunked(Chunks::ByteByByte), Succeed),
        (chunked(Chunks::ExtensionsAndTrailers), Succeed),
        (chunked(Chunks::Broken), Fail("malformed")),
        (chunked(Chunks::Unfinished), Fail("short-body")),
        (B::UntilClose { body_bytes: 100_000 }, Succeed),
        (B::KeepAlive10, Succeed),
        (B::Close10, Succeed),
        (B::NoContent { bogus_length: None }, Succeed),
        (B::NoContent { bogus_length: Some(5) }, Succeed),
        (B::NotModified { length: None }, Succeed),
        (B::NotModified { length: Some(5) }, Succeed),
        (B::ContinueFirst, Succeed),
        (B::BareLf, Succeed),
        (B::ObsFold, Succeed),
        (B::SplitEverywhere { pause: Duration::ZERO }, Succeed),
        (B::Garbage, Fail("malformed")),
        (B::Surplus { bytes: 7 }, Succeed),
        (B::ConflictingLengths, Fail("malformed")),
        (B::LengthAndChunked, Fail("malformed")),
        (B::LengthNoNumber, Fail("malformed")),
        (B::LongHead { field_bytes: 30_000 }, Succeed),
        (B::LongHead { field_bytes: 100_000 }, Fail("too-large")),
        (B::EndlessHead, Fail("too-large")),
        (B::ResponsesThenClose { responses: 3, announced: true }, Succeed),
        (B::ResponsesThenClose { responses: 3, announced: false }, Succeed),
        (B::ResponseBeforeBody, Succeed),
        (B::ResponseBeforeBodyThenReset, Succeed),
        (B::Stamped { delay: MS(1) }, Succeed),
    ]
}

#[test]
fn each_request_ends_once_and_in_the_right_place() {
    let mut wrong = Vec::new();
    for io in BACKENDS {
        for (behaviour, all) in table() {
            if let Err(said) = hold_to(io, &behaviour, all) {
                wrong.push(format!("{io} {behaviour:?}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn hold_to(io: &str, behaviour: &B, all: All) -> Result<(), String> {
    let server = Hostile::always(behaviour.clone()).unwrap();
    let requests = REQUESTS.to_string();
    let timeout = timeout(matches!(all, All::Fail("timeout")));
    let words = [&server.url(), "-n", &requests, "-c3", "--timeout", timeout, "--io", io];
    let (ran, json) = measured(&words);
    let (succeeded, unexpected, failed, by_kind, status) = match all {
        All::Succeed => (REQUESTS, 0, 0, json!({}), 0),
        All::AreUnexpected => (0, REQUESTS, 0, json!({}), 1),
        All::Fail(kind) => (0, 0, REQUESTS, json!({ kind: REQUESTS }), 1),
    };
    let expected = (succeeded, unexpected, failed, &by_kind, 0, status);
    let seen = (
        number(&json, "/succeeded"),
        number(&json, "/unexpected"),
        number(&json, "/failed/total"),
        &json["failed"]["by_kind"],
        number(&json, "/unfinished/count"),
        ran.status,
    );
    if seen != expected {
        return Err(format!("{seen:?} instead of {expected:?}; stderr: {}", ran.stderr));
    }
    let lines = usize::from(status != 0);
    if ran.stderr.lines().count() != lines {
        return Err(format!("{lines} lines expected on stderr: {}", ran.stderr));
    }
    let slow = Duration::from_secs(20);
    if ran.took > slow { Err(format!("took {:?}", ran.took)) } else { Ok(()) }
}

/// Short where a request is to run into it; where it is not, longer than the busiest machine takes.
fn timeout(is_awaited: bool) -> &'static str {
    if is_awaited { "400ms" } else { "30s" }
}

#[test]
fn a_request_body_that_is_not_read_does_not_hide_the_response() {
    let body = crate::e2e::support::Scratch::with("unread-body", &vec![b'x'; 4 << 20]);
    let body = format!("@{}", body.word());
    for io in BACKENDS {
        for behaviour in [B::ResponseBeforeBody, B::ResponseBeforeBodyThenReset] {
            let server = Hostile::always(behaviour.clone()).unwrap();
            let (ran, json) = measured(&[&server.url(), "-n6", "-c2", "-b", &body, "--io", io]);
            assert_eq!(number(&json, "/succeeded"), 6, "{io} {behaviour:?}: {ran:?}");
        }
    }
}

/// A server that responds to heads, keeps the connection and never reads a body.
#[test]
fn a_connection_that_waits_for_its_request_to_leave_is_no_response_time() {
    let url = never_reads(Duration::MAX);
    let body = crate::e2e::support::Scratch::with("never-read-body", &vec![b'x'; 16 << 20]);
    let body = format!("@{}", body.word());
    for io in BACKENDS {
        let (ran, json) = measured(&[&url, "-d2500ms", "-c3", "-b", &body, "--io", io]);
        // Each place: at the start, and one and two seconds later.
        assert_eq!(number(&json, "/answered_early/count"), 9, "{io}: {ran:?}");
        assert_eq!(number(&json, "/answered_early/closed"), 6, "{io}");
        let waited_ns = number(&json, "/answered_early/waited_ns");
        assert!((6_000_000_000..=7_500_000_000).contains(&waited_ns), "{io}: {waited_ns}");
        let verdict = json["verdict"].to_string();
        assert!(verdict.contains("before the server had taken the whole request"), "{verdict}");
        assert!(!verdict.contains("opened again and again"), "{verdict}");
        assert_ne!(json["verdict"]["limit"], "response-time", "{io}: {verdict}");
    }
}

/// The same server, which closes the connection after a while: what it waited until then is told, too.
#[test]
fn a_connection_that_ends_while_it_waits_for_its_request_has_waited() {
    let url = never_reads(MS(300));
    let body = crate::e2e::support::Scratch::with("not-read-body", &vec![b'x'; 16 << 20]);
    let body = format!("@{}", body.word());
    for io in BACKENDS {
        let (ran, json) = measured(&[&url, "-n4", "-c2", "-b", &body, "--io", io]);
        assert_eq!(number(&json, "/answered_early/count"), 4, "{io}: {ran:?}");
        assert_eq!(number(&json, "/answered_early/closed"), 0, "{io}");
        // Two connections one after the other, each of which waited behind its first response.
        let waited_ns = number(&json, "/answered_early/waited_ns");
        assert!(waited_ns >= 2 * 250_000_000, "{io}: {waited_ns}");
    }
}

/// The URL of a server that responds to what comes first, reads nothing of it, and closes the connection after so long.
fn never_reads(closes_after: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno");
                std::thread::sleep(closes_after);
            });
        }
    });
    url
}

#[test]
fn one_bad_response_among_good_ones_is_one_failure() {
    let bad = [
        (B::Reset, "reset"),
        (B::CloseWithoutResponse, "closed-without-response"),
        (B::Garbage, "malformed"),
        (B::ShortBody { announced: 100, sent: 1 }, "short-body"),
        (B::Hang, "timeout"),
        (B::LongHead { field_bytes: 100_000 }, "too-large"),
    ];
    for io in BACKENDS {
        for (behaviour, kind) in &bad {
            let fine = B::Fine { body_bytes: 5 };
            let script = Script::per_request([fine.clone(), fine.clone(), behaviour.clone()]);
            let server = Hostile::start(script.then(fine)).unwrap();
            // Closed each time: a reused connection's loss would be repaired by repeating.
            let (ran, json) = measured(&[
                &server.url(),
                "-n20",
                "-c2",
                "--no-keepalive",
                "--timeout",
                timeout(*kind == "timeout"),
                "--io",
                io,
            ]);
            let expected = json!({ (*kind): 1 });
            assert_eq!(json["failed"]["by_kind"], expected, "{io} {behaviour:?}: {}", ran.stderr);
            assert_eq!(number(&json, "/succeeded"), 19, "{io} {behaviour:?}");
            assert_eq!((ran.status, server.requests()), (0, 20), "{io} {behaviour:?}");
        }
    }
}

#[test]
fn a_lost_request_is_repeated_once_unless_told_not_to() {
    for io in BACKENDS {
        // The second request of the run, on a reused connection, is never answered.
        let script = || {
            let fine = B::Fine { body_bytes: 5 };
            Script::per_request([fine.clone(), B::CloseWithoutResponse]).then(fine)
        };
        let server = Hostile::start(script()).unwrap();
        let (ran, json) = measured(&[&server.url(), "-n10", "-c1", "--io", io]);
        assert_eq!((number(&json, "/succeeded"), number(&json, "/repeated")), (10, 1), "{io}");
        assert_eq!((ran.status, server.requests()), (0, 11), "{io}");

        let server = Hostile::start(script()).unwrap();
        let (_, json) = measured(&[&server.url(), "-n10", "-c1", "--no-repeat", "--io", io]);
        assert_eq!((number(&json, "/succeeded"), number(&json, "/repeated")), (9, 0), "{io}");
        assert_eq!(json["failed"]["by_kind"], json!({ "closed-without-response": 1 }), "{io}");
        assert_eq!(server.requests(), 10, "{io}");
    }
}

#[test]
fn responses_that_come_together_are_told_apart() {
    for io in BACKENDS {
        let server = Hostile::always(B::TwoInOne).unwrap();
        let (ran, json) =
            measured(&[&server.url(), "-n", "20", "-c2", "--pipeline", "2", "--io", io]);
        assert_eq!(number(&json, "/succeeded"), 20, "{io}: {ran:?}");
        assert_eq!(server.requests(), 20, "{io}");
    }
}

/// What a POST does might be done twice (RFC 9110, 9.2.2): it fails where a GET is sent again, and the finding says where.
#[test]
fn a_post_on_a_connection_that_the_server_ended_is_told_as_that() {
    for io in BACKENDS {
        let fine = B::Fine { body_bytes: 5 };
        let script = Script::per_request([fine.clone(), fine, B::CloseWithoutResponse]);
        let server = Hostile::start(script).unwrap();
        let (_, json) = measured(&[&server.url(), "-n60", "-c1", "--body", "x", "--io", io]);
        let failed = number(&json, "/failed/total");
        assert_eq!((number(&json, "/repeated"), failed), (0, 20), "{io}");
        assert_eq!(number(&json, "/ended_idle/failed/count"), 20, "{io}");
        let findings = json["verdict"]["findings"].as_array().unwrap();
        let found = |id: &str| findings.iter().find(|finding| finding["id"] == id);
        let evidence = found("D18").unwrap()["evidence"].as_str().unwrap();
        assert!(evidence.contains("what POST does might be done twice"), "{io}: {evidence}");
        assert!(found("D02").is_none(), "{io}: {findings:?}");
    }
}

/// A response that had begun when the run ended is no silent server.
#[test]
fn a_body_that_still_comes_at_the_end_is_no_silence() {
    let endless = B::Trickle { body_bytes: 100_000, pause: std::time::Duration::from_millis(5) };
    let server = Hostile::always(endless).unwrap();
    let (ran, json) = measured(&[&server.url(), "-d", "600ms", "-c2"]);
    let findings = json["verdict"]["findings"].to_string();
    assert!(findings.contains("2 had begun and not ended"), "{findings}");
    assert!(!findings.contains("does not respond"), "{findings}");
    assert!(ran.stderr.contains("was complete in time"), "{}", ran.stderr);
}

/// A firewall of this machine that rejects the SYN does so while `connect` still holds the socket: io_uring then completes
/// the connect of a connection that never stood.
#[test]
fn a_connection_that_the_firewall_rejects_was_never_opened() {
    let unshared = Command::new("unshare").args(["-n", "iptables", "-F"]).bounded_status();
    if !unshared.is_ok_and(|status| status.success()) {
        return skip("no network namespaces with a firewall without root here");
    }
    let reject = "iptables -A INPUT -p tcp --dport 9 -j REJECT";
    let line = format!("ip link set lo up && {reject} && exec \"$@\"");
    let program = env!("CARGO_BIN_EXE_ablaze");
    for (io, way) in BACKENDS.iter().flat_map(|io| WAYS.map(|way| (*io, way))) {
        let mut inside = Command::new("unshare");
        inside.args(["-n", "sh", "-c", &line, "sh", program, "--json"]);
        let url = if way[0] == "--insecure" { "https://127.0.0.1:9/" } else { "127.0.0.1:9" };
        let ran = run(inside.args(["-c2", "-d", "1500ms", "--io", io, url]).args(way));
        let json = ran.json();
        let failed = number(&json, "/failed/total");
        assert!(failed > 0, "{io} {way:?}: {ran:?}");
        assert_eq!(json["failed"]["by_kind"], json!({ "refused": failed }), "{io} {way:?}");
        assert_eq!(number(&json, "/connections_opened"), 0, "{io} {way:?}: {json}");
    }
}

/// Ways to have a connection opened, as options.
const WAYS: [&[&str]; 4] = [&["--http=1"], &["--no-keepalive"], &["--http=2"], &["--insecure"]];
