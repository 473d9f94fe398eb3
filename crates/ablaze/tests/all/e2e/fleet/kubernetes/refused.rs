//! Jobs that come to nothing: one clear line each, in bounded time, and nothing is left.

use serde_json::json;

use super::{Cluster, pod, running, waiting};
use crate::e2e::support::{ablaze, run};

/// No run begins: nobody is there.
const TARGET: &str = "http://127.0.0.1:9/";

/// The one line that is said of this.
fn said(cluster: &Cluster, fleet: &str) -> String {
    let ran = cluster.load(fleet, &["-c2", "-d1", TARGET]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(!cluster.calls().contains("exec"), "{}", cluster.calls());
    ran.stderr
}

#[test]
fn an_old_cluster_one_that_is_down_and_one_that_permits_nothing() {
    let cluster = Cluster::new("k8s-refused");
    cluster.be_version("1", "28");
    let line = said(&cluster, "k8s,image=i");
    assert!(line.contains("has Kubernetes v1.28.3: 1.29 or newer is needed"), "{line}");
    cluster.be_version("1", "30");
    cluster.set("down", "The connection to the server 10.0.0.1 was refused\n");
    let line = said(&cluster, "k8s,image=i");
    assert!(line.contains("kubectl version -o: The connection to the server"), "{line}");
    std::fs::remove_file(cluster.folder("down")).unwrap();
    cluster.set("forbidden", "Error from server (Forbidden): jobs.batch is forbidden\n");
    let line = said(&cluster, "k8s,image=i");
    assert!(line.contains("kubectl create -f: Error from server (Forbidden)"), "{line}");
    let ran = run(cluster.command(&["load", "--fleet", "k8s,image=i", TARGET]).env("PATH", "/no"));
    assert!(ran.stderr.contains("`kubectl` cannot be started"), "{ran:?}");
}

#[test]
fn pods_that_stay_pending_say_what_the_scheduler_says() {
    let cluster = Cluster::new("k8s-pending");
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
    });
    let pending = json!({ "phase": "Pending", "conditions": [condition] });
    cluster.have(&[running("a-0", 0), pod("a-1", 1, &pending)]);
    let line = said(&cluster, "k8s,image=i,wait=1s");
    for part in
        ["1 of 2 pods of the Job ablaze-", "wait=TIME", "a-1 waits: Unschedulable: 0/1 nodes"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!cluster.get("deleted").is_empty());
}

#[test]
fn a_job_that_gets_no_pods_says_what_its_events_say() {
    let cluster = Cluster::new("k8s-quota");
    cluster.have(&[]);
    let line = said(&cluster, "k8s,image=i,wait=1s");
    assert!(line.contains("0 of 2 pods") && line.contains("there are 0 pods"), "{line}");
    let event = json!({ "message": "pods \"a-0\" is forbidden: exceeded quota" });
    cluster.set("events", &json!({ "items": [event] }).to_string());
    let line = said(&cluster, "k8s,image=i,wait=1s");
    assert!(line.contains("is forbidden: exceeded quota"), "{line}");
}

#[test]
fn images_that_cannot_be_had_and_pods_that_are_evicted_are_not_waited_for() {
    let cluster = Cluster::new("k8s-image");
    let message = "Back-off pulling image \"i\": not found";
    cluster.have(&[running("a-0", 0), waiting("a-1", 1, "ImagePullBackOff", message)]);
    let line = said(&cluster, "k8s,image=i");
    assert!(line.contains("the pod a-1 does not run: ImagePullBackOff: Back-off"), "{line}");
    let evicted = json!({ "phase": "Failed", "reason": "Evicted", "message": "low on memory" });
    cluster.have(&[pod("a-0", 0, &evicted), running("a-1", 1)]);
    let line = said(&cluster, "k8s,image=i");
    assert!(line.contains("the pod a-0 does not run: Evicted: low on memory"), "{line}");
    assert!(!cluster.get("deleted").is_empty());
}

#[test]
fn what_cannot_be_a_fleet_is_refused_before_anything_is_made() {
    for (fleet, part) in [
        ("k8s", "image=IMAGE names an image with ablaze"),
        ("k8s,image=i,n=0", "n is 1 to 1000"),
        ("k8s,job=a,image=i", "leave it out"),
        ("k8sx,image=i", "use ssh:HOST,HOST, k8s,image=IMAGE"),
        ("docker:a", "image=IMAGE names an image"),
    ] {
        ablaze(&["load", "--fleet", fleet, TARGET]).assert_one_line(2, part);
    }
}
