//! Lists whose lines say method, fields and body: what arrives, in which order and how often, and the rows of the report.

use std::collections::BTreeMap;

use ablaze_testing::Scratch as Folder;

use crate::e2e::recording::Recording;
use crate::e2e::support::{BACKENDS, Scratch, ablaze, measured, number};

#[test]
fn every_line_is_sent_as_it_says() {
    let server = Recording::start("");
    let folder = Folder::new("lists");
    let body = folder.write("order.json", r#"{"id":"{seq:3}"}"#);
    let list = format!(
        "/plain\nPOST {0} a=1&b=2\nPUT /order\nContent-Type: application/x+json\nX-Own: 1\n@{body}\n\n\
         GET /get\nX-Both: own\n\nDELETE /item\n",
        server.url("/form")
    );
    let list = folder.write("list.txt", list);
    let target = server.url("/");
    for io in BACKENDS {
        let words = [&target[..], "--urls", &list, "-H", "X-Both: all", "-H", "X-All: 1"];
        let rest = ["-n", "10", "-c", "1", "-t", "1", "--io", io];
        let (ran, json) = measured(&[&words[..], &rest].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let came = server.taken(10);
        let lines: Vec<&str> = came.iter().map(|one| one.line()).collect();
        let once = ["GET /plain", "POST /form", "PUT /order", "GET /get", "DELETE /item"];
        let counted = lines.iter().fold(BTreeMap::new(), |mut counted, line| {
            *counted.entry(*line).or_insert(0) += 1;
            counted
        });
        assert_eq!(counted, once.into_iter().map(|line| (line, 2)).collect(), "{lines:?}");
        for one in &came {
            let (kind, body) = match one.line() {
                "POST /form" => (vec!["text/plain"], "a=1&b=2".to_owned()),
                "PUT /order" => {
                    assert_eq!(one.field("X-Own"), "1");
                    let number = &one.text()[7..10];
                    (vec!["application/x+json"], format!(r#"{{"id":"{number}"}}"#))
                }
                _ => (vec![], String::new()),
            };
            assert_eq!((one.fields("Content-Type"), one.text()), (kind, body), "{one:?}");
            let both = if one.line() == "GET /get" { "own" } else { "all" };
            assert_eq!((one.field("X-Both"), one.field("X-All")), (both, "1"), "{one:?}");
        }
        let groups = json["groups"].as_array().unwrap();
        let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["/plain", "POST /form", "PUT /order", "GET /get", "DELETE /item"]);
        assert!(groups.iter().all(|group| number(group, "/responses") == 2), "{groups:?}");
    }
    let ran = ablaze(&[&target, "--urls", &list, "-n", "10", "-c", "1"]);
    assert!(
        ran.stdout.contains("POST /form") && ran.stdout.contains("5 URLs of"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_is_no_list_is_one_line() {
    let refused = |text: &str, words: &[&str], expected: &str| {
        let list = Scratch::with("list", text.as_bytes());
        let ran = ablaze(&[&["-n", "1", "--urls", list.word()], words].concat());
        ran.assert_one_line(2, expected);
    };
    refused("POST http://h/a\n@/no/such/file\n", &[], "cannot read file `/no/such/file` for");
    refused("POST http://h/a\nX: y\n\nZ: y\n", &[], "line 4: `Z:` is a header and belongs below");
    refused("POST http://h/a\nContent-Length: 7\n", &[], "line 1: Content-Length says 7");
    refused(
        "POST http://h/a\nPOST http://other/a\n",
        &[],
        "line 2: http://other/a is not on http://h",
    );
    let lines = Scratch::with("lines", b"1\n2\n");
    refused("POST http://h/a x\n", &["--body-lines", lines.word()], "cannot be used together");
    let list = Scratch::with("list", b"POST http://127.0.0.1:9/a x\n");
    let ran = ablaze(&["ab", "-n", "1", "--urls", list.word(), "http://127.0.0.1:9/"]);
    assert!(ran.stderr.contains("are for `ablaze load`"), "{}", ran.stderr);
}
