//! What `--fleet k8s…` asks for, as it is written: `k8s[:CONTEXT/NAMESPACE][,KEY=VALUE]…`.

use crate::values;

/// Most workers of a Job.
const WORKERS_MAX: u32 = 1000;
/// What can be said of the Job that is made.
const KEYS: &str = "n, image, pull, pull-secret, cpu, memory, cpu-limit, memory-limit, node, \
     toleration, share-nodes, host-network, service-account, seccomp, limit, wait, job, context, namespace";

/// Where the pods are, and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The context of kubectl's configuration; `None` for the present one.
    pub context: Option<String>,
    /// The namespace; `None` for the context's.
    pub namespace: Option<String>,
    /// A Job that is there already, and stays.
    pub job: Option<String>,
    /// How long pods may take to run, ns.
    pub wait_ns: u64,
    /// What the Job is made of.
    pub pods: Pods,
}

/// What a Job is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pods {
    /// How many there are.
    pub number: u32,
    /// The image, which has `ablaze` of this version on its PATH.
    pub image: String,
    /// When the image is pulled.
    pub pull: Option<String>,
    /// The secret that the image is pulled with.
    pub pull_secret: Option<String>,
    /// CPUs that are requested, as Kubernetes writes quantities.
    pub cpu: String,
    /// Memory that is requested.
    pub memory: String,
    /// Most CPUs; `None` for no limit.
    pub cpu_limit: Option<String>,
    /// Most memory; `None` for no limit.
    pub memory_limit: Option<String>,
    /// Labels that the nodes have.
    pub nodes: Vec<(String, String)>,
    /// Taints of nodes that do not keep them away.
    pub tolerations: Vec<Toleration>,
    /// Two of them may be on one node.
    pub share_nodes: bool,
    /// They use the network of their nodes.
    pub host_network: bool,
    /// The account that they run as; none of them is given its token.
    pub service_account: Option<String>,
    /// Which system calls they may make.
    pub seccomp: Seccomp,
    /// When the Job ends, whatever happens, ns; `None` where the load says how long it takes.
    pub limit_ns: Option<u64>,
}

/// A taint that the pods tolerate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toleration {
    /// The key of the taint.
    pub key: String,
    /// Its value; `None` for any.
    pub value: Option<String>,
    /// What it does; `None` for all.
    pub effect: Option<String>,
}

/// Which system calls the pods may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seccomp {
    /// What the node's runtime permits.
    RuntimeDefault,
    /// All.
    Unconfined,
    /// What a file of the node permits.
    Localhost(String),
}

impl Options {
    /// What stands behind `k8s`.
    ///
    /// # Errors
    /// When it cannot be read: what it can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (place, keys) = text.split_once(',').unwrap_or((text, ""));
        let mut options = Self {
            context: None,
            namespace: None,
            job: None,
            wait_ns: 300_000_000_000,
            pods: Pods::new(),
        };
        if let Some(place) = place.strip_prefix(':') {
            // Contexts of some providers have slashes in them: the last one counts, or context= is used.
            let (context, namespace) = place.rsplit_once('/').unwrap_or((place, ""));
            options.context = some(context);
            options.namespace = some(namespace);
        }
        let mut given = Vec::new();
        for word in keys.split(',').filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            options.set(key, value)?;
            given.push(key);
        }
        options.checked(&given)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let is_switch = ["share-nodes", "host-network"].contains(&key);
        match (is_switch, value.is_empty()) {
            (true, false) => return Err(format!("k8s: {key} has no value")),
            (false, true) => return Err(format!("k8s: `{key}` needs a value; use {KEYS}")),
            _ => {}
        }
        let text = value.to_owned();
        match key {
            "context" => self.context = Some(text),
            "namespace" => self.namespace = Some(text),
            "job" => self.job = Some(named(key, value)?),
            "wait" => self.wait_ns = values::duration_ns(value)?,
            _ => self.pods.set(key, value)?,
        }
        Ok(())
    }

    fn checked(self, given: &[&str]) -> Result<Self, String> {
        for name in self.context.iter().chain(&self.namespace) {
            if name.chars().any(char::is_control) {
                return Err("k8s: a context or a namespace has no control characters".to_owned());
            }
        }
        let about_pods = |key: &&&str| !["job", "wait", "context", "namespace"].contains(*key);
        match (&self.job, given.iter().find(about_pods)) {
            (Some(_), Some(key)) => Err(format!(
                "k8s: {key} has no effect on a Job that is there already (job=…): leave it out"
            )),
            (None, _) if self.pods.image.is_empty() => Err(format!(
                "k8s: image=IMAGE names an image with ablaze {}",
                env!("CARGO_PKG_VERSION")
            )),
            _ => Ok(self),
        }
    }
}

