//! Lists of URLs: each URL has figures of its own, on both backends and over HTTP/2, in every report, and no password.

use std::fs;

use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::response::{FixedBody, FixedResponse};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch as Folder;
use serde_json::Value;

use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number, url};

/// How long `/slow` takes: its times cannot be below.
const SLOW_NS: u64 = 60_000_000;

/// `/fast` and `/slow` with bodies of their own; there is nothing else.
struct Paths {
    fast: FixedResponse,
    slow: FixedResponse,
    missing: FixedResponse,
}

impl Handler for Paths {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let (response, delay_ns) = match request.path {
            b"/fast" => (&self.fast, 0),
            b"/slow" => (&self.slow, SLOW_NS),
            _ => (&self.missing, 0),
        };
        Reply { response: Response::Fixed(response), delay_ns }
    }
}

fn serve() -> Running {
    let fixed = |status, body: &'static [u8]| {
        FixedResponse::new(status, "paths", "text/plain", FixedBody::Bytes(body))
    };
    let paths = Paths {
        fast: fixed(200, b"fast"),
        slow: fixed(200, b"slower"),
        missing: fixed(404, b"no"),
    };
    let address = "127.0.0.1:0".parse().unwrap();
    Server::start_with(Options { address, http2: true, ..Options::default() }, paths).unwrap()
}

fn group<'a>(json: &'a Value, name: &str) -> &'a Value {
    let groups = json["groups"].as_array().unwrap_or_else(|| panic!("no groups in {json}"));
    let found = groups.iter().find(|group| group["name"] == name);
    found.unwrap_or_else(|| panic!("no group {name} in {json}"))
}

#[test]
fn a_fast_and_a_slow_url_are_told_apart() {
    let server = serve();
    let list = Scratch::with("apart", b"/fast 2\n/slow\n/missing\n");
    let base = url(&server, "/");
    let words = [&base[..], "--urls", list.word(), "-n80", "-c4", "-t1"];
    let ways = BACKENDS.map(|io| vec!["--io", io]).into_iter();
    for way in ways.chain([vec!["--http", "2", "--streams", "3"], vec!["-r", "400"]]) {
        let (ran, json) = measured(&[&words[..], &way].concat());
        assert_eq!(ran.status, 0, "{way:?}: {}", ran.stderr);
        let [fast, slow, missing] = ["/fast", "/slow", "/missing"].map(|name| group(&json, name));
        let responses = [fast, slow, missing].map(|group| number(group, "/responses"));
        assert_eq!(responses, [40, 20, 20], "{way:?}");
        let unexpected = [fast, slow, missing].map(|group| number(group, "/unexpected"));
        assert_eq!(unexpected, [0, 0, 20], "{way:?}");
        let bodies = [fast, slow, missing].map(|group| number(group, "/body_bytes"));
        assert_eq!(bodies, [160, 120, 40], "{way:?}");
        assert_eq!(number(missing, "/statuses/404"), 20, "{way:?}");
        assert!(number(slow, "/latency_ns/wait/min") >= SLOW_NS, "{way:?}: {slow}");
        assert!(
            number(fast, "/latency_ns/wait/min") < number(slow, "/latency_ns/wait/min"),
            "{way:?}: {fast} {slow}"
        );
        let open = way[0] == "-r";
        assert_eq!(slow.pointer("/latency_ns/response").is_some(), open, "{way:?}: {slow}");
    }
}

#[test]
fn every_report_shows_them_and_no_password() {
    let server = serve();
    let at = server.address();
    let lines: String = (0..12)
        .map(|number| format!("http://me:s3cret@{at}/fast?{number}\n"))
        .chain([format!("http://me:s3cret@{at}/missing\n")])
        .collect();
    let list = Scratch::with("shown", lines.as_bytes());
    let folder = Folder::new("groups");
    let names = ["run.json", "run.html", "run.md", "run.csv", "run.txt"];
    let files = names.map(|name| folder.file(name));
    let mut words = vec!["--urls", list.word(), "-n130", "-c2"];
    words.extend(files.iter().flat_map(|file| ["-o", file]));
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let first = format!("http://{at}/fast?0");
    let last = format!("http://{at}/missing");
    for (name, file) in names.iter().zip(&files) {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(&first), "{name}: {text}");
        // The text has it in the advice, and not among the rows.
        assert!(text.contains(&last), "{name}: {text}");
        let is_row = |line: &str| line.trim_start().starts_with(&format!("{last} "));
        assert!(*name != "run.txt" || !text.lines().any(is_row), "{name}: {text}");
        assert!(!text.contains("s3cret"), "{name}: {text}");
    }
    assert!(!ran.stdout.contains("s3cret") && !ran.stderr.contains("s3cret"));
    assert!(
        ran.stdout.contains("  3 more: all are in -o FILE.json and FILE.html"),
        "{}",
        ran.stdout
    );
    assert_eq!(ablaze(&["report", &files[0]]).stdout, ran.stdout);
}

#[test]
fn shards_with_other_lists_are_added_by_name() {
    let server = serve();
    let base = url(&server, "/");
    let folder = Folder::new("shards");
    let files = ["a.json", "b.json"].map(|name| folder.file(name));
    for (file, lines) in files.iter().zip(["/fast 3\n/slow\n", "/missing\n/fast\n"]) {
        let list = folder.write("list", lines);
        let ran = ablaze(&[&base, "--urls", &list, "-n40", "-c2", "-t1", "-o", file]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        // As if both had run at the same time.
        let mut json: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        json["started_unix_ns"] = Value::from(1_795_251_909_000_000_000_u64);
        json["elapsed_ns"] = Value::from(1_000_000_000);
        json["rate_per_s"] = Value::from(40.0);
        json["slices"] = Value::Array(Vec::new());
        fs::write(file, json.to_string()).unwrap();
    }
    let whole = folder.file("whole.json");
    let ran = ablaze(&["report", "--merge", &files[0], &files[1], "-o", &whole]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let json: Value = serde_json::from_str(&fs::read_to_string(whole).unwrap()).unwrap();
    let responses =
        ["/fast", "/slow", "/missing"].map(|name| number(group(&json, name), "/responses"));
    assert_eq!(responses, [50, 10, 20]);
    assert_eq!(number(&json, "/responses"), 80);
    assert_eq!(number(group(&json, "/fast"), "/latency_ns/total/count"), 50);
}

#[test]
fn too_many_urls_are_measured_together_and_the_report_says_so() {
    let server = serve();
    let lines: String = (0..257).map(|number| format!("/fast?{number}\n")).collect();
    let list = Scratch::with("many", lines.as_bytes());
    let folder = Folder::new("many");
    let file = folder.file("run.json");
    let ran = ablaze(&[&url(&server, "/"), "--urls", list.word(), "-n300", "-c2", "-o", &file]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let json: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((number(&json, "/responses"), json.get("groups")), (300, None));
    assert_eq!(number(&json, "/request/groups_too_many"), 257);
    assert!(ran.stdout.contains("257 were named"), "{}", ran.stdout);
    assert_eq!(ablaze(&["report", &file]).stdout, ran.stdout);
}

#[test]
fn ab_prints_what_it_always_did() {
    let server = serve();
    let list = Scratch::with("ab", b"/fast\n/missing\n");
    let ran = ablaze(&["ab", "--urls", list.word(), "-n20", "-c1", &url(&server, "/")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Non-2xx responses:      10\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("/missing") && !ran.stdout.contains("group"), "{}", ran.stdout);
}
