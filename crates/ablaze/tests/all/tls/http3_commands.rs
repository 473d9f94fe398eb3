//! The commands around a load, over HTTP/3: a form that is uploaded, targets that are compared, a sweep, a search, and the
//! file of an experiment.

use std::path::Path;
use std::sync::{Arc, Mutex};

use ablaze_target::handler::{Handler, Method, Reply, Request, Response};
use ablaze_target::options::Http3Options;
use ablaze_target::{Options, Server};
use ablaze_testing::Scratch;
use serde_json::Value;

use crate::experiments::support::{ablaze, runs, scratch};

/// Keeps what it was sent: types and bodies.
#[derive(Clone, Default)]
struct Keeps(Arc<Mutex<Vec<Kept>>>);

type Kept = (String, Vec<u8>);

impl Handler for Keeps {
    fn wants_body(&self, _: Method, _: &[u8]) -> bool {
        true
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        let kind = String::from_utf8_lossy(request.field("content-type").unwrap_or(b""));
        self.0.lock().unwrap().push((kind.into_owned(), request.body.to_vec()));
        Response::text(201, "kept\n").into()
    }
}

/// What arrives over HTTP/3 is what arrives over HTTP/1.1, but for the boundary, which is another for each run.
#[test]
fn a_form_with_a_file_arrives_whole() {
    let folder = Scratch::new("http3-form");
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let file = format!("picture=@{}", folder.write("a picture.PNG", bytes.clone()));
    let arrived = ["3", "1.1"].map(|http| {
        let keeps = Keeps::default();
        let options = Options {
            http2: true,
            http3: Some(Http3Options::default()),
            ..ablaze_tamper::tls_client::options()
        };
        let server = Server::start_with(options, keeps.clone()).unwrap();
        let url = format!("https://{}/form", server.address());
        let words = ["-k", "--http", http, "-F", "name=ann", "-F", &file, "-n", "6", "-c", "2"];
        let ran = ablaze(folder.path(), &[&words[..], &["--json", &url]].concat());
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.status, &json["statuses"]["201"]), (0, &6.into()), "{ran:?}");
        let all = std::mem::take(&mut *keeps.0.lock().unwrap());
        assert_eq!(all.len(), 6);
        let bodies = all.into_iter().map(|(kind, body)| {
            let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
            // Boundaries are text, whatever lies between them.
            let parts = body.split(|byte| *byte == b'\n');
            let without = |line: &&[u8]| !String::from_utf8_lossy(line).contains(boundary);
            parts.filter(without).collect::<Vec<_>>().join(&b'\n')
        });
        bodies.collect::<Vec<_>>()
    });
    assert_eq!(arrived[0], arrived[1]);
    let first = &arrived[0][0];
    assert!(first.windows(bytes.len()).any(|part| part == bytes), "the file is not in it");
}

/// Every kept run was over HTTP/3, of as many requests, none of which failed.
fn all_over_http3(folder: &Path, count: usize, requests: Option<u64>) {
    let names = runs(folder);
    assert_eq!(names.len(), count, "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(folder.join("runs").join(&name)).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(run["request"]["http_version"], "3", "{name}");
        assert_eq!(run["tls"]["agreed"][0]["protocol"], "h3", "{name}");
        assert_eq!(run["failed"]["total"], 0, "{name}");
        let responses = run["responses"].as_u64().unwrap();
        assert!(requests.map_or(responses > 0, |asked| responses == asked), "{name}: {responses}");
    }
}

const LOAD: [&str; 7] = ["--https", "--http", "3", "-n", "60", "--repeat", "1"];

#[test]
fn targets_are_compared() {
    let folder = scratch("http3-compare");
    let words = ["compare", "serve:epoll-et", "serve:async", "-c", "2", "--streams", "4", "--json"];
    let said = ablaze(&folder, &[&words[..], &LOAD].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["trials"].as_array().unwrap().len(), 2);
    all_over_http3(&folder.join("compare-1"), 2, Some(60));
}

#[test]
fn loads_are_swept_over() {
    let folder = scratch("http3-sweep");
    let words = ["sweep", "serve:epoll-et", "--vary", "streams=1,4", "-c", "2", "--json"];
    let said = ablaze(&folder, &[&words[..], &LOAD].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["curves"][0]["points"].as_array().unwrap().len(), 2);
    all_over_http3(&folder.join("sweep-1"), 2, Some(60));
    // HTTP/2 and 3 beside each other, on one server.
    let words = ["sweep", "serve:epoll-et", "--vary", "http=2,3", "-c", "2", "--streams", "4"];
    let said = ablaze(&folder, &[&words[..], &["--https", "-n", "60", "--repeat", "1"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(runs(&folder.join("sweep-2")).len(), 2);
}

#[test]
fn the_highest_rate_is_searched_for() {
    let folder = scratch("http3-find");
    let words = ["find", "serve:epoll-et", "--https", "--http", "3", "--streams", "2"];
    let search = ["--slo", "p50<5s,errors<50%", "--from", "50", "--to", "60"];
    let lengths = ["-d", "500ms", "--confirm", "500ms", "--json"];
    let said = ablaze(&folder, &[&words[..], &search, &lengths].concat());
    assert!(matches!(said.status, 0 | 1), "{said:?}");
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let stages = json["stages"].as_array().unwrap().len();
    assert!(stages >= 2, "{said:?}");
    all_over_http3(&folder.join("find-1"), stages, None);
}

#[test]
fn an_experiment_s_file_is_run() {
    let folder = scratch("http3-file");
    let text = "repeats = 1\n[targets.one]\nserve = \"epoll-et\"\n[targets.two]\nserve = \"uring\"\n\
                [load]\nhttp = 3\nstreams = 4\nconnections = [1, 2]\nrequests = 60\n";
    std::fs::write(folder.join("x.toml"), text).unwrap();
    let said = ablaze(&folder, &["run", "x.toml", "--folder", "results"]);
    assert_eq!(said.status, 0, "{said:?}");
    all_over_http3(&folder.join("results"), 4, Some(60));
}
