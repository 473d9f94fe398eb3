//! Saved runs stay readable for ever: files of every format, kept in `saved/` as they were written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use ablaze_model::FailureKind;
use ablaze_model::run::Ended;
use ablaze_model::saved::{FORMAT, SavedRun, load};
use ablaze_model::spec::Given;

/// Every file that was ever kept, by name.
fn saved() -> Vec<(PathBuf, SavedRun)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = files
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let run = load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, run)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
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

/// Files of before it was kept do not know what was asked.
#[test]
fn what_was_asked_is_known_where_it_was_kept() {
    for (path, SavedRun { run, .. }) in saved() {
        let is_kept = path.ends_with("format-2-asked.json");
        assert_eq!(run.asked.is_some(), is_kept, "{}", path.display());
        let Some(asked) = run.asked else { continue };
        assert!(asked.has_credentials() && asked.expect_asked);
        assert_eq!(asked.requests.given("x-key"), Some(Given::Value("1".into())));
        assert_eq!(asked.requests.given("COOKIE"), Some(Given::Secret));
        assert_eq!(asked.closed_connections(), run.plan.load.connections());
        assert_eq!(asked.limits, run.plan.limits);
    }
}
