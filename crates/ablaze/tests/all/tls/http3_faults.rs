//! Findings about datagrams, each forced by a real fault over loopback, and silent without it: loss on the path, receive buffers
//! that are too small on either side, a path that carries one datagram at a time, and a kernel that does more for UDP.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ablaze_target::conditions::SocketOptions;
use ablaze_target::options::Http3Options;
use ablaze_target::{Options, Running, Server};
use ablaze_testing::{Bounded, Scratch};
use serde_json::Value;

use crate::tls::nginx::ablaze;

fn options() -> Options {
    Options {
        http2: true,
        http3: Some(Http3Options::default()),
        ..ablaze_tamper::tls_client::options()
    }
}

fn url(server: &Running, path: &str) -> String {
    format!("https://{}{path}", server.address())
}

/// What QUIC was in a run without a failure, and the numbers of its findings.
fn ran(words: &[&str]) -> (Value, Vec<String>) {
    let ran = ablaze(&[&["-k", "--http", "3", "-t", "1", "--json"], words].concat());
    let json = ran.json();
    assert_eq!((ran.status, &json["failed"]["total"]), (0, &0.into()), "{ran:?}");
    let findings = json["verdict"]["findings"].as_array().unwrap();
    let ids = findings.iter().map(|finding| finding["id"].as_str().unwrap().to_owned());
    (json["http3"]["quic"].clone(), ids.collect())
}

fn has(ids: &[String], id: &str) -> bool {
    ids.iter().any(|found| found == id)
}

#[test]
fn loss_on_the_path_is_found() {
    let words = ["-n", "4000", "-c", "4", "--streams", "4"];
    for (loss, lossy) in [(0.03, true), (0.0, false)] {
        let http3 = Some(Http3Options { loss, ..Http3Options::default() });
        let server = Server::start(Options { http3, ..options() }).unwrap();
        let (quic, ids) = ran(&[&words[..], &[&url(&server, "/")]].concat());
        assert_eq!(has(&ids, "D51"), lossy, "{ids:?} {quic}");
        // Neither side's kernel dropped anything, and neither is blamed.
        assert!(!has(&ids, "D48") && !has(&ids, "D49"), "{ids:?} {quic}");
        let (lost, sent) = (&quic["packets_lost"], quic["packets_sent"].as_f64().unwrap());
        let share = lost.as_f64().unwrap() / sent;
        assert!(!lossy || (0.01..0.10).contains(&share), "{share}");
    }
}

/// 16 streams on each of 8 connections, whose windows together are far more than a socket's buffer holds.
#[test]
fn a_receive_buffer_of_the_client_that_overflows_is_found() {
    let server = Server::start(Options { threads: 2, ..options() }).unwrap();
    let url = url(&server, "/bytes/3000000");
    let (quic, ids) = ran(&["-c", "8", "--streams", "16", "-d", "3s", &url]);
    assert!(has(&ids, "D48"), "{ids:?} {quic}");
    assert!(quic["dropped_here"].as_u64() > Some(0), "{quic}");
    // One response at a time, within the window of what the buffer holds.
    let words = ["-c", "1", "-n", "50", "--quic-stream-window", "64KiB", "--quic-window", "64KiB"];
    let (quic, ids) = ran(&[&words[..], &[&url]].concat());
    assert!(!has(&ids, "D48"), "{ids:?} {quic}");
}

#[test]
fn a_receive_buffer_of_the_server_that_overflows_is_found() {
    let folder = Scratch::new("http3-body");
    let body = format!("@{}", folder.write("body", vec![b'x'; 100_000]));
    for (receive_buffer_bytes, full) in [(Some(4_096), true), (None, false)] {
        let sockets = SocketOptions { receive_buffer_bytes, ..SocketOptions::default() };
        let server = Server::start(Options { sockets, ..options() }).unwrap();
        // Without the fault, no more is on its way than the buffer holds.
        let load = if full { ["-n", "400", "-c", "4"] } else { ["-n", "20", "-c", "1"] };
        let (quic, ids) = ran(&[&load[..], &["-b", &body, &url(&server, "/")]].concat());
        assert_eq!(has(&ids, "D49"), full, "{ids:?} {quic}");
        assert!(!full || has(&ids, "D51"), "what was dropped is lost: {ids:?} {quic}");
    }
}

