//! `--prometheus`: what a scraper gets while a run lasts, and scrapers that mean no good.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use ablaze_testing::{Bounded, Running, Scratch as Folder};

use crate::e2e::foreign;
use crate::e2e::support::{Scratch, command, eventually, serve, start, url};

/// A port that was free a moment ago.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A run of this length that serves metrics at this address.
fn begun(url: &str, at: SocketAddr, more: &[&str]) -> Running {
    let option = format!("--prometheus={at}");
    let running = start(&mut command(&[&[url, "-c", "2", "--json", &option], more].concat()));
    assert!(eventually(|| TcpStream::connect(at).is_ok()), "nobody listens at {at}");
    running
}

/// The response to a request, head and body.
fn asked(at: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

fn metrics(at: SocketAddr) -> String {
    asked(at, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
}

fn value(metrics: &str, sample: &str) -> Option<f64> {
    let line = metrics.lines().find(|line| line.starts_with(sample))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn the_last_scrape_has_the_figures_of_the_report() {
    let server = serve();
    let at = free_port();
    let running = begun(&url(&server, "/"), at, &["-d", "500ms", "--linger", "20s"]);
    let mut last = String::new();
    // The scrape that sees the end lets the program end.
    assert!(eventually(|| {
        last = metrics(at);
        value(&last, "ablaze_run_over{") == Some(1.0)
    }));
    let ran = running.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    let responses = ran.json()["responses"].as_f64();
    assert_eq!(value(&last, "ablaze_requests_total{"), responses, "{last}");
    assert_eq!(value(&last, "ablaze_request_duration_seconds_count{"), responses, "{last}");
}

#[test]
fn hostile_scrapers_get_little_and_the_run_goes_on() {
    let server = serve();
    let at = free_port();
    let url = url(&server, "/");
    let running = begun(&url, at, &["-d", "2s", "--linger", "20s"]);
    assert!(metrics(at).starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(asked(at, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(asked(at, "DELETE /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    assert!(!asked(at, "HEAD /metrics HTTP/1.1\r\n\r\n").contains("ablaze_requests"));
    // A head without end is cut off: the connection ends, or is reset.
    let mut endless = TcpStream::connect(at).unwrap();
    while endless.write_all(&[b'x'; 4096]).is_ok() {}
    // Many that say nothing: they take the places there are, and lose them again.
    let silent: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(at).unwrap()).collect();
    drop(silent);
    assert!(eventually(|| {
        let Ok(mut stream) = TcpStream::connect(at) else { return false };
        let mut response = String::new();
        let sent = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        sent.is_ok()
            && stream.read_to_string(&mut response).is_ok()
            && value(&response, "ablaze_run_over{") == Some(1.0)
    }));
    let ran = running.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["errors"]["total"].as_u64().unwrap_or(0), 0, "{ran:?}");
}

#[test]
fn the_address_is_checked_before_the_run() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("--prometheus={}", taken.local_addr().unwrap());
    let server = serve();
    let ran = command(&[&url(&server, "/"), "-n", "1", &option]).ran();
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("--prometheus cannot listen on"), "{ran:?}");
}

/// Every name that the dashboard's queries have is one that is exported.
#[test]
fn the_dashboard_queries_metrics_that_exist() {
    let dashboard = ablaze_testing::repository::file("docs/grafana.json");
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            queries.push(target["expr"].as_str().unwrap());
        }
    }
    assert!(queries.len() > 5);
    let known = ablaze_report::metrics::names();
    for query in queries {
        let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names: Vec<&str> = words.filter(|word| word.starts_with("ablaze_")).collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(known.iter().any(|own| own == name), "{name} in {query}");
        }
    }
}

/// Prometheus' own linter reads the text and finds nothing to complain of.
#[test]
fn promtool_accepts_the_metrics() {
    let Some(promtool) = ablaze_testing::skip::installed_if_all("promtool") else { return };
    let server = serve();
    let at = free_port();
    let running = begun(&url(&server, "/"), at, &["-d", "800ms", "--linger", "20s"]);
    let mut response = String::new();
    assert!(eventually(|| {
        response = metrics(at);
        value(&response, "ablaze_run_over{") == Some(1.0)
    }));
    running.end();
    let file = Scratch::new("metrics.txt");
    std::fs::write(file.word(), response.split_once("\r\n\r\n").unwrap().1).unwrap();
    let mut linter = Command::new(promtool);
    let text = std::fs::File::open(file.word()).unwrap();
    linter.args(["check", "metrics"]).stdin(text).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = linter.start().unwrap().end();
    assert_eq!((ran.status, ran.stderr.trim()), (0, ""), "{ran:?}");
}

#[test]
fn names_of_others_in_metrics_do_not_command_a_terminal() {
    let folder = Folder::new("metrics-foreign");
    let (_server, target) = foreign::served_as(&folder, "\u{202e}x");
    let list = foreign::list(&folder);
    let at = free_port();
    let more = ["--urls", &list, "-d", "60s", "--expect", "100-599"];
    let _running = begun(&target, at, &more);
    let mut last = String::new();
    assert!(eventually(|| {
        last = metrics(at);
        last.contains("step=\"")
    }));
    foreign::assert_fit(&["metrics"], &last);
    assert!(last.contains("a\\\\u{202e}"), "{last}");
}
