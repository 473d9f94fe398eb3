//! The `h2` crate as client, over sockets, on every model that speaks HTTP/2.

use std::future::Future;
use std::time::{Duration, Instant};

use ablaze_target::{Options, Running, Server, filler};
use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use http::{Request, Response};
use tokio::net::TcpStream;

use super::{models, options};

/// Runs it on one thread, for so long at most.
fn wait_for<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(30), what).await.expect("within half a minute")
    })
}

type Ended = tokio::task::JoinHandle<Result<(), h2::Error>>;

async fn connect(server: &Running, builder: &Builder) -> (SendRequest<Bytes>, Ended) {
    let socket = TcpStream::connect(server.address()).await.unwrap();
    let (client, connection) = builder.handshake(socket).await.unwrap();
    (client, tokio::spawn(connection))
}

fn request(method: &str, path: &str) -> Request<()> {
    Request::builder().method(method).uri(format!("http://localhost{path}")).body(()).unwrap()
}

async fn get(client: &SendRequest<Bytes>, path: &str) -> ResponseFuture {
    let mut ready = client.clone().ready().await.unwrap();
    ready.send_request(request("GET", path), true).unwrap().0
}

async fn body(response: Response<h2::RecvStream>) -> Vec<u8> {
    let mut stream = response.into_body();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.unwrap();
        stream.flow_control().release_capacity(piece.len()).unwrap();
        body.extend_from_slice(&piece);
    }
    body
}

async fn post(client: &SendRequest<Bytes>, path: &str, content: Bytes) -> Response<h2::RecvStream> {
    let mut ready = client.clone().ready().await.unwrap();
    let (response, mut upload) = ready.send_request(request("POST", path), false).unwrap();
    upload.send_data(content, true).unwrap();
    response.await.unwrap()
}

/// Lets `walk` send requests one after another over one connection, each with its body.
pub fn each<T>(
    server: &Running,
    walk: impl FnOnce(&mut dyn FnMut(Request<Bytes>) -> (http::response::Parts, Vec<u8>)) -> T,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limit = Duration::from_secs(30);
    let (client, _ended) = runtime
        .block_on(async { tokio::time::timeout(limit, connect(server, &Builder::new())).await })
        .unwrap();
    walk(&mut |request| {
        let exchange = async {
            let (head, content) = request.into_parts();
            let mut ready = client.clone().ready().await.unwrap();
            let request = Request::from_parts(head, ());
            let (response, mut upload) = ready.send_request(request, content.is_empty()).unwrap();
            if !content.is_empty() {
                upload.send_data(content, true).unwrap();
            }
            let (head, stream) = response.await.unwrap().into_parts();
            let body = body(Response::new(stream)).await;
            (head, body)
        };
        runtime.block_on(async { tokio::time::timeout(limit, exchange).await }).unwrap()
    })
}

#[test]
fn many_streams_at_once_on_every_model() {
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        wait_for(async {
            let (client, _ended) = connect(&server, &Builder::new()).await;
            let mut responses = Vec::new();
            for number in 0..300 {
                responses.push((number, get(&client, &format!("/bytes/{number}")).await));
            }
            for (number, response) in responses {
                let response = response.await.unwrap();
                assert_eq!(response.status(), 200);
                let expected: Vec<u8> = (0..number).map(filler::byte_at).collect();
                assert_eq!(body(response).await, expected, "{model}");
            }
        });
        let served = server.stop().unwrap();
        assert_eq!((served.requests, served.connections), (300, 1), "{model}");
    }
}

#[test]
fn long_bodies_both_ways_under_small_windows() {
    let mut small = Builder::new();
    small.initial_window_size(1000).initial_connection_window_size(70_000).max_frame_size(16_384);
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        wait_for(async {
            let (client, _ended) = connect(&server, &small).await;
            let long = get(&client, "/bytes/1MiB").await;
            let content: Vec<u8> = (0..3_000_000u32).map(|at| (at * 13) as u8).collect();
            let echoed = post(&client, "/echo", content.clone().into()).await;
            assert!(body(echoed).await == content, "{model}");
            assert_eq!(body(long.await.unwrap()).await.len(), 1 << 20);
            // Dropped as it comes, and answered anyway.
            assert_eq!(body(post(&client, "/hello", content.into()).await).await.len(), 14);
            let (client, _ended) = connect(&server, &Builder::new()).await;
            let body = body(get(&client, "/bytes/8MiB").await.await.unwrap()).await;
            let is_right = |(at, byte): (usize, &u8)| *byte == filler::byte_at(at as u64);
            assert!(body.len() == 8 << 20 && body.iter().enumerate().all(is_right), "{model}");
        });
        server.stop().unwrap();
    }
}

