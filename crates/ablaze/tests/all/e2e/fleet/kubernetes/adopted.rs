//! Manifests for others to apply, and Jobs that others have made.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use super::Cluster;
use crate::e2e::support::{ablaze, command, eventually, number, serve, start, url};

/// A Job as the API has it.
fn job(conditions: &Value) -> String {
    let spec = json!({ "completionMode": "Indexed", "completions": 2, "parallelism": 2 });
    json!({ "spec": spec, "status": { "conditions": conditions } }).to_string()
}

#[test]
fn a_job_that_is_there_is_used_and_never_deleted() {
    let (server, cluster) = (serve(), Cluster::new("k8s-adopted"));
    cluster.set("job", &job(&json!([])));
    let words = ["--json", "-n", "100", "-c", "2", &url(&server, "/")];
    let ran = cluster.load("k8s:/load,job=nightly", &words);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!(number(&json, "/responses"), 100);
    assert_eq!(json["fleet"]["workers"].as_array().unwrap().len(), 2);
    let calls = cluster.calls();
    assert!(calls.contains("job-name=nightly"), "{calls}");
    assert!(!calls.contains("create") && !calls.contains("delete"), "{calls}");
}

/// The pod's log is written by something that takes nothing before the run is over.
#[test]
fn the_log_has_each_row_once_though_it_was_not_taken_during_the_run() {
    let (server, cluster) = (serve(), Cluster::new("k8s-log"));
    cluster.set("job", &job(&json!([])));
    let folder = cluster.folder("load-0-a");
    std::fs::create_dir_all(&folder).unwrap();
    let mut hold = start(command(&["worker", "--hold"]).env("TMPDIR", &folder));
    assert!(eventually(|| std::path::Path::new(&folder).join("ablaze-hold").exists()));
    // Many groups, so that rows and run are more than pipes and sockets hold.
    let urls: String = (0..60).map(|number| url(&server, &format!("/?{number}\n"))).collect();
    cluster.set("urls", &urls);
    let list = cluster.folder("urls");
    let words = ["--json", "-d", "3", "-c", "2", "--urls", &list];
    let ran = cluster.load("k8s:/load,job=nightly", &words);
    assert_eq!(ran.status, 0, "{ran:?}");
    let of_worker = number(&ran.json(), "/fleet/workers/0/responses");
    let mut lines = BufReader::new(hold.stdout.take().unwrap()).lines();
    let (mut told, mut rows) = (Vec::new(), Vec::new());
    loop {
        let line = lines.next().expect("the log ends before the worker has said bye").unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        match line["tell"].as_str().unwrap() {
            "row" => rows.push((number(&line, "/from_ns"), line["responses"].as_u64())),
            "bye" => break,
            "pong" | "alive" | "now" => {}
            other => told.push(other.to_owned()),
        }
    }
    assert_eq!(told, ["ready", "started", "run"]);
    assert!(rows.is_sorted_by(|one, next| one.0 < next.0), "{rows:?}");
    let in_rows: u64 = rows.iter().filter_map(|(_, responses)| *responses).sum();
    assert_eq!(in_rows, of_worker);
}

#[test]
fn a_job_that_is_over_is_refused() {
    let cluster = Cluster::new("k8s-over");
    cluster.set("job", &job(&json!([{ "type": "Failed", "status": "True" }])));
    let ran = cluster.load("k8s,job=nightly", &["-d1", "http://127.0.0.1:9/"]);
    ran.assert_one_line(1, "the Job nightly is over (failed): a Job is for one run");
}

#[test]
fn a_manifest_is_printed_without_a_cluster() {
    let words = ["fleet", "--print", "k8s,n=3,image=reg/ablaze:1,toleration=only=load:NoSchedule"];
    let ran = ablaze(&words);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for line in [
        "kind: \"Job\"",
        "  completionMode: \"Indexed\"",
        "  backoffLimitPerIndex: 0",
        "  completions: 3",
        "      restartPolicy: \"Never\"",
        "          image: \"reg/ablaze:1\"",
        "            - \"--hold\"",
        "          type: \"RuntimeDefault\"",
    ] {
        assert!(ran.stdout.contains(&format!("{line}\n")), "{line}: {}", ran.stdout);
    }
    let ran = ablaze(&["fleet", "--print", "ssh:a"]);
    ran.assert_one_line(2, "only a fleet on Kubernetes (k8s,…) has a manifest");
}
