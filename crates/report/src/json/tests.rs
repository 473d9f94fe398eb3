//! Saved runs: what is written is read again, and the schema describes it.

use serde_json::Value;

use super::{FORMAT, LoadError, load};
use crate::sample::{self, assessed};
use crate::text;
use ablaze_model::record::{MalformedBy, NotKeptBy, Reason};
use ablaze_model::{FailureKind, Run};
use ablaze_stats::Latency;

fn all() -> [Run; 8] {
    let (ordinary, encrypted) = (sample::ordinary(), sample::encrypted());
    let (troubled, refused) = (sample::troubled(), sample::refused());
    let (grouped, checked) = (sample::grouped(), sample::checked());
    [ordinary, troubled, refused, sample::empty(), encrypted, grouped, checked, too_many_groups()]
}

fn too_many_groups() -> Run {
    let mut run = sample::ordinary();
    run.plan.requests.groups.too_many = 300;
    run
}

fn write(run: &Run) -> String {
    super::write(&assessed(run))
}

fn value(run: &Run) -> Value {
    serde_json::from_str(&write(run)).unwrap()
}

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema with nothing permitted beside what it names: the published one permits fields that come
/// later, and a test of what this version writes must see each.
fn strict(mut schema: Value) -> Value {
    close(&mut schema);
    schema
}

/// Nothing beside what is named.
pub(crate) fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("properties").is_some_and(Value::is_object) && object.contains_key("type")
            {
                object.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn errors(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn every_file_is_valid_by_the_published_schema() {
    let schema = schema();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let complete = jsonschema::validator_for(&strict(schema)).unwrap();
    for run in all() {
        assert_eq!(errors(&validator, &value(&run)), Vec::<String>::new());
        assert_eq!(errors(&complete, &value(&run)), Vec::<String>::new());
        // docs/json.md promises that fields may come: a file that has them is valid.
        let mut newer = value(&run);
        newer["unheard_of"] = Value::from(1);
        newer["load"]["unheard_of"] = Value::from(1);
        assert_eq!(errors(&validator, &newer), Vec::<String>::new());
    }
}

#[test]
fn the_schema_knows_every_field_and_requires_it() {
    // Renaming or dropping any field anywhere must break the schema: it is complete.
    let validator = jsonschema::validator_for(&strict(schema())).unwrap();
    let whole = value(&sample::troubled());
    let mut paths = Vec::new();
    object_fields(&whole, String::new(), &mut paths);
    assert!(paths.len() > 150, "{}", paths.len());
    needs_all(&validator, &whole, paths);
    let whole = value(&sample::encrypted());
    let mut paths = Vec::new();
    object_fields(&whole["tls"], "/tls".to_owned(), &mut paths);
    assert!(paths.len() > 20, "{}", paths.len());
    needs_all(&validator, &whole, paths);
    let whole = value(&sample::grouped());
    let mut paths = Vec::new();
    object_fields(&whole["groups"], "/groups".to_owned(), &mut paths);
    assert!(paths.len() > 60, "{}", paths.len());
    needs_all(&validator, &whole, paths);
    let whole = value(&sample::checked());
    let mut paths = Vec::new();
    for part in ["checks", "samples"] {
        object_fields(&whole[part], format!("/{part}"), &mut paths);
    }
    // Of a check that nothing failed there is no first.
    paths.retain(|path| path != "/checks/each/0/first");
    assert!(paths.len() > 25, "{}", paths.len());
    needs_all(&validator, &whole, paths);
    let whole = value(&sample::over_http2());
    let mut paths = Vec::new();
    object_fields(&whole["http2"], "/http2".to_owned(), &mut paths);
    assert!(paths.len() > 25, "{}", paths.len());
    needs_all(&validator, &whole, paths);
    let whole = value(&sample::over_http3());
    let mut paths = Vec::new();
    object_fields(&whole["http3"], "/http3".to_owned(), &mut paths);
    assert!(paths.len() > 50, "{}", paths.len());
    needs_all(&validator, &whole, paths);
}

#[test]
fn http_3_is_read_back_as_it_was() {
    let run = sample::over_http3();
    let read = load(&write(&run)).unwrap().run;
    assert_eq!(read.plan.http3, run.plan.http3);
    assert_eq!(read.plan.http_version(), "3");
    let (mut read, mut facts) = (read.record.http3.unwrap(), run.record.http3.unwrap());
    // Names are kept in a map: their order says nothing.
    for facts in [&mut read, &mut facts] {
        facts.closes.0.sort();
        facts.resets.0.sort();
    }
    assert_eq!(read, facts);
}

/// What was asked is kept where nothing came of it.
#[test]
fn http_3_without_a_connection_is_http_3() {
    let mut run = sample::over_http3();
    run.record.http3 = None;
    let read = load(&write(&run)).unwrap().run;
    assert_eq!((read.plan.http3, read.plan.http2), (run.plan.http3, None));
}

#[test]
fn the_other_hosts_of_a_journey_are_in_the_file() {
    let mut assessed = sample::assessed(&sample::grouped());
    assessed.run.plan.target.others = vec![ablaze_model::plan::origins::Origin {
        url: "https://other:8443".into(),
        host: "other".into(),
        port: 8443,
        addresses: vec!["127.0.0.2:8443".parse().unwrap()],
        tls: None,
    }];
    let whole: Value = serde_json::from_str(&crate::json::write(&assessed)).unwrap();
    assert_eq!(whole["target"]["others"][0]["addresses"][0], "127.0.0.2:8443");
    let validator = jsonschema::validator_for(&strict(schema())).unwrap();
    let mut paths = Vec::new();
    object_fields(&whole["target"]["others"], "/target/others".to_owned(), &mut paths);
    assert_eq!(paths.len(), 4, "{paths:?}");
    needs_all(&validator, &whole, paths);
}

/// None of these fields may be missing, and beside none of them may be another.
fn needs_all(validator: &jsonschema::Validator, whole: &Value, paths: Vec<String>) {
    for path in paths {
        // Maps whose keys are data: any subset is a valid file.
        let is_data = [
            "/statuses/",
            "/body_lengths/",
            "/failed/by_kind/",
            "/intervals_95/",
            "/environment/settings/",
            "/kernel/network/",
            "/goaways_by_code/",
            "/resets_by_code/",
            "/closes_by_code/",
        ];
        if is_data.iter().any(|map| path.contains(map)) {
            continue;
        }
        let (parent, field) = path.rsplit_once('/').unwrap();
        let mut without = whole.clone();
        without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&without), "{path} may be missing");
        let mut more = whole.clone();
        let parent = more.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.insert("unheard_of".into(), Value::Null);
        assert!(!validator.is_valid(&more), "beside {path} there may be anything");
    }
}

