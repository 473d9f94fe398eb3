//! Checks against a server that responds wrongly in known proportions: counts are exact over both backends and in every
//! load, samples show requests with their own responses, and nothing of a secret.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ablaze_target::handler::{Body, Handler, Method, Reply, Request, Response};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch as Folder;
use ablaze_testing::hostile::{Behaviour, Hostile, Script};
use serde_json::Value;

use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number, serve, url};

/// Of ten responses in a row: one is a 500 that sends back what was asked, two have another id, one is no JSON.
struct Wrong(Arc<AtomicU64>);

impl Handler for Wrong {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let asked = String::from_utf8_lossy(request.query);
        let (status, kind, body) = match self.0.fetch_add(1, Relaxed) % 10 {
            0 => (500, "text/plain", format!("asked {asked}")),
            1 | 2 => (200, "application/json", r#"{"id": 0}"#.to_owned()),
            3 => (200, "text/html", "<html>".to_owned()),
            _ => (200, "application/json", r#"{"id": 7}"#.to_owned()),
        };
        Reply::from(Response::new(status, kind, Body::Owned(body.into_bytes())))
    }

    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        false
    }
}

fn wrong() -> (Running, Arc<AtomicU64>) {
    let seen = Arc::new(AtomicU64::new(0));
    let address = "127.0.0.1:0".parse().unwrap();
    let options = Options { address, http2: true, threads: 1, ..Options::default() };
    (Server::start_with(options, Wrong(Arc::clone(&seen))).unwrap(), seen)
}

const CHECKS: [&str; 10] = [
    "--assert",
    "status==200",
    "--assert",
    "json $.id > 0",
    "--assert",
    "body contains id",
    "--assert",
    "header content-type starts application/json",
    "--assert",
    "size<1KB",
];

/// Passed and failed of each check.
fn counts(json: &Value) -> Vec<(u64, u64)> {
    let each = json["checks"]["each"].as_array().unwrap();
    each.iter().map(|check| (number(check, "/passed"), number(check, "/failed"))).collect()
}

