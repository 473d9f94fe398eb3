//! A Job that is made, used and deleted.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::{Cluster, running, waiting};
use crate::e2e::fleet::is_running;
use crate::e2e::support::{command, eventually, number, run, serve, start, url};

#[test]
fn pods_share_a_load_their_log_has_its_rows_and_the_job_is_deleted() {
    let (server, cluster) = (serve(), Cluster::new("k8s-used"));
    let target = url(&server, "/");
    // The first process of the first pod.
    let folder = cluster.folder("load-0-a");
    std::fs::create_dir_all(&folder).unwrap();
    let mut hold: Command = command(&["worker", "--hold"]);
    let hold = start(hold.env("TMPDIR", &folder));
    assert!(eventually(|| std::path::Path::new(&folder).join("ablaze-hold").exists()));
    let fleet = "k8s:prod/load,n=2,image=reg/ablaze:1,node=pool=load";
    let ran = cluster.load(fleet, &["--json", "-n", "1001", "-c", "4", &target]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!((number(&json, "/responses"), server.served().requests), (1001, 1001));
    assert_eq!(json["fleet"]["by"], "k8s");
    let names = [0, 1].map(|worker| json["fleet"]["workers"][worker]["name"].clone());
    assert_eq!(names, ["load-0-a", "load-1-b"]);
    let calls = cluster.calls();
    assert!(
        calls.lines().all(|call| call.starts_with("--context=prod --namespace=load ")),
        "{calls}"
    );
    let deleted = cluster.get("deleted");
    let job: serde_json::Value = serde_json::from_str(&deleted).unwrap();
    let name = job["metadata"]["name"].as_str().unwrap();
    assert!(
        calls.contains(&format!("get pods -l batch.kubernetes.io/job-name={name} ")),
        "{calls}"
    );
    assert!(calls.contains(&format!("delete job {name} --wait=false")), "{calls}");
    assert_eq!(job["spec"]["completions"], 2);
    assert_eq!(job["spec"]["template"]["spec"]["nodeSelector"]["pool"], "load");
    for pod in ["load-0-a", "load-1-b"] {
        assert!(eventually(|| !is_running(cluster.process(&format!("process.{pod}")))));
    }
    hold.signal(Signal::TERM);
    let held = hold.end();
    for told in [r#""tell":"ready""#, r#""tell":"row""#, r#""tell":"run""#, r#""tell":"bye""#] {
        assert!(held.stdout.contains(told), "{told}: {}", held.stderr);
    }
}

#[test]
fn the_runs_of_an_experiment_have_one_job() {
    let (server, cluster) = (serve(), Cluster::new("k8s-sweep"));
    let target = url(&server, "/");
    let words = ["sweep", "-c", "2,4", "-n", "101", "--fleet", "k8s,image=i", target.as_str()];
    let folder = cluster.folder("experiment");
    std::fs::create_dir_all(&folder).unwrap();
    let ran = run(cluster.command(&words).current_dir(folder));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(server.served().requests, 2 * 101);
    let calls = cluster.calls();
    for (call, times) in [("create -f", 1), ("exec -i", 2), ("delete job", 1)] {
        assert_eq!(calls.matches(call).count(), times, "{call}: {calls}");
    }
}

#[test]
fn ctrl_c_while_pods_are_waited_for_deletes_the_job() {
    let (server, cluster) = (serve(), Cluster::new("k8s-early"));
    cluster.have(&[running("a-0", 0), waiting("a-1", 1, "ContainerCreating", "")]);
    let target = url(&server, "/");
    let words = ["load", "--fleet", "k8s,image=i", "-c2", "-d60", target.as_str()];
    let child = start(&mut cluster.command(&words));
    assert!(eventually(|| cluster.calls().contains("get pods")));
    child.signal(Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(ran.stderr.contains("interrupted before all pods ran"), "{ran:?}");
    assert!(!cluster.get("deleted").is_empty() && !cluster.calls().contains("exec"));
}

#[test]
fn ctrl_c_in_mid_run_keeps_the_report_and_deletes_the_job() {
    let (server, cluster) = (serve(), Cluster::new("k8s-interrupt"));
    let target = url(&server, "/");
    let words = ["load", "--fleet", "k8s,image=i", "-c4", "-d60", target.as_str()];
    let child = start(&mut cluster.command(&words));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    child.signal(Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(ran.stdout.contains(" responses in "), "{ran:?}");
    assert!(!cluster.get("deleted").is_empty(), "{}", cluster.calls());
}

#[test]
fn a_second_ctrl_c_deletes_the_job_too() {
    let (server, cluster) = (serve(), Cluster::new("k8s-twice"));
    let target = url(&server, "/");
    let words = ["load", "--quiet", "--fleet", "k8s,image=i", "-c4", "-d60", target.as_str()];
    let child = start(&mut cluster.command(&words));
    assert!(eventually(|| server.served().requests > 1000), "nothing arrives");
    // Workers that do not answer the first one.
    for pod in ["load-0-a", "load-1-b"] {
        let process = cluster.process(&format!("process.{pod}"));
        let pid = rustix::process::Pid::from_raw(process).unwrap();
        rustix::process::kill_process(pid, Signal::STOP).unwrap();
    }
    child.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    child.signal(Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(!cluster.get("deleted").is_empty(), "{}", cluster.calls());
    for pod in ["load-0-a", "load-1-b"] {
        let process = cluster.process(&format!("process.{pod}"));
        let pid = rustix::process::Pid::from_raw(process).unwrap();
        // It is a child of nobody here that would be told.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

#[test]
fn a_job_that_cannot_be_deleted_is_named_with_the_command() {
    let (server, cluster) = (serve(), Cluster::new("k8s-kept"));
    cluster.set("kept", "Error from server (Forbidden): you may not delete jobs\n");
    let ran = cluster.load("k8s:/load,image=i", &["-n", "10", "-c", "2", &url(&server, "/")]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let line = ran.stderr.lines().find(|line| line.contains("was not removed")).unwrap();
    assert!(line.contains("you may not delete jobs"), "{line}");
    assert!(line.contains("run `kubectl --namespace=load delete job ablaze-"), "{line}");
}
