//! Where the workers of a fleet are, as `--fleet` says it, and the command that starts one there.
//!
//! - `ssh:a,b`, `ssh:@FILE`: a process on each of these hosts, over the system's ssh ([`super::ssh`]); with `,program=keep`
//!   behind them hosts keep the program that they were sent.
//! - `exec:3`: so many processes on this host.
//! - `exec:a,b,c=COMMAND`: a process for each of these names. In the words of COMMAND `{host}` is the name, `{index}` its
//!   number from 0, and `{cmd}` what is to run there.
//! - `k8s[:CONTEXT/NAMESPACE],…`: the pods of a Job on Kubernetes ([`super::k8s`]).
//! - `docker:[HOST,…],…`: containers ([`super::docker`]).
//! - `slurm:3`: a step on each of so many nodes, which Slurm gives ([`super::slurm`]).

use std::process::Command;
use std::sync::Arc;

use super::docker::Docker;
use super::k8s::Kubernetes;
use super::slurm;
use super::ssh::{self, Pushed};
use crate::CommandError;
use crate::shell;

/// Most workers of a fleet.
const WORKERS_MAX: usize = 1000;

/// Where the workers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    hosts: Hosts,
    by: By,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Names(Vec<String>),
    /// In the lines of a file.
    File(String),
    /// What reaches them has them.
    Made,
}

/// What reaches them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// They are processes of this host.
    Process,
    /// A command, as its words.
    Template(Vec<String>),
    /// The system's ssh.
    Ssh {
        /// Whether hosts keep the program that they are sent.
        keeps: bool,
    },
    /// The pods of a Job, and the user's kubectl.
    Kubernetes(Box<Kubernetes>),
    /// Containers, and the user's docker.
    Docker(Docker),
    /// Slurm, with the number of the job whose nodes these are: none before it was given.
    Slurm(Option<String>),
}

