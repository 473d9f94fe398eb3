//! Redirects and compressed bodies of journeys: Hurl itself and this program pass the same files, and under load each
//! redirect has its row.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use ablaze_testing::{Bounded, skip};
use serde_json::Value;

use crate::e2e::support::{Scratch, ablaze, measured, number};

/// Two hosts that redirect and say what they were sent. They end with the test's process.
fn hosts() -> [SocketAddr; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let addresses = [0, 1].map(|index: usize| listeners[index].local_addr().unwrap());
    for listener in listeners {
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                std::thread::spawn(move || while_it_lasts(stream, addresses));
            }
        });
    }
    addresses
}

fn while_it_lasts(mut stream: TcpStream, addresses: [SocketAddr; 2]) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).ok()?;
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(name));
            line.map_or("", |line| line[name.len()..].trim())
        };
        let mut body = vec![0; field("content-length:").parse().unwrap_or(0)];
        stream.read_exact(&mut body).ok()?;
        let mut words = head.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let (fields, body) = match path.strip_prefix("/go/").and_then(|rest| rest.split_once('/')) {
            Some((status, to)) => {
                let to = match to {
                    "other" => format!("http://{}/end", addresses[1]),
                    "again" => path.to_owned(),
                    to => format!("/{to}"),
                };
                (format!("HTTP/1.1 {status} X\r\nLocation: {to}\r\n"), Vec::new())
            }
            None if path == "/coded" && field("accept-encoding:") == "gzip, deflate, br, zstd" => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
                encoder.write_all(b"{\"a\": 1}").ok()?;
                ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n".to_owned(), encoder.finish().ok()?)
            }
            None => {
                let (authorization, body) =
                    (field("authorization:"), String::from_utf8(body).ok()?);
                let text = format!("{method} auth={authorization} body={body}");
                ("HTTP/1.1 200 OK\r\n".to_owned(), text.into_bytes())
            }
        };
        let length = body.len();
        stream.write_all(format!("{fields}Content-Length: {length}\r\n\r\n").as_bytes()).ok()?;
        stream.write_all(&body).ok()?;
    }
}

const FILE: &str = r#"# name: form
POST {{site}}/go/302/end
Authorization: t
[Options]
location: true
[Form]
a: b
HTTP 200
[Asserts]
url == "{{site}}/end"
body == "GET auth=t body="

# name: kept
POST {{site}}/go/307/go/308/end
Authorization: t
[Options]
location: true
`text`
HTTP 200
[Asserts]
body == "POST auth=t body=text"

# name: other
GET {{site}}/go/302/other
[BasicAuth]
u: p
[Options]
location: true
HTTP 200
[Asserts]
url == "{{other}}/end"
body == "GET auth= body="

# name: stays
GET {{site}}/go/302/end
HTTP 302

# name: coded
GET {{site}}/coded
[Options]
compressed: true
HTTP 200
[Asserts]
jsonpath "$.a" == 1
bytes count == 8

# name: known
GET {{other}}/
[Options]
skip: true
"#;

fn given(addresses: [SocketAddr; 2]) -> [String; 4] {
    let [site, other] = addresses.map(|address| format!("http://{address}"));
    [
        "--variable".to_owned(),
        format!("site={site}"),
        "--variable".to_owned(),
        format!("other={other}"),
    ]
}

