//! The JSON that oha, bombardier and vegeta print in place of a report. Its figures have all their digits.

use serde_json::{Map, Value};

use super::bombardier::DEVIATION;
use super::hey::{CUT_OFF, ERRORS_LISTED};
use super::vegeta;
use crate::printed::{Connections, Printed, Report, Times, Tool};

/// A report, and the lines that it takes: the first and the last, from 1.
pub type Found = (usize, usize, Report);

/// So many places where an object begins are tried.
const OBJECTS_MOST: usize = 256;
/// Figures are off by their last binary digits, and tools compute some from rounded ones.
const STEP: f64 = 1e-6;

/// Every such report in a text: an object that begins a line.
pub fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let (mut at, mut number, mut tried) = (0, 0, 0);
    let mut until = 0;
    for line in text.split_inclusive('\n') {
        number += 1;
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        if start < until || !line.trim_start().starts_with('{') || tried == OBJECTS_MOST {
            continue;
        }
        tried += 1;
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let Some(Ok(Value::Object(object))) = objects.next() else { continue };
        until = start + objects.byte_offset();
        if let Some(report) = report(&object, number) {
            let last = number + text[start..until].matches('\n').count();
            found.push((number, last, report));
        }
    }
    found
}

fn report(object: &Map<String, Value>, line: usize) -> Option<Report> {
    let has = |names: &[&str]| names.iter().all(|name| object.contains_key(*name));
    if has(&["summary", "latencyPercentiles", "statusCodeDistribution"]) {
        oha(object, line)
    } else if has(&["spec", "result"]) && object["result"].get("req2xx").is_some() {
        bombardier(object, line)
    } else if has(&["latencies", "status_codes", "bytes_in"]) {
        of_vegeta(object, line)
    } else {
        None
    }
}

fn figure(value: Option<&Value>, by: f64) -> Option<Printed> {
    let value = value?.as_f64()? * by;
    (value >= 0.0).then(|| Printed { value, step: (value * STEP).max(1e-12) })
}

fn count(value: Option<&Value>) -> Option<u64> {
    value?.as_u64()
}

fn exactly(value: Option<u64>) -> Option<Printed> {
    value.map(|value| Printed { value: value as f64, step: 1.0 })
}

/// Without a response all times are 0, or null.
fn some_time(times: Times) -> Option<Times> {
    times.max_ms.is_some_and(|ms| ms.value > 0.0).then_some(times)
}

/// `{"p50": …}`, `{"50": …}`, `{"50th": …}`, ascending.
fn percentiles(report: &mut Report, object: Option<&Value>, by: f64) {
    for (name, value) in object.and_then(Value::as_object).into_iter().flatten() {
        let number = name.trim_start_matches('p').trim_end_matches("th").parse::<f64>();
        if let (Ok(percent), Some(ms)) = (number, figure(Some(value), by)) {
            report.percentiles.push((percent, ms));
        }
    }
    report.percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
}

fn statuses(report: &mut Report, object: Option<&Value>) {
    for (status, value) in object.and_then(Value::as_object).into_iter().flatten() {
        match (status.parse::<u16>(), count(Some(value))) {
            // vegeta's for requests without a response.
            (Ok(0), Some(failed)) => report.failed = Some(failed),
            (Ok(status), Some(responses)) => {
                report.statuses.insert(status, responses);
            }
            _ => {}
        }
    }
}

fn own(report: &mut Report, name: &'static str, figure: Option<Printed>) {
    report.own.extend(figure.map(|figure| (name, figure)));
}

