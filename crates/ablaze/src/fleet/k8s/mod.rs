//! Workers in the pods of a Job on Kubernetes, through the user's own kubectl: an Indexed Job is made, or one that is there
//! is used; when all of its pods run, each is reached by `kubectl exec`.

mod manifest;
mod options;
mod pods;

use std::process::Command;
use std::time::{Duration, Instant};

use ablaze_model::printable::printable;
use serde_json::Value;

use self::manifest::CONTAINER;
use self::options::Options;
use self::pods::{Pod, State};
use super::ask::ask;
use super::leftovers::{Guard, Leftover};
use crate::CommandError;
use crate::carry_out::interrupted;
use crate::error::{INTERRUPTED, note};

/// The oldest version: in 1.29 a limit of failures per index became beta, and on by default.
const OLDEST: (u32, u32) = (1, 29);
/// How long kubectl may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How often pods are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often it is told what is waited for.
const TELL_EVERY: Duration = Duration::from_secs(15);
/// A Job ends after so long where the load does not take longer, ns.
const LIMIT_NS: u64 = 3_600_000_000_000;
/// How much longer than its load a Job lasts: a run may wait for ten minutes to be fetched, ns.
const BEYOND_NS: u64 = 900_000_000_000;

/// A fleet on Kubernetes, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kubernetes {
    options: Options,
}

/// Its pods, which run.
pub struct Job {
    /// Their names, in the order of their indices.
    pub pods: Vec<String>,
    name: String,
    /// What deletes it; `None` for one that others made.
    guard: Option<Guard>,
}

impl Job {
    /// Whether it is there afterwards.
    pub fn stays(&self) -> bool {
        self.guard.is_none()
    }
}

