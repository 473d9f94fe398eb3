//! Pods that are lost in mid-run, and channels that break.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Cluster, pod, running};
use crate::e2e::fleet::unwrapped;
use crate::e2e::support::{eventually, serve, start, url};

fn kill(process: i32) {
    kill_process(Pid::from_raw(process).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn an_evicted_pod_is_named_with_what_the_api_says_and_the_rest_is_reported() {
    let (server, cluster) = (serve(), Cluster::new("k8s-evicted"));
    let target = url(&server, "/");
    let fleet = ["load", "--quiet", "--fleet", "k8s,image=i", "--lost", "go-on"];
    let child = start(&mut cluster.command(&[&fleet[..], &["-c4", "-d2", &target]].concat()));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    std::thread::sleep(Duration::from_millis(300));
    let message = "The node was low on resource: memory.";
    let evicted = json!({ "phase": "Failed", "reason": "Evicted", "message": message });
    cluster.have(&[running("load-0-a", 0), pod("load-1-b", 1, &evicted)]);
    kill(cluster.process("process.load-1-b"));
    let ran = child.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    let why = format!("its pod failed: Evicted: {message}");
    assert!(
        ran.stderr.contains("worker load-1-b was lost: ") && ran.stderr.contains(&why),
        "{ran:?}"
    );
    assert!(unwrapped(&ran).contains("D44"), "{ran:?}");
    // Nothing waits in a pod that is deleted.
    assert!(!ran.stderr.contains("fleet collect"), "{ran:?}");
    assert!(!cluster.get("deleted").is_empty());
}

#[test]
fn what_a_pod_measured_is_fetched_when_its_exec_broke() {
    let (server, cluster) = (serve(), Cluster::new("k8s-broken"));
    let target = url(&server, "/");
    let fleet = ["load", "--quiet", "--fleet", "k8s,image=i", "--lost", "go-on"];
    let child = start(&mut cluster.command(&[&fleet[..], &["-c4", "-d2", &target]].concat()));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    std::thread::sleep(Duration::from_millis(300));
    kill(cluster.process("exec.load-1-b"));
    let ran = child.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("worker load-1-b was lost: its channel was closed"), "{ran:?}");
    assert!(unwrapped(&ran).contains("fetched afterwards and is in the figures"), "{ran:?}");
    let calls = cluster.calls();
    assert!(calls.contains("exec load-1-b -c ablaze -- ablaze fleet collect "), "{calls}");
}
