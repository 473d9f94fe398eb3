//! `/echo` gives back exactly what was posted: any length, any cut, with a length or chunked, and
//! to a client nobody here wrote.

use std::io::Write;
use std::process::{Command, Stdio};

use ablaze_target::{Options, Running, Server};
use ablaze_testing::Bounded;
use ablaze_testing::client::Client;
use ablaze_testing::skip::installed;
use proptest::prelude::*;

fn start() -> Running {
    let address = "127.0.0.1:0".parse().unwrap();
    Server::start(Options { address, threads: 1, ..Options::default() }).unwrap()
}

/// A body that is not the same everywhere.
fn body(bytes: usize, seed: u64) -> Vec<u8> {
    ablaze_random::SplitMix64::new(seed).bytes(bytes)
}

/// One request: what is posted, and in pieces of which lengths it is chunked, if it is.
#[derive(Debug, Clone)]
struct Post {
    bytes: usize,
    chunks: Option<Vec<usize>>,
}

fn post() -> impl Strategy<Value = Post> {
    let bytes = prop_oneof![0..100usize, 0..5000usize, 60_000..70_000usize, 0..400_000usize];
    let chunks = prop::option::of(prop::collection::vec(1..20_000usize, 1..4));
    (bytes, chunks).prop_map(|(bytes, chunks)| Post { bytes, chunks })
}

impl Post {
    fn request(&self, body: &[u8]) -> Vec<u8> {
        let head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Type: test/x; a=b\r\n";
        let Some(lengths) = &self.chunks else {
            let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
            return [head.as_bytes(), body].concat();
        };
        let mut request = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        let mut rest = body;
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, behind) = rest.split_at((*length).min(rest.len()));
            request.extend(format!("{:x}\r\n", chunk.len()).bytes());
            request.extend(chunk);
            request.extend(b"\r\n");
            rest = behind;
        }
        request.extend(b"0\r\n\r\n");
        request
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Several requests on one connection, sent in pieces that heed no boundary, while the
    /// responses are read.
    #[test]
    fn what_is_posted_comes_back(
        posts in prop::collection::vec(post(), 1..6),
        pieces in prop::collection::vec(1..90_000usize, 1..6),
        seed: u64,
    ) {
        let server = start();
        let mut client = Client::connect(server.address());
        let bodies: Vec<_> = posts.iter().map(|post| body(post.bytes, seed)).collect();
        let bytes: Vec<u8> = posts.iter().zip(&bodies).flat_map(|(p, b)| p.request(b)).collect();
        let mut stream = client.stream.try_clone().unwrap();
        let sender = std::thread::spawn(move || {
            let mut rest = bytes.as_slice();
            for piece in pieces.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, behind) = rest.split_at((*piece).min(rest.len()));
                stream.write_all(now).unwrap();
                rest = behind;
            }
        });
        for body in &bodies {
            let response = client.response();
            prop_assert_eq!(response.status, 200);
            prop_assert_eq!(response.field("Content-Type"), Some("test/x; a=b"));
            prop_assert!(&response.body == body, "{} bytes came back wrong", body.len());
        }
        sender.join().unwrap();
        prop_assert_eq!(server.served().requests, posts.len() as u64);
    }
}

#[test]
fn twenty_megabytes_to_a_client_that_reads_only_when_it_has_sent_everything() {
    let server = start();
    let posted = body(20_000_000, 7);
    for chunks in [None, Some(vec![100_000])] {
        let request = Post { bytes: posted.len(), chunks }.request(&posted);
        let mut client = Client::connect(server.address());
        let response = client.ask(request);
        assert!(response.body == posted);
    }
}

#[test]
fn without_a_content_type_it_is_bytes() {
    let server = start();
    let mut client = Client::connect(server.address());
    let response = client.ask("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(response.field("Content-Type"), Some("application/octet-stream"));
    assert_eq!(client.ask("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n").body, b"");
    // A folded type must not fold the response's head.
    let folded = "POST /echo HTTP/1.1\r\nContent-Type: a/b;\r\n c=d\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(client.ask(folded).field("Content-Type"), Some("application/octet-stream"));
}

#[test]
fn every_path_can_be_an_echo() {
    let address = "127.0.0.1:0".parse().unwrap();
    let options = Options { address, threads: 1, echo_everywhere: true, ..Options::default() };
    let server = Server::start(options).unwrap();
    let mut client = Client::connect(server.address());
    for path in ["/", "/echo", "/any/where?x"] {
        let post = format!("POST {path} HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
        assert_eq!(client.ask(post).body, b"hi");
        let got = client.ask(format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n"));
        assert_eq!((got.status, got.field("Content-Length")), (200, Some("0")));
    }
}

#[test]
fn curl_gets_back_what_it_posts() {
    if installed("curl").is_none() {
        return;
    }
    let server = start();
    let url = format!("http://{}/echo", server.address());
    let posted = body(3_000_000, 3);
    // Above 1 MiB, curl asks for leave with Expect: 100-continue by itself.
    for options in [&["-H", "Transfer-Encoding: chunked"][..], &["-H", "Expect: 100-continue"], &[]]
    {
        let mut curl = Command::new("curl")
            .args(["-sS", "--max-time", "20", "--data-binary", "@-"])
            .args(options)
            .arg(&url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .start()
            .unwrap();
        let mut stdin = curl.stdin.take().unwrap();
        let bytes = posted.clone();
        let sender = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
        let output = curl.wait_with_output().unwrap();
        sender.join().unwrap();
        assert!(output.status.success(), "{options:?}");
        assert!(output.stdout == posted, "{options:?}: {} bytes", output.stdout.len());
    }
}
