//! What authors of handlers can rely on: bodies of every kind, further fields, and streams of
//! their own.

use ablaze_target::Options;
use ablaze_target::handler::{
    Body, Chunks, Flow, Handler, Method, Reply, Request, Response, Stream,
};

use crate::protocol::conversation::{Bench, End, chunks, field};

struct Own;

impl Handler for Own {
    fn wants_body(&self, method: Method, _path: &[u8]) -> bool {
        method == Method::Put
    }

    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        match request.path {
            b"/borrowed" => Response::new(200, "a/b", Body::Borrowed(request.query)).into(),
            b"/moved" => Response::text(301, "gone").with_field("Location", "/there").into(),
            b"/length" => Response::text(200, request.body.len().to_string()).into(),
            b"/agent" => {
                let agent = request.field("user-agent").unwrap_or_default();
                Response::new(200, "text/plain", Body::Borrowed(agent)).into()
            }
            b"/countdown" => {
                let stream = Box::new(Countdown { from: 3 });
                Response::new(200, "text/event-stream", Body::Stream(stream)).into()
            }
            b"/idle" => Response::new(200, "a/b", Body::Stream(Box::new(Idle { turns: 5 }))).into(),
            _ => Reply { response: Response::text(404, "no"), delay_ns: 5 },
        }
    }
}

#[derive(Debug)]
struct Countdown {
    from: u32,
}

impl Stream for Countdown {
    fn next(&mut self, pieces: &mut Chunks<'_>) -> Flow {
        if self.from == 0 {
            return Flow::End;
        }
        pieces.push(format!("data: {}\n\n", self.from).as_bytes());
        self.from -= 1;
        Flow::After(1000)
    }
}

/// Has nothing ready most of the time.
#[derive(Debug)]
struct Idle {
    turns: u32,
}

impl Stream for Idle {
    fn next(&mut self, pieces: &mut Chunks<'_>) -> Flow {
        self.turns -= 1;
        pieces.push(b"");
        if self.turns == 0 {
            pieces.push(b"done");
            return Flow::End;
        }
        Flow::After(0)
    }
}

fn bench() -> Bench<Own> {
    Bench::with(Own, &Options::default())
}

#[test]
fn bodies_and_fields_of_their_own() {
    let (head, body) = bench().get("/borrowed?what");
    assert_eq!((field(&head, "Content-Type"), body), (Some("a/b"), b"what".to_vec()));
    let (head, body) = bench().get("/moved");
    assert!(head.starts_with("HTTP/1.1 301 Moved Permanently\r\n"));
    assert_eq!((field(&head, "Location"), body), (Some("/there"), b"gone".to_vec()));
    let heard = bench().ask("GET /agent HTTP/1.1\r\nHost: t\r\nUser-Agent: me\r\n\r\n");
    assert!(heard.bytes.ends_with(b"\r\n\r\nme"));
    assert_eq!(bench().ask("GET /x HTTP/1.1\r\nHost: t\r\n\r\n").waits, [(0, 5)]);
}

#[test]
fn a_body_comes_only_if_it_is_wanted() {
    let ask = |method: &str| {
        let head = format!("{method} /length HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\n");
        bench().ask(head + "abcd").bytes
    };
    assert!(ask("PUT").ends_with(b"\r\n\r\n4"));
    assert!(ask("POST").ends_with(b"\r\n\r\n0"));
}

#[test]
fn streams_leave_as_they_are_made() {
    let heard = bench().ask("GET /countdown HTTP/1.1\r\nHost: t\r\n\r\n");
    let at = heard.bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(chunks(&heard.bytes[at..]).concat(), b"data: 3\n\ndata: 2\n\ndata: 1\n\n");
    assert_eq!(heard.waits.len(), 3);
    assert!(heard.waits.iter().all(|wait| wait.1 == 1000));
    assert_eq!(heard.end, End::Open);
    assert_eq!(chunks(&bench().get("/idle").1), [b"done"]);
}

#[test]
fn the_pages_of_the_server_are_there_whatever_the_handler() {
    for page in ["/_/status", "/_/config"] {
        let (head, body) = bench().get(page);
        assert_eq!(field(&head, "Content-Type"), Some("application/json"));
        assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
    }
    assert!(bench().get("/_/other").0.starts_with("HTTP/1.1 404"));
    // Only there.
    assert_eq!(bench().get("/_").1, b"no");
}
