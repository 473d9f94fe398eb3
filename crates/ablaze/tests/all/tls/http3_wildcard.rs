//! A server of HTTP/3 at all addresses of a machine answers from the one that was asked: a client knows its server by that.

use ablaze_target::options::Http3Options;
use ablaze_target::{Model, Options, Server};
use serde_json::json;

use crate::tls::nginx::ablaze;

#[test]
fn every_address_of_loopback_is_answered() {
    // Of IPv6, loopback has one address; those of IPv4 reach an IPv6 socket, too.
    let cases = [
        ("0.0.0.0:0", "127.0.0.2"),
        ("[::]:0", "127.0.0.3"),
        ("[::]:0", "[::1]"),
        ("0.0.0.0:0", "127.0.0.1"),
    ];
    for (at, (bound, asked)) in cases.into_iter().enumerate() {
        let options = Options {
            address: bound.parse().unwrap(),
            threads: 2,
            model: Model::from_name(["epoll-et", "uring"][at % 2]).unwrap(),
            http2: true,
            http3: Some(Http3Options { retry: at == 1, ..Http3Options::default() }),
            ..ablaze_tamper::tls_client::options()
        };
        let server = Server::start(options).unwrap();
        let url = format!("https://{asked}:{}/bytes/30000", server.address().port());
        let words = ["-k", "--http", "3", "-n", "40", "-c", "4", "--timeout", "5s", "--json", &url];
        let ran = ablaze(&words);
        let statuses = &ran.json()["statuses"];
        assert_eq!((ran.status, statuses), (0, &json!({ "200": 40 })), "{bound} {asked}: {ran:?}");
    }
}
