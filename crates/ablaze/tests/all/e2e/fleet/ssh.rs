//! A fleet over a real sshd on this host's loopback, by the names of three hosts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ablaze_testing::skip::skip;
use ablaze_testing::{Bounded, Running, Scratch, ports};

use super::coordinator;
use crate::e2e::support::{Ran, eventually, number, run, serve, url};

/// Keys of a test's own, for any number of sshd, and an `ssh` that uses them.
pub struct Login {
    folder: PathBuf,
    sshd: &'static str,
}

impl Login {
    /// In this folder; why there is none, where there is none.
    pub fn new(folder: &Scratch) -> Result<Self, String> {
        let sshd =
            ["/usr/sbin/sshd", "/usr/bin/sshd"].into_iter().find(|path| Path::new(path).exists());
        let sshd = sshd.ok_or("there is no sshd here")?;
        let this = Self { folder: folder.path().to_owned(), sshd };
        for key in ["host", "own"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(this.file(key));
            if keygen.ran().status != 0 {
                return Err("ssh-keygen makes no keys".to_owned());
            }
        }
        fs::copy(this.file("own.pub"), this.file("authorized")).unwrap();
        // Where sshd puts its part without privileges; whoever may not make it is told so by sshd.
        let _ = fs::create_dir("/run/sshd");
        fs::create_dir(this.bin()).unwrap();
        let ssh =
            format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", this.file("config").display());
        fs::write(this.bin().join("ssh"), ssh).unwrap();
        fs::set_permissions(this.bin().join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        Ok(this)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder of the `ssh` that uses the keys.
    pub fn bin(&self) -> PathBuf {
        self.file("bin")
    }

    /// The command that starts an sshd at this address, which lets the key in.
    pub fn sshd(&self, address: &str, port: u16) -> Command {
        let mut server = Command::new(self.sshd);
        server.args(["-D", "-e", "-f", "/dev/null", "-p", &port.to_string(), "-h"]);
        server.arg(self.file("host"));
        for option in [
            format!("ListenAddress={address}"),
            format!("AuthorizedKeysFile={}", self.file("authorized").display()),
            "StrictModes=no".to_owned(),
            "UsePAM=no".to_owned(),
            "AcceptEnv=XDG_CACHE_HOME".to_owned(),
            "PidFile=none".to_owned(),
            "MaxStartups=100".to_owned(),
        ] {
            server.args(["-o", &option]);
        }
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        server
    }

    /// Has `ssh` reach these names at this address.
    pub fn reach(&self, names: &str, address: &str, port: u16) {
        let own = self.file("own").display().to_string();
        let config = format!(
            "Host {names}\n HostName {address}\n Port {port}\n IdentityFile {own}\n IdentitiesOnly yes\n \
             StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
        );
        let before = fs::read_to_string(self.file("config")).unwrap_or_default();
        fs::write(self.file("config"), before + &config).unwrap();
    }
}

/// An sshd for this test alone, and an `ssh` that reaches it as host-1 to host-3.
struct Sshd {
    login: Login,
    _running: Running,
    _folder: Scratch,
}

impl Sshd {
    /// Starts it; why it cannot be, where it cannot.
    fn start(name: &str) -> Result<Self, String> {
        let folder = Scratch::new(name);
        let login = Login::new(&folder)?;
        let port = ports::free();
        let running = login.sshd("127.0.0.1", port).start();
        let running = running.map_err(|error| error.to_string())?;
        if !eventually(|| TcpStream::connect(("127.0.0.1", port)).is_ok()) {
            return Err("sshd does not start here".to_owned());
        }
        login.reach("host-*", "127.0.0.1", port);
        login.reach("nowhere", "127.0.0.1", 1);
        let mut ssh = Command::new(login.bin().join("ssh"));
        match ssh.args(["-o", "BatchMode=yes", "host-1", "true"]).ran().status {
            0 => Ok(Self { login, _running: running, _folder: folder }),
            _ => Err("sshd permits no login here".to_owned()),
        }
    }

    /// Has the hosts keep what they keep in this folder.
    fn at_home(&self, folder: &Path) {
        let ssh = self.login.bin().join("ssh");
        let script = fs::read_to_string(&ssh).unwrap();
        // The words of the script on the other side are the last of ssh's.
        let set = format!(" -o SetEnv=XDG_CACHE_HOME={} \"$@\"", folder.display());
        fs::write(ssh, script.replace(" \"$@\"", &set)).unwrap();
    }

    fn load(&self, words: &[&str]) -> Ran {
        let mut command = coordinator(&[&["load", "--quiet", "--json"], words].concat());
        let path = std::env::var("PATH").unwrap_or_default();
        run(command.env("PATH", format!("{}:{path}", self.login.bin().display())))
    }
}

/// The folders that hosts of a fleet are sent a program into.
fn left_behind() -> BTreeSet<OsString> {
    let folders = ["/tmp", "/dev/shm", "/root"].iter().filter_map(|path| fs::read_dir(path).ok());
    let names = folders.flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with("ablaze.")).collect()
}

#[test]
fn three_hosts_without_the_program_are_one_fleet_and_nothing_is_left_there() {
    let sshd = match Sshd::start("fleet-ssh") {
        Ok(sshd) => sshd,
        Err(why) => return skip(&format!("fleets over ssh: {why}; over exec: they are tested")),
    };
    let server = serve();
    let before = left_behind();
    let target = url(&server, "/");
    let words = ["--fleet", "ssh:host-1,host-2,host-3", "-n", "3001", "-c", "6", &target];
    let ran = sshd.load(&words);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = ran.json();
    assert_eq!((number(&json, "/responses"), server.served().requests), (3001, 3001));
    assert_eq!(json["fleet"]["by"], "ssh");
    // Those of tests beside this one come and go; what this one left would stay.
    assert!(eventually(|| left_behind().is_subset(&before)), "{:?}", left_behind());
    // One that cannot be reached is named with ssh's own words.
    let ran = sshd.load(&[
        "--fleet",
        "ssh:host-1,nowhere",
        "--lost",
        "go-on",
        "-n",
        "100",
        "-c2",
        &target,
    ]);
    assert!(ran.stderr.contains("worker nowhere was lost: it could not be reached"), "{ran:?}");
    assert!(ran.stderr.contains("Connection refused"), "{ran:?}");
    assert_eq!(number(&ran.json(), "/responses"), 50);
}

#[test]
fn hosts_keep_the_program_where_that_is_asked_for_and_are_not_sent_it_again() {
    let sshd = match Sshd::start("fleet-keep") {
        Ok(sshd) => sshd,
        Err(why) => return skip(&format!("fleets over ssh that keep the program: {why}")),
    };
    let server = serve();
    let target = url(&server, "/");
    // The hosts' home is another for each test: what is there of this user's stays as it is.
    let home = Scratch::new("fleet-keep-home");
    sshd.at_home(home.path());
    let kept = home.path().join("ablaze/ablaze");
    let load = |fleet: &str| {
        let ran = sshd.load(&["--fleet", fleet, "-n", "30", "-c", "2", &target]);
        assert_eq!((ran.status, number(&ran.json(), "/responses")), (0, 30), "{ran:?}");
    };
    load("ssh:host-1,host-2");
    assert!(!kept.exists());
    load("ssh:host-1,host-2,program=keep");
    let own = fs::read(env!("CARGO_BIN_EXE_ablaze")).unwrap();
    assert!(fs::read(&kept).unwrap() == own, "the program as it is");
    let when = || fs::metadata(&kept).unwrap().modified().unwrap();
    let before = when();
    load("ssh:host-1,program=keep");
    load("ssh:host-2");
    assert_eq!(when(), before, "it was not sent again");
    let names =
        fs::read_dir(kept.parent().unwrap()).unwrap().flatten().map(|file| file.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["ablaze"]);
}
