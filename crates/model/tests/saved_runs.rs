//! Saved runs stay readable for ever: files of every format, kept in `saved/` as they were written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use ablaze_model::FailureKind;
use ablaze_model::run::Ended;
use ablaze_model::saved::{FORMAT, SavedRun, load, write};
use ablaze_model::spec::Given;
use serde_json::Value;

/// Every file that was ever kept, by name.
fn texts() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> =
        files.map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect();
    all.sort();
    all
}

fn saved() -> Vec<(PathBuf, SavedRun)> {
    let read = |(path, text): (PathBuf, String)| {
        let run = load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, run)
    };
    texts().into_iter().map(read).collect()
}

/// Do not write these files anew when the test fails: give the field that was added in
/// src/saved/document.rs a default, or a line in src/saved/upgrade.rs.
#[test]
fn files_of_every_format_can_be_read() {
    let all = saved();
    for format in 1..=FORMAT {
        let of_format = all.iter().filter(|(_, saved)| saved.format == format);
        assert!(of_format.count() > 0, "no file of format {format} is kept in tests/saved");
    }
    for (path, SavedRun { run, .. }) in &all {
        let name = path.display();
        assert_eq!(run.plan.target.url.split(':').count(), 3, "{name}");
        assert!(run.record.responses > 0, "{name}");
        assert_eq!(run.record.responses, run.record.answered.total.count(), "{name}");
        assert!(!run.record.first_head.is_empty(), "{name}");
        assert!(!run.record.slices.slices.is_empty(), "{name}");
    }
}

/// Format 1 had other names: what stood under them must be found again.
#[test]
fn nothing_of_format_1_is_lost() {
    let all = saved();
    let (_, SavedRun { run, format, tool_version }) =
        all.iter().find(|(_, saved)| saved.format == 1).unwrap();
    assert_eq!((*format, tool_version.as_str()), (1, "0.1.0"));
    assert_eq!(run.plan.target.url, "http://127.0.0.1:8080/");
    assert_eq!(run.plan.load.connections(), 100);
    assert_eq!(run.plan.limits.duration_ns, Some(10_000_000_000));
    assert_eq!(run.plan.limits.unreachable_after, 10);
    assert_eq!(run.record.responses, 20_000);
    assert_eq!(run.record.reused, 20_000);
    assert_eq!(run.record.first_body_bytes, Some(14));
    assert_eq!(run.record.failures_total(), 15);
    assert_eq!(run.record.failures_of(FailureKind::Other), 0);
    assert_eq!(run.record.statuses[&404], 90);
    assert_eq!(run.record.answered.total.count(), 20_000);
    assert_eq!(run.record.answered.total.quantile_ns(0.99), Some(698_399));
    assert_eq!(run.record.answered.connect.max_ns(), Some(88_000));
    assert!(run.record.slices.slices.iter().map(|slice| slice.responses).sum::<u64>() > 0);
    assert_eq!(run.workers.len(), 2);
    assert_eq!(run.backend.name, "epoll");
    assert_eq!(run.ended, Ended::Interrupted);
}

/// Parts of a file that many runs do not have. Some are the program's own structs, saved as they are: only these files
/// tell that a field of theirs was renamed.
const PARTS: [&str; 36] = [
    "/asked/connections/local_addresses/0",
    "/asked/expect/0/start",
    "/asked/requests/bodies/same/given",
    "/asked/checks/0",
    "/asked/requests/data/order",
    "/asked/requests/head/composed/lines/0/text",
    "/asked/requests/journey/file/sha256",
    "/asked/requests/urls/file/sha256",
    "/asked/requests/users/think_time",
    "/asked/shape/closed/connections",
    "/asked/shape/open/rate",
    "/asked/tls/trust/issuers/sha256",
    "/asked/workers/spin/for",
    "/checks",
    "/fleet/seen_from/0/address",
    "/fleet/skew/bound_ns",
    "/fleet/workers/1/machine/checks/0/name",
    "/fleet/workers/1/limit/key",
    "/groups/1",
    "/http2",
    "/http3",
    "/journeys",
    "/monitor/client/executable",
    "/monitor/environment/descriptors/soft",
    "/monitor/kernel/network/TcpInSegs",
    "/monitor/target/listener/backlog",
    "/monitor/target/processes/0",
    "/profile/profiles/1/stacks/0/frames",
    "/profile/refused/0/of",
    "/profile/run/server_cpu_ns",
    "/rate_changes/0/times_asked",
    "/request/feed/order",
    "/request/journey/users/think_time/uniform/from_ns",
    "/request/journey/users/iterations",
    "/samples/kept/0",
    "/tls",
];

#[test]
fn every_part_that_a_file_can_have_is_in_one() {
    let all: Vec<Value> =
        texts().iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect();
    let has =
        |part: &&str| all.iter().any(|file| file.pointer(part).is_some_and(|it| !it.is_null()));
    let missing: Vec<&str> = PARTS.into_iter().filter(|part| !has(part)).collect();
    assert!(missing.is_empty(), "in no file of tests/saved: {missing:?}");
}

/// Where the file that was read says something else than the one that is written of it: the first such place.
fn lost(at: &str, read: &Value, written: &Value) -> Option<String> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => read.iter().find_map(|(name, value)| {
            let at = format!("{at}/{name}");
            lost(&at, value, written.get(name).unwrap_or(&Value::Null))
        }),
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            let places = read.iter().zip(written).enumerate();
            places
                .into_iter()
                .find_map(|(i, (read, written))| lost(&format!("{at}/{i}"), read, written))
        }
        // Nothing is written where there is nothing.
        (Value::Array(read), Value::Null) if read.is_empty() => None,
        _ if read == written => None,
        _ => Some(format!("{at} is {read}, and was read as {written}")),
    }
}

/// A field that was renamed, and has a default, is read as if it were not there: that nothing of a file is missing in what
/// is written of it shows that it was read.
#[test]
fn what_was_saved_is_what_would_be_saved_again() {
    for (path, text) in texts() {
        let SavedRun { run, format, .. } = load(&text).unwrap();
        if format < FORMAT {
            continue;
        }
        let mut read: Value = serde_json::from_str(&text).unwrap();
        for of_the_program in ["tool", "verdict"] {
            read.as_object_mut().unwrap().remove(of_the_program);
        }
        let written: Value = serde_json::from_str(&write(&run, None)).unwrap();
        assert_eq!(lost("", &read, &written), None, "{}", path.display());
    }
}

/// Files of before it was kept do not know what was asked.
#[test]
fn what_was_asked_is_known_where_it_was_kept() {
    const BEFORE: [&str; 4] =
        ["format-1.json", "format-2.json", "format-2-http2.json", "format-2-tls.json"];
    for (path, SavedRun { run, .. }) in saved() {
        let is_before = BEFORE.iter().any(|name| path.ends_with(name));
        assert_eq!(run.asked.is_none(), is_before, "{}", path.display());
        let Some(asked) = run.asked else { continue };
        if !path.ends_with("format-2-asked.json") {
            continue;
        }
        assert!(asked.has_credentials() && asked.expect_asked);
        assert_eq!(asked.requests.given("x-key"), Some(Given::Value("1".into())));
        assert_eq!(asked.requests.given("COOKIE"), Some(Given::Secret));
        assert_eq!(asked.closed_connections(), run.plan.load.connections());
        assert_eq!(asked.limits, run.plan.limits);
    }
}
