//! `--app shop` over sockets: one walk through it, the same over every model and over HTTP/1 and HTTP/2.

#![allow(clippy::unwrap_used)]

use ablaze_target::options::{App, ShopOptions};
use ablaze_target::{Model, Options, Running, Server};
use ablaze_testing::client::Client;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::http2;

/// A request, and what it gets.
struct Asked {
    method: &'static str,
    path: &'static str,
    fields: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// Status, Set-Cookie and body.
#[derive(Debug, Clone, PartialEq)]
struct Got {
    status: u16,
    cookie: Option<String>,
    json: Value,
}

fn asked(method: &'static str, path: &'static str) -> Asked {
    Asked { method, path, fields: Vec::new(), body: Vec::new() }
}

impl Asked {
    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    fn json(mut self, value: &Value) -> Self {
        self.body = value.to_string().into_bytes();
        self.with("Content-Type", "application/json")
    }

    fn form(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self.with("Content-Type", "application/x-www-form-urlencoded")
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { method, path, fields, body } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: t\r\n");
        for (name, value) in fields {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n", body.len());
        [text.as_bytes(), body].concat()
    }
}

fn options(model: Model) -> Options {
    let address = "127.0.0.1:0".parse().unwrap();
    let app = Some(App::Shop(ShopOptions::default()));
    Options { address, model, threads: 2, app, seed: 7, ..Options::default() }
}

fn over_http1(client: &mut Client, asked: &Asked) -> Got {
    let response = client.ask(asked.bytes());
    Got {
        status: response.status,
        cookie: response.field("Set-Cookie").map(str::to_owned),
        json: serde_json::from_slice(&response.body).unwrap(),
    }
}

/// Logs in, looks around, fills a basket, logs out; asserts what each step is to give. All that came.
fn walk(mut ask: impl FnMut(&Asked) -> Got) -> Vec<Got> {
    let mut all = Vec::new();
    let mut step = |asked: Asked, status: u16| {
        let got = ask(&asked);
        assert_eq!(got.status, status, "{} {}: {got:?}", asked.method, asked.path);
        all.push(got.clone());
        got
    };
    step(asked("GET", "/items?page=2"), 401);
    step(asked("POST", "/login").form("user=ann&password=ann"), 401);
    step(asked("POST", "/login").form("user=ann"), 400);
    let login = step(asked("POST", "/login").form("user=ann&password=nna"), 200);
    let token = login.json["token"].as_str().unwrap().to_owned();
    let cookie = login.cookie.unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(cookie, format!("session={token}"));
    let bob = json!({ "user": "bób", "password": "bób" });
    let bob =
        step(asked("POST", "/login").json(&bob), 200).json["token"].as_str().unwrap().to_owned();
    let ann = |asked: Asked| asked.with("Cookie", format!("theme=dark; {cookie}"));
    let bob = |asked: Asked| asked.with("Authorization", format!("Bearer {bob}"));

    let page = step(ann(asked("GET", "/items?page=2")), 200).json;
    assert_eq!((&page["page"], &page["items"][0]["id"]), (&json!(2), &json!(21)));
    assert_eq!(page["items"].as_array().unwrap().len(), 20);
    assert_eq!(step(bob(asked("GET", "/items/21")), 200).json, page["items"][0]);
    step(ann(asked("GET", "/items?page=51")), 400);
    for (path, status) in
        [("/items/0", 404), ("/items/1000", 200), ("/items/1001", 404), ("/items/x", 404)]
    {
        step(ann(asked("GET", path)), status);
    }

    let price = |at: usize| page["items"][at]["price_cents"].as_u64().unwrap();
    step(ann(asked("POST", "/basket").form("item=21&count=2")), 201);
    step(ann(asked("POST", "/basket").json(&json!({ "item": 22 }))), 201);
    let basket = step(ann(asked("GET", "/basket")), 200).json;
    let line = |at: usize, count: u64| json!({ "item": 21 + at, "count": count, "price_cents": price(at) });
    assert_eq!(basket["lines"], json!([line(0, 2), line(1, 1)]));
    assert_eq!(
        (&basket["user"], &basket["total_cents"]),
        (&json!("ann"), &json!(2 * price(0) + price(1)))
    );
    assert_eq!(step(bob(asked("GET", "/basket")), 200).json["lines"], json!([]));
    step(ann(asked("POST", "/basket").form("item=1001")), 404);
    step(ann(asked("POST", "/basket").form("item=1&count=0")), 400);
    assert_eq!(step(ann(asked("DELETE", "/basket/21")), 200).json["lines"], json!([line(1, 1)]));
    step(ann(asked("DELETE", "/basket/21")), 404);
    step(asked("DELETE", "/items/21"), 405);

    let gone = step(ann(asked("POST", "/logout")), 200).cookie.unwrap();
    assert!(gone.starts_with("session=;") && gone.contains("Max-Age=0"), "{gone}");
    step(ann(asked("GET", "/basket")), 401);
    step(bob(asked("GET", "/basket")), 200);
    assert_eq!(step(asked("GET", "/slow?time=2ms"), 200).json["waited_ms"], 2.0);
    let upload = step(
        Asked {
            body: b"--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\
                    Content-Type: text/plain\r\n\r\nabc\r\n--x--\r\n"
                .to_vec(),
            ..asked("POST", "/upload").with("Content-Type", "multipart/form-data; boundary=x")
        },
        200,
    );
    // SHA-256 of `abc`: FIPS 180-2, B.1.
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let part = json!({
        "name": "f", "filename": "a.txt", "content_type": "text/plain", "bytes": 3, "sha256": sha256,
    });
    assert_eq!(upload.json["parts"], json!([part]));
    all
}

/// How often each route was answered with each status in [`walk`].
fn routes_of_a_walk() -> Value {
    json!([
        { "route": "POST /login", "requests": 4, "statuses": { "200": 2, "400": 1, "401": 1 } },
        { "route": "GET /items", "requests": 3, "statuses": { "200": 1, "400": 1, "401": 1 } },
        { "route": "GET /items/ID", "requests": 5, "statuses": { "200": 2, "404": 3 } },
        { "route": "POST /basket", "requests": 4, "statuses": { "201": 2, "400": 1, "404": 1 } },
        { "route": "GET /basket", "requests": 4, "statuses": { "200": 3, "401": 1 } },
        { "route": "DELETE /basket/ID", "requests": 2, "statuses": { "200": 1, "404": 1 } },
        { "route": "POST /logout", "requests": 1, "statuses": { "200": 1 } },
        { "route": "GET /slow", "requests": 1, "statuses": { "200": 1 } },
        { "route": "POST /upload", "requests": 1, "statuses": { "200": 1 } },
        { "route": "other methods", "requests": 1, "statuses": { "405": 1 } },
    ])
}

fn status(server: &Running) -> Value {
    over_http1(&mut Client::connect(server.address()), &asked("GET", "/_/status")).json
}

#[test]
fn every_model_serves_the_same_shop_and_counts_its_routes() {
    let mut first = None;
    let mut walked = 0;
    for &model in Model::ALL.iter().filter(|model| !model.is_exempt()) {
        if options(model).validate().is_err() {
            continue;
        }
        let server = Server::start(options(model)).unwrap();
        let mut client = Client::connect(server.address());
        let got = walk(|asked| over_http1(&mut client, asked));
        assert_eq!(*first.get_or_insert_with(|| got.clone()), got, "{model}");
        assert_eq!(status(&server)["routes"], routes_of_a_walk(), "{model}");
        walked += 1;
    }
    assert!(walked >= 4, "{walked} models");
    let other = Server::start(Options { seed: 8, ..options(Model::EpollEt) }).unwrap();
    let mut client = Client::connect(other.address());
    assert_ne!(first.unwrap(), walk(|asked| over_http1(&mut client, asked)));
}

#[test]
fn http2_serves_the_same_shop() {
    let over_1 = {
        let server = Server::start(options(Model::EpollEt)).unwrap();
        let mut client = Client::connect(server.address());
        walk(|asked| over_http1(&mut client, asked))
    };
    for model in http2::models() {
        let server = Server::start(Options { http2: true, ..options(model) }).unwrap();
        let got = http2::with_h2::each(&server, |client| {
            walk(|asked| {
                let mut request = http::Request::builder()
                    .method(asked.method)
                    .uri(format!("http://localhost{}", asked.path));
                for (name, value) in &asked.fields {
                    // As a client may split it (RFC 9113, 8.2.3).
                    for value in value.split("; ").filter(|_| *name == "Cookie") {
                        request = request.header(*name, value);
                    }
                    if *name != "Cookie" {
                        request = request.header(*name, value);
                    }
                }
                let (head, body) = client(request.body(Bytes::from(asked.body.clone())).unwrap());
                let cookie = head.headers.get("set-cookie");
                Got {
                    status: head.status.as_u16(),
                    cookie: cookie.map(|cookie| cookie.to_str().unwrap().to_owned()),
                    json: serde_json::from_slice(&body).unwrap(),
                }
            })
        });
        assert_eq!(got, over_1, "{model}");
        assert_eq!(status(&server)["routes"], routes_of_a_walk(), "{model}");
    }
}

#[test]
fn errors_come_as_often_as_asked_for_and_the_same_from_the_same_seed() {
    let statuses = |seed| {
        let app = Some(App::Shop(ShopOptions { not_found: 0.25, failing: 0.1 }));
        let server = Server::start(Options { app, seed, ..options(Model::EpollEt) }).unwrap();
        let mut client = Client::connect(server.address());
        let login = || asked("POST", "/login").form("user=a&password=a");
        let login = std::iter::repeat_with(|| over_http1(&mut client, &login()))
            .find(|got| got.status == 200)
            .unwrap();
        let token = format!("Bearer {}", login.json["token"].as_str().unwrap());
        let item = asked("GET", "/items/1").with("Authorization", token);
        (0..2000).map(|_| over_http1(&mut client, &item).status).collect::<Vec<_>>()
    };
    let found = statuses(1);
    for (status, share) in [(404, 0.25f64), (500, 0.1), (200, 0.65)] {
        let count = found.iter().filter(|own| **own == status).count() as f64;
        // Binomial, five standard deviations: a right generator fails with 6e-7 if the seed were not fixed.
        let deviation = (2000.0 * share * (1.0 - share)).sqrt();
        assert!((count - 2000.0 * share).abs() < 5.0 * deviation, "{status}: {count}");
    }
    assert_eq!(found, statuses(1));
    assert_ne!(found, statuses(2));
}

#[test]
fn without_it_there_is_no_shop() {
    let server = Server::start(Options { app: None, ..options(Model::EpollEt) }).unwrap();
    let mut client = Client::connect(server.address());
    assert_eq!(client.ask(asked("POST", "/login").form("user=a&password=a").bytes()).status, 404);
    assert_eq!(status(&server).get("routes"), None);
}