#[test]
fn hurl_passes_the_same_file() {
    let (file, given) = (Scratch::with("redirects.hurl", FILE.as_bytes()), given(hosts()));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let ran = ablaze(&[&["run", file.word()], &given[..]].concat());
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("  redirect 2: POST /end\n"), "{}", ran.stdout);
    let Some(hurl) = skip::installed_if_all("hurl") else { return };
    let mut command = Command::new(hurl);
    let output = command.arg("--test").args(&given).arg(file.word()).bounded_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_redirect_has_its_row_under_load() {
    let (file, given) = (Scratch::with("redirects.hurl", FILE.as_bytes()), given(hosts()));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let words = ["load", "--journey", file.word(), "-n", "20", "-c", "2"];
    let (ran, json) = measured(&[&words[..], &given].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(number(&json, "/journeys/whole"), 20);
    let row = |group: &Value| {
        (group["name"].as_str().unwrap().to_owned(), group["responses"].as_u64().unwrap())
    };
    let rows: Vec<(String, u64)> = json["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(row)
        .filter(|(_, count)| *count > 0)
        .collect();
    let expected = [
        "form",
        "kept",
        "other",
        "stays",
        "coded",
        "form redirect 1",
        "kept redirect 1",
        "kept redirect 2",
        "other redirect 1",
    ];
    assert_eq!(rows, expected.map(|name| (name.to_owned(), 20)));
    // Each was followed, or asked for by its step.
    let found = json["verdict"]["findings"].as_array().unwrap();
    assert!(found.iter().all(|finding| finding["id"] != "D04"), "{found:?}");
}

#[test]
fn redirects_are_followed_everywhere_when_asked_and_not_for_ever() {
    let [site, other] = hosts();
    let text = format!(
        "GET http://{site}/go/301/end\nHTTP 200\n\nGET http://{site}/go/302/end\n[Options]\nlocation: false\nHTTP 302\n"
    );
    let file = Scratch::with("all.hurl", text.as_bytes());
    for option in ["-L", "--location"] {
        let ran = ablaze(&["run", file.word(), option]);
        assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(ablaze(&["run", file.word()]).status, 1);
    let text = format!("GET http://{site}/go/302/again\nHTTP 200\n");
    let file = Scratch::with("again.hurl", text.as_bytes());
    let words = ["load", "--journey", file.word(), "-n", "2", "-c", "1", "-L", "--max-redirs", "4"];
    let (ran, json) = measured(&words);
    assert_eq!((ran.status, number(&json, "/responses")), (1, 10), "{}", ran.stderr);
    let why = json.pointer("/journeys/steps/0/first/text").unwrap();
    assert_eq!(why, "line 1: too many redirects: the limit is 4 (fix: max-redirs)");
    let text = format!("GET http://{site}/go/302/other\nHTTP 200\n");
    let file = Scratch::with("unknown.hurl", text.as_bytes());
    let ran = ablaze(&["run", file.word(), "-L"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains(&format!("the redirect goes to http://{other}, and ")),
        "{}",
        ran.stdout
    );
}

#[test]
fn checks_see_compressed_bodies_decoded() {
    let [site, _] = hosts();
    let url = format!("http://{site}/coded");
    let coded = ["-H", "Accept-Encoding: gzip, deflate, br, zstd", "--assert", "json $.a == 1"];
    let rest = ["--assert", "body not contains z", "--assert", "size > 8", "-n", "20", "-c", "2"];
    let (ran, json) = measured(&[&["load", &url][..], &coded, &rest].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let counts = |at: usize| {
        let each = &json["checks"]["each"][at];
        (number(each, "/passed"), number(each, "/failed"))
    };
    // The size is that of what came: gzip makes so short a body longer.
    assert_eq!([counts(0), counts(1), counts(2)], [(20, 0); 3], "{json}");
}

#[test]
fn trusted_redirects_have_credentials_for_other_hosts() {
    let [site, other] = hosts();
    let text = format!(
        "GET http://{site}/go/302/other\n[BasicAuth]\nu: p\nHTTP 200\n[Asserts]\nbody == \"GET auth=Basic dTpw \
         body=\"\n\nGET http://{other}/\n[Options]\nskip: true\n"
    );
    let file = Scratch::with("trusted.hurl", text.as_bytes());
    let ran = ablaze(&["run", file.word(), "--location-trusted"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ablaze(&["run", file.word(), "--location"]).status, 1);
    let Some(hurl) = skip::installed_if_all("hurl") else { return };
    let words = ["--test", "--location-trusted", file.word()];
    let output = Command::new(hurl).args(words).bounded_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