impl Place {
    /// As `--fleet` says it.
    ///
    /// # Errors
    /// When it cannot be read: what it can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let made = |by| Self { hosts: Hosts::Made, by };
        if let Some(rest) =
            text.strip_prefix("k8s").filter(|rest| rest.is_empty() || rest.starts_with([':', ',']))
        {
            return Ok(made(By::Kubernetes(Box::new(Kubernetes::parse(rest)?))));
        }
        match text.split_once(':') {
            Some(("docker", rest)) => Ok(made(By::Docker(Docker::parse(rest)?))),
            Some(("exec", rest)) => Self::exec(rest),
            Some(("ssh", rest)) => Self::ssh(rest),
            Some(("slurm", nodes)) => Self::slurm(nodes),
            _ => {
                Err("use ssh:HOST,HOST, k8s,image=IMAGE, docker:HOST,image=IMAGE, slurm:NODES, exec:NUMBER \
                     or exec:NAMES=COMMAND"
                    .to_owned())
            }
        }
    }

    fn ssh(text: &str) -> Result<Self, String> {
        // No name of a host has a `=`.
        let (hosts, keeps) = match text.rsplit_once(",program=") {
            Some((hosts, "keep")) => (hosts, true),
            Some((_, other)) => {
                return Err(format!(
                    "program={other}: use program=keep, with which hosts keep the program that they are sent"
                ));
            }
            None => (text, false),
        };
        Ok(Self { hosts: Hosts::parse(hosts)?, by: By::Ssh { keeps } })
    }

    fn slurm(text: &str) -> Result<Self, String> {
        let nodes = text.parse().ok().filter(|nodes| (1..=WORKERS_MAX).contains(nodes));
        let nodes: usize =
            nodes.ok_or_else(|| format!("slurm:{text} is not a number of nodes: use slurm:3"))?;
        // Their names are not known before they are given.
        let names = (1..=nodes).map(|number| format!("node-{number}")).collect();
        Ok(Self { hosts: Hosts::Names(names), by: By::Slurm(None) })
    }

    /// These nodes of a job of Slurm's.
    pub fn of_slurm_job(job: &str, nodes: Vec<String>) -> Self {
        Self { hosts: Hosts::Names(nodes), by: By::Slurm(Some(job.to_owned())) }
    }

    /// Whether all workers are processes of this machine, and know its loopback addresses.
    pub fn is_this_machine(&self) -> bool {
        self.by == By::Process
    }

    fn exec(text: &str) -> Result<Self, String> {
        let Some((names, template)) = text.split_once('=') else {
            let number = text.parse().map_err(|_| {
                format!("exec:{text} has no command: use exec:NUMBER or exec:NAMES=COMMAND")
            })?;
            if !(1..=WORKERS_MAX).contains(&number) {
                return Err(format!("exec:{text}: use exec:NUMBER with 1 to {WORKERS_MAX}"));
            }
            let names = (1..=number).map(|number| format!("worker-{number}")).collect();
            return Ok(Self { hosts: Hosts::Names(names), by: By::Process });
        };
        let commands = shell::commands(template, &mut Vec::new())?;
        let [words] = commands.as_slice() else {
            return Err("the command behind = is not one command".to_owned());
        };
        if !words.iter().any(|word| word.contains("{cmd}")) {
            return Err(
                "the command behind = needs {cmd}, which stands for `ablaze worker`".to_owned()
            );
        }
        Ok(Self { hosts: Hosts::parse(names)?, by: By::Template(words.clone()) })
    }

    /// How many workers there will be.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn count(&self) -> Result<usize, CommandError> {
        match &self.by {
            By::Kubernetes(kubernetes) => kubernetes.count(),
            By::Docker(docker) => Ok(docker.names().len()),
            By::Process | By::Template(_) | By::Ssh { .. } | By::Slurm(_) => {
                Ok(self.hosts()?.len())
            }
        }
    }

    /// The manifest of what would be made, where there is one.
    ///
    /// # Errors
    /// When there is none.
    pub fn manifest(&self) -> Result<String, CommandError> {
        match &self.by {
            By::Kubernetes(kubernetes) => kubernetes.manifest(),
            _ => Err(CommandError::usage("only a fleet on Kubernetes (k8s,…) has a manifest")),
        }
    }

    /// What reaches the workers.
    pub fn by_what(&self) -> &By {
        &self.by
    }

    /// The names of the hosts that are there already, one for each worker.
    ///
    /// # Errors
    /// When the file with their names cannot be read, or has none.
    pub fn hosts(&self) -> Result<Vec<String>, CommandError> {
        let path = match &self.hosts {
            Hosts::Names(names) => return Ok(names.clone()),
            Hosts::File(path) => path,
            Hosts::Made => return Ok(Vec::new()),
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            CommandError::usage(format!("--fleet cannot read `{path}`: {error}"))
        })?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let names: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        checked(&names).map_err(|why| CommandError::usage(format!("--fleet `{path}`: {why}")))
    }

    /// What reaches a worker, as the report names it.
    pub fn by(&self) -> &'static str {
        match self.by {
            By::Process | By::Template(_) => "exec",
            By::Ssh { .. } => "ssh",
            By::Kubernetes(_) => "k8s",
            By::Docker(_) => "docker",
            By::Slurm(_) => "slurm",
        }
    }

    /// What has to be said before a worker is there: the program itself, where the host has another or none.
    ///
    /// # Errors
    /// When this program's own file cannot be read.
    pub fn greeting(&self) -> Result<Option<Arc<Pushed>>, CommandError> {
        match self.by {
            By::Process | By::Template(_) | By::Kubernetes(_) | By::Docker(_) | By::Slurm(_) => {
                Ok(None)
            }
            By::Ssh { keeps } => Ok(Some(Arc::new(Pushed::own(keeps)?))),
        }
    }

    /// The command that has a host, which is there already, run `ablaze` with these words.
    ///
    /// # Errors
    /// When this program does not know its own file.
    pub fn command(
        &self,
        host: &str,
        index: usize,
        words: &[&str],
    ) -> Result<Command, CommandError> {
        match &self.by {
            By::Process => {
                let program = std::env::current_exe().map_err(|error| {
                    CommandError::machine(format!("cannot find the file of this program: {error}"))
                })?;
                let mut command = Command::new(program);
                command.args(words);
                Ok(command)
            }
            By::Ssh { .. } => Ok(ssh::command(host, words)),
            By::Slurm(job) => slurm::command(job.as_deref().unwrap_or_default(), host, words),
            By::Template(template) => {
                let filled = filled(template, host, index, words);
                let (program, arguments) = filled
                    .split_first()
                    .ok_or_else(|| CommandError::usage("--fleet: the command is empty"))?;
                let mut command = Command::new(program);
                command.args(arguments);
                Ok(command)
            }
            By::Kubernetes(_) | By::Docker(_) => {
                Err(CommandError::machine(format!("--fleet: {host} is not there yet")))
            }
        }
    }
}

