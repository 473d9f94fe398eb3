//! `--fleet docker:`: containers of a real dockerd, where one can run here, and the command lines of a docker that only
//! starts processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use ablaze_testing::skip::{find, skip};
use ablaze_testing::{Bounded, Running, Scratch};

use super::coordinator;
use crate::e2e::support::{eventually, number, run, serve, start, url};

/// A docker that runs what it is to run here, and writes down what it was asked.
const DOCKER: &str = r#"#!/bin/sh
echo "$*" >> FOLDER/calls
while [ $# -gt 0 ]; do case $1 in
  rm) echo 'Error: No such container: ablaze-0' >&2; exit 1 ;;
  --entrypoint) program=$2; shift 3; exec $program "$@" ;;
  *) shift ;;
esac; done
"#;

#[test]
fn containers_on_two_hosts_share_a_load_and_are_removed() {
    let (server, folder) = (serve(), Scratch::new("fleet-docker"));
    let script = DOCKER.replace("FOLDER", &folder.path().display().to_string());
    let path = folder.write("docker", script);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let fleet = "docker:a,b,image=reg/ablaze:1,pull=never";
    let target = url(&server, "/");
    let mut command =
        coordinator(&["load", "--quiet", "--json", "--fleet", fleet, "-n", "101", "-c2", &target]);
    let paths = format!("{}:{}:/usr/bin:/bin", folder.path().display(), own_folder());
    let ran = run(command.env("PATH", paths));
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((number(&json, "/responses"), json["fleet"]["by"].as_str()), (101, Some("docker")));
    let calls = folder.read("calls");
    for host in ["a", "b"] {
        assert!(calls.contains(&format!("-H ssh://{host} run -i --rm --name ablaze-")), "{calls}");
        assert!(calls.contains(&format!("-H ssh://{host} rm -f ablaze-")), "{calls}");
    }
}

/// A docker that reaches no daemon: it says this and fails, whatever it is asked, but where there is a file `up`.
const WITHOUT_DAEMON: &str = r#"#!/bin/sh
case "$*" in
  *"run -i"*) [ ! -e FOLDER/up ] || { rm FOLDER/up; while [ "$1" != --entrypoint ]; do shift; done; shift; exec $1 worker; } ;;
esac
echo 'SAYS' >&2
exit 1
"#;

#[test]
fn without_a_daemon_nothing_is_said_to_be_left() {
    let (server, folder) = (serve(), Scratch::new("fleet-docker-down"));
    let target = url(&server, "/");
    let here = folder.path().display().to_string();
    let load = |says: Option<&str>, fleet: &str| {
        let words = ["load", "--quiet", "--fleet", fleet, "-n", "10", "-c", "2", &target];
        let mut command = coordinator(&words);
        // Only what is in the folder, and the shell's.
        let bin = folder.path().join("bin");
        let _ = fs::remove_dir_all(&bin);
        fs::create_dir(&bin).unwrap();
        for (program, at) in ["sh", "rm"].map(|program| (program, find(program).unwrap())) {
            std::os::unix::fs::symlink(at, bin.join(program)).unwrap();
        }
        if let Some(says) = says {
            let script = WITHOUT_DAEMON.replace("FOLDER", &here).replace("SAYS", says);
            fs::write(bin.join("docker"), script).unwrap();
            fs::set_permissions(bin.join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        run(command.env("PATH", format!("{}:{}", bin.display(), own_folder())))
    };
    let refused = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";
    for says in [
        format!("docker: {refused}"),
        "docker: failed to connect to the docker API at unix:///s; check if the daemon is running"
            .to_owned(),
        "error during connect: Head \"http://docker.example.com/_ping\": ssh: no route to host"
            .to_owned(),
    ] {
        let ran = load(Some(&says), "docker:n=2,image=i");
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stderr.contains(&says), "{ran:?}");
        assert!(!ran.stderr.contains("may be left"), "{ran:?}");
    }
    let ran = load(None, "docker:image=i");
    assert!(ran.stderr.contains("cannot start `docker`"), "{ran:?}");
    assert!(!ran.stderr.contains("may be left"), "{ran:?}");
    // One was made, and then the daemon is gone.
    folder.write("up", "");
    let ran = load(Some(refused), "docker:image=i");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("may be left of the containers ablaze-"), "{ran:?}");
}

