//! `--fleet slurm:N`: against commands that keep to what Slurm's documentation says of theirs, and against Slurm itself,
//! with two nodes on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Running, Scratch, ports};
use rustix::process::Signal;

use super::coordinator;
use crate::e2e::support::{Ran, eventually, number, run, serve, start, url};

/// Commands of Slurm's names, which write down what they are asked.
struct Scripted(Scratch);

impl Scripted {
    fn new(name: &str) -> Self {
        let this = Self(Scratch::new(name));
        let log = this.0.path().join("log").display().to_string();
        for (name, does) in [
            ("salloc", "echo 'salloc: Granted job allocation 4711' >&2"),
            ("squeue", "echo 'n[1-2]'"),
            ("scontrol", "echo n1; echo n2"),
            ("scancel", ":"),
            // What is behind its options is the command.
            (
                "srun",
                "while [ \"${1#-}\" != \"$1\" ]; do [ \"$1\" = -w ] && shift; shift; done; exec \"$@\"",
            ),
        ] {
            let path = this.0.path().join(name);
            fs::write(&path, format!("#!/bin/sh\necho {name} \"$*\" >> {log}\n{does}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        this
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = coordinator(words);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path().display()));
        command.current_dir(self.0.path());
        command
    }

    /// What they were asked, a line each, without the steps of workers.
    fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| !line.starts_with("srun")).map(str::to_owned).collect()
    }

    fn steps(&self) -> Vec<String> {
        let log = fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        let mut steps: Vec<String> =
            log.lines().filter(|line| line.starts_with("srun")).map(str::to_owned).collect();
        steps.sort();
        steps
    }
}

const ASKED: [&str; 4] = [
    "salloc --no-shell --job-name=ablaze --nodes=2-2",
    "squeue --noheader --format=%N --jobs 4711",
    "scontrol show hostnames n[1-2]",
    "scancel 4711",
];

#[test]
fn nodes_are_asked_for_once_and_each_has_a_step() {
    let (server, slurm) = (serve(), Scripted::new("fleet-slurm-scripted"));
    let target = url(&server, "/");
    let words =
        ["load", "--quiet", "--json", "--fleet", "slurm:2", "-n", "301", "-c", "4", &target];
    let ran = run(&mut slurm.command(&words));
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!((number(&json, "/responses"), &json["fleet"]["by"]), (301, &"slurm".into()));
    assert_eq!(json["fleet"]["workers"][1]["name"], "n2");
    assert_eq!(slurm.asked(), ASKED);
    let steps = slurm.steps();
    assert_eq!(steps.len(), 2);
    assert!(steps[0].starts_with("srun --jobid=4711 -N1 -n1 --overlap --quiet -w n1"), "{steps:?}");
    assert!(steps[1].contains("-w n2"), "{steps:?}");
}

#[test]
fn an_experiment_has_one_allocation_for_all_its_runs() {
    let (server, slurm) = (serve(), Scripted::new("fleet-slurm-experiment"));
    let target = url(&server, "/");
    let words = ["sweep", "--quiet", "--fleet", "slurm:2", "-c", "2,4", "-n", "100", &target];
    let ran = run(&mut slurm.command(&words));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(server.served().requests, 200);
    assert_eq!((slurm.asked(), slurm.steps().len()), (ASKED.map(str::to_owned).to_vec(), 2));
}