#[test]
fn every_response_is_counted_once_whatever_the_load() {
    let feed = Scratch::with("users.csv", b"user\nann\nbob\neve\n");
    let backends = BACKENDS.map(|io| vec!["--io", io, "-c", "8", "-t", "2"]).into_iter();
    let others = [
        vec!["--no-keepalive", "-c", "4"],
        vec!["--pipeline", "8", "-c", "3"],
        vec!["-r", "5000", "-c", "20"],
        vec!["--feed", feed.word(), "-c", "5", "-t", "2"],
        vec!["--feed", feed.word(), "-c", "2", "--pipeline", "4"],
        vec!["--http", "2", "-c", "8", "-t", "2"],
        vec!["--http", "2", "-c", "3", "--streams", "20"],
        vec!["--http", "2", "-r", "5000", "-c", "4", "--streams", "5"],
        vec!["--http", "2", "--feed", feed.word(), "-c", "2", "--streams", "4"],
    ];
    for way in backends.chain(others) {
        let (server, seen) = wrong();
        let target = url(&server, if way.contains(&"--feed") { "/?{user}" } else { "/?x" });
        let words = ["load", &target, "-n", "2000", "--expect", "200,500"];
        let (ran, json) = measured(&[&words[..], &CHECKS, &way].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        assert_eq!((number(&json, "/responses"), seen.load(Relaxed)), (2000, 2000), "{way:?}");
        assert_eq!(
            counts(&json),
            [(1800, 200), (1200, 800), (1600, 400), (1600, 400), (2000, 0)],
            "{way:?}"
        );
        let of = |pointer: &str| number(&json, pointer);
        assert_eq!(of("/checks/responses"), 2000);
        assert_eq!((of("/checks/failed_responses"), of("/samples/failed")), (800, 800), "{way:?}");
        // A response that failed a check is a response, and no error.
        assert_eq!((of("/succeeded"), of("/failed/total"), of("/unexpected")), (2000, 0, 0));
        let samples = json["samples"]["kept"].as_array().unwrap();
        assert_eq!(samples.len(), 100);
        let mut of_500 = 0;
        for sample in samples {
            let first = sample["request"]["head"][0].as_str().unwrap();
            let version = if way.contains(&"--http") { " HTTP/2" } else { " HTTP/1.1" };
            let asked = first.strip_prefix("GET /?").unwrap().strip_suffix(version).unwrap();
            if number(sample, "/status") == 500 {
                of_500 += 1;
                // Its own response, also where several were in flight.
                assert_eq!(sample["response"]["body"][0], format!("asked {asked}"), "{way:?}");
                assert_eq!(sample["failed"][0], "status==200: it is 500");
            }
        }
        // A quarter of what failed: 25 are expected, and it is drawn with the seed.
        assert!((5..=60).contains(&of_500), "{of_500}");
        let late = samples.iter().filter(|sample| number(sample, "/number") >= 1000).count();
        assert!((20..=80).contains(&late), "{way:?}: {late} samples of the second half");
    }
}

#[test]
fn neither_a_warm_up_nor_errors_are_checked() {
    let (server, seen) = wrong();
    let target = url(&server, "/");
    let way = ["--warmup", "100ms", "-d", "800ms", "-c", "4"];
    let (ran, json) = measured(&[&["load", &target][..], &CHECKS, &way].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let responses = number(&json, "/responses");
    assert!(responses > 0 && responses < seen.load(Relaxed));
    assert_eq!(number(&json, "/checks/responses"), responses);
    for (passed, failed) in counts(&json) {
        assert_eq!(passed + failed, responses);
    }
    let status_500 = number(&json, "/statuses/500");
    assert_eq!(counts(&json)[0].1, status_500);

    let fine = Behaviour::Fine { body_bytes: 14 };
    let short = Behaviour::ShortBody { announced: 20, sent: 5 };
    let script = Script::per_request([fine.clone(), Behaviour::Reset, short]).then(fine);
    let server = Hostile::start(script).unwrap();
    let (_, json) =
        measured(&["load", &server.url(), "-n", "50", "-c", "1", "--assert", "size==14"]);
    let failed = number(&json, "/failed/total");
    assert!(failed >= 1, "{json}");
    assert_eq!(counts(&json), [(50 - failed, 0)]);
    assert!(json.get("samples").is_none(), "{json}");
}

#[test]
fn the_share_of_checks_decides_about_the_exit_status() {
    let (server, _) = wrong();
    let target = url(&server, "/");
    let ran = |condition: &str| {
        let words = ["load", &target, "-n", "100", "-c", "1", "--assert", "status==200"];
        ablaze(&[&words[..], &["--fail-if", condition]].concat())
    };
    let below = ran("checks<91%");
    assert_eq!(below.status, 3, "{}", below.stderr);
    assert!(below.stderr.contains("checks<91% met: 90 %"), "{}", below.stderr);
    let above = ran("checks<90%");
    assert_eq!(above.status, 0, "{}", above.stderr);
    for part in [
        "checks             90 %    of 100 checks passed    10 of 100 responses failed",
        "status==200  90 %  90 passed  10 failed   it is 500",
        "1 of 10 responses that failed (10 are in -o FILE.json and FILE.html)",
        "< HTTP/1.1 500 ",
        "< asked",
    ] {
        assert!(above.stdout.contains(part), "{part}\n{}", above.stdout);
    }
}

#[test]
fn what_cannot_be_checked_is_refused_with_its_place() {
    let server = serve();
    let target = url(&server, "/");
    let refused = |words: &[&str]| {
        let ran = ablaze(&[&["load", &target, "-n", "1"], words].concat());
        assert_eq!(ran.status, 2, "{words:?}: {}", ran.stderr);
        ran.stderr
    };
    let said = refused(&["--assert", "status = 200"]);
    let place = "--assert:1:8: expected ==, !=, <, <=, > or >=\n 1 | status = 200\n   |        ^";
    assert!(said.contains(place), "{said}");
    let file = Scratch::with("a.hurl", b"GET /\nHTTP 200\n");
    let said = refused(&["--journey", file.word(), "--assert", "status==200"]);
    assert!(said.contains("--assert and --journey cannot be used together"), "{said}");
    let said =
        ablaze(&["load", "http://127.0.0.1:1/", "-n", "1", "--assert", "status==200"]).stdout;
    assert!(said.contains("they looked at no response"), "{said}");
    assert!(said.contains("status==200  looked at no response"), "{said}");
}

/// Sends back the whole request.
struct Echo;

impl Handler for Echo {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let body = [request.head, b"--\x1b[2J--", request.body, &[b'x'; 10_000]].concat();
        Reply::from(Response::new(200, "text/plain", Body::Owned(body)))
    }

    fn wants_body(&self, _method: Method, _path: &[u8]) -> bool {
        true
    }
}

#[test]
fn samples_have_no_secrets_and_are_cut() {
    const SECRET: &str = "hunter2-xyzzy";
    let address = "127.0.0.1:0".parse().unwrap();
    let server = Server::start_with(Options { address, ..Options::default() }, Echo).unwrap();
    let (user, target) = (format!("me:{SECRET}"), url(&server, "/"));
    let cookie = format!("Cookie: sid={SECRET}");
    let check = ["--assert", "body contains nothing", "--assert", "header x exists"];
    let words = ["load", &target, "-n", "5", "-c", "1", "-u", &user, "-H", &cookie, "-b", "a=b"];
    for format in ["--json", "--quiet"] {
        let ran = ablaze(&[&words[..], &check, &[format]].concat());
        assert!(ran.stdout.contains("does not meet it"), "{}", ran.stdout);
        for hidden in [SECRET, "bWU6aHVudGVyMi14eXp6eQ", "\u{1b}"] {
            assert!(!ran.stdout.contains(hidden), "{hidden}: {}", ran.stdout);
        }
    }
    let (_, json) = measured(&[&words[..], &check].concat());
    let sample = &json["samples"]["kept"][0];
    let request = sample["request"]["head"].as_array().unwrap();
    assert!(request.iter().any(|line| line == "Authorization: ***"), "{sample}");
    assert!(request.iter().any(|line| line == "Cookie: ***"), "{sample}");
    assert_eq!(sample["request"]["body"][0], "a=b");
    assert_eq!(sample["response"]["body_is_cut"], true);
    assert!(number(sample, "/response/body_bytes") > 10_000);
    let body = sample["response"]["body"].to_string();
    assert!(body.contains("sid=***") || body.contains("Cookie: ***"), "{body}");
    assert!(body.contains("--\\\\u{1b}[2J--a=b"), "{body}");
}

#[test]
fn failed_asserts_of_journeys_are_sampled() {
    let (server, _) = wrong();
    let text = format!(
        "# name: look\nGET {}\nX-Key: {{{{key}}}}\nHTTP 200\n[Asserts]\njsonpath \"$.id\" > 0\n",
        url(&server, "/?{{ablaze_seq}}")
    );
    let file = Scratch::with("look.hurl", text.as_bytes());
    let words =
        ["load", "--journey", file.word(), "-n", "200", "-c", "4", "--secret", "key=s3cret-key"];
    let (ran, json) = measured(&words);
    assert_eq!((number(&json, "/journeys/failed"), number(&json, "/samples/failed")), (80, 80));
    assert!(!ran.stdout.contains("s3cret-key"));
    let samples = json["samples"]["kept"].as_array().unwrap();
    assert_eq!(samples.len(), 80);
    for sample in samples {
        assert_eq!(sample["step"], "look");
        let head = sample["request"]["head"].as_array().unwrap();
        assert_eq!(head[0], format!("GET /?{} HTTP/1.1", number(sample, "/number")));
        assert!(head.iter().any(|line| line == "X-Key: ***"), "{sample}");
        if number(sample, "/status") == 500 {
            assert_eq!(sample["failed"][0], "line 4: the status is 500, not 200");
            let asked = format!("asked {}", number(sample, "/number"));
            assert_eq!(sample["response"]["body"][0], asked);
        }
    }
    let (_, json) = measured(&[&words[..], &["--fail-if", "checks<60%"]].concat());
    // A step whose status is another is asserted no further: 180 of 200 were asked for their id.
    let (passed, failed) =
        (number(&json, "/journeys/asserts/passed"), number(&json, "/journeys/asserts/failed"));
    assert_eq!((passed, failed), (120 * 2 + 60, 20 + 60));
}

#[test]
fn runs_of_an_experiment_are_checked_too() {
    let (server, _) = wrong();
    let folder = Folder::new("checked-sweep");
    let runs = folder.path().join("sweep");
    let words = ["sweep", &url(&server, "/"), "-c", "1,2", "-n", "200", "--repeat", "1", "--quiet"];
    let checks = ["--assert", "status==200", "--folder", runs.to_str().unwrap()];
    let ran = ablaze(&[&words[..], &checks].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mut files = 0;
    for entry in std::fs::read_dir(runs.join("runs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(counts(&json), [(180, 20)], "{path:?}");
            files += 1;
        }
    }
    assert_eq!(files, 2);
}

#[test]
fn reports_of_other_tools_are_as_they_were_and_stderr_has_the_checks() {
    let (server, _) = wrong();
    let target = url(&server, "/?{seq}");
    let ab = ["ab", "-n", "50", "-c", "1"];
    let wrk = ["wrk", "-c", "1", "-t", "1", "-d", "1"];
    let checks = ["--assert", "status==200", "--assert", "header x-none not exists"];
    for words in [&ab[..], &wrk[..]] {
        let ran = ablaze(&[words, &checks, &[&target]].concat());
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let failed = |line: &&str| {
            line.starts_with("ablaze: check status==200 failed on ")
                && line.contains(" responses; the first time it is ")
        };
        assert!(lines.iter().any(failed), "{}", ran.stderr);
        let passed = "ablaze: check header x-none not exists passed on ";
        assert!(lines.iter().any(|line| line.starts_with(passed)), "{}", ran.stderr);
        assert!(!ran.stdout.contains("check"), "{}", ran.stdout);
        let quiet = ablaze(&[words, &checks, &["--quiet", &target]].concat()).stderr;
        assert!(quiet.contains("status==200 failed") && !quiet.contains(passed), "{quiet}");
        let json = ablaze(&[words, &checks, &["--json", &target]].concat());
        assert!(!json.stderr.contains("check status"), "{}", json.stderr);
    }
}