/// The JSON pointer of every field of every object; of lists, only those of the first item.
fn object_fields(value: &Value, at: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = format!("{at}/{name}");
                paths.push(path.clone());
                object_fields(inner, path, paths);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            object_fields(&items[0], format!("{at}/0"), paths);
        }
        _ => {}
    }
}

#[test]
fn reading_back_loses_nothing() {
    for run in all() {
        let saved = load(&write(&run)).unwrap();
        assert_eq!(saved.format, FORMAT);
        assert_eq!(saved.tool_version, env!("CARGO_PKG_VERSION"));
        assert_eq!(write(&saved.run), write(&run));
        assert_eq!(
            text::write(&assessed(&saved.run), &Default::default()),
            text::write(&assessed(&run), &Default::default())
        );
        assert_eq!(
            saved.run.record.answered.total.histogram(),
            run.record.answered.total.histogram()
        );
        assert_eq!(saved.run.record.first_head, run.record.first_head);
        assert_eq!(saved.run.record.first_failure, run.record.first_failure);
        assert_eq!(saved.run.record.tls, run.record.tls);
        assert_eq!(saved.run.record.slices, run.record.slices);
        assert_eq!(saved.run.workers, run.workers);
        assert_eq!(format!("{:?}", saved.run.plan), format!("{:?}", run.plan));
    }
}

#[test]
fn reasons_are_read_back_by_their_names() {
    let mut run = sample::troubled();
    run.record.failures[FailureKind::Malformed as usize] = 15;
    for (at, by) in (1..).zip(MalformedBy::ALL) {
        run.record.malformed.add(*by, at);
    }
    for (at, by) in (1..).zip(NotKeptBy::ALL) {
        run.record.not_kept.add(*by, at);
    }
    let complete = jsonschema::validator_for(&strict(schema())).unwrap();
    assert_eq!(errors(&complete, &value(&run)), Vec::<String>::new());
    let back = load(&write(&run)).unwrap().run.record;
    assert_eq!((back.not_kept, back.malformed), (run.record.not_kept, run.record.malformed));
    // More than there are do not come of a run.
    run.record.malformed.add(MalformedBy::Head, 1);
    assert!(load(&write(&run)).is_err());
}

#[test]
fn groups_are_read_back_whole() {
    let mut run = sample::grouped();
    let response = run.record.answered.total.clone();
    run.record.groups[1].answered.response = Some(response);
    let back = load(&write(&run)).unwrap().run.record;
    assert_eq!(back.groups.len(), 2);
    for (back, group) in back.groups.iter().zip(&run.record.groups) {
        assert_eq!((&back.name, back.responses), (&group.name, group.responses));
        assert_eq!((back.unexpected, back.unfinished), (group.unexpected, group.unfinished));
        assert_eq!((back.failures, &back.statuses), (group.failures, &group.statuses));
        assert_eq!(back.body_bytes, group.body_bytes);
        let both = [(&back.answered, &group.answered), (&back.failed, &group.failed)];
        for (back, times) in both {
            assert_eq!(back.wait.histogram(), times.wait.histogram());
            assert_eq!(back.total.histogram(), times.total.histogram());
            let histogram = |of: &Option<Latency>| of.as_ref().map(Latency::histogram);
            assert_eq!(histogram(&back.response), histogram(&times.response));
        }
    }
    let text = write(&run);
    assert!(!write(&sample::troubled()).contains("\"groups\""), "old readers and files have none");
    assert_eq!(load(&text).unwrap().format, 2);
}

