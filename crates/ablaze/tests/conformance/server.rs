//! A server of the test's own as a process: found, started, waited for, ended.

use std::fs::File;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::scratch::Scratch;

const START_MAX: Duration = Duration::from_secs(20);
const STOP_MAX: Duration = Duration::from_secs(10);

/// Where a program is; `None`, and a line that says so, where it is not and is not demanded.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        let demanded = std::env::var_os("ABLAZE_ALL_SERVERS").is_some_and(|value| value == "1");
        assert!(!demanded, "{name} is missing");
        println!("skipped: {name} is not installed");
    }
    found
}

/// A process and whatever it starts: a group of its own, which ends with this value.
pub struct Process(Child);

impl Process {
    /// Starts it; what it says goes to the file `output` of the folder. Waits until it listens on
    /// every one of these ports.
    pub fn start(mut command: Command, scratch: &Scratch, ports: &[u16]) -> Self {
        let output = File::create(scratch.path().join("output")).unwrap();
        let child = command
            .current_dir(scratch.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut process = Self(child);
        let begun = Instant::now();
        for port in ports {
            while TcpStream::connect(("127.0.0.1", *port)).is_err() {
                let ended = process.0.try_wait().unwrap();
                assert!(
                    ended.is_none() && begun.elapsed() < START_MAX,
                    "{command:?} does not listen on {port}: {ended:?} {} {}",
                    scratch.read("output"),
                    scratch.read("log")
                );
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        process
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.0);
        let _ = kill_process_group(group, Signal::TERM);
        let begun = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) && begun.elapsed() < STOP_MAX {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Its own children, if they did not end with it.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