/// The words of a template for one host. A word `{cmd}` becomes several words; inside of a word it is a line for a shell.
fn filled(template: &[String], host: &str, index: usize, words: &[&str]) -> Vec<String> {
    let own: Vec<String> =
        std::iter::once("ablaze").chain(words.iter().copied()).map(str::to_owned).collect();
    let line = shell::line(&own);
    let one = |word: &String| match word.as_str() {
        "{cmd}" => own.clone(),
        word => {
            let word = word.replace("{host}", host).replace("{index}", &index.to_string());
            vec![word.replace("{cmd}", &line)]
        }
    };
    template.iter().flat_map(one).collect()
}

impl Hosts {
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(path) => Ok(Self::File(path.to_owned())),
            None => checked(&text.split(',').map(str::trim).collect::<Vec<_>>()).map(Self::Names),
        }
    }
}

/// Names that can stand in a command: a name that begins with `-` would be an option there.
fn checked(names: &[&str]) -> Result<Vec<String>, String> {
    let is_name = |name: &str| {
        let fine = |letter: char| letter.is_alphanumeric() || "._-@:[]%/".contains(letter);
        !name.is_empty() && !name.starts_with('-') && name.chars().all(fine)
    };
    if names.is_empty() || names.len() > WORKERS_MAX {
        return Err(format!("{} hosts: use 1 to {WORKERS_MAX}", names.len()));
    }
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(format!("`{name}` is not the name of a host")),
        None => Ok(names.iter().map(|name| (*name).to_owned()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(place: &Place, host: &str, index: usize) -> Vec<String> {
        let command = place.command(host, index, &["worker"]).unwrap();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_template_is_filled_for_each_host() {
        let place = Place::parse("exec:a,b=docker exec -i {host} {cmd} --x {index}").unwrap();
        assert_eq!(place.hosts().unwrap(), ["a", "b"]);
        let expected = ["docker", "exec", "-i", "b", "ablaze", "worker", "--x", "1"];
        assert_eq!(words_of(&place, "b", 1), expected);
        let place = Place::parse("exec:a=sh -c 'exec {cmd}'").unwrap();
        assert_eq!(words_of(&place, "a", 0), ["sh", "-c", "exec ablaze worker"]);
    }

    #[test]
    fn hosts_keep_the_program_where_that_is_asked_for() {
        let place = Place::parse("ssh:a,b,program=keep").unwrap();
        assert_eq!(
            (place.hosts().unwrap(), &place.by),
            (vec!["a".into(), "b".into()], &By::Ssh { keeps: true })
        );
        assert_eq!(Place::parse("ssh:a").unwrap().by, By::Ssh { keeps: false });
        let of_file = Place::parse("ssh:@my,hosts,program=keep").unwrap();
        assert_eq!(of_file.hosts, Hosts::File("my,hosts".to_owned()));
    }

    #[test]
    fn a_number_is_so_many_processes_of_this_host() {
        let place = Place::parse("exec:2").unwrap();
        assert_eq!(place.hosts().unwrap(), ["worker-1", "worker-2"]);
        assert_eq!(words_of(&place, "worker-1", 0)[1..], ["worker"]);
    }

    #[test]
    fn what_cannot_be_a_fleet_is_refused() {
        for (text, part) in [
            ("exec:0", "exec:NUMBER"),
            ("exec:a,b", "has no command"),
            ("exec:a=true", "needs {cmd}"),
            ("exec:a={cmd} | cat; x", "not one command"),
            ("exec:-oProxyCommand=x {cmd}", "not the name of a host"),
            ("exec:a,,b={cmd}", "not the name of a host"),
            ("pigeon:a", "use ssh:HOST,HOST"),
            ("slurm:a,b", "not a number of nodes"),
            ("slurm:0", "not a number of nodes"),
            ("ssh:", "not the name of a host"),
            ("ssh:a,program=leave", "use program=keep"),
            ("ssh:program=keep", "not the name of a host"),
            ("ssh:a;reboot", "not the name of a host"),
        ] {
            let refused = Place::parse(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