#[test]
fn nodes_are_given_back_when_the_run_is_interrupted() {
    let (server, slurm) = (serve(), Scripted::new("fleet-slurm-interrupted"));
    let target = url(&server, "/");
    let words = ["load", "--quiet", "--fleet", "slurm:2", "-d", "30", "-c", "4", &target];
    let child = start(&mut slurm.command(&words));
    assert!(eventually(|| server.served().requests > 100), "nothing arrives");
    child.signal(Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert_eq!(slurm.asked(), ASKED);
}

#[test]
fn without_nodes_there_is_one_line_with_what_slurm_said() {
    let slurm = Scripted::new("fleet-slurm-refused");
    let refuses = "#!/bin/sh\necho 'salloc: error: Job submit/allocate failed: Invalid node count' >&2; exit 1\n";
    fs::write(slurm.0.path().join("salloc"), refuses).unwrap();
    let words = ["load", "--quiet", "--fleet", "slurm:2", "-n", "10", "-c", "2", ":1/"];
    let ran = run(&mut slurm.command(&words));
    ran.assert_one_line(1, "salloc gave no allocation");
    assert!(ran.stderr.contains("Invalid node count"), "{ran:?}");
    assert!(slurm.asked().is_empty());
}

/// Slurm with two nodes on this machine: its own munged, slurmctld and two slurmd.
struct Slurm {
    folder: Scratch,
    running: Vec<Running>,
}

impl Slurm {
    fn start(name: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("slurmd needs root".to_owned());
        }
        let folder = Scratch::new(name);
        let shown = folder.path().display().to_string();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let [controller, first, second] = [ports::free(), ports::free(), ports::free()];
        fs::write(folder.path().join("key"), [7; 64]).unwrap();
        fs::set_permissions(folder.path().join("key"), fs::Permissions::from_mode(0o400)).unwrap();
        let configuration = format!(
            "ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmUser=root\n\
             SlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket={shown}/munge\nStateSaveLocation={shown}/state\n\
             SlurmdSpoolDir={shown}/spool.%n\nSlurmctldPidFile={shown}/ctld.pid\nSlurmdPidFile={shown}/%n.pid\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nReturnToService=2\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1 State=UNKNOWN\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1 State=UNKNOWN\n\
             PartitionName=all Nodes=n1,n2 Default=YES MaxTime=10 State=UP\n"
        );
        fs::create_dir(folder.path().join("state")).unwrap();
        fs::write(folder.path().join("slurm.conf"), configuration).unwrap();
        let mut this = Self { folder, running: Vec::new() };
        let [socket, key, pid, log, seed] = ["munge", "key", "munge.pid", "munge.log", "seed"]
            .map(|name| format!("{shown}/{name}"));
        this.begin(
            "munged",
            &[
                "--foreground",
                "--force",
                "--socket",
                &socket,
                "--key-file",
                &key,
                "--pid-file",
                &pid,
                "--log-file",
                &log,
                "--seed-file",
                &seed,
            ],
        )?;
        if !eventually(|| PathBuf::from(&socket).exists()) {
            return Err("munged does not start here".to_owned());
        }
        this.begin("slurmctld", &["-D", "-c"])?;
        this.begin("slurmd", &["-D", "-N", "n1"])?;
        this.begin("slurmd", &["-D", "-N", "n2"])?;
        let idle = || this.said("sinfo", &["--noheader", "--format=%D %t"]).trim() == "2 idle";
        if eventually(idle) { Ok(this) } else { Err("slurmd does not start here".to_owned()) }
    }

    fn begin(&mut self, program: &str, words: &[&str]) -> Result<(), String> {
        let mut command = self.command(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let running = command.start().map_err(|_| format!("there is no {program} here"))?;
        self.running.push(running);
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin"));
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command
    }

    fn said(&self, program: &str, words: &[&str]) -> String {
        let mut command = self.command(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.ran().stdout
    }

    fn load(&self, words: &[&str]) -> Ran {
        let mut command = coordinator(words);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        run(command.current_dir(self.folder.path()))
    }
}

#[test]
#[ignore = "long: needs slurmctld, slurmd and munge, which .ci/full installs"]
fn two_nodes_of_slurm_are_one_fleet_and_are_given_back() {
    let slurm = match Slurm::start("fleet-slurm") {
        Ok(slurm) => slurm,
        Err(why) => {
            return skip(&format!(
                "fleets by Slurm: {why}; by scripts of its names they are tested"
            ));
        }
    };
    let server = serve();
    let target = url(&server, "/");
    let ran = slurm.load(&[
        "load", "--quiet", "--json", "--fleet", "slurm:2", "-n", "3001", "-c", "6", &target,
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!((number(&json, "/responses"), server.served().requests), (3001, 3001));
    assert_eq!(
        (&json["fleet"]["by"], &json["fleet"]["workers"][1]["name"]),
        (&"slurm".into(), &"n2".into())
    );
    let jobs = || slurm.said("squeue", &["--noheader", "--states=running,pending"]);
    assert!(eventually(|| jobs().trim().is_empty()), "{}", jobs());
    // All runs of an experiment are of one job: the second one here.
    let ran =
        slurm.load(&["sweep", "--quiet", "--fleet", "slurm:2", "-c", "2,4", "-n", "100", &target]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(slurm.said("scontrol", &["show", "job", "2"]).contains("JobId=2"));
    assert!(!slurm.said("scontrol", &["show", "job", "3"]).contains("JobId=3"));
    assert!(eventually(|| jobs().trim().is_empty()), "{}", jobs());
}
