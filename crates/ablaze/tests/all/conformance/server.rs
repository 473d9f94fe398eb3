//! A server of the test's own as a process: found, started, waited for, ended.

use ablaze_testing::Scratch;
use ablaze_testing::{Bounded, Running};
use std::fs::File;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

const START_MAX: Duration = Duration::from_secs(20);
const STOP_MAX: Duration = Duration::from_secs(10);

/// A process and whatever it starts: a group of its own, which ends with this value.
pub struct Process(Running);

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
            .start()
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
