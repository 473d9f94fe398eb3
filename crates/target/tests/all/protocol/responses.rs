//! What each route responses, and how heads and bodies are shaped.

use ablaze_target::conditions::{Route, WriteMode};
use ablaze_target::{Options, filler};

use crate::protocol::conversation::{Bench, End, chunks, field, head_and_body};

fn bench() -> Bench<ablaze_target::routes::Routes> {
    Bench::new(&Options::default())
}

fn status(head: &str) -> u16 {
    head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap()
}

fn is_filler(body: &[u8]) -> bool {
    body.iter().enumerate().all(|(at, byte)| *byte == filler::byte_at(at as u64))
}

#[test]
fn hello_is_fourteen_bytes_of_plain_text() {
    let (head, body) = bench().get("/hello");
    assert_eq!(body, b"hello, world!\n");
    assert_eq!(status(&head), 200);
    assert_eq!(field(&head, "Content-Type"), Some("text/plain"));
    assert_eq!(field(&head, "Content-Length"), Some("14"));
    assert_eq!(bench().get("/hello?x=/y").1, body);
}

#[test]
fn hello_and_not_the_root_stays_as_it_is_under_size_and_status() {
    let bench = Bench::new(&Options { status: 503, body_bytes: Some(3), ..Options::default() });
    assert_eq!(bench.get("/hello").1, b"hello, world!\n");
    assert_eq!(bench.get("/").1, b"000");
    assert_eq!(status(&bench.get("/").0), 503);
}

#[test]
fn bytes_are_filler_of_any_length() {
    for (path, bytes) in [
        ("/bytes/0", 0),
        ("/bytes/1", 1),
        ("/bytes/4096", 4096),
        ("/bytes/4097", 4097),
        ("/bytes/64KB", 64_000),
        ("/bytes/8MiB", 8 << 20),
    ] {
        let (head, body) = bench().get(path);
        assert_eq!(field(&head, "Content-Length"), Some(bytes.to_string().as_str()), "{path}");
        assert_eq!(body.len(), bytes, "{path}");
        assert!(is_filler(&body), "{path}");
    }
}

#[test]
fn bodies_longer_than_any_memory_begin_like_all_others() {
    let heard = bench().ask("HEAD /bytes/18446744073709551615 HTTP/1.1\r\nHost: t\r\n\r\n");
    let (head, _) = head_and_body(&heard.bytes);
    assert_eq!(field(&head, "Content-Length"), Some("18446744073709551615"));
    // A GET: the protocol gives the model all of it to write, without memory for it.
    use ablaze_target::http1::{date::Date, output::Output, protocol::Http1};
    let mut out = Output::default();
    let request = b"GET /bytes/18446744073709551615 HTTP/1.1\r\nHost: t\r\n\r\n";
    Http1::default().receive(request, &bench().service, &Date::now(), &mut out);
    let mut written = 0;
    while written < 10_000_000 {
        let mut slices = [std::io::IoSlice::new(&[]); 4];
        let used = out.slices(&mut slices);
        let bytes: usize = slices[..used].iter().map(|slice| slice.len()).sum();
        out.wrote(bytes);
        written += bytes;
    }
}

#[test]
fn every_final_status_can_be_had() {
    let bench = bench();
    for wanted in 200..=999 {
        let (head, body) = bench.get(&format!("/status/{wanted}"));
        assert_eq!(status(&head), wanted);
        // RFC 9110, 15.3.5, 15.3.6 and 15.4.5.
        if matches!(wanted, 204 | 205 | 304) {
            assert_eq!(body, b"");
        } else {
            assert!(body.starts_with(wanted.to_string().as_bytes()));
        }
        // RFC 9110, 8.6: no Content-Length with 204.
        assert_eq!(field(&head, "Content-Length").is_some(), !matches!(wanted, 204 | 304));
    }
}

