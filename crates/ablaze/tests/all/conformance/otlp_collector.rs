//! `--otlp` against the collector itself, which says what it understood: `tests/peers/otel_collector`, built by `go build`
//! there, where `ABLAZE_OTEL_COLLECTOR` names it.

use std::path::PathBuf;
use std::process::Command;

use ablaze_testing::skip::skip;
use ablaze_testing::{Scratch, ports};

use super::server::Process;
use crate::e2e::support::{measured, number, serve, url};

/// The collector, listening on this port; its file `output` has each message in words.
fn collector(scratch: &Scratch, port: u16) -> Option<Process> {
    let program = std::env::var_os("ABLAZE_OTEL_COLLECTOR").filter(|path| !path.is_empty());
    let Some(program) = program.map(PathBuf::from) else {
        skip("the collector of OpenTelemetry is not here: ABLAZE_OTEL_COLLECTOR would name it");
        return None;
    };
    let config = format!(
        "receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:{port}'}}}}}}}}\n\
         exporters: {{debug: {{verbosity: detailed}}}}\n\
         service:\n\
         \x20 telemetry: {{metrics: {{level: none}}}}\n\
         \x20 pipelines: {{metrics: {{receivers: [otlp], exporters: [debug]}}}}\n"
    );
    scratch.write("config.yaml", &config);
    let mut command = Command::new(program);
    command.args(["--config", &scratch.file("config.yaml")]);
    Some(Process::start(command, scratch, &[port]))
}

/// What the collector says of the metric of this name in the last message that has it.
fn last_of<'a>(output: &'a str, name: &str) -> Vec<&'a str> {
    let title = format!("     -> Name: {name}");
    let of_metric =
        output.rsplit_once(&format!("{title}\n")).unwrap_or_else(|| panic!("{output}")).1;
    of_metric.lines().take_while(|line| !line.starts_with("Metric #")).map(str::trim).collect()
}

/// The figure behind this word.
fn figure(lines: &[&str], word: &str) -> f64 {
    let mut figures = lines.iter().filter_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    figures.next().unwrap_or_else(|| panic!("{word}: {lines:?}"))
}

#[test]
fn the_collector_understands_every_metric_as_it_is_meant() {
    let (scratch, port) = (Scratch::new("otel"), ports::free());
    let Some(collector) = collector(&scratch, port) else { return };
    let server = serve();
    let option = format!("--otlp=http://127.0.0.1:{port}");
    let target = url(&server, "/");
    let (_, json) = measured(&[&target, "-d", "500ms", "-c", "2", "--interval", "200ms", &option]);
    drop(collector);
    let output = scratch.read("output");
    let responses = number(&json, "/responses") as f64;

    let requests = last_of(&output, "ablaze.requests");
    assert!(requests.contains(&"-> DataType: Sum"), "{requests:?}");
    assert!(requests.contains(&"-> IsMonotonic: true"), "{requests:?}");
    assert!(requests.contains(&"-> AggregationTemporality: Cumulative"), "{requests:?}");
    assert_eq!(figure(&requests, "Value:"), responses);

    let times = last_of(&output, "ablaze.request_duration");
    assert!(times.contains(&"-> DataType: ExponentialHistogram"), "{times:?}");
    assert!(times.contains(&"-> Unit: s"), "{times:?}");
    assert_eq!(figure(&times, "Count:"), responses);
    // Its buckets, between bounds that the collector works out, hold all of them and the median of the report.
    let median_s = number(&json, "/latency_ns/total/p50") as f64 / 1e9;
    let (mut below, mut at_most, mut all) = (0.0, 0.0, 0.0);
    for bucket in times.iter().filter(|line| line.starts_with("Bucket ")) {
        let (from, rest) = bucket.split_once('(').unwrap().1.split_once(", ").unwrap();
        let _: f64 = from.parse().unwrap();
        let (until, count) = rest.split_once("], Count: ").unwrap();
        let (until, count): (f64, f64) = (until.parse().unwrap(), count.parse().unwrap());
        all += count;
        below += if until < median_s / 1.1 { count } else { 0.0 };
        at_most += if until <= median_s * 1.1 { count } else { 0.0 };
    }
    assert_eq!(all, responses);
    assert!(below < responses / 2.0 && responses / 2.0 < at_most, "{below} {at_most} {responses}");
    assert!(output.contains("-> service.name: Str(ablaze)"), "{output}");
    assert!(output.contains(&format!("-> url.full: Str({target})")), "{output}");
}