impl Kubernetes {
    /// As it stands behind `k8s`.
    ///
    /// # Errors
    /// When it cannot be read: what it can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { options: Options::parse(text)? })
    }

    /// How many workers there will be.
    ///
    /// # Errors
    /// When a Job that is there already cannot be used.
    pub fn count(&self) -> Result<usize, CommandError> {
        match &self.options.job {
            None => Ok(self.options.pods.number as usize),
            Some(name) => {
                let text = self.asked(&["get", "job", name, "-o", "json"], "")?;
                let job = read(&text)?;
                usable(&job)
                    .map_err(|why| CommandError::machine(format!("k8s: the Job {name} {why}")))
            }
        }
    }

    /// The Job that would be made, as YAML.
    ///
    /// # Errors
    /// When no Job would be made.
    pub fn manifest(&self) -> Result<String, CommandError> {
        if self.options.job.is_some() {
            return Err(CommandError::usage("k8s: job=… is a Job that is there already"));
        }
        Ok(manifest::yaml(&self.job("ablaze", None)))
    }

    fn job(&self, name: &str, load_ns: Option<u64>) -> Value {
        let usual_ns = load_ns
            .map_or(LIMIT_NS, |load_ns| LIMIT_NS.max(load_ns.saturating_add(BEYOND_NS)))
            .saturating_add(self.options.wait_ns);
        let limit_ns = self.options.pods.limit_ns.unwrap_or(usual_ns);
        manifest::job(name, &self.options.pods, limit_ns.div_ceil(1_000_000_000).max(1))
    }

    /// Makes the Job, unless it is there, and waits until all its pods run. The load takes so long, if that is known.
    ///
    /// # Errors
    /// When the cluster is too old or permits it not, or when pods do not run in time: what the API says.
    pub fn place(&self, id: &str, load_ns: Option<u64>) -> Result<Job, CommandError> {
        self.check_version()?;
        let of = self.count()?;
        let (name, guard) = match &self.options.job {
            Some(name) => (name.clone(), None),
            None => {
                let (name, guard) = self.made(id, load_ns)?;
                (name, Some(guard))
            }
        };
        let pods = self.running(&name, of)?;
        Ok(Job { pods, name, guard })
    }

    /// Makes the Job; its name, and what deletes it.
    fn made(&self, id: &str, load_ns: Option<u64>) -> Result<(String, Guard), CommandError> {
        let name = format!("ablaze-{}", id.get(..8).unwrap_or(id));
        let guard = Guard::of(Leftover {
            what: format!("the Job {name}"),
            words: self.words(&["delete", "job", &name, "--wait=false", "--ignore-not-found"]),
            gone: &["(NotFound)"],
        });
        let job = self.job(&name, load_ns).to_string();
        match self.asked(&["create", "-f", "-", "-o", "name"], &job) {
            Ok(_) => Ok((name, guard)),
            // The API's own refusal: there is nothing to delete, and nobody who may.
            Err(error) if error.line.contains("Error from server") => {
                guard.forget();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The command that has a pod run `ablaze` with these words.
    pub fn command(&self, pod: &str, words: &[&str]) -> Command {
        let is_worker = words.first() == Some(&"worker");
        let mut exec = vec!["exec"];
        exec.extend(is_worker.then_some("-i"));
        exec.extend([pod, "-c", CONTAINER, "--", "ablaze"]);
        exec.extend(words);
        // What it tells is in the pod's log as well.
        exec.extend(is_worker.then_some("--beside"));
        command(&self.words(&exec))
    }

    /// What the API says of a pod that does not run any more; `None` where it says nothing.
    pub fn why_lost(&self, job: &Job, pod: &str) -> Option<String> {
        let pods = self.pods(&job.name).ok()?;
        match pods.into_iter().find(|other| other.name == pod) {
            None => Some("its pod is gone".to_owned()),
            Some(Pod { state: State::Failed(why), .. }) => Some(format!("its pod failed: {why}")),
            Some(_) => None,
        }
    }

    /// Waits until so many pods run.
    fn running(&self, job: &str, of: usize) -> Result<Vec<String>, CommandError> {
        let began = Instant::now();
        let mut told = Instant::now();
        loop {
            let pods = self.pods(job)?;
            for pod in &pods {
                if let State::Failed(why) = &pod.state {
                    return Err(CommandError::machine(format!(
                        "k8s: the pod {} does not run: {why}",
                        pod.name
                    )));
                }
            }
            let running = pods.iter().filter(|pod| pod.state == State::Running);
            let names: Vec<String> = running.map(|pod| pod.name.clone()).collect();
            if names.len() >= of {
                return Ok(names);
            }
            if interrupted() {
                let error = CommandError::machine("interrupted before all pods ran");
                return Err(CommandError { status: INTERRUPTED, ..error });
            }
            let status = || format!("{} of {of} pods of the Job {job} run", names.len());
            if began.elapsed() >= Duration::from_nanos(self.options.wait_ns) {
                let why = self.missing(job, of, &pods);
                let waited_s = began.elapsed().as_secs();
                return Err(CommandError::machine(format!(
                    "k8s: {} after {waited_s} s (wait=TIME waits longer): {why}",
                    status()
                )));
            }
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                note(&format!("{}: {}", status(), self.missing(job, of, &pods)));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Why pods do not run: of the first that waits, or of the Job that has too few.
    fn missing(&self, job: &str, of: usize, pods: &[Pod]) -> String {
        let waiting = pods.iter().find_map(|pod| match &pod.state {
            State::Waiting(why) => Some(format!("{} waits: {why}", pod.name)),
            State::Running | State::Failed(_) => None,
        });
        let few = || {
            let which = format!("involvedObject.name={job},type=Warning");
            // Whoever may not read events is told less.
            let text = self.asked(&["get", "events", "--field-selector", &which, "-o", "json"], "");
            let events = read(&text.ok()?).ok()?;
            Some(events["items"].as_array()?.last()?["message"].as_str()?.to_owned())
        };
        let none = || format!("there are {} pods", pods.len());
        let why = if pods.len() < of { few().or(waiting) } else { waiting };
        why.unwrap_or_else(none)
    }

    fn pods(&self, job: &str) -> Result<Vec<Pod>, CommandError> {
        let label = format!("batch.kubernetes.io/job-name={job}");
        let text = self.asked(&["get", "pods", "-l", &label, "-o", "json"], "")?;
        Ok(pods::of_list(&read(&text)?))
    }

    fn check_version(&self) -> Result<(), CommandError> {
        let text = self.asked(&["version", "-o", "json"], "")?;
        let document = read(&text)?;
        let server = &document["serverVersion"];
        let number = |key: &str| {
            let digits =
                server[key].as_str()?.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            digits.parse::<u32>().ok()
        };
        let version = number("major").zip(number("minor"));
        match version {
            Some(version) if version >= OLDEST => Ok(()),
            _ => Err(CommandError::machine(format!(
                "k8s: the cluster has Kubernetes {}: {}.{} or newer is needed",
                printable(server["gitVersion"].as_str().unwrap_or("of an unknown version")),
                OLDEST.0,
                OLDEST.1
            ))),
        }
    }

    /// What kubectl prints.
    fn asked(&self, words: &[&str], input: &str) -> Result<String, CommandError> {
        let mut command = command(&self.words(words));
        let answer = ask(&mut command, input, ANSWER_WITHIN);
        answer.map_err(|why| {
            let verb = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
            CommandError::machine(format!("k8s: kubectl {verb}: {why}"))
        })
    }

    /// The words of a command line of kubectl.
    fn words(&self, words: &[&str]) -> Vec<String> {
        let mut all = vec!["kubectl".to_owned()];
        all.extend(self.options.context.iter().map(|name| format!("--context={name}")));
        all.extend(self.options.namespace.iter().map(|name| format!("--namespace={name}")));
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("kubectl", String::as_str));
    command.args(words.iter().skip(1));
    command
}

fn read(text: &str) -> Result<Value, CommandError> {
    serde_json::from_str(text)
        .map_err(|error| CommandError::machine(format!("k8s: kubectl printed no JSON ({error})")))
}

/// How many workers a Job that is there has; why it cannot be used.
fn usable(job: &Value) -> Result<usize, String> {
    let spec = &job["spec"];
    if spec["completionMode"] != "Indexed" {
        return Err("is not an Indexed Job: `ablaze fleet --print k8s,…` writes one".to_owned());
    }
    if spec["suspend"] == true {
        return Err("is suspended".to_owned());
    }
    let conditions = job["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let over = |condition: &&Value| {
        ["Complete", "Failed"].iter().any(|kind| condition["type"] == *kind)
            && condition["status"] == "True"
    };
    if let Some(condition) = conditions.iter().find(over) {
        let kind = condition["type"].as_str().unwrap_or_default().to_lowercase();
        return Err(format!("is over ({kind}): a Job is for one run, make it again"));
    }
    let (completions, parallelism) = (spec["completions"].as_u64(), spec["parallelism"].as_u64());
    match (completions, parallelism) {
        (Some(completions), Some(parallelism)) if completions == parallelism => {
            Ok(completions as usize)
        }
        _ => Err("has not as many completions as it runs at once (parallelism)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words_of(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_worker_is_run_by_exec_in_the_context_that_was_asked_for() {
        let fleet = Kubernetes::parse(":prod/load,image=i").unwrap();
        let worker = words_of(&fleet.command("a-0-x", &["worker"]));
        let line =
            "--context=prod --namespace=load exec -i a-0-x -c ablaze -- ablaze worker --beside";
        assert_eq!(worker.join(" "), line);
        let collect = words_of(&fleet.command("a-0-x", &["fleet", "collect", "b"]));
        assert!(!collect.contains(&"-i".to_owned()) && collect.ends_with(&["b".to_owned()]));
    }

    #[test]
    fn a_job_lasts_longer_than_its_load() {
        let limit = |text: &str, load_ns| {
            let fleet = Kubernetes::parse(text).unwrap();
            fleet.job("a", load_ns)["spec"]["activeDeadlineSeconds"].as_u64()
        };
        assert_eq!(limit(",image=i", None), Some(3900));
        assert_eq!(limit(",image=i", Some(7_200_000_000_000)), Some(7200 + 900 + 300));
        assert_eq!(limit(",image=i,limit=10m", Some(7_200_000_000_000)), Some(600));
    }

    #[test]
    fn a_job_that_is_over_or_of_another_kind_is_not_used() {
        let spec = json!({ "completionMode": "Indexed", "completions": 3, "parallelism": 3 });
        assert_eq!(usable(&json!({ "spec": spec })), Ok(3));
        let over = json!([{ "type": "Complete", "status": "True" }]);
        let refused = usable(&json!({ "spec": spec, "status": { "conditions": over } }));
        assert!(refused.unwrap_err().contains("is over (complete)"));
        assert!(usable(&json!({ "spec": {} })).unwrap_err().contains("not an Indexed Job"));
        let fewer = json!({ "completionMode": "Indexed", "completions": 3, "parallelism": 1 });
        assert!(usable(&json!({ "spec": fewer })).is_err());
    }
}