#[test]
fn a_delay_is_asked_for_in_the_path() {
    for (path, wait_ns) in
        [("/delay/0", None), ("/delay/20", Some(20_000_000)), ("/delay/5us", Some(5_000))]
    {
        let heard = bench().ask(format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n"));
        let waits: Vec<_> = wait_ns.into_iter().map(|wait_ns| (0, wait_ns)).collect();
        assert_eq!(heard.waits, waits, "{path}");
        assert!(heard.bytes.ends_with(b"\r\n\r\nhello, world!\n"));
    }
}

#[test]
fn chunked_bodies_have_the_chunks_asked_for() {
    for (path, bytes, chunk_bytes) in [
        ("/chunked/20000", 20_000, 8192),
        ("/chunked/10?chunk=1", 10, 1),
        ("/chunked/100?chunk=1MiB", 100, 100),
        ("/chunked/1MiB?chunk=300KiB", 1 << 20, 300 << 10),
        ("/chunked/3MiB?chunk=7", 3 << 20, 7),
    ] {
        let (head, body) = bench().get(path);
        assert_eq!(field(&head, "Transfer-Encoding"), Some("chunked"));
        assert_eq!(field(&head, "Content-Length"), None);
        let chunks = chunks(&body);
        assert!(chunks[..chunks.len() - 1].iter().all(|chunk| chunk.len() == chunk_bytes));
        let body = chunks.concat();
        assert_eq!(body.len(), bytes, "{path}");
        assert!(is_filler(&body), "{path}");
    }
    assert_eq!(chunks(&bench().get("/chunked/0").1), Vec::<Vec<u8>>::new());
}

#[test]
fn a_stream_is_a_line_at_a_time() {
    let heard = bench().ask("GET /stream?lines=3&every=7ms HTTP/1.1\r\nHost: t\r\n\r\n");
    let (_, body) = head_and_body(&heard.bytes);
    let lines: Vec<_> = chunks(&body).into_iter().map(|l| String::from_utf8(l).unwrap()).collect();
    assert_eq!(lines, ["line 1 of 3\n", "line 2 of 3\n", "line 3 of 3\n"]);
    let waits: Vec<_> = heard.waits.iter().map(|wait| wait.1).collect();
    assert_eq!(waits, [7_000_000; 2]);
    // What was there before a wait has left before it.
    assert!(heard.bytes[..heard.waits[0].0].ends_with(b"line 1 of 3\n\r\n"));
    assert_eq!(bench().get("/stream?every=0").1.len(), bench().get("/stream").1.len());
    assert_eq!(chunks(&bench().get("/stream?lines=0").1), Vec::<Vec<u8>>::new());
}

#[test]
fn a_client_of_1_0_gets_streams_up_to_the_end_of_the_connection() {
    for keep_alive in ["", "Connection: keep-alive\r\n"] {
        let heard = bench().ask(format!("GET /chunked/9000 HTTP/1.0\r\n{keep_alive}\r\n"));
        let (head, body) = head_and_body(&heard.bytes);
        assert_eq!(field(&head, "Transfer-Encoding"), None);
        assert_eq!(field(&head, "Connection"), Some("close"));
        assert_eq!(body.len(), 9000);
        assert!(is_filler(&body));
        assert_eq!(heard.end, End::Closed { unread: false });
    }
}

#[test]
fn a_server_may_leave_out_what_http_1_0_implies() {
    let options = Options { tells_http10_of_close: false, ..Options::default() };
    let (head, _) = head_and_body(&Bench::new(&options).ask("GET / HTTP/1.0\r\n\r\n").bytes);
    assert_eq!(field(&head, "Connection"), None);
    let close = "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
    let (head, _) = head_and_body(&Bench::new(&options).ask(close).bytes);
    assert_eq!(field(&head, "Connection"), Some("close"));
}

#[test]
fn routes_from_the_options_come_first_and_exact_ones_before_patterns() {
    let route = |path: &str, status, body: &str| Route {
        path: path.into(),
        status,
        body: body.as_bytes().to_vec(),
    };
    let routes = vec![
        route("/api/*", 200, "any"),
        route("/api/v?", 200, "too late"),
        route("/api/v1", 201, "exact"),
        route("/api/v1", 202, "too late"),
        route("/hello", 418, "mine"),
        route("/ech?", 200, "not yours"),
    ];
    let bench = Bench::new(&Options { routes, ..Options::default() });
    let response = |path: &str| {
        let (head, body) = bench.get(path);
        (status(&head), String::from_utf8(body).unwrap())
    };
    assert_eq!(response("/api/v1?q"), (201, "exact".into()));
    assert_eq!(response("/api/v2"), (200, "any".into()));
    assert_eq!(response("/api/a/b/c"), (200, "any".into()));
    assert_eq!(response("/hello"), (418, "mine".into()));
    assert_eq!(response("/echo"), (200, "not yours".into()));
    assert_eq!(response("/api").0, 404);
    assert_eq!(response("/"), (200, "hello, world!\n".into()));
    // Its body is not taken in, as nobody gives it back.
    let post = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc";
    assert!(bench.ask(post).bytes.ends_with(b"not yours"));
}

#[test]
fn what_is_not_there_is_404_and_what_cannot_be_read_400() {
    let bench = bench();
    for path in ["/nothing", "/bytes", "/hello/", "/bytesx/3", "*", "/a/b/c"] {
        assert_eq!(status(&bench.get(path).0), 404, "{path}");
    }
    for path in [
        "/bytes/",
        "/bytes/x",
        "/bytes/-1",
        "/bytes/1/2",
        "/status/100",
        "/status/1000",
        "/status/abc",
        "/delay/forever",
        "/chunked/5?chunk=0",
        "/chunked/x",
        "/stream?lines=x",
        "/stream?every=1y",
    ] {
        let (head, body) = bench.get(path);
        assert_eq!(status(&head), 400, "{path}");
        assert!(body.windows(11).any(|part| part == b"/bytes/8MiB"));
        // The request itself was fine: the connection stays.
        assert_eq!(field(&head, "Connection"), None);
    }
}

#[test]
fn head_is_the_head_of_get_everywhere() {
    let bench = bench();
    for path in [
        "/",
        "/hello",
        "/bytes/5",
        "/bytes/8MiB",
        "/status/404",
        "/status/204",
        "/delay/1",
        "/chunked/100",
        "/stream",
        "/echo",
        "/nothing",
        "/bytes/x",
        "/_/config",
        "/_/nothing",
    ] {
        let (head, _) = bench.get(path);
        let heard = bench.ask(format!("HEAD {path} HTTP/1.1\r\nHost: t\r\n\r\n"));
        assert_eq!(String::from_utf8(heard.bytes).unwrap(), head, "{path}");
        assert_eq!(heard.end, End::Open);
    }
}

#[test]
fn all_heads_are_padded() {
    let plain = bench();
    for head_bytes in [1, 170, 180, 200, 1000, 100_000] {
        let padded = Bench::new(&Options { head_bytes: Some(head_bytes), ..Options::default() });
        for path in ["/", "/bytes/10000", "/chunked/100", "/_/config", "/bytes/x", "/nothing"] {
            let before = plain.get(path).0.len();
            let after = padded.get(path).0.len();
            let expected = if before >= head_bytes {
                before
            } else {
                // The field takes 12 bytes without a value.
                head_bytes.max(before + 12)
            };
            assert_eq!(after, expected, "{path} {head_bytes}");
        }
        let refused = padded.ask("nonsense\r\n\r\n");
        assert!(head_and_body(&refused.bytes).0.len() >= head_bytes);
    }
}

#[test]
fn split_writes_head_and_body_by_calls_of_their_own() {
    let whole = bench();
    let split = Bench::new(&Options { write: WriteMode::Split, ..Options::default() });
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n");
    for (path, body_writes) in [("/hello", 1), ("/bytes/5000", 1), ("/status/204", 0)] {
        let heard = split.ask(get(path));
        let (head, body) = head_and_body(&heard.bytes);
        let mut writes = vec![head.len()];
        writes.extend(vec![body.len(); body_writes]);
        assert_eq!(heard.writes, writes, "{path}");
        assert_eq!(whole.ask(get(path)).writes, [head.len() + body.len()], "{path}");
    }
    // Pipelined: still two for each.
    let heard = split.ask([get("/hello"), get("/nothing"), get("/echo"), get("/bytes/3")].concat());
    assert_eq!(heard.writes.len(), 7, "an empty body is not written");
    assert_eq!(heard.writes[1], 14);
    assert_eq!(whole.ask(get("/hello").repeat(5)).writes.len(), 1);
}