#[test]
fn the_figures_are_those_of_the_run() {
    let value = value(&sample::troubled());
    assert_eq!(value["started_at"], "2026-11-21T09:05:09.123456789Z");
    assert_eq!(value["rate_per_s"], 2000.0);
    assert_eq!(value["succeeded"], 19_900);
    assert_eq!(value["failed"]["total"], 15);
    assert_eq!(value["failed"]["by_kind"]["reset"], 12);
    assert_eq!(value["statuses"]["404"], 90);
    assert_eq!(value["latency_ns"]["connect"]["max"], 88_000);
    assert_eq!(
        value["latency_ns"]["connect"]["intervals_95"]["p50"],
        serde_json::json!([88_000, 88_000])
    );
    assert!(value["latency_ns"]["connect"]["intervals_95"].get("p99").is_none());
    assert_eq!(value["failed_latency_ns"]["total"]["count"], 15);
    assert_eq!(value["setup_connect_ns"]["count"], 100);
    assert_eq!(value["load"]["shape"], "closed");
    assert_eq!(value["ended"], "interrupted");
}

#[test]
fn what_cannot_be_known_is_null_not_a_made_up_number() {
    let text = write(&sample::refused());
    assert!(!text.contains("NaN") && !text.contains("inf"));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value["rate_per_s"].is_null() && value["in_flight"]["mean"].is_null());
    assert!(value["latency_ns"]["total"]["p99"].is_null());
    assert_eq!(value["latency_ns"]["total"]["count"], 0);
}

#[test]
fn heads_of_any_bytes_survive() {
    let mut run = sample::ordinary();
    run.record.first_head = (0..=255).collect();
    assert_eq!(load(&write(&run)).unwrap().run.record.first_head, run.record.first_head);
}

#[test]
fn other_files_get_a_sentence() {
    for text in ["", "{", "not json", "{\"format\": 1"] {
        assert!(matches!(load(text), Err(LoadError::NotJson { .. })), "{text}");
    }
    for text in [
        "[]",
        "{}",
        "3",
        "{}\n{}\n",
        r#"{"format":1}"#,
        r#"{"format":1,"tool":{"name":"oha","version":"1"}}"#,
    ] {
        assert!(matches!(load(text), Err(LoadError::NotARun)), "{text}");
    }
    let newer = r#"{"format":7,"tool":{"name":"ablaze","version":"9.1.0"},"all":"different"}"#;
    let message = load(newer).unwrap_err().to_string();
    assert!(
        message.contains("ablaze 9.1.0 in format 7") && message.contains("up to 2"),
        "{message}"
    );
}

#[test]
fn a_damaged_file_is_not_believed() {
    let change = |pointer: &str, to: Value| {
        let mut value = value(&sample::troubled());
        *value.pointer_mut(pointer).unwrap() = to;
        load(&value.to_string()).unwrap_err().to_string()
    };
    for (pointer, to) in [
        ("/unexpected", Value::from(1_000_000)),
        ("/failed/total", Value::from(14)),
        ("/latency_ns/total/count", Value::from(1)),
        ("/latency_ns/total/max", Value::from(1)),
        ("/latency_ns/total/sum", Value::from("-1")),
        ("/latency_ns/total/hdr_histogram", Value::from("AAAA")),
        ("/in_flight/integral_ns", Value::from("many")),
        ("/request/http_version", Value::from("4")),
        ("/first_response/head", Value::from("\u{4e00}")),
        ("/statuses", Value::from(3)),
        ("/ended", Value::from("sadly")),
    ] {
        let message = change(pointer, to);
        assert!(message.starts_with("a saved run, but damaged"), "{pointer}: {message}");
    }
    for pointer in
        ["/groups/0/unexpected", "/groups/1/failed/total", "/groups/1/latency_ns/wait/count"]
    {
        let mut value = value(&sample::grouped());
        *value.pointer_mut(pointer).unwrap() = Value::from(1_000_000);
        let message = load(&value.to_string()).unwrap_err().to_string();
        assert!(message.starts_with("a saved run, but damaged"), "{pointer}: {message}");
    }
    let message = change("/latency_ns/wait/hdr_histogram", Value::from("&"));
    assert!(message.contains("latency_ns.wait"), "{message}");
}

#[test]
fn a_file_with_more_in_it_can_be_read() {
    let mut value = value(&sample::troubled());
    value["from_the_future"] = Value::from(1);
    value["failed"]["by_kind"]["new-kind"] = Value::from(2);
    value["failed"]["total"] = Value::from(17);
    let run = load(&value.to_string()).unwrap().run;
    assert_eq!(run.record.failures_of(ablaze_model::FailureKind::Other), 2);
}
