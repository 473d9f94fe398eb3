//! What is asked of a process only because it serves: how it was built, how many descriptors it may
//! have, what it writes beside its responses.

use std::collections::BTreeSet;
use std::fs;

use ablaze_model::monitor::Serving;

use crate::build::Program;
use crate::output::WatchedOutput;

/// A serving process under watch.
#[derive(Debug)]
pub(crate) struct WatchedServing {
    program: Option<Program>,
    descriptor_limit: Option<u64>,
    output: WatchedOutput,
}

impl WatchedServing {
    pub(crate) fn new(pid: u32) -> Self {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        Self {
            program: Program::of(pid),
            descriptor_limit: descriptor_limit(&limits),
            output: WatchedOutput::new(pid),
        }
    }

    pub(crate) fn look(&mut self, at_ns: u64) {
        self.output.look(at_ns);
    }

    /// What was seen in the window. Reads the program, so that it is asked when the load is over.
    pub(crate) fn seen(&self, window_ns: (u64, u64)) -> Serving {
        Serving {
            build: self.program.as_ref().and_then(Program::build),
            descriptor_limit: self.descriptor_limit,
            output: self.output.seen(window_ns),
            at_rest: None,
        }
    }
}

/// /proc/PID/limits: `Max open files  1024  524288  files`, the soft one first.
fn descriptor_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How many epoll instances the kernel wakes for one new connection: those of these processes that
/// wait for the same listening socket without EPOLLEXCLUSIVE. `None` when none of them waits so, or
/// it cannot be seen.
pub(crate) fn woken_per_connection(pids: &[u32], listening: &BTreeSet<u64>) -> Option<u64> {
    let waiting: Vec<u64> = pids.iter().flat_map(|pid| awaited(*pid)).collect();
    let of_one = listening
        .iter()
        .map(|inode| waiting.iter().filter(|waited| *waited == inode).count() as u64);
    of_one.max().filter(|woken| *woken > 0)
}

/// At most this many descriptors of a process are looked through.
const MOST_DESCRIPTORS: usize = 4096;

/// The sockets that each epoll instance of a process waits for to be readable, all of its waiters
/// being woken.
fn awaited(pid: u32) -> Vec<u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let instances = descriptors.take(MOST_DESCRIPTORS).filter(|descriptor| {
        fs::read_link(descriptor.path())
            .is_ok_and(|link| link.as_os_str() == "anon_inode:[eventpoll]")
    });
    instances
        .filter_map(|descriptor| {
            let number = descriptor.file_name().into_string().ok()?;
            let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
            Some(waited_by_all(&info).collect::<Vec<u64>>())
        })
        .flatten()
        .collect()
}

/// epoll's /proc/PID/fdinfo: `tfd: 5 events: 19 data: 5 pos:0 ino:61af sdev:8`, in hexadecimal
/// since Linux 5.0 with the inode; EPOLLIN is 1 and EPOLLEXCLUSIVE is 1 << 28.
fn waited_by_all(info: &str) -> impl Iterator<Item = u64> {
    info.lines().filter_map(|line| {
        let line = line.strip_prefix("tfd:")?;
        let after = |name: &str| {
            let (_, value) = line.split_once(name)?;
            u64::from_str_radix(value.split_whitespace().next()?, 16).ok()
        };
        let events = after("events:")?;
        (events & 1 != 0 && events & (1 << 28) == 0).then(|| after("ino:"))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    use std::net::TcpListener;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_limit_is_the_soft_one() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             95938                95938                processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(descriptor_limit(limits), Some(1024));
        assert_eq!(descriptor_limit(&limits.replace("1024  ", "unlimited  ")), None);
        assert_eq!(descriptor_limit(""), None);
    }

    #[test]
    fn only_waiters_without_exclusive_are_woken_together() {
        let info = "pos:\t0\nflags:\t02\n\
            tfd:        5 events:       19 data:                5  pos:0 ino:61af sdev:8\n\
            tfd:        6 events: 10000001 data:                6  pos:0 ino:61b0 sdev:8\n\
            tfd:        7 events:        4 data:                7  pos:0 ino:61b1 sdev:8\nbroken\n";
        assert_eq!(waited_by_all(info).collect::<Vec<_>>(), [0x61af]);
    }

    #[test]
    fn the_waiters_for_a_listener_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inode =
            fs::metadata(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&listener)))
                .unwrap()
                .ino();
        let inodes = BTreeSet::from([inode]);
        let woken = || woken_per_connection(&[std::process::id()], &inodes);
        let wait = |flags| {
            let instance = epoll::create(CreateFlags::CLOEXEC).unwrap();
            epoll::add(&instance, listener.as_fd(), EventData::new_u64(1), flags).unwrap();
            instance
        };
        assert_eq!(woken(), None);
        let _exclusive = [wait(EventFlags::IN | EventFlags::EXCLUSIVE)];
        assert_eq!(woken(), None);
        let _all = [wait(EventFlags::IN), wait(EventFlags::IN), wait(EventFlags::OUT)];
        assert_eq!(woken(), Some(2));
    }
}
