//! io_uring forbidden, as container runtimes do it: a seccomp filter responses its set-up with an
//! error. epoll takes over, and says so.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::e2e::support::{Ran, command, number, run, serve, url};

/// The calls that a filter may deny, also alone.
const CALLS: [(libc::c_long, &str); 2] =
    [(libc::SYS_io_uring_setup, "io_uring_setup"), (libc::SYS_io_uring_enter, "io_uring_enter")];
const ERRORS: [(i32, &str); 2] = [(libc::EPERM, "EPERM"), (libc::ENOSYS, "ENOSYS")];

#[test]
fn epoll_takes_over_and_the_report_says_why() {
    for (call, errno) in CALLS.into_iter().flat_map(|call| ERRORS.map(|error| (call, error))) {
        let ((call, called), (errno, name)) = (call, errno);
        let forbidden = |words: &[&str]| forbidden(call, errno, words);
        let server = serve();
        let target = url(&server, "/");
        let ran = forbidden(&[&target, "-n", "100", "--json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let json = ran.json();
        assert_eq!(number(&json, "/succeeded"), 100);
        assert_eq!(json["backend"]["name"], "epoll");
        let reason = json["backend"]["fallback_reason"].as_str().unwrap();
        assert!(reason.contains(name) && reason.contains(called), "{reason}");

        let ran = forbidden(&[&target, "-n", "100"]);
        assert!(ran.stdout.contains("epoll") && ran.stdout.contains(name), "{}", ran.stdout);
        println!("{}", ran.stdout);

        let ran = forbidden(&["ab", "-n", "100", &target]);
        assert_eq!(ran.status, 0, "{ran:?}");

        let ran = forbidden(&[&target, "-n", "100", "--io", "uring"]);
        println!("{}", ran.stderr);
        ran.assert_one_line(1, "io_uring");
        assert_eq!(ran.stdout, "");
        assert_eq!(server.stop().unwrap().requests, 300);
    }
}

#[test]
fn a_server_over_io_uring_is_refused_with_the_reason_and_another_model() {
    for ((call, _), (errno, name)) in
        CALLS.into_iter().flat_map(|call| ERRORS.map(|error| (call, error)))
    {
        let ran = forbidden(call, errno, &["serve", ":0", "--model", "uring"]);
        println!("{}", ran.stderr);
        ran.assert_one_line(2, "io_uring");
        ran.assert_one_line(2, name);
        ran.assert_one_line(2, "epoll-et");
        assert_eq!(ran.stdout, "");
    }
}

/// Runs the command where this system call fails with this error.
pub fn forbidden(call: libc::c_long, errno: i32, words: &[&str]) -> Ran {
    let mut command = command(words);
    forbid(&mut command, call, errno);
    run(&mut command)
}

fn forbid(command: &mut Command, call: libc::c_long, errno: i32) {
    let call = call as u32;
    let refuse = libc::SECCOMP_RET_ERRNO | errno as u32;
    let one = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    // The number of the call is the first field of struct seccomp_data (seccomp(2)).
    let mut filter = [
        one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        one(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call),
        one(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        one(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
        // SAFETY: both calls take plain numbers, and a program that outlives the second.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec it makes two system calls and allocates nothing.
    unsafe { command.pre_exec(install) };
}
