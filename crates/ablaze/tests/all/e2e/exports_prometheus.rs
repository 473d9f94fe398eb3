//! `--prometheus` before a real Prometheus: it scrapes a run, and what it answers to queries is the report.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use ablaze_testing::skip::installed_if_all;
use ablaze_testing::{Bounded, Running, Scratch};
use serde_json::Value;

use crate::e2e::support::{command, eventually, serve, start, url};

/// A port that was free a moment ago.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A Prometheus that scrapes this address five times a second; it is killed when this is dropped.
struct Prometheus {
    at: SocketAddr,
    /// When the last scrape was, s; once it has been asked for.
    last_scrape_s: f64,
    _running: Running,
    _folder: Scratch,
}

impl Prometheus {
    fn begun(program: &std::path::Path, target: SocketAddr, more: &[&str]) -> Self {
        let folder = Scratch::new("prometheus");
        let config = folder.file("prometheus.yml");
        let scrape = format!(
            "global: {{ scrape_interval: 200ms, scrape_timeout: 200ms }}\n\
             scrape_configs:\n- job_name: ablaze\n  static_configs: [{{ targets: [\"{target}\"] }}]\n"
        );
        fs::write(&config, scrape).unwrap();
        let at = free_port();
        let running = Command::new(program)
            .arg(format!("--config.file={config}"))
            .arg(format!("--storage.tsdb.path={}", folder.file("data")))
            .arg(format!("--web.listen-address={at}"))
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .start()
            .unwrap();
        let prometheus = Self { at, last_scrape_s: 0.0, _running: running, _folder: folder };
        assert!(eventually(|| prometheus.get("/-/ready").is_some_and(|said| said.0 == "200")));
        // It begins to scrape some seconds later.
        assert!(eventually(|| prometheus.query("up", "").is_some()));
        prometheus
    }

    /// Status and body.
    fn get(&self, path: &str) -> Option<(String, String)> {
        let mut stream = TcpStream::connect(self.at).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        // HTTP/1.0, so that the body has no chunks.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.at).ok()?;
        let mut response = String::new();
        stream.read_to_string(&mut response).ok()?;
        let (head, body) = response.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()))
    }

    /// What a query gives: of one series, or none.
    fn query(&self, query: &str, more: &str) -> Option<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let (status, body) = self.get(&format!("/api/v1/query?query={encoded}{more}")).unwrap();
        assert_eq!(status, "200", "{query}: {body}");
        let mut answer: Value = serde_json::from_str(&body).unwrap();
        let result = answer["data"]["result"].as_array_mut().unwrap();
        assert!(result.len() <= 1, "{query}: {body}");
        result.pop()
    }

    /// The one value of a query at the time of the last scrape: later the target is known to be gone.
    fn value(&self, query: &str) -> f64 {
        let answer = self.query(query, &format!("&time={}", self.last_scrape_s));
        let answer = answer.unwrap_or_else(|| panic!("{query}: nothing"));
        answer["value"][1].as_str().unwrap().parse().unwrap()
    }

    /// The time of the scrape that saw the end of the run, s.
    fn end_s(&self) -> Option<f64> {
        let scrapes = self.query("ablaze_run_over[1m]", "")?;
        let (time, value) =
            scrapes["values"].as_array()?.last().map(|last| (&last[0], &last[1]))?;
        time.as_f64().filter(|_| value == "1")
    }
}

/// The report of a run that this Prometheus has scraped to its end.
fn scraped(program: &std::path::Path, more: &[&str]) -> (Prometheus, Value) {
    let server = serve();
    let at = free_port();
    let mut prometheus = Prometheus::begun(program, at, more);
    let option = format!("--prometheus={at}");
    let url = url(&server, "/delay/5ms");
    // It ends when the final figures have been fetched.
    let words = [&url[..], "-c", "4", "-d", "3s", "--json", &option, "--linger", "20s"];
    let ran = start(&mut command(&words)).end();
    assert_eq!(ran.status, 0, "{ran:?}");
    // What was fetched can be queried a moment later.
    let mut end_s = None;
    assert!(eventually(|| {
        end_s = prometheus.end_s();
        end_s.is_some()
    }));
    prometheus.last_scrape_s = end_s.unwrap();
    (prometheus, ran.json())
}

#[test]
fn prometheus_has_the_counters_and_the_quantiles_of_the_report() {
    let Some(program) = installed_if_all("prometheus") else { return };
    let (prometheus, json) = scraped(&program, &[]);
    let responses = json["responses"].as_f64().unwrap();
    assert!(responses > 100.0, "{json}");
    assert_eq!(prometheus.value("ablaze_requests_total"), responses);
    assert_eq!(prometheus.value("ablaze_responses_total{status=\"200\"}"), responses);
    let count = "ablaze_request_duration_seconds_count";
    assert_eq!(prometheus.value(count), responses);
    // It knows the bucket that the quantile is in, and no more.
    let buckets = "ablaze_request_duration_seconds_bucket";
    let p50_s = prometheus.value(&format!("histogram_quantile(0.5, {buckets})"));
    let own_s = p50_of(&json);
    let below = |time_s: f64| {
        let of = format!("ablaze_request_duration_seconds_bucket{{le=\"{time_s}\"}}");
        prometheus.value(&of) / responses
    };
    let bounds = prometheus.get("/api/v1/label/le/values").unwrap().1;
    let bounds: Value = serde_json::from_str(&bounds).unwrap();
    let bounds = bounds["data"].as_array().unwrap().iter();
    let mut bounds: Vec<f64> = bounds.filter_map(|le| le.as_str()?.parse().ok()).collect();
    bounds.retain(|bound| bound.is_finite());
    bounds.sort_by(f64::total_cmp);
    let at = bounds.partition_point(|bound| *bound < own_s);
    let (lower, upper) = (bounds[at - 1], bounds[at]);
    assert!((lower..=upper).contains(&p50_s), "{p50_s} s, in the report {own_s} s: {bounds:?}");
    assert!(below(lower) <= 0.5 && below(upper) >= 0.5, "{own_s} s: {lower} to {upper}");
}

#[test]
fn prometheus_reads_native_histograms() {
    let Some(program) = installed_if_all("prometheus") else { return };
    let (prometheus, json) = scraped(&program, &["--enable-feature=native-histograms"]);
    let responses = json["responses"].as_f64().unwrap();
    assert_eq!(prometheus.value("ablaze_requests_total"), responses);
    let times = "ablaze_request_duration_seconds";
    assert_eq!(prometheus.value(&format!("histogram_count({times})")), responses);
    let p50_s = prometheus.value(&format!("histogram_quantile(0.5, {times})"));
    // Buckets are 4.4 % wide.
    let off = p50_s / p50_of(&json) - 1.0;
    assert!(off.abs() < 0.045, "{p50_s} s is {:.1} % off", off * 100.0);
    let mean_s = prometheus.value(&format!("histogram_sum({times}) / histogram_count({times})"));
    assert!((0.005..0.1).contains(&mean_s), "{mean_s}");
}

/// The median of the report, s.
fn p50_of(json: &Value) -> f64 {
    json["latency_ns"]["total"]["p50"].as_f64().unwrap() / 1e9
}