impl Pods {
    fn new() -> Self {
        Self {
            number: 2,
            image: String::new(),
            pull: None,
            pull_secret: None,
            cpu: "1".to_owned(),
            memory: "256Mi".to_owned(),
            cpu_limit: None,
            memory_limit: None,
            nodes: Vec::new(),
            tolerations: Vec::new(),
            share_nodes: false,
            host_network: false,
            service_account: None,
            seccomp: Seccomp::RuntimeDefault,
            limit_ns: None,
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = value.to_owned();
        match key {
            "n" => {
                let number = value.parse().ok().filter(|number| (1..=WORKERS_MAX).contains(number));
                self.number = number.ok_or(format!("k8s: n is 1 to {WORKERS_MAX}"))?;
            }
            "image" => self.image = text,
            "pull" => self.pull = Some(one_of(key, value, &["Always", "IfNotPresent", "Never"])?),
            "pull-secret" => self.pull_secret = Some(named(key, value)?),
            "cpu" => self.cpu = text,
            "memory" => self.memory = text,
            "cpu-limit" => self.cpu_limit = Some(text),
            "memory-limit" => self.memory_limit = Some(text),
            "node" => {
                let label = value.split_once('=').ok_or("k8s: use node=LABEL=VALUE")?;
                self.nodes.push((label.0.to_owned(), label.1.to_owned()));
            }
            "toleration" => self.tolerations.push(Toleration::parse(value)?),
            "share-nodes" => self.share_nodes = true,
            "host-network" => self.host_network = true,
            "service-account" => self.service_account = Some(named(key, value)?),
            "seccomp" => {
                self.seccomp = match (value, value.strip_prefix("Localhost:")) {
                    ("RuntimeDefault", _) => Seccomp::RuntimeDefault,
                    ("Unconfined", _) => Seccomp::Unconfined,
                    (_, Some(file)) => Seccomp::Localhost(file.to_owned()),
                    _ => {
                        let known = "RuntimeDefault, Unconfined or Localhost:FILE";
                        return Err(format!("k8s: seccomp is {known}"));
                    }
                };
            }
            "limit" => self.limit_ns = Some(values::duration_ns(value)?),
            _ => return Err(format!("k8s: `{key}` is not known; use {KEYS}")),
        }
        Ok(())
    }
}

impl Toleration {
    /// `KEY`, `KEY=VALUE`, `KEY:EFFECT` or `KEY=VALUE:EFFECT`, as kubectl taint writes taints.
    fn parse(text: &str) -> Result<Self, String> {
        let (label, effect) = match text.rsplit_once(':') {
            None => (text, None),
            Some((label, effect)) => {
                let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
                (label, Some(one_of("toleration's effect", effect, &known)?))
            }
        };
        let (key, value) = match label.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (label, None),
        };
        Ok(Self { key: key.to_owned(), value, effect })
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn one_of(key: &str, value: &str, known: &[&str]) -> Result<String, String> {
    match known.contains(&value) {
        true => Ok(value.to_owned()),
        false => Err(format!("k8s: {key} is one of {}", known.join(", "))),
    }
}

/// A name as objects of Kubernetes have it (RFC 1123: a DNS subdomain).
fn named(key: &str, value: &str) -> Result<String, String> {
    let fine =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    match value.bytes().all(fine) && !value.starts_with(['-', '.']) && value.len() <= 253 {
        true => Ok(value.to_owned()),
        false => Err(format!("k8s: {key}={value} is not the name of an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_and_a_namespace_are_told_apart_by_the_last_slash() {
        let at = |text: &str| {
            let options = Options::parse(&format!("{text},image=i")).unwrap();
            (options.context, options.namespace)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(at(""), (None, None));
        assert_eq!(at(":prod"), (some("prod"), None));
        assert_eq!(at(":prod/load"), (some("prod"), some("load")));
        assert_eq!(at(":/load"), (None, some("load")));
        assert_eq!(at(":arn:aws:eks:x:cluster/a/load").0, some("arn:aws:eks:x:cluster/a"));
        assert_eq!(at(",context=cluster/a").0, some("cluster/a"));
    }

    #[test]
    fn what_is_said_of_the_pods_is_kept() {
        let text = ",n=4,image=r:5000/a@sha256:00,pull=Never,cpu-limit=2,node=pool=load,share-nodes,\
                    toleration=only=load:NoSchedule,toleration=spot,seccomp=Localhost:p.json,limit=2h";
        let pods = Options::parse(text).unwrap().pods;
        assert_eq!((pods.number, pods.image.as_str()), (4, "r:5000/a@sha256:00"));
        assert_eq!(pods.nodes, [("pool".to_owned(), "load".to_owned())]);
        assert_eq!(pods.tolerations[0].effect.as_deref(), Some("NoSchedule"));
        assert_eq!(pods.tolerations[1].value, None);
        assert_eq!(pods.seccomp, Seccomp::Localhost("p.json".to_owned()));
        assert_eq!((pods.share_nodes, pods.limit_ns), (true, Some(7_200_000_000_000)));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (text, part) in [
            ("", "image=IMAGE names an image"),
            (",image=", "`image` needs a value"),
            (",image=i,n=0", "n is 1 to"),
            (",image=i,replicas=3", "`replicas` is not known; use n, image"),
            (",image=i,pull=always", "one of Always, IfNotPresent, Never"),
            (",image=i,share-nodes=1", "share-nodes has no value"),
            (",image=i,toleration=a:Never", "one of NoSchedule"),
            (",job=-o", "not the name of an object"),
            (",job=load,image=i", "image has no effect on a Job that is there"),
        ] {
            let refused = Options::parse(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
