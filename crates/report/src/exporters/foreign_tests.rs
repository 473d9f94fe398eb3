//! A saved run of which every string is hostile, in every format.

use ablaze_model::printable::{self, is_hostile};
use serde_json::Value;

use super::*;
use crate::metrics::{self, Format, Snapshot, otlp};
use crate::page::live;
use crate::sample::{self, assessed};
use crate::text::{self, Style};
use crate::{ab, gurl, h2load, hey, json, ndjson, oha, vegeta, wrk};

/// Every string of a saved run that may be anything gets these behind it.
const HOSTILE: &str = "\u{1b}[2J\u{9b}1m\u{7f}\n\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{7}\r\
     </script><b>hostile</b>\" onload=\"hostile()";
/// What of that is markup of a page, unless it is escaped.
const MARKUP: [&str; 2] = ["<b>hostile", "\" onload=\"hostile"];

/// The paths of all strings, as JSON pointers.
fn strings(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                strings(value, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                strings(value, &format!("{path}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// The saved run with every string changed that is not one of a fixed set, and how many those are.
fn hostile(run: &ablaze_model::Run) -> (String, usize) {
    let mut document: Value = serde_json::from_str(&json::write(&assessed(run))).unwrap();
    let mut paths = Vec::new();
    strings(&document, "", &mut paths);
    paths.retain(|path| !path.contains("histogram") && !path.ends_with("/buckets"));
    let mut changed = 0;
    for path in paths {
        let string = document.pointer_mut(&path).unwrap();
        let before = string.clone();
        *string = Value::String(format!("{}{HOSTILE}", before.as_str().unwrap()));
        if json::load(&document.to_string()).is_ok() {
            changed += 1;
        } else {
            *document.pointer_mut(&path).unwrap() = before;
        }
    }
    (document.to_string(), changed)
}

fn assert_fit(what: &str, text: &str) {
    // Lines of CSV end in both.
    let text = text.replace("\r\n", "\n");
    let found = text.chars().find(|c| is_hostile(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(found, None, "{what}: {text}");
}

/// A page, too, in which the same text is no markup.
fn assert_page(what: &str, html: &str) {
    assert_fit(what, &printable::report(html));
    for markup in MARKUP {
        let at = html.find(markup);
        assert_eq!(at, None, "{what}: {}", &html[at.unwrap_or(0).saturating_sub(200)..][..300]);
    }
}

/// What leaves a run while it lasts.
fn assert_fit_under_way(assessed: &ablaze_model::Assessed) {
    let run = &assessed.run;
    let groups: Vec<String> =
        run.plan.requests.groups.names.iter().map(|n| n.to_string()).collect();
    let of_groups = vec![Default::default(); groups.len()];
    let so_far = ablaze_model::progress::Interval { groups: of_groups, ..Default::default() };
    assert_fit("begin", &ndjson::begin(&run.plan, 1));
    assert_fit("interval", &ndjson::interval(&so_far, &groups));
    assert_fit("summary", &ndjson::summary(assessed));
    for finding in &assessed.judged.findings {
        assert_fit("finding", &ndjson::finding(finding));
    }
    let target = run.plan.target.url.clone();
    let families = metrics::families(&Snapshot { so_far, target, groups, ..Snapshot::default() });
    for format in [Format::Text, Format::OpenMetrics] {
        let text = metrics::write(&families, format);
        assert_fit("Prometheus", &String::from_utf8(text).unwrap());
    }
    assert_fit("OpenTelemetry", &otlp::write(&families, "1", 0, 1));
    let page = crate::page::of_run(assessed);
    let part = live::Part::of("results", &page.sections);
    assert_page("live page", &live::write(&page, &[part], live::Controls::Stop));
}

#[test]
fn no_format_passes_on_what_commands_a_terminal() {
    let mut whole = sample::troubled();
    whole.profiling = Some(sample::profiling::profiling());
    let runs = [
        whole,
        sample::encrypted(),
        sample::over_http2(),
        sample::grouped(),
        sample::checked(),
        sample::refused(),
    ];
    let mut changed = 0;
    for run in &runs {
        let (text, strings) = hostile(run);
        changed += strings;
        let run = json::load(&text).unwrap().run;
        let assessed = assessed(&run);
        let conditions = Conditions::default();
        let what = Exported::Run { assessed: &assessed, explain: true, conditions: &conditions };
        for exporter in all().iter().filter(|exporter| exporter.fits(Kind::Run)) {
            let export = exporter.export(&what, "stem").unwrap();
            let extension = exporter.extensions()[0];
            assert_fit(extension, &export.text);
            if matches!(extension, "html" | "svg") {
                assert_page(extension, &export.text);
            }
            export.beside.iter().for_each(|(name, text)| assert_fit(name, text));
        }
        for width in [60, 110] {
            let style = Style { width, explain: true, ..Style::default() };
            assert_fit("terminal", &text::write(&assessed, &style));
        }
        assert_fit("gurl", &gurl::write(&run));
        assert_fit("hey", &hey::write(&run));
        assert_fit("h2load", &h2load::write(&run));
        assert_fit("oha", &oha::text(&run, None, false));
        assert_fit("oha", &oha::json(&run, false));
        for percentiles in [false, true] {
            assert_fit("wrk", &wrk::write(&run, percentiles));
        }
        let page = crate::page::of_runs(&[("a".to_owned(), assessed.clone())], &[]);
        assert_page("page", &page.html());
        assert_fit_under_way(&assessed);
        let mut printed = Vec::new();
        ab::report(&run, &ab::Layout::default(), &mut printed).unwrap();
        assert_fit("ab", &String::from_utf8(printed).unwrap());
    }
    // Names of processes and symbols, certificates, groups, settings, command lines.
    assert!(changed > 100, "{changed}");
}

/// Results that somebody else has written: vegeta reads what an attack met as text.
#[test]
fn the_reports_of_vegeta_pass_on_nothing_that_commands_a_terminal() {
    let line = serde_json::json!({
        "code": 0, "timestamp": "2026-01-02T03:04:05Z", "latency": 5, "error": HOSTILE.repeat(2_000),
    });
    let metrics = vegeta::Metrics::of(&vegeta::read(line.to_string().as_bytes()).unwrap());
    // As they are printed and written.
    assert_fit("text", &printable::report(&vegeta::text(&metrics)));
    assert_fit("json", &printable::report(&vegeta::json(&metrics, None)));
    let buckets = vegeta::Buckets::read("[0,1ms]").unwrap();
    assert_fit("histogram", &printable::report(&vegeta::histogram(&metrics, &buckets)));
    let targets = [vegeta::Target {
        method: "GET".to_owned(),
        url: format!("http://h/{HOSTILE}"),
        body_bytes: 0,
    }];
    let results = vegeta::results(&sample::troubled(), HOSTILE, &targets);
    assert_fit("results", &printable::report(&results));
}
