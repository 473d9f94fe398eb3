//! Workers in containers of their own, through the user's own docker: on this machine, or on others that it reaches over ssh.

use std::process::Command;

use ablaze_fleet::coordinator::WorkerOutcome;

use super::leftovers::{Guard, Leftover};

/// Most containers on one host.
const CONTAINERS_MAX: usize = 100;

/// A fleet of containers, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Docker {
    /// What stands behind `-H`; empty for the present context of docker.
    hosts: Vec<String>,
    /// Containers on each host.
    number: usize,
    image: String,
    pull: Option<String>,
    network: String,
    seccomp: Option<String>,
}

impl Docker {
    /// As it stands behind `docker:`: `[HOST,…][,image=IMAGE][,KEY=VALUE]…`.
    ///
    /// # Errors
    /// When it cannot be read: what it can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut docker = Self {
            hosts: Vec::new(),
            number: 1,
            image: String::new(),
            pull: None,
            network: "host".to_owned(),
            seccomp: None,
        };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                None => docker.hosts.push(host(word)?),
                Some((key, value)) => docker.set(key, value)?,
            }
        }
        match docker.image.is_empty() {
            false => Ok(docker),
            true => Err(format!(
                "docker: image=IMAGE names an image with ablaze {}",
                env!("CARGO_PKG_VERSION")
            )),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if value.is_empty() || value.starts_with('-') {
            return Err(format!("docker: `{value}` is not a valid value for {key}"));
        }
        let text = value.to_owned();
        match key {
            "image" => self.image = text,
            "n" => {
                let number =
                    value.parse().ok().filter(|number| (1..=CONTAINERS_MAX).contains(number));
                self.number =
                    number.ok_or(format!("docker: n is 1 to {CONTAINERS_MAX} on each host"))?;
            }
            "pull" if ["always", "missing", "never"].contains(&value) => self.pull = Some(text),
            "pull" => return Err("docker: pull is one of always, missing, never".to_owned()),
            "network" => self.network = text,
            "seccomp" => self.seccomp = Some(text),
            _ => {
                let known = "image, n, pull, network or seccomp";
                return Err(format!("docker: `{key}` is not known; use {known}"));
            }
        }
        Ok(())
    }

    /// A name for each worker: its host, or its number on this machine.
    pub fn names(&self) -> Vec<String> {
        match self.hosts.is_empty() {
            true => (1..=self.number).map(|number| format!("container-{number}")).collect(),
            false => {
                let each = |host: &String| vec![shown(host); self.number];
                self.hosts.iter().flat_map(each).collect()
            }
        }
    }

    /// Has every container of this fleet taken away at the end: a guard for each host.
    pub fn place(&self, id: &str) -> Vec<Option<Guard>> {
        let count = self.names().len();
        let hosts = if self.hosts.is_empty() { vec![String::new()] } else { self.hosts.clone() };
        let guard = |(at, host): (usize, &String)| {
            let names: Vec<String> = (0..count)
                .filter(|index| index / self.number == at)
                .map(|index| container(id, index))
                .collect();
            let mut words = docker(host);
            words.extend(["rm".to_owned(), "-f".to_owned()]);
            words.extend(names.iter().cloned());
            let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
            let what = format!("what may be left of the containers {}{on}", names.join(", "));
            // `--rm` has them gone, or going, by then.
            Some(Guard::of(Leftover { what, words, gone: &GONE }))
        };
        hosts.iter().enumerate().map(guard).collect()
    }

    /// Forgets the containers of hosts on which none was made: the guards are those of [`Docker::place`].
    pub fn forget_unmade(&self, guards: &mut [Option<Guard>], workers: &[WorkerOutcome]) {
        for (guard, workers) in guards.iter_mut().zip(workers.chunks(self.number)) {
            let unmade = is_unreached(workers);
            if let Some(guard) = guard.take_if(|_| unmade) {
                guard.forget();
            }
        }
    }

    /// The command that has a worker's container run `ablaze` with these words; its first is the container itself.
    pub fn command(&self, id: &str, index: usize, words: &[&str]) -> Command {
        let host = self.hosts.get(index / self.number).map_or("", String::as_str);
        let mut line = docker(host);
        let name = container(id, index);
        let mut add = |words: &[&str]| line.extend(words.iter().map(|word| (*word).to_owned()));
        if words.first() == Some(&"worker") {
            add(&["run", "-i", "--rm", "--name", &name, "--network", &self.network]);
            add(&["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]);
            if let Some(pull) = &self.pull {
                add(&["--pull", pull]);
            }
            if let Some(seccomp) = &self.seccomp {
                add(&["--security-opt", &format!("seccomp={seccomp}")]);
            }
            add(&["--entrypoint", "ablaze", &self.image]);
        } else {
            add(&["exec", &name, "ablaze"]);
        }
        add(words);
        let mut command = Command::new("docker");
        command.args(line.iter().skip(1));
        command
    }
}

/// What docker says of a container that is not there any more, or goes. A docker that cannot be started has started none,
/// and one that ends takes its containers along.
const GONE: [&str; 3] =
    ["No such container", "is already in progress", "`docker` cannot be started"];

/// What docker says, before it asks for anything, where it reaches no daemon: with the default host, since version 29, and
/// over ssh, where the first request is a ping.
const UNREACHED: [&str; 3] =
    ["Cannot connect to the Docker daemon", "failed to connect to the docker API", "/_ping"];

/// Whether the daemon of these workers was reached by none of them. Those that were still being started when the first was lost
/// have no word of their own.
fn is_unreached(workers: &[WorkerOutcome]) -> bool {
    let says = |lost: &str| UNREACHED.iter().any(|said| lost.contains(said));
    let never_ready = |worker: &WorkerOutcome| {
        worker.machine.is_none() && worker.lost.as_deref().is_none_or(says)
    };
    workers.iter().all(never_ready) && workers.iter().any(|worker| worker.lost.is_some())
}

fn container(id: &str, index: usize) -> String {
    format!("ablaze-{}-{index}", id.get(..8).unwrap_or(id))
}

fn docker(host: &str) -> Vec<String> {
    let mut words = vec!["docker".to_owned()];
    if !host.is_empty() {
        words.extend(["-H".to_owned(), host.to_owned()]);
    }
    words
}

/// What docker takes behind `-H`: a name is a host that is reached over ssh.
fn host(word: &str) -> Result<String, String> {
    let fine = |letter: char| letter.is_alphanumeric() || "._-@:[]%/".contains(letter);
    if word.starts_with('-') || !word.chars().all(fine) {
        return Err(format!("docker: `{word}` is not the name of a host"));
    }
    Ok(if word.contains("://") { word.to_owned() } else { format!("ssh://{word}") })
}

fn shown(host: &str) -> String {
    host.strip_prefix("ssh://").unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";

    fn line(docker: &Docker, index: usize, words: &[&str]) -> String {
        let command = docker.command(ID, index, words);
        let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_host_has_its_containers() {
        let docker = Docker::parse("a,unix:///s,image=i:1,n=2,seccomp=unconfined").unwrap();
        assert_eq!(docker.names(), ["a", "a", "unix:///s", "unix:///s"]);
        let first = line(&docker, 1, &["worker"]);
        assert!(first.starts_with("-H ssh://a run -i --rm --name ablaze-01234567-1"), "{first}");
        assert!(
            first.contains("--network host") && first.contains("seccomp=unconfined"),
            "{first}"
        );
        assert!(first.ends_with("--entrypoint ablaze i:1 worker"), "{first}");
        let collect = line(&docker, 2, &["fleet", "collect", "x"]);
        assert_eq!(collect, "-H unix:///s exec ablaze-01234567-2 ablaze fleet collect x");
    }

    #[test]
    fn without_a_host_it_is_this_machine() {
        let docker = Docker::parse("n=3,image=i").unwrap();
        assert_eq!(docker.names(), ["container-1", "container-2", "container-3"]);
        assert!(line(&docker, 2, &["worker"]).starts_with("run -i"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, part) in [
            ("", "image=IMAGE names an image"),
            ("a", "image=IMAGE names an image"),
            ("-a,image=i", "not the name of a host"),
            ("a;b,image=i", "not the name of a host"),
            ("image=--privileged", "is not a valid value for image"),
            ("image=i,n=0", "n is 1 to"),
            ("image=i,pull=Always", "one of always, missing, never"),
            ("image=i,cpus=2", "`cpus` is not known"),
        ] {
            let refused = Docker::parse(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