fn own_folder() -> String {
    Path::new(env!("CARGO_BIN_EXE_ablaze")).parent().unwrap().display().to_string()
}

/// A dockerd of this test's own, without a network of its own.
struct Daemon {
    folder: Scratch,
    _running: Running,
}

impl Daemon {
    fn start(name: &str) -> Result<Self, String> {
        let program = find("dockerd").ok_or("there is no dockerd here")?;
        let folder = Scratch::new(name);
        let mut command = Command::new(program);
        command.args(["--storage-driver", "vfs", "--bridge", "none", "-H"]);
        command.arg(format!("unix://{}", folder.file("sock")));
        for option in ["--iptables=false", "--ip6tables=false", "--ip-forward=false"] {
            command.arg(option);
        }
        for option in ["data-root", "exec-root", "pidfile"] {
            command.arg(format!("--{option}")).arg(folder.file(option));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let running = command.start().map_err(|error| error.to_string())?;
        let daemon = Self { folder, _running: running };
        match eventually(|| run(&mut daemon.docker(&["version"])).status == 0) {
            true => Ok(daemon),
            false => Err("dockerd does not start here".to_owned()),
        }
    }

    fn host(&self) -> String {
        format!("unix://{}", self.folder.file("sock"))
    }

    fn docker(&self, words: &[&str]) -> Command {
        let mut command = Command::new("docker");
        command.args(["-H", &self.host()]).args(words);
        command
    }

    /// An image with this very program and the libraries that it is linked to.
    fn import(&self) -> Result<(), String> {
        let root = self.folder.path().join("root");
        let own = env!("CARGO_BIN_EXE_ablaze");
        let libraries = run(Command::new("ldd").arg(own)).stdout;
        let libraries = libraries.split_whitespace().filter(|word| word.starts_with('/'));
        for (file, at) in [(own, "/usr/bin/ablaze")].into_iter().chain(libraries.map(|at| (at, at)))
        {
            let at = root.join(at.trim_start_matches('/'));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::copy(file, at).map_err(|error| format!("{file}: {error}"))?;
        }
        fs::create_dir_all(root.join("tmp")).unwrap();
        let archive = self.folder.file("image.tar");
        run(Command::new("tar").arg("-C").arg(&root).args(["-cf", &archive, "."]));
        let path = "ENV PATH=/usr/bin";
        let ran = run(&mut self.docker(&["import", "-c", path, &archive, "ablaze"]));
        if ran.status == 0 { Ok(()) } else { Err(ran.stderr) }
    }
}

#[test]
#[ignore = "long: dockerd, and an image of this program"]
fn containers_of_a_real_dockerd_share_a_load_and_none_is_left() {
    let daemon = match Daemon::start("fleet-dockerd") {
        Ok(daemon) => daemon,
        Err(why) => return skip(&format!("fleets of containers: {why}")),
    };
    if let Err(why) = daemon.import() {
        return skip(&format!("fleets of containers: no image can be made: {why}"));
    }
    let server = serve();
    let target = url(&server, "/");
    let fleet = format!("docker:{},n=2,image=ablaze", daemon.host());
    let words = ["load", "--quiet", "--json", "--fleet", &fleet, "-n", "1001", "-c4", &target];
    let ran = run(&mut coordinator(&words));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!((number(&ran.json(), "/responses"), server.served().requests), (1001, 1001));
    let left = || run(&mut daemon.docker(&["ps", "-aq"])).stdout;
    assert_eq!(left(), "");
    // Ctrl-C in the middle of a run.
    let words = ["load", "--quiet", "--fleet", &fleet, "-c4", "-d60", &target];
    let child = start(&mut coordinator(&words));
    assert!(eventually(|| server.served().requests > 5000), "nothing arrives");
    child.signal(rustix::process::Signal::INT);
    let ran = child.end();
    assert_eq!(ran.status, 130, "{ran:?}");
    assert_eq!(left(), "", "{ran:?}");
    // What docker says of an image that is not there.
    let fleet = format!("docker:{},image=missing,pull=never", daemon.host());
    let ran = run(&mut coordinator(&["load", "--quiet", "--fleet", &fleet, "-d1", &target]));
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("No such image: missing"), "{ran:?}");
}
