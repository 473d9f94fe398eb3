//! What a server can send that a journey cannot use: each case ends the journeys that it concerns, with one message, and
//! nothing else, over every version of HTTP.

use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_target::handler::{Body, Handler, Method, Reply, Request, Response};
use ablaze_target::options::Http3Options;
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Running, Server};
use serde_json::json;

use crate::e2e::support::{Scratch, ablaze, measured, number};

/// Whom cookies and bodies of a wrong kind come from.
#[derive(Default)]
struct Wrong {
    cookies: AtomicU64,
}

impl Handler for Wrong {
    fn wants_body(&self, _: Method, _: &[u8]) -> bool {
        false
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let response = match request.path {
            b"/large" => Response::new(200, "text/plain", Body::Filler(50 << 20)),
            b"/cookies" => self.with_cookies(),
            b"/count" => {
                let sent = String::from_utf8_lossy(request.field("cookie").unwrap_or_default());
                let (huge, count) = (sent.contains("huge="), sent.matches('=').count());
                Response::text(200, format!("huge {huge}, {count}"))
            }
            b"/split" => Response::text(200, "a\r\nX-Evil: 1"),
            _ => Response::text(200, "{\"token\": [1, 2"),
        };
        Reply { response, delay_ns: 0 }
    }
}

impl Wrong {
    /// One that is too large, and a hundred with names that nobody has had before.
    fn with_cookies(&self) -> Response<'static> {
        let first = self.cookies.fetch_add(100, Ordering::Relaxed);
        let huge = format!("huge={}", "v".repeat(5000));
        let response = Response::text(200, "").with_field("Set-Cookie", &huge);
        (first..first + 100).fold(response, |response, number| {
            response.with_field("Set-Cookie", &format!("c{number}=v"))
        })
    }
}

fn wrong() -> (Running, String) {
    let identity = Identity::self_made(&["127.0.0.1".parse().unwrap()]).unwrap();
    let options = Options {
        address: "127.0.0.1:0".parse().unwrap(),
        tls: Some(TlsOptions::new(identity)),
        http2: true,
        http3: Some(Http3Options { retry: false, loss: 0.0 }),
        threads: 1,
        ..Options::default()
    };
    let server = Server::start_with(options, Wrong::default()).unwrap();
    let url = format!("https://{}/", server.address());
    (server, url)
}

const VERSIONS: [&str; 3] = ["1.1", "2", "3"];

#[test]
fn what_cannot_be_used_ends_its_journey_with_one_message() {
    let cases = [
        ("/large", "v: body", "the body has 52428800 bytes, and captures"),
        ("/text", "v: jsonpath \"$.token\"", "the body is no JSON"),
        ("/text", "v: header \"X-Token\"", "the query finds nothing"),
        ("/text", "v: regex \"no (token)\"", "the query finds nothing"),
    ];
    let (_server, url) = wrong();
    for version in VERSIONS {
        for (path, capture, message) in cases {
            let text =
                format!("GET {path}\nHTTP 200\n[Captures]\n{capture}\n\nGET /after\nHTTP 200\n");
            let file = Scratch::with("wrong.hurl", text.as_bytes());
            let own = ["load", "--journey", file.word(), &url, "-k", "-n4", "-c2"];
            let (ran, json) = measured(&[&own[..], &["--http", version]].concat());
            let case = format!("{version} {path} {capture}");
            assert_eq!(ran.status, 1, "{case}: {}", ran.stderr);
            assert_eq!(number(&json, "/journeys/failed"), 4, "{case}");
            assert_eq!(json["statuses"], json!({"200": 4}), "{case}: no step behind it was sent");
            assert_eq!(number(&json, "/failed/total"), 0, "{case}: the responses were valid");
            assert!(ran.stderr.contains(message), "{case}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_value_that_would_end_a_field_is_not_sent() {
    let (_server, url) = wrong();
    let text = "GET /split\nHTTP 200\n[Captures]\nv: body\n\nGET /after\nX: {{v}}\nHTTP 200\n";
    let file = Scratch::with("split.hurl", text.as_bytes());
    for version in VERSIONS {
        let own = ["load", "--journey", file.word(), &url, "-k", "-n4", "-c2"];
        let (ran, json) = measured(&[&own[..], &["--http", version]].concat());
        assert_eq!(json["statuses"], json!({"200": 4}), "{version}: {}", ran.stderr);
        let message = "the value of the header field X has a line end or a zero byte in it";
        assert!(ran.stderr.contains(message), "{version}: {}", ran.stderr);
    }
}

/// The run was long enough: it is not to be called too short.
#[test]
fn journeys_that_fail_before_their_request_are_the_reason_that_none_was_sent() {
    let (_server, url) = wrong();
    let file = Scratch::with("nul.hurl", b"# name: nul\nGET /after\nX: a\\u{0}b\nHTTP 200\n");
    let ran = ablaze(&["load", "--journey", file.word(), &url, "-k", "-n4", "-c2"]);
    let why = "line 2: the value of the header field X has a line end or a zero byte in it";
    ran.assert_one_line(1, &format!("no journey was whole: nul failed, {why}"));
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = "D02 no response: All 4 journeys failed before the first request was sent, in nul, the first at line 2: ";
    assert!(words.contains(found), "{}", ran.stdout);
    let ran = ablaze(&["run", file.word(), &url, "-k"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("nul.hurl:2: the value of the header field X"), "{}", ran.stdout);
}

/// RFC 6265, 6.1, has the limits that a jar has to have at least: 4096 bytes of a cookie, 50 of a host.
#[test]
fn a_jar_holds_so_many_cookies_and_no_more() {
    let text = "GET /cookies\n\nGET /count\nHTTP 200\n[Asserts]\nbody == \"huge false, 300\"\n";
    let file = Scratch::with("cookies.hurl", text.as_bytes());
    for version in VERSIONS {
        let (_server, url) = wrong();
        let own = ["load", "--journey", file.word(), &url, "-k", "-n6", "-c1", "--keep-session"];
        let (ran, json) = measured(&[&own[..], &["--http", version]].concat());
        // The first two have a hundred and two hundred.
        assert_eq!(number(&json, "/journeys/whole"), 4, "{version}: {}", ran.stderr);
        assert_eq!(number(&json, "/journeys/failed"), 2, "{version}: {}", ran.stderr);
        let refused = 6 * 101 - 300;
        assert_eq!(number(&json, "/journeys/cookies_refused"), refused, "{version}");
    }
}
