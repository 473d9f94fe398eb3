//! What findings advise does what the run did: the `curl` of a fix is carried out, and the server sees the same request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use ablaze_testing::skip::installed;
use serde_json::Value;

use crate::e2e::support::{Scratch, ablaze, measured, run};

/// A server that responds to everything with this, closes, and gives each request that it read.
fn recording(response: &'static str) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (give, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(5)));
            let (mut request, mut room) = (Vec::new(), [0; 4096]);
            while !is_whole(&request) {
                match stream.read(&mut room) {
                    Ok(read @ 1..) => request.extend_from_slice(&room[..read]),
                    _ => break,
                }
            }
            let _ = stream.write_all(response.as_bytes());
            if give.send(String::from_utf8_lossy(&request).into_owned()).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.is_none_or(|length| body.len() >= length.trim().parse().unwrap_or(0))
}

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Method and target, the fields that were asked for, and the body.
fn seen(request: &str) -> (String, Vec<String>, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().rsplit_once(' ').unwrap().0.to_owned();
    let asked = ["x-note:", "content-type:", "accept:"];
    let is_asked = |line: &&str| asked.iter().any(|name| line.to_lowercase().starts_with(name));
    let mut fields: Vec<String> =
        lines.filter(is_asked).map(|line| line.replace(": ", ":").to_lowercase()).collect();
    fields.sort();
    (line, fields, body.to_owned())
}

/// The command that the first finding advises.
fn advised(json: &Value) -> String {
    let fix = json["verdict"]["findings"][0]["fix"].as_str().unwrap();
    fix.split('`').nth(1).unwrap().to_owned()
}

/// The first requests that came.
fn sent(requests: &Receiver<String>, count: usize) -> Vec<String> {
    let wait = std::time::Duration::from_secs(10);
    std::iter::from_fn(|| requests.recv_timeout(wait).ok()).take(count).collect()
}

#[test]
fn curl_sends_what_the_run_sent() {
    let Some(_) = installed("curl") else { return };
    for words in [
        &["/nf?a=1&b='2'"][..],
        &["-H", "X-Note: it's", "-H", "Accept:", "-b", r#"{"a": 1}"#, "/p"],
        &["-m", "DELETE", "--content-type", "a/b", "-b", "x y", "/p"],
    ] {
        let (address, requests) = recording(NOT_FOUND);
        let (path, options) = words.split_last().unwrap();
        let url = format!("http://{address}{path}");
        let (_, json) =
            measured(&[&["-n", "1", "-c", "1", "-u", "me:s3cret"], options, &[&url]].concat());
        let advised = advised(&json);
        assert!(advised.contains("-u NAME:PASSWORD") && !advised.contains("s3cret"), "{advised}");
        let ran = run(Command::new("sh").args(["-c", &format!("{advised} -sS --max-time 5")]));
        assert!(ran.stdout.contains("404"), "{advised}: {ran:?}");
        let [ours, curls] = &sent(&requests, 2)[..] else { panic!("{advised}") };
        assert_eq!(seen(curls), seen(ours), "{advised}");
    }
}

/// A line of a list has a body, and so a type, of its own.
#[test]
fn curl_sends_what_a_line_of_a_list_sent() {
    let Some(_) = installed("curl") else { return };
    let (address, requests) = recording(NOT_FOUND);
    let line = format!("POST http://{address}/p {{\"a\": 1}}\n");
    let list = Scratch::with("advised.txt", line.as_bytes());
    let words = ["-n", "1", "-c", "1", "-H", "X-Note: 1", "--urls", list.word()];
    let (_, json) = measured(&words);
    let advised = advised(&json);
    run(Command::new("sh").args(["-c", &format!("{advised} -sS --max-time 5")]));
    let [ours, curls] = &sent(&requests, 2)[..] else { panic!("{advised}") };
    assert!(ours.contains("Content-Type: application/json"), "{ours}");
    assert_eq!(seen(curls), seen(ours), "{advised}");
}

/// What the setup captured, the row of the journey and the way to the server are those of the one that failed.
#[test]
fn a_walk_sends_what_the_step_that_failed_sent() {
    let (address, requests) = recording(NOT_FOUND);
    let setup =
        "GET http://shop.example/login\nHTTP 404\n[Captures]\nlength: header \"Content-Length\"\n";
    let setup = Scratch::with("advised-setup.hurl", setup.as_bytes());
    let journey = "GET http://shop.example/item?user={{user}}\nX-Note: {{length}}\nHTTP 200\n";
    let journey = Scratch::with("advised.hurl", journey.as_bytes());
    let feed = Scratch::with("advised.csv", b"user\nann\nbob\n");
    let way = format!("shop.example:80:{address}");
    let (_, json) = measured(&[
        "--journey",
        journey.word(),
        "--setup",
        setup.word(),
        "--feed",
        feed.word(),
        "--users",
        "1",
        "-n",
        "1",
        "--connect-to",
        &way,
        "--timeout",
        "5s",
    ]);
    let advised = advised(&json);
    for option in ["--setup", "--feed-line 2", "--connect-to", "--timeout 5s"] {
        assert!(advised.contains(option), "{option}: {advised}");
    }
    let program = env!("CARGO_BIN_EXE_ablaze");
    let walked = advised.replacen("ablaze", program, 1);
    let walked = run(Command::new("sh").args(["-c", &walked]));
    assert!(walked.stdout.contains("the status is 404, not 200"), "{advised}: {walked:?}");
    let sent: Vec<_> = sent(&requests, 4).iter().map(|request| seen(request)).collect();
    assert_eq!(sent[..2], sent[2..], "{advised}");
    assert_eq!(sent[1].0, "GET /item?user=ann");
}

#[test]
fn tls_is_advised_only_where_it_is_spoken() {
    let (address, _requests) =
        recording("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let url = format!("http://{address}/");
    let ran = ablaze(&["-n", "3", "-c", "1", &url]);
    assert!(!ran.stderr.contains("https"), "{ran:?}");
    let ran = ablaze(&["ab", "-n", "3", &format!("{url}sp ace")]);
    assert!(ran.stderr.contains("write %20") && !ran.stderr.contains("https"), "{ran:?}");
    let ran = ablaze(&["-n", "3", "-c", "1", "-m", "get", &url]);
    assert!(ran.stderr.contains("use -m GET"), "{ran:?}");
}

#[test]
fn gurl_is_told_of_error_pages_in_its_own_options() {
    let (address, _requests) = recording(NOT_FOUND);
    let ran = ablaze(&["gurl", "-bench", "-an", "3", &format!("http://{address}/nf")]);
    assert!(ran.stderr.contains("D04 INVALID"), "{ran:?}");
    assert!(!ran.stderr.contains("or use --expect"), "{ran:?}");
}