/// oha's times are in s.
fn oha(object: &Map<String, Value>, line: usize) -> Option<Report> {
    let summary = object.get("summary")?.as_object()?;
    let mut report = Report::empty(Tool::Oha, line);
    report.taken_s = figure(summary.get("total"), 1.0);
    report.rate_per_s = figure(summary.get("requestsPerSec"), 1.0);
    report.total = some_time(Times {
        min_ms: figure(summary.get("fastest"), 1e3),
        mean_ms: figure(summary.get("average"), 1e3),
        max_ms: figure(summary.get("slowest"), 1e3),
        ..Times::default()
    });
    report.body_bytes = summary.get("totalData").and_then(Value::as_i64);
    own(&mut report, "the total data", exactly(count(summary.get("totalData"))));
    own(&mut report, "the size per second", figure(summary.get("sizePerSec"), 1.0));
    let success = figure(summary.get("successRate"), 100.0);
    // It leaves out those that were cut off at the end, of which its text says as much.
    let success = success.map(|success| Printed { step: 0.01, ..success });
    own(&mut report, "the success rate", success);
    statuses(&mut report, object.get("statusCodeDistribution"));
    let errors = object.get("errorDistribution").and_then(Value::as_object);
    own(&mut report, ERRORS_LISTED, exactly(errors.map(|errors| errors.len() as u64)));
    let of = |cut_off: bool| {
        let some = errors.into_iter().flatten().filter(|(name, _)| (*name == CUT_OFF) == cut_off);
        some.filter_map(|(_, value)| count(Some(value))).fold(0, u64::saturating_add)
    };
    let responses = report.statuses.values().copied().fold(0, u64::saturating_add);
    for (words, value) in errors.into_iter().flatten().filter(|(name, _)| *name != CUT_OFF) {
        super::error(&mut report.errors, words, count(Some(value)));
    }
    report.failed = Some(of(false));
    report.complete = Some(responses.saturating_add(of(false)).saturating_add(of(true)));
    percentiles(&mut report, object.get("latencyPercentiles"), 1e3);
    report.percentiles.retain(|_| report.total.is_some());
    let connect = object.get("details").and_then(|details| details.get("DNSDialup"));
    let connect = connect.map(|row| Times {
        min_ms: figure(row.get("fastest"), 1e3),
        mean_ms: figure(row.get("average"), 1e3),
        max_ms: figure(row.get("slowest"), 1e3),
        ..Times::default()
    });
    report.connect = connect.and_then(some_time);
    Some(report)
}

/// bombardier's are in µs.
fn bombardier(object: &Map<String, Value>, line: usize) -> Option<Report> {
    let (spec, result) = (object.get("spec")?, object.get("result")?);
    let mut report = Report::empty(Tool::Bombardier, line);
    if let Some(url) = spec.get("url").and_then(Value::as_str) {
        crate::printed::native::url(&mut report, url);
    }
    report.concurrency = count(spec.get("numberOfConnections"));
    report.connections = Connections::Unknown;
    report.http2 = spec.get("client").and_then(Value::as_str).is_some_and(|c| c.contains("http2"));
    report.asked_s = figure(spec.get("testDurationSeconds"), 1.0);
    let asked = count(spec.get("numberOfRequests"));
    own(&mut report, "the number asked for", exactly(asked).map(|n| Printed { step: 0.0, ..n }));
    report.taken_s = figure(result.get("timeTakenSeconds"), 1.0);
    let classes = ["req1xx", "req2xx", "req3xx", "req4xx", "req5xx"];
    let classes = classes.map(|class| count(result.get(class)).unwrap_or(0));
    report.classes = super::classes(1, &classes.map(Some));
    let all = classes.iter().copied().fold(0, u64::saturating_add);
    report.complete = Some(all);
    report.non_2xx = Some(all.saturating_sub(classes[1]));
    report.failed = count(result.get("others"));
    for error in result.get("errors").and_then(Value::as_array).into_iter().flatten() {
        if let Some(words) = error.get("description").and_then(Value::as_str) {
            super::error(&mut report.errors, words, count(error.get("count")));
        }
    }
    let of_parts = |name: &str| figure(result.get("rps").and_then(|rps| rps.get(name)), 1.0);
    report.rate_per_s = of_parts("mean");
    own(&mut report, DEVIATION, of_parts("stddev"));
    own(&mut report, "the maximum of Reqs/sec", of_parts("max"));
    let latency = result.get("latency");
    let of = |name: &str| figure(latency.and_then(|latency| latency.get(name)), 1e-3);
    report.total = some_time(Times {
        mean_ms: of("mean"),
        deviation_ms: of("stddev"),
        max_ms: of("max"),
        ..Times::default()
    });
    percentiles(&mut report, latency.and_then(|latency| latency.get("percentiles")), 1e-3);
    Some(report)
}

