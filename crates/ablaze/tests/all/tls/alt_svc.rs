//! `--alt-svc`: a server over TCP that says where HTTP/3 is, and the built-in one that is there.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

use ablaze_tamper::authority::self_signed;
use ablaze_target::options::Http3Options;
use ablaze_target::{Options, Running, Server};
use ablaze_testing::ports;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::tls::nginx::ablaze;

/// The built-in server over HTTP/3 alone, as far as the test knows.
fn http3() -> (Running, u16) {
    let options = Options {
        http2: true,
        http3: Some(Http3Options::default()),
        ..ablaze_tamper::tls_client::options()
    };
    let server = Server::start(options).unwrap();
    let port = server.address().port();
    (server, port)
}

/// A server over TCP whose every response has these fields; its port.
fn names(fields: String) -> u16 {
    let own = self_signed("localhost");
    let config = ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::aws_lc_rs::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![own.certificate], own.key)
    .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(tls, tcp.unwrap()));
            let mut head = String::new();
            // A client that goes away is not this server's concern.
            while matches!(stream.read_line(&mut head), Ok(1..)) && !head.ends_with("\r\n\r\n") {}
            assert!(head.is_empty() || head.starts_with("HEAD /hello HTTP/1.1\r\n"), "{head}");
            let _ = write!(stream.get_mut(), "HTTP/1.1 204 No Content\r\n{fields}\r\n");
        }
    });
    port
}

#[test]
fn http_3_is_loaded_where_the_server_says_it_is() {
    let (server, there) = http3();
    let port = names(format!("Alt-Svc: h2=\":1\", h3=\":{there}\"; ma=60\r\n"));
    let url = format!("https://127.0.0.1:{port}/hello");
    for more in [&[][..], &["--http", "2", "--streams", "3"], &["--http", "3"]] {
        let words = ["-k", "--alt-svc", "-n", "30", "-c", "2", "--json", &url];
        let ran = ablaze(&[&words[..], more].concat());
        let json = ran.json();
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(json["target"]["alternative"]["port"], there, "{json}");
        assert_eq!(json["target"]["alternative"]["max_age_s"], 60);
        assert_eq!(json["target"]["url"], url);
        assert_eq!(json["http3"]["quic"]["handshakes"].as_u64(), Some(0), "before the clock");
        assert_eq!(json["responses"], 30, "{json}");
    }
    let report = ablaze(&["-k", "--alt-svc", "-n", "3", &url]).stdout;
    assert!(report.contains(&format!("at 127.0.0.1:{there} by the server's Alt-Svc")), "{report}");
    assert_eq!(server.stop().unwrap().requests, 93);
}

#[test]
fn a_server_that_names_none_is_an_error_that_says_what_it_said() {
    let refused = |fields: &str| {
        let url = format!("https://127.0.0.1:{}/hello", names(fields.to_owned()));
        let ran = ablaze(&["-k", "--alt-svc", "-n", "3", &url]);
        assert_eq!(ran.status, 2, "{ran:?}");
        ran.stderr
    };
    let none = refused("");
    assert!(none.contains("names no HTTP/3: its response over TCP (204) has no field"), "{none}");
    let clear = refused("Alt-Svc: clear\r\n");
    assert!(clear.contains("its Alt-Svc is `clear`"), "{clear}");
    let wrong = refused("Alt-Svc: h3=:443\r\n");
    assert!(wrong.contains("`h3=:443` cannot be read: expected a host and port"), "{wrong}");
    let verified = ablaze(&[
        "--alt-svc",
        "-n",
        "3",
        &format!("https://127.0.0.1:{}/hello", names(String::new())),
    ]);
    assert!(verified.stderr.contains("-k accepts any certificate"), "{verified:?}");
}

#[test]
fn without_the_option_the_place_is_named_where_udp_brings_nothing() {
    let (_server, there) = http3();
    let port = names(format!("alt-svc: h3=\":{there}\"\r\n"));
    let url = format!("https://127.0.0.1:{port}/hello");
    let ran = ablaze(&["-k", "--http", "3", "-n", "3", &url]);
    let named = format!("it names another place (Alt-Svc: h3=\":{there}\"): use --alt-svc");
    assert!(ran.stderr.contains(&named), "{ran:?}");
    let nowhere = format!("https://127.0.0.1:{}/hello", ports::free());
    let ran = ablaze(&["-k", "--http", "3", "-n", "3", &nowhere]);
    assert!(!ran.stderr.contains("Alt-Svc"), "{ran:?}");
}
