//! What the API says of a Job's pods, from what `kubectl get pods -o json` prints.

use serde_json::Value;

use super::manifest::CONTAINER;

/// A pod of the Job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    /// Its name. A foreign string.
    pub name: String,
    /// The index of the Job that it is.
    pub index: u32,
    /// What it does.
    pub state: State,
}

/// What a pod does. The texts are foreign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its container runs.
    Running,
    /// It may run yet: what is missing.
    Waiting(String),
    /// It will not run any more, or never: why.
    Failed(String),
}

/// Why a container waits where waiting longer does not help. `ErrImagePull` alone is not among them: it is tried once more,
/// and `ImagePullBackOff` follows.
const NEVER: [&str; 7] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];

/// The pods of a list, in the order of their indices.
pub fn of_list(list: &Value) -> Vec<Pod> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut pods: Vec<Pod> = items.iter().filter_map(pod).collect();
    pods.sort_by_key(|pod| pod.index);
    pods
}

fn pod(item: &Value) -> Option<Pod> {
    let metadata = &item["metadata"];
    let index = metadata["annotations"]["batch.kubernetes.io/job-completion-index"].as_str()?;
    let name = metadata["name"].as_str()?.to_owned();
    Some(Pod { name, index: index.parse().ok()?, state: state(item) })
}

fn state(item: &Value) -> State {
    let status = &item["status"];
    let container = status["containerStatuses"]
        .as_array()
        .and_then(|all| all.iter().find(|container| container["name"] == CONTAINER))
        .map_or(&Value::Null, |container| &container["state"]);
    let terminated = &container["terminated"];
    let phase = status["phase"].as_str().unwrap_or("Pending");
    if phase == "Failed" || phase == "Succeeded" || terminated.is_object() {
        let what = said(status).or_else(|| ended(terminated));
        return State::Failed(what.unwrap_or_else(|| format!("its phase is {phase}")));
    }
    if item["metadata"]["deletionTimestamp"].is_string() {
        return State::Failed("it is being deleted".to_owned());
    }
    let waiting = &container["waiting"];
    match (container["running"].is_object(), waiting["reason"].as_str()) {
        (true, _) => State::Running,
        (false, Some(reason)) if NEVER.contains(&reason) => {
            State::Failed(said(waiting).unwrap_or_default())
        }
        (false, Some(_)) => State::Waiting(said(waiting).unwrap_or_default()),
        (false, None) => State::Waiting(unscheduled(status).unwrap_or_else(|| phase.to_owned())),
    }
}

/// `reason: message` of an object that has them.
fn said(of: &Value) -> Option<String> {
    match (of["reason"].as_str(), of["message"].as_str()) {
        (Some(reason), Some(message)) => Some(format!("{reason}: {}", message.trim())),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

fn ended(terminated: &Value) -> Option<String> {
    let code = terminated["exitCode"].as_i64()?;
    let why = said(terminated).unwrap_or_else(|| "ended".to_owned());
    Some(format!("its container ended with status {code} ({why})"))
}

/// Why no node takes it.
fn unscheduled(status: &Value) -> Option<String> {
    let conditions = status["conditions"].as_array()?;
    let scheduled = conditions.iter().find(|condition| condition["type"] == "PodScheduled")?;
    (scheduled["status"] == "False").then(|| said(scheduled)).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state_of(status: &Value) -> State {
        let annotations = json!({ "batch.kubernetes.io/job-completion-index": "1" });
        let metadata = json!({ "name": "load-1-x", "annotations": annotations });
        let pods = of_list(&json!({ "items": [{ "metadata": metadata, "status": status }] }));
        assert_eq!((pods.len(), pods[0].index), (1, 1));
        pods[0].state.clone()
    }

    fn container(state: &Value) -> Value {
        let other = json!({ "name": "sidecar", "state": { "running": {} } });
        let own = json!({ "name": "ablaze", "state": state });
        json!({ "phase": "Pending", "containerStatuses": [other, own] })
    }

    #[test]
    fn a_pod_runs_when_its_own_container_does() {
        assert_eq!(state_of(&container(&json!({ "running": {} }))), State::Running);
        let creating = json!({ "waiting": { "reason": "ContainerCreating" } });
        let waiting = State::Waiting("ContainerCreating".to_owned());
        assert_eq!(state_of(&container(&creating)), waiting);
    }

    #[test]
    fn what_no_waiting_helps_against_is_a_failure() {
        let image = json!({ "reason": "ImagePullBackOff", "message": "Back-off pulling image" });
        let failed = State::Failed("ImagePullBackOff: Back-off pulling image".to_owned());
        assert_eq!(state_of(&container(&json!({ "waiting": image }))), failed);
        let once = json!({ "waiting": { "reason": "ErrImagePull" } });
        assert!(matches!(state_of(&container(&once)), State::Waiting(_)));
        let ended = json!({ "terminated": { "exitCode": 128, "reason": "StartError" } });
        let State::Failed(why) = state_of(&container(&ended)) else { panic!("it has ended") };
        assert!(why.contains("status 128 (StartError)"), "{why}");
    }

    #[test]
    fn an_evicted_pod_and_one_that_no_node_takes_say_why() {
        let evicted =
            json!({ "phase": "Failed", "reason": "Evicted", "message": "low on memory. " });
        assert_eq!(state_of(&evicted), State::Failed("Evicted: low on memory.".to_owned()));
        let condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/3 nodes are available",
        });
        let pending = json!({ "phase": "Pending", "conditions": [condition] });
        let waiting = State::Waiting("Unschedulable: 0/3 nodes are available".to_owned());
        assert_eq!(state_of(&pending), waiting);
        assert_eq!(state_of(&json!({})), State::Waiting("Pending".to_owned()));
    }
}
