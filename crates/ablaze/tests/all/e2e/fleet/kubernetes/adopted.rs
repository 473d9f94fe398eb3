//! Manifests for others to apply, and Jobs that others have made.

use serde_json::{Value, json};

use super::Cluster;
use crate::e2e::support::{ablaze, number, serve, url};

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
