//! Results and reports beside what vegeta 12.13 itself printed of the same file.

use super::*;

/// Written by vegeta: five results of an attack on two URLs.
const RESULTS: &str = r#"{"attack":"","seq":0,"code":200,"timestamp":"2026-11-23T16:16:16.5Z","latency":2274833,"bytes_out":0,"bytes_in":5,"error":"","body":null,"method":"GET","url":"http://h/a","headers":{"Content-Length":["5"]}}
{"attack":"","seq":1,"code":404,"timestamp":"2026-11-23T16:16:16.55Z","latency":1104036,"bytes_out":3,"bytes_in":5,"error":"404 Not Found","body":null,"method":"POST","url":"http://h/nope","headers":null}
{"attack":"","seq":2,"code":200,"timestamp":"2026-11-23T16:16:16.600000001Z","latency":938555,"bytes_out":0,"bytes_in":5,"error":"","body":"aGVsbG8=","method":"GET","url":"http://h/a","headers":null}
{"attack":"","seq":3,"code":404,"timestamp":"2026-11-23T17:16:16.65+01:00","latency":1689434,"bytes_out":3,"bytes_in":5,"error":"404 Not Found","body":null,"method":"POST","url":"http://h/nope","headers":null}
{"attack":"","seq":4,"code":0,"timestamp":"2026-11-23T16:16:16.7Z","latency":857709,"bytes_out":0,"bytes_in":0,"error":"Get \"http://h/a\": EOF","body":null,"method":"GET","url":"http://h/a","headers":null}
"#;

const CSV: &str = "1795450576564350195,404,1104036,3,0,404 Not Found,,,1,POST,http://127.0.0.1/nope,Q29\n\
                   1795450576664350195,0,1104036,3,0,\"Get \"\"http://h/\"\": dial, refused\",,,2,GET,http://h/,\n";

fn metrics() -> Metrics {
    Metrics::of(&read(RESULTS.as_bytes()).unwrap())
}

#[test]
fn the_text_is_vegetas() {
    let expected = "\
Requests      [total, rate, throughput]         5, 25.00, 9.96
Duration      [total, attack, wait]             200.858ms, 200ms, 857.709µs
Latencies     [min, mean, 50, 90, 95, 99, max]  857.709µs, 1.373ms, 1.104ms, 2.275ms, 2.275ms, 2.275ms, 2.275ms
Bytes In      [total, mean]                     20, 4.00
Bytes Out     [total, mean]                     6, 1.20
Success       [ratio]                           40.00%
Status Codes  [code:count]                      0:1  200:2  404:2  
Error Set:
404 Not Found
Get \"http://h/a\": EOF
";
    assert_eq!(text(&metrics()), expected);
}

#[test]
fn the_histogram_and_the_plot_are_vegetas() {
    let buckets = Buckets::read("[0,1ms,2ms,10ms]").unwrap();
    let expected = "\
Bucket         #  %       Histogram
[0s,    1ms]   2  40.00%  ##############################
[1ms,   2ms]   2  40.00%  ##############################
[2ms,   10ms]  1  20.00%  ###############
[10ms,  +Inf]  0  0.00%   
";
    assert_eq!(histogram(&metrics(), &buckets), expected);
    assert_eq!(Buckets::read("[5ms]").unwrap().edges_ns, [0, 5_000_000]);
    for wrong in ["", "[", "[x]", "[2ms,1ms]", "0,1ms"] {
        assert_eq!(Buckets::read(wrong), None, "{wrong}");
    }
    let plot = hdrplot(&metrics());
    let lines: Vec<&str> = plot.lines().collect();
    assert_eq!(lines[0], "Value(ms)  Percentile  TotalCount  1/(1-Percentile)");
    assert_eq!(lines[1], "0.857709   0.000000    0           1.000000");
    assert_eq!(lines[6], "1.104036   0.500000    3           2.000000");
}

#[test]
fn the_json_has_vegetas_keys() {
    let buckets = Buckets::read("[0,1ms]").unwrap();
    let text = json(&metrics(), Some(&buckets));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["latencies"]["mean"], 1_372_913);
    assert_eq!(document["latencies"]["50th"], 1_104_036);
    assert_eq!((&document["duration"], &document["wait"]), (&200_000_000.into(), &857_709.into()));
    assert_eq!(document["earliest"], "2026-11-23T16:16:16.500000000Z");
    assert_eq!(document["status_codes"], serde_json::json!({"0": 1, "200": 2, "404": 2}));
    assert_eq!(document["buckets"], serde_json::json!({"0": 2, "1000000": 3}));
    assert_eq!(document["rate"], 25.0);
}

#[test]
fn csv_is_read_and_what_is_neither_is_named() {
    let hits = read(CSV.as_bytes()).unwrap();
    assert_eq!((hits[0].code, hits[0].latency_ns), (404, 1_104_036));
    assert_eq!(hits[1].error, "Get \"http://h/\": dial, refused");
    assert_eq!(hits[0].began_unix_ns, 1_795_450_576_564_350_195);
    assert_eq!(read(b"\x1f\xff\x81\x03\x01").unwrap_err(), ReadError::Unknown);
    assert_eq!(read(b"fingers\n").unwrap_err(), ReadError::Unknown);
    assert_eq!(read(b"").unwrap(), []);
    let broken = format!("{RESULTS}{{}}\n");
    assert_eq!(read(broken.as_bytes()).unwrap_err(), ReadError::Line(6));
}

#[test]
fn the_requests_of_a_run_are_results() {
    let mut run = crate::ab::sample::run();
    run.record.every_request[9].failure = Some(ablaze_model::FailureKind::Reset);
    run.record.every_request[9].status = 0;
    run.record.every_request[8].status = 404;
    let target = Target { method: "GET".into(), url: "http://h/".into(), body_bytes: 0 };
    let text = results(&run, "name", &[target]);
    let hits = read(text.as_bytes()).unwrap();
    assert_eq!(hits.len(), 10);
    assert_eq!((hits[0].code, hits[0].error.as_str()), (0, "GET \"http://h/\": reset"));
    assert_eq!((hits[1].code, hits[1].error.as_str()), (404, "404"));
    assert_eq!(hits[0].began_unix_ns, 1_781_524_800_000_000_000);
    assert!(hits.is_sorted_by_key(|hit| hit.began_unix_ns));
    assert!(text.starts_with("{\"attack\":\"name\",\"seq\":0,\"code\":0,\"timestamp\":\"2026-06-15T12:00:00.000000000Z\","), "{text}");
}

#[test]
fn nothing_is_zero() {
    let metrics = Metrics::of(&[]);
    assert!(
        text(&metrics)
            .starts_with("Requests      [total, rate, throughput]         0, 0.00, 0.00\n")
    );
    assert!(json(&metrics, None).contains("\"requests\":0"));
}