/// vegeta's are in ns.
fn of_vegeta(object: &Map<String, Value>, line: usize) -> Option<Report> {
    let latencies = object.get("latencies")?;
    let mut report = Report::empty(Tool::Vegeta, line);
    report.open_loop = true;
    report.complete = count(object.get("requests"));
    own(&mut report, "the rate of the attack", figure(object.get("rate"), 1.0));
    let throughput = figure(object.get("throughput"), 1.0);
    own(&mut report, "the rate of the good responses", throughput);
    report.rate_per_s = throughput.or_else(|| figure(object.get("rate"), 1.0));
    let [attack, wait] = ["duration", "wait"].map(|name| figure(object.get(name), 1e-9));
    own(&mut report, "the length of the attack", attack);
    own(&mut report, "the wait at its end", wait);
    report.taken_s = attack.zip(wait).map(|(attack, wait)| Printed {
        value: attack.value + wait.value,
        step: attack.step.max(wait.step),
    });
    report.total = some_time(Times {
        min_ms: figure(latencies.get("min"), 1e-6),
        mean_ms: figure(latencies.get("mean"), 1e-6),
        max_ms: figure(latencies.get("max"), 1e-6),
        ..Times::default()
    });
    percentiles(&mut report, Some(latencies), 1e-6);
    own(&mut report, vegeta::SUM, figure(latencies.get("total"), 1e-6));
    let of = |name: &str, part: &str| object.get(name).and_then(|bytes| bytes.get(part));
    report.body_bytes = of("bytes_in", "total").and_then(Value::as_i64);
    own(&mut report, "the mean of bytes in", figure(of("bytes_in", "mean"), 1.0));
    own(&mut report, "the total of bytes out", exactly(count(of("bytes_out", "total"))));
    own(&mut report, "the mean of bytes out", figure(of("bytes_out", "mean"), 1.0));
    own(&mut report, "the success ratio", figure(object.get("success"), 100.0));
    statuses(&mut report, object.get("status_codes"));
    report.failed = report.failed.or(Some(0));
    let errors = object.get("errors").and_then(Value::as_array).into_iter().flatten();
    vegeta::errors(&mut report, errors.filter_map(Value::as_str));
    Some(report)
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D43;
    use crate::printed::{Tool, read};
    use crate::rules::judge;

    const REAL: &str = include_str!("../../../tests/printed/real-json.txt");

    #[test]
    fn each_tool_s_json_is_read_as_its_report() {
        let reports = judge(&read(REAL)).reports;
        for judged in &reports {
            let found = judged.findings.iter().find(|finding| finding.id == D43);
            assert_eq!(found, None, "{:?}", judged.subject);
            assert!(judged.subject.command.is_some() && judged.subject.rate().is_some());
        }
        let of = |tool: Tool| {
            let of_tool = reports.iter().filter(move |judged| judged.subject.tool == tool);
            of_tool.map(|judged| &judged.subject).collect::<Vec<_>>()
        };
        let (oha, bombardier, vegeta) = (of(Tool::Oha), of(Tool::Bombardier), of(Tool::Vegeta));
        assert_eq!((oha.len(), bombardier.len(), vegeta.len()), (6, 6, 6));
        for report in [oha[0], bombardier[0]] {
            assert_eq!((report.complete, report.failed), (Some(2000), Some(0)));
            let mean_ms = report.mean_ms().unwrap().value;
            let in_flight = mean_ms / 1e3 * 2000.0 / report.taken_s.unwrap().value;
            assert!((5.0..=10.0).contains(&in_flight), "{in_flight}");
        }
        let errors = |reports: &[&crate::printed::Report]| -> Vec<(String, Option<u64>)> {
            reports.iter().flat_map(|report| report.errors.clone()).collect()
        };
        let refused = ("connection refused".to_owned(), Some(100));
        assert_eq!(
            errors(&oha[5..]),
            [("Connection refused (os error 111)".to_owned(), Some(100))]
        );
        assert!(errors(&bombardier).contains(&refused), "{:?}", errors(&bombardier));
        // Each kind stands there once, and 404 is a status.
        let of_vegeta = [("EOF".to_owned(), Some(1)), ("connection refused".to_owned(), Some(50))];
        assert_eq!(errors(&vegeta), of_vegeta);
        let rate = vegeta[0].own("the rate of the attack").unwrap().value;
        assert!((199.0..202.0).contains(&rate), "{rate}");
        assert!(vegeta[0].percentile(99.0).unwrap().value < 1000.0);
    }

    #[test]
    fn a_changed_figure_is_found_there_too() {
        for (from, to) in [
            ("\"requestsPerSec\": ", "\"requestsPerSec\": 9"),
            ("\"req2xx\":2000", "\"req2xx\":2100"),
            ("\"requests\":200,", "\"requests\":900,"),
            ("\"latencies\":{\"total\":", "\"latencies\":{\"total\":3"),
        ] {
            let at = REAL.find(from).unwrap_or_else(|| panic!("{from}"));
            let changed = format!("{}{to}{}", &REAL[..at], &REAL[at + from.len()..]);
            let reports = judge(&read(&changed)).reports;
            let mut findings = reports.iter().flat_map(|judged| &judged.findings);
            assert!(findings.any(|finding| finding.id == D43), "{to}");
        }
    }
}