#[test]
fn what_waits_holds_up_nothing_else() {
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        wait_for(async {
            let (client, _ended) = connect(&server, &Builder::new()).await;
            let begin = Instant::now();
            let late = get(&client, "/delay/600ms").await;
            let later = get(&client, "/delay/700ms").await;
            let lines = get(&client, "/stream?lines=3&every=40ms").await;
            assert_eq!(body(get(&client, "/hello").await.await.unwrap()).await.len(), 14);
            assert!(begin.elapsed() < Duration::from_millis(600), "{model}");
            assert!(body(lines.await.unwrap()).await.ends_with(b"line 3 of 3\n"));
            assert!(begin.elapsed() >= Duration::from_millis(80), "{model}");
            assert_eq!(body(late.await.unwrap()).await.len(), 14);
            assert!(begin.elapsed() >= Duration::from_millis(600), "{model}");
            assert_eq!(body(later.await.unwrap()).await.len(), 14);
            assert!(begin.elapsed() >= Duration::from_millis(700), "{model}");
        });
        server.stop().unwrap();
    }
}

#[test]
fn statuses_methods_and_pages_are_those_of_http1() {
    let server = Server::start(options()).unwrap();
    wait_for(async {
        let (client, _ended) = connect(&server, &Builder::new()).await;
        for status in [200, 204, 304, 404, 599] {
            let response = get(&client, &format!("/status/{status}")).await.await.unwrap();
            assert_eq!(response.status(), status);
        }
        let mut ready = client.clone().ready().await.unwrap();
        let head = ready.send_request(request("HEAD", "/hello"), true).unwrap().0.await.unwrap();
        assert_eq!(head.headers()["content-length"], "14");
        assert_eq!(head.headers()["server"], "ablaze");
        assert!(body(head).await.is_empty());
        let config = body(get(&client, "/_/config").await.await.unwrap()).await;
        assert!(String::from_utf8(config).unwrap().contains("\"http2\": true"));
        // Type and trailers of an upload.
        let mut ready = client.clone().ready().await.unwrap();
        let mut typed = request("POST", "/echo");
        typed.headers_mut().insert("content-type", "text/x-test".parse().unwrap());
        let (response, mut upload) = ready.send_request(typed, false).unwrap();
        upload.send_data("content".into(), false).unwrap();
        let mut trailers = http::HeaderMap::new();
        trailers.insert("x-sum", "1".parse().unwrap());
        upload.send_trailers(trailers).unwrap();
        let response = response.await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/x-test");
        assert_eq!(body(response).await, b"content");
    });
    server.stop().unwrap();
}

#[test]
fn a_stop_is_announced_on_every_model() {
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        wait_for(async {
            let (client, ended) = connect(&server, &Builder::new()).await;
            assert_eq!(body(get(&client, "/hello").await.await.unwrap()).await.len(), 14);
            let stopping = tokio::task::spawn_blocking(move || server.stop());
            // An end with GOAWAY is one without an error, also while the client goes on.
            let ended = ended.await.unwrap();
            assert!(ended.is_ok(), "{model}: {ended:?}");
            assert!(client.clone().ready().await.is_err(), "{model}");
            stopping.await.unwrap().unwrap();
        });
    }
}

#[test]
fn the_limit_of_streams_is_kept_to() {
    for model in models() {
        let server = Server::start(Options { model, max_streams: 3, ..options() }).unwrap();
        wait_for(async {
            let (client, _ended) = connect(&server, &Builder::new()).await;
            // Once the settings have come.
            body(get(&client, "/hello").await.await.unwrap()).await;
            let mut responses = Vec::new();
            let begin = Instant::now();
            for _ in 0..6 {
                let client = client.clone();
                responses.push(tokio::spawn(async move {
                    body(get(&client, "/delay/50ms").await.await.unwrap()).await.len()
                }));
            }
            for response in responses {
                assert_eq!(response.await.unwrap(), 14);
            }
            assert!(begin.elapsed() >= Duration::from_millis(100), "{model}: all at once");
        });
        server.stop().unwrap();
    }
}
