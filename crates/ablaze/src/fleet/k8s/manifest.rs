//! The Job that a fleet on Kubernetes is, as an object and as YAML.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::options::{Pods, Seccomp, Toleration};

/// The name of the container in each pod.
pub const CONTAINER: &str = "ablaze";
/// A Job that is over stays so long, seconds, where nobody deletes it.
const KEPT_S: u32 = 600;
/// A pod that is deleted may take so long to end, seconds.
const GRACE_S: u32 = 5;

/// A Job of this name: an index for each worker, each tried once (a pod that comes anew would not be part of the run), on a
/// node of its own, with no right that a worker does not need.
pub fn job(name: &str, pods: &Pods, limit_s: u64) -> Value {
    let labels = json!({ "app.kubernetes.io/name": "ablaze" });
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "completionMode": "Indexed",
            "completions": pods.number,
            "parallelism": pods.number,
            "backoffLimitPerIndex": 0,
            "activeDeadlineSeconds": limit_s,
            "ttlSecondsAfterFinished": KEPT_S,
            "template": { "metadata": { "labels": labels }, "spec": pod(name, pods, limit_s) },
        },
    })
}

fn pod(job: &str, pods: &Pods, limit_s: u64) -> Value {
    let mut spec = json!({
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": { "runAsNonRoot": true, "seccompProfile": seccomp(&pods.seccomp) },
        "affinity": { "podAntiAffinity": apart(job, pods.share_nodes) },
        "containers": [container(pods, limit_s)],
        // Where a run waits that could not be handed over.
        "volumes": [{ "name": "tmp", "emptyDir": {} }],
    });
    let mut set = |key: &str, value: Value| spec[key] = value;
    if pods.host_network {
        set("hostNetwork", true.into());
        set("dnsPolicy", "ClusterFirstWithHostNet".into());
    }
    if let Some(name) = &pods.service_account {
        set("serviceAccountName", name.as_str().into());
    }
    if let Some(name) = &pods.pull_secret {
        set("imagePullSecrets", json!([{ "name": name }]));
    }
    if !pods.nodes.is_empty() {
        let labels = pods.nodes.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        set("nodeSelector", Value::Object(labels.collect::<Map<_, _>>()));
    }
    if !pods.tolerations.is_empty() {
        set("tolerations", pods.tolerations.iter().map(toleration).collect());
    }
    spec
}

fn container(pods: &Pods, limit_s: u64) -> Value {
    let mut limits = Map::new();
    for (key, limit) in [("cpu", &pods.cpu_limit), ("memory", &pods.memory_limit)] {
        if let Some(limit) = limit {
            limits.insert(key.to_owned(), limit.as_str().into());
        }
    }
    let mut container = json!({
        "name": CONTAINER,
        "image": pods.image,
        "command": ["ablaze", "worker", "--hold", "--limit", format!("{limit_s}s")],
        "resources": { "requests": { "cpu": pods.cpu, "memory": pods.memory }, "limits": limits },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": [{ "name": "tmp", "mountPath": "/tmp" }],
    });
    if let Some(pull) = &pods.pull {
        container["imagePullPolicy"] = pull.as_str().into();
    }
    container
}

fn seccomp(asked: &Seccomp) -> Value {
    match asked {
        Seccomp::RuntimeDefault => json!({ "type": "RuntimeDefault" }),
        Seccomp::Unconfined => json!({ "type": "Unconfined" }),
        Seccomp::Localhost(file) => json!({ "type": "Localhost", "localhostProfile": file }),
    }
}

/// Pods of one Job on nodes of their own, or, where nodes may be shared, there if it can be.
fn apart(job: &str, share_nodes: bool) -> Value {
    let term = json!({
        "labelSelector": { "matchLabels": { "batch.kubernetes.io/job-name": job } },
        "topologyKey": "kubernetes.io/hostname",
    });
    match share_nodes {
        false => json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] }),
        true => json!({
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 100, "podAffinityTerm": term }],
        }),
    }
}

fn toleration(asked: &Toleration) -> Value {
    let mut toleration = json!({ "key": asked.key, "operator": "Exists" });
    if let Some(value) = &asked.value {
        toleration["operator"] = "Equal".into();
        toleration["value"] = value.as_str().into();
    }
    if let Some(effect) = &asked.effect {
        toleration["effect"] = effect.as_str().into();
    }
    toleration
}

/// The same as YAML. Strings stand as in JSON, which YAML 1.2 reads alike.
pub fn yaml(value: &Value) -> String {
    let mut text = String::new();
    write_yaml(&mut text, value, 0);
    text
}

fn write_yaml(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (key, value)) in fields.iter().enumerate() {
                // The first of an item stands beside its dash.
                let spaces = if at == 0 && text.ends_with("- ") { 0 } else { indent };
                let _ = write!(text, "{:spaces$}{key}:", "");
                below(text, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "{:indent$}- ", "");
                match item {
                    Value::Object(_) => write_yaml(text, item, indent + 2),
                    _ => drop(writeln!(text, "{item}")),
                }
            }
        }
        _ => drop(writeln!(text, "{value}")),
    }
}

/// A value behind its key: on the same line, or on those below it.
fn below(text: &mut String, value: &Value, indent: usize) {
    let is_short = match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    text.push(if is_short { ' ' } else { '\n' });
    write_yaml(text, value, indent);
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::*;

    fn made(text: &str) -> Value {
        job("load", &Options::parse(text).unwrap().pods, 3600)
    }

    #[test]
    fn a_pod_has_no_right_that_a_worker_does_not_need() {
        let job = made(",n=3,image=i");
        let spec = &job["spec"];
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&json!(3), &json!(3)));
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(pod["automountServiceAccountToken"], false);
        let container = &pod["containers"][0];
        assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert!(pod.get("hostNetwork").is_none() && container.get("imagePullPolicy").is_none());
    }

    #[test]
    fn what_was_asked_for_is_in_it() {
        let job = made(
            ",image=i,share-nodes,host-network,toleration=a=b:NoExecute,toleration=c,node=p=q,\
             service-account=s,pull-secret=t,memory-limit=1Gi,seccomp=Unconfined",
        );
        let pod = &job["spec"]["template"]["spec"];
        let first = json!({ "key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute" });
        assert_eq!(pod["tolerations"], json!([first, { "key": "c", "operator": "Exists" }]));
        assert_eq!(pod["nodeSelector"], json!({ "p": "q" }));
        assert_eq!(pod["dnsPolicy"], "ClusterFirstWithHostNet");
        assert_eq!(pod["imagePullSecrets"][0]["name"], "t");
        assert_eq!(pod["containers"][0]["resources"]["limits"], json!({ "memory": "1Gi" }));
        let apart = &pod["affinity"]["podAntiAffinity"];
        assert!(apart.get("requiredDuringSchedulingIgnoredDuringExecution").is_none());
    }

    #[test]
    fn yaml_is_indented_and_quoted() {
        let value = json!({
            "a": { "b": [{ "c": "no", "d": [] }, { "c": {} }], "e": ["x: y", 1] },
            "f": true,
        });
        let expected = "a:\n  b:\n    - c: \"no\"\n      d: []\n    - c: {}\n  e:\n    - \"x: y\"\n    - 1\nf: true\n";
        assert_eq!(yaml(&value), expected);
    }
}
