//! A fleet whose hosts are known and are there: what was to be made for it is made, and taken away when this goes.

use std::process::Command;
use std::sync::Arc;

use ablaze_fleet::Outcome;

use super::Place;
use super::docker::Docker;
use super::k8s::{Job, Kubernetes};
use super::leftovers::Guard;
use super::place::By;
use super::slurm::{self, Allocation};
use super::ssh::Pushed;
use crate::CommandError;

/// A fleet that workers can be started in.
pub struct Placed {
    place: Place,
    /// The names of the hosts, one for each worker.
    pub hosts: Vec<String>,
    made: Made,
}

/// What was made for it.
enum Made {
    Nothing,
    Job(Box<Kubernetes>, Job),
    Containers {
        docker: Docker,
        id: String,
        guards: Vec<Option<Guard>>,
    },
    /// Nodes that Slurm gave, released when it goes.
    Nodes(#[expect(dead_code, reason = "it is there to be dropped")] Allocation),
}

impl Placed {
    /// Makes what is to be made under this name (`id`) for loads that take so long together, if that is known.
    ///
    /// # Errors
    /// When it cannot be made, or hosts cannot be told.
    pub fn of(place: &Place, id: &str, load_ns: Option<u64>) -> Result<Self, CommandError> {
        let (hosts, made) = match place.by_what() {
            By::Kubernetes(kubernetes) => {
                let job = kubernetes.place(id, load_ns)?;
                (job.pods.clone(), Made::Job(kubernetes.clone(), job))
            }
            By::Docker(docker) => {
                let made = Made::Containers {
                    docker: docker.clone(),
                    id: id.to_owned(),
                    guards: docker.place(id),
                };
                (docker.names(), made)
            }
            By::Slurm(None) => {
                let hosts = place.hosts()?;
                let allocation = slurm::allocate(hosts.len() as u32)?;
                let place = allocation.place();
                let hosts = place.hosts()?;
                return Ok(Self { place, hosts, made: Made::Nodes(allocation) });
            }
            By::Process | By::Template(_) | By::Ssh { .. } | By::Slurm(Some(_)) => {
                (place.hosts()?, Made::Nothing)
            }
        };
        Ok(Self { place: place.clone(), hosts, made })
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The command that has a worker's host run `ablaze` with these words.
    ///
    /// # Errors
    /// When this program does not know its own file.
    pub fn command(&self, index: usize, words: &[&str]) -> Result<Command, CommandError> {
        let host = self.hosts.get(index).map_or("", String::as_str);
        match &self.made {
            Made::Nothing | Made::Nodes(_) => self.place.command(host, index, words),
            Made::Job(kubernetes, _) => Ok(kubernetes.command(host, words)),
            Made::Containers { docker, id, .. } => Ok(docker.command(id, index, words)),
        }
    }

    /// What has to be said before a worker is there.
    ///
    /// # Errors
    /// When this program's own file cannot be read.
    pub fn greeting(&self) -> Result<Option<Arc<Pushed>>, CommandError> {
        self.place.greeting()
    }

    /// Whether workers go on afterwards with what waits for them.
    pub fn stays(&self) -> bool {
        match &self.made {
            // Processes of this one, which ends them.
            Made::Nothing if self.place.is_this_machine() => false,
            Made::Nothing | Made::Nodes(_) => true,
            Made::Job(_, job) => job.stays(),
            Made::Containers { .. } => false,
        }
    }

    /// Adds what the engine knows of workers that were lost, and forgets what these show was never made.
    pub fn explain(&mut self, outcome: &mut Outcome) {
        match &mut self.made {
            Made::Nothing | Made::Nodes(_) => {}
            Made::Containers { docker, guards, .. } => {
                docker.forget_unmade(guards, &outcome.workers);
            }
            Made::Job(kubernetes, job) => {
                for worker in &mut outcome.workers {
                    let Some(lost) = &mut worker.lost else { continue };
                    if let Some(why) = kubernetes.why_lost(job, &worker.name) {
                        *lost = format!("{lost}; {why}");
                    }
                }
            }
        }
    }
}
