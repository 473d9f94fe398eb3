//! Every framing, cut in every way, over both kinds of simulated driver.

use ablaze_engine::sink::SinkOf;
use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_model::plan::tls::Tls;
use ablaze_model::plan::{Http2, Plan};
use ablaze_net::sim::Pieces;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;

use super::checking::{Checking, Sent, same};
use super::far_ends::{Server, Simulated};
use super::http1_server::{Framing, Http1Server};
use super::http2_server::Http2Server;
use super::plans::*;
use ablaze_tamper::authority::{Authority, Issued};

/// Pieces from byte by byte to larger than any buffer.
const PIECES: [Pieces; 7] = [
    Pieces::Whole,
    Pieces::Of(1),
    Pieces::Of(7),
    Pieces::Of(1_000),
    Pieces::Of(4_096),
    Pieces::Of(65_537),
    Pieces::Of(299_999),
];

/// Runs over both kinds of driver; every body has to be the one that was sent.
fn run(plan: &Plan, peer: &Simulated, sent: &Sent, what: &str) {
    let peers = std::slice::from_ref(peer);
    let make = |of: SinkOf| Checking::new(of);
    let requests = plan.limits.requests.unwrap();
    let control = Control::new();
    for at_once in [false, true] {
        let plan = plan.clone();
        let done = match at_once {
            false => run_simulated_with_sinks::<Simulated, _, false>(plan, peers, &control, make),
            true => run_simulated_with_sinks::<Simulated, _, true>(plan, peers, &control, make),
        };
        let (run, sinks) = done.unwrap();
        assert_eq!((run.record.responses, run.record.failures_total()), (requests, 0), "{what}");
        let bytes: u64 = sent.lock().unwrap().iter().map(|body| body.bytes).sum();
        assert_eq!(run.record.body_bytes, bytes, "{what}");
        same(sinks, sent, what);
    }
}

/// GET and HEAD in turn, where HEAD is wanted.
fn asking(mut plan: Plan, head_too: bool) -> Plan {
    if head_too {
        let mut head = get("/");
        head.bytes.splice(..3, *b"HEAD");
        head.head_bytes += 1;
        head.response_has_no_body = true;
        plan.requests.templates.push(head);
        plan.requests.order = vec![0, 0, 1];
    }
    plan
}

fn with_http2(plan: Plan, streams: u32) -> Plan {
    let mut plan = pipelined(plan, streams);
    plan.http2 = Some(Http2 { streams });
    plan
}

#[test]
fn http1_with_a_length_and_in_chunks() {
    let sent = Sent::default();
    for framing in [Framing::Length, Framing::Chunked, Framing::Mixed] {
        for depth in [1, 4] {
            let plan = asking(pipelined(plan(24, 2), depth), framing == Framing::Mixed);
            for pieces in PIECES {
                let server = Server::Http1(Http1Server::new(framing, &sent));
                let peer = Simulated::plain(server, pieces);
                run(&plan, &peer, &sent, &format!("{framing:?}, {depth} deep, {pieces:?}"));
            }
        }
    }
}

/// The first responses of a connection, sent as one: within them every place is split once.
fn split_everywhere(framing: Framing, bytes: u32) {
    let sent = Sent::default();
    let plan = asking(pipelined(plan(4, 1), 4), framing == Framing::Mixed);
    for at in 1..bytes {
        let pieces = Pieces::SplitAt(at);
        let server = Server::Http1(Http1Server::new(framing, &sent));
        let peer = Simulated::plain(server, pieces);
        run(&plan, &peer, &sent, &format!("{framing:?} {pieces:?}"));
    }
}

#[test]
fn chunked_bodies_split_everywhere() {
    split_everywhere(Framing::Chunked, 700);
}

#[test]
fn bodies_of_every_framing_split_everywhere() {
    split_everywhere(Framing::Mixed, 640);
}

#[test]
fn http1_to_the_end_of_the_connection() {
    let sent = Sent::default();
    for plan in [plan(24, 2), closing_each(plan(24, 2)), clock_before(plan(24, 2))] {
        for pieces in PIECES {
            let server = Server::Http1(Http1Server::new(Framing::ToEnd, &sent));
            let peer = Simulated::plain(server, pieces);
            run(&plan, &peer, &sent, &format!("{pieces:?}"));
        }
    }
}

#[test]
fn http2_with_streams_interleaved_and_padded() {
    let sent = Sent::default();
    for streams in [1, 2, 7] {
        let plan = with_http2(plan(30, 2), streams);
        for pieces in PIECES {
            let peer = Simulated::plain(Server::Http2(Http2Server::new(&sent)), pieces);
            run(&plan, &peer, &sent, &format!("{streams} streams, {pieces:?}"));
        }
    }
}

/// A server's TLS, with records of at most this many bytes.
fn config(issued: &Issued, record_bytes: Option<usize>, protocols: &[&[u8]]) -> ServerConfig {
    let mut config =
        ServerConfig::builder_with_provider(std::sync::Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![issued.certificate.clone()], issued.key.clone_key())
            .unwrap();
    config.max_fragment_size = record_bytes;
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    config
}

#[test]
fn both_protocols_in_tls() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    let sent = Sent::default();
    let in_tls = |mut plan: Plan, protocols: &[&str]| {
        let protocols = protocols.iter().map(|&name| name.to_owned()).collect();
        plan.tls = Some(Tls { protocols, ..authority.trusted("there") });
        plan
    };
    for record_bytes in [None, Some(33), Some(1_000)] {
        for pieces in [Pieces::Whole, Pieces::Of(11), Pieces::Of(5_000), Pieces::Of(65_537)] {
            let what = format!("records of {record_bytes:?}, {pieces:?}");
            for framing in [Framing::Mixed, Framing::ToEnd] {
                let depth = if framing == Framing::ToEnd { 1 } else { 3 };
                let plan = in_tls(asking(pipelined(plan(24, 2), depth), false), &[]);
                let server = Server::Http1(Http1Server::new(framing, &sent));
                let peer = Simulated::in_tls(server, pieces, config(&issued, record_bytes, &[]));
                run(&plan, &peer, &sent, &format!("{framing:?}, {what}"));
            }
            let plan = in_tls(with_http2(plan(40, 2), 5), &["h2"]);
            let config = config(&issued, record_bytes, &[b"h2"]);
            let server = Server::Http2(Http2Server::new(&sent));
            let peer = Simulated::in_tls(server, pieces, config);
            run(&plan, &peer, &sent, &format!("HTTP/2, {what}"));
        }
    }
}
