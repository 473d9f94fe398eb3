//! `--fleet k8s`, with a kubectl that keeps a cluster of files: what becomes of a Job, and of everything that can go wrong. A
//! real cluster is in [`super::cluster`].

mod adopted;
mod lost;
mod refused;
mod used;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use ablaze_testing::Scratch;
use serde_json::{Value, json};

use super::coordinator;
use crate::e2e::support::{Ran, eventually, run};

/// A kubectl whose cluster is a folder: what it is asked is a line of `calls`; pods, events and versions are files. A pod's
/// process outlives the exec that started it, as in a cluster.
const KUBECTL: &str = r#"#!/bin/sh
state=STATE
echo "$*" >> $state/calls
while case $1 in --context=* | --namespace=*) true ;; *) false ;; esac; do shift; done
case "$1 $2" in
"version -o") cat $state/version; [ ! -e $state/down ] || { cat $state/down >&2; exit 1; } ;;
"create -f") [ ! -e $state/forbidden ] || { cat $state/forbidden >&2; exit 1; }
  cat > $state/job ;;
"get job") cat $state/job ;;
"get pods") cat $state/pods ;;
"get events") cat $state/events ;;
"delete job") [ ! -e $state/kept ] || { cat $state/kept >&2; exit 1; }
  for process in $state/process.*; do kill "$(cat $process)" 2>/dev/null; done
  mv $state/job $state/deleted ;;
"exec "*)
  shift; [ "$1" = -i ] && shift
  pod=$1
  while [ "$1" != -- ]; do shift; done; shift
  mkdir -p $state/$pod; export TMPDIR=$state/$pod
  [ "$2" = worker ] || exec "$@"
  mkfifo $state/$pod/in $state/$pod/out
  setsid sh -c 'echo $$ > "$0"; shift; exec "$@" < $TMPDIR/in > $TMPDIR/out' $state/process.$pod - "$@" &
  echo $$ > $state/exec.$pod
  exec 3<&0
  cat <&3 > $state/$pod/in &
  exec 3<&-
  exec cat $state/$pod/out ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
"#;

/// A cluster of this test's own.
pub struct Cluster(Scratch);

impl Cluster {
    /// Of Kubernetes 1.29, with two pods that run.
    pub fn new(name: &str) -> Self {
        let cluster = Self(Scratch::new(name));
        cluster.be_version("1", "29+");
        cluster.have(&[running("load-0-a", 0), running("load-1-b", 1)]);
        fs::create_dir(cluster.0.path().join("bin")).unwrap();
        let script = KUBECTL.replace("STATE", &cluster.0.path().display().to_string());
        let path = cluster.0.path().join("bin/kubectl");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        cluster
    }

    pub fn be_version(&self, major: &str, minor: &str) {
        let version = format!("v{major}.{}.3", minor.trim_end_matches('+'));
        let server = json!({ "major": major, "minor": minor, "gitVersion": version });
        self.set("version", &json!({ "serverVersion": server }).to_string());
    }

    /// These pods, in another order than their indices'.
    pub fn have(&self, pods: &[Value]) {
        let reversed: Vec<&Value> = pods.iter().rev().collect();
        // At once: it may be read in the same moment.
        self.set("pods.next", &json!({ "items": reversed }).to_string());
        fs::rename(self.0.file("pods.next"), self.0.file("pods")).unwrap();
    }

    pub fn set(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    /// A file of it; empty where there is none.
    pub fn get(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap_or_default()
    }

    /// What kubectl was asked.
    pub fn calls(&self) -> String {
        self.get("calls")
    }

    /// The process of this file, as soon as there is one.
    pub fn process(&self, name: &str) -> i32 {
        let read = || self.get(name).trim().parse().ok();
        assert!(eventually(|| read().is_some()), "{name} was never started: {}", self.calls());
        read().unwrap()
    }

    /// The folder of a pod's temporary files.
    pub fn folder(&self, pod: &str) -> String {
        self.0.file(pod)
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = coordinator(words);
        let path = command.get_envs().find(|(name, _)| *name == "PATH");
        let path = path.and_then(|(_, path)| path).unwrap().to_string_lossy().into_owned();
        command.env("PATH", format!("{}:{path}", self.0.file("bin")));
        command
    }

    /// A load of this fleet, to its end.
    pub fn load(&self, fleet: &str, more: &[&str]) -> Ran {
        run(&mut self.command(&[&["load", "--quiet", "--fleet", fleet], more].concat()))
    }
}

/// A pod whose container does this.
pub fn pod(name: &str, index: u32, status: &Value) -> Value {
    let annotations = json!({ "batch.kubernetes.io/job-completion-index": index.to_string() });
    json!({ "metadata": { "name": name, "annotations": annotations }, "status": status })
}

pub fn running(name: &str, index: u32) -> Value {
    let container = json!({ "name": "ablaze", "state": { "running": {} } });
    pod(name, index, &json!({ "phase": "Running", "containerStatuses": [container] }))
}

pub fn waiting(name: &str, index: u32, reason: &str, message: &str) -> Value {
    let state = json!({ "waiting": { "reason": reason, "message": message } });
    let container = json!({ "name": "ablaze", "state": state });
    pod(name, index, &json!({ "phase": "Pending", "containerStatuses": [container] }))
}
