//! Journeys whose connections do not go straight to the server: through a proxy and over a Unix socket, by every version
//! of HTTP. What the proxy was asked and what the server answered say that they did.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;

use ablaze_target::options::{App, ShopOptions};
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Running, Server};
use ablaze_testing::Scratch;
use serde_json::json;

use crate::tls::nginx::ablaze;
use crate::tls::proxies::{Manner, Proxy};

const JOURNEY: &str = r#"# name: login
POST /login
[Form]
user: ann
password: nna
HTTP 200
[Captures]
token: jsonpath "$.token"

# name: item
GET /items/3
Authorization: Bearer {{token}}
HTTP 200
"#;

/// `me:a@b`, as the field has it.
const CREDENTIALS: &str = "\r\nProxy-Authorization: Basic bWU6YUBi\r\n";

fn shop(tls: bool) -> Running {
    let made = || Identity::self_made(&["127.0.0.1".parse().unwrap()]).unwrap();
    let tls = tls.then(|| TlsOptions::new(made()));
    let address = "127.0.0.1:0".parse().unwrap();
    let app = Some(App::Shop(ShopOptions::default()));
    Server::start(Options { address, app, tls, http2: true, threads: 1, ..Options::default() })
        .unwrap()
}

fn at(server: &Running, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{}/", server.address())
}

/// Walks ten journeys of two requests, and says what they became.
fn walked(url: &str, version: &str, more: &[&str]) -> serde_json::Value {
    let folder = Scratch::new("ways");
    let file = folder.write("way.hurl", JOURNEY);
    let own = ["--journey", &file, url, "--http", version, "-n10", "-c2", "--json"];
    let insecure: &[&str] = if url.starts_with("https") { &["-k"] } else { &[] };
    let ran = ablaze(&[&own, insecure, more].concat());
    assert_eq!(ran.status, 0, "{url} {version}: {ran:?}");
    assert!(!ran.stdout.contains("bWU6"), "no report has the credentials");
    let json = ran.json();
    assert_eq!(json["statuses"], json!({"200": 20}), "{url} {version}");
    assert_eq!(json["journeys"]["whole"], 10, "{url} {version}");
    json
}

#[test]
fn journeys_go_through_a_proxy() {
    for tls in [false, true] {
        let server = shop(tls);
        for version in ["1.1", "2"] {
            let proxy = Proxy::start(Manner::Wants(CREDENTIALS));
            let user = format!("http://me:a%40b@127.0.0.1:{}", proxy.port);
            let json = walked(&at(&server, tls), version, &["--proxy", &user]);
            let heads = proxy.asked.lock().unwrap();
            assert_eq!(json!(heads.len()), json["connections_opened"], "one head per connection");
            let authority = server.address();
            let line = match (tls, version) {
                (false, "1.1") => format!("POST http://{authority}/login HTTP/1.1\r\n"),
                _ => format!("CONNECT {authority} HTTP/1.1\r\n"),
            };
            assert!(heads.iter().all(|head| head.starts_with(&line)), "{line}: {heads:?}");
        }
    }
}

#[test]
fn journeys_go_over_a_unix_socket() {
    for tls in [false, true] {
        let (server, folder) = (shop(tls), Scratch::new("sockets"));
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let to = server.address();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                join(client, TcpStream::connect(to).unwrap());
            }
        });
        for version in ["1.1", "2"] {
            walked(&at(&server, tls), version, &["--unix-socket", path.to_str().unwrap()]);
        }
    }
}

/// Carries bytes between the two, both ways.
fn join(client: UnixStream, server: TcpStream) {
    let _ = server.set_nodelay(true);
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let (mut from, mut to) = (server, client);
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn one_walk_takes_the_same_ways() {
    let (server, proxy) = (shop(false), Proxy::start(Manner::Wants(CREDENTIALS)));
    let folder = Scratch::new("once");
    let file = folder.write("once.hurl", JOURNEY);
    let user = format!("me:a%40b@127.0.0.1:{}", proxy.port);
    let words = ["run", &file, &at(&server, false), "-v", "--proxy", &user];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("> Proxy-Authorization: ***\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("bWU6"), "{}", ran.stdout);
    let heads = proxy.asked.lock().unwrap();
    assert!(heads[0].contains(CREDENTIALS), "{heads:?}");
}

#[test]
fn http3_goes_neither_way() {
    let folder = Scratch::new("udp");
    let file = folder.write("udp.hurl", JOURNEY);
    for (way, why) in [
        (["--proxy", "127.0.0.1:9"], "proxies are reached over TCP"),
        (["--unix-socket", "/nowhere"], "QUIC goes over UDP"),
    ] {
        for command in [&["load", "--journey"][..], &["run"]] {
            let own = [&file, "https://127.0.0.1:9", "--http", "3"];
            let ran = ablaze(&[command, &own, &way].concat());
            assert_eq!(ran.status, 2, "{ran:?}");
            assert!(ran.stderr.contains(why), "{}", ran.stderr);
        }
    }
}
