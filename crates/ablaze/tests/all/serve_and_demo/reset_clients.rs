//! Clients that reset their connections while they are made to wait: none of them may keep the place of another.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::serve_and_demo::support::{Serving, ablaze, get};

/// More connections than a server has descriptors for.
const LIMIT: usize = 64;

#[test]
fn connections_that_were_reset_during_a_delay_lock_nobody_out() {
    for model in [
        "epoll-et",
        "epoll-lt",
        "poll",
        "fiber-asm",
        "fiber-ucontext",
        "uring",
        "async",
        "blocking",
    ] {
        for way in [&[][..], &["--arm", "per-wait"]] {
            if way.len() == 2 && !model.starts_with("fiber") {
                continue;
            }
            let words = [&["serve", ":0", "-t", "1", "--quiet", "--model", model], way].concat();
            let mut command = ablaze(&words);
            limit_descriptors(&mut command);
            let server = Serving::spawn(&mut command);
            for _ in 0..2 * LIMIT {
                let mut stream = server.connect();
                stream.write_all(b"GET /delay/100s HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
                // The request is read before the reset: what is unread would be told together with it.
                std::thread::sleep(Duration::from_millis(5));
                set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            }
            let response = get(server.address);
            assert!(response.contains(" 200 "), "{model} {way:?}: {response}");
            server.signal("-TERM");
        }
    }
}

fn limit_descriptors(command: &mut Command) {
    let limit = Some(LIMIT as u64);
    let set = move || Ok(setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit })?);
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(set) };
}