/// Hands on every datagram by itself, as a network does whose devices know no lists of them: for one client.
struct Relay {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl Relay {
    fn start(server: SocketAddr) -> Self {
        let here = UdpSocket::bind("127.0.0.1:0").unwrap();
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        there.connect(server).unwrap();
        for socket in [&here, &there] {
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        }
        let address = here.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let client = Arc::new(Mutex::new(None));
        let (answers, asks) = (there.try_clone().unwrap(), here.try_clone().unwrap());
        let (of_client, is_stopped) = (client.clone(), stopped.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 65_535];
            while !is_stopped.load(Relaxed) {
                let Ok((bytes, from)) = asks.recv_from(&mut buffer) else { continue };
                *of_client.lock().unwrap() = Some(from);
                let _ = there.send(&buffer[..bytes]);
            }
        });
        let is_stopped = stopped.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 65_535];
            while !is_stopped.load(Relaxed) {
                let Ok(bytes) = answers.recv(&mut buffer) else { continue };
                let Some(to) = *client.lock().unwrap() else { continue };
                let _ = here.send_to(&buffer[..bytes], to);
            }
        });
        Self { address, stopped }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopped.store(true, Relaxed);
    }
}

#[test]
fn datagrams_that_come_one_at_a_time_are_found() {
    let server = Server::start(options()).unwrap();
    let relay = Relay::start(server.address());
    for (address, alone) in [(relay.address, true), (server.address(), false)] {
        let url = format!("https://{address}/bytes/20000");
        let (quic, ids) = ran(&["-n", "1000", "-c", "1", "--quic-datagram", "1452", &url]);
        assert_eq!(has(&ids, "D50"), alone, "{ids:?} {quic}");
        let per_call = quic["received"]["per_call"].as_f64().unwrap();
        assert_eq!(per_call < 1.2, alone, "{per_call}");
    }
}

/// A filter that looks at every packet of UDP for as long as 4,000 rules take, and at none of TCP: in a network of the test's
/// own, which ends with it.
#[test]
fn kernels_that_do_more_for_udp_are_found_beside_tcp() {
    for program in ["unshare", "iptables-restore"] {
        if ablaze_testing::skip::installed(program).is_none() {
            return;
        }
    }
    if !rustix::process::geteuid().is_root() {
        return ablaze_testing::skip::skip("a network namespace with rules needs root here");
    }
    let scratch = Scratch::new("d56");
    let with_rules = |count: usize| {
        let rules = "-A UDPS -s 10.99.0.9 -p udp -j DROP\n".repeat(count);
        let rules = format!("*filter\n:UDPS - [0:0]\n-A OUTPUT -p udp -j UDPS\n{rules}COMMIT\n");
        std::fs::write(scratch.path().join("rules"), rules).unwrap();
        let mut namespace = Command::new("unshare");
        namespace.args(["-n", "sh", "-c", BESIDE_TCP]).current_dir(scratch.path());
        let ran = namespace.env("ABLAZE", env!("CARGO_BIN_EXE_ablaze")).ran();
        let json: Value = ran.json();
        json["comparisons"][0]["findings"].as_array().unwrap().clone()
    };
    let of_kernel = |found: &[Value]| found.iter().find(|finding| finding["id"] == "D56").cloned();
    let found = with_rules(4_000);
    let d56 = of_kernel(&found).unwrap_or_else(|| panic!("no D56: {found:#?}"));
    assert_eq!(d56["severity"], "note", "{d56}");
    assert!(d56["evidence"].as_str().unwrap().contains("spent in the kernel (client "), "{d56}");
}

/// The same server over HTTP/2 and HTTP/3, and what is found in both runs.
const BESIDE_TCP: &str = r#"
ip link set lo up && iptables-restore < rules || exit 9
"$ABLAZE" serve --model epoll-et --threads 1 --tls --http 3 127.0.0.1:9443 > served 2>&1 & server=$!
trap 'kill $server' EXIT
while ! grep -q 9443 served; do sleep 0.05; done
for version in 2 3; do
    "$ABLAZE" load -k --http $version -t 1 -c 4 -d 1500ms -o $version.json https://127.0.0.1:9443/hello > /dev/null || exit 8
done
"$ABLAZE" explain --json 2.json 3.json
"#;
