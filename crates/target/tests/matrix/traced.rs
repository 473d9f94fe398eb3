//! The counters agree with strace: every model does a fixed piece of work in a traced process,
//! and what it counted is compared with the system calls it made, one kind after the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ablaze_target::accepting::AcceptMode;
use ablaze_target::conditions::{Arm, Scheduler};

use ablaze_testing::Bounded;
use ablaze_testing::skip::skip_outside_ci;

use crate::child::{Kind, Numbers, ServerProcess};
use crate::client::{Client, HELLO, get};
use crate::models::{accept_modes, all_at_once, judged, long_tests};

const LIMIT: Duration = Duration::from_secs(120);

/// What is traced: whatever a counter counts, and the signal mask that glibc's swapcontext sets.
const CALLS: &str = "epoll_wait,epoll_pwait,epoll_pwait2,poll,ppoll,epoll_ctl,accept,accept4,\
                     read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,io_uring_enter,\
                     rt_sigprocmask";

/// Waits of a thread that is no worker: the accepting one polls.
const POLLS: [&str; 2] = ["poll", "ppoll"];
/// Models that leave the waiting to somebody else's runtime, which does not say what it does: of
/// that, nothing is counted, rather than a part.
const RUNTIME_WAITS: [&str; 1] = ["async"];

/// A finished system call.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    thread: u32,
    name: String,
    /// What stands between the brackets.
    arguments: String,
    /// What it returned; below zero if it failed.
    result: i64,
    again: bool,
}

/// A trace and what the traced server counted.
pub struct Traced {
    kind: Kind,
    calls: Vec<Call>,
    /// The server's counters.
    pub counted: Numbers,
}

/// Why nothing can be traced here, if so, which is a skip. Fails under CI.
#[track_caller]
pub fn untraceable() -> Option<&'static str> {
    static WHY: OnceLock<Option<String>> = OnceLock::new();
    let why = WHY.get_or_init(|| {
        let output =
            Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).bounded_output();
        match output {
            Err(_) => Some("strace is not installed".to_owned()),
            Ok(output) if !output.status.success() => {
                let why = String::from_utf8_lossy(&output.stderr).into_owned();
                Some(format!("strace may not trace here: {}", why.trim()))
            }
            Ok(_) => None,
        }
    });
    let why = why.as_deref()?;
    skip_outside_ci(why);
    Some(why)
}

impl Traced {
    /// Traces a server while `work` is done with it.
    pub fn new(kind: Kind, work: impl FnOnce(&mut ServerProcess)) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ablaze-target-trace-{}-{number}", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(name);
        let mut command = Command::new("strace");
        command
            .args(["-f", "-y", "-s", "0", "-e", "signal=none", "-e"])
            .arg(format!("trace={CALLS}"))
            .arg("-o")
            .arg(&path)
            .arg(std::env::current_exe().unwrap());
        let mut server = ServerProcess::start_as(command, kind).unwrap();
        work(&mut server);
        let foreign = server.foreign_threads.clone();
        let counted = server.stop();
        let text = std::fs::read_to_string(&path).unwrap();
        let _ = std::fs::remove_file(&path);
        let mut calls = parse(&text);
        calls.retain(|call| !foreign.contains(&call.thread));
        Self { kind, calls, counted }
    }

    fn named(&self, names: &[&str]) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| names.contains(&call.name.as_str()))
    }

    /// Calls of these names.
    pub fn calls(&self, names: &[&str]) -> i64 {
        self.named(names).count() as i64
    }

    /// Calls of these names with a socket.
    fn with_socket(&self, names: &[&str]) -> impl Iterator<Item = &Call> {
        self.named(names).filter(|call| {
            let first = call.arguments.split(", ").next().unwrap_or_default();
            first.contains("<socket:") || first.contains("<TCP")
        })
    }

    /// Calls of epoll_ctl with this operation.
    pub fn epoll_ctl(&self, operation: &str) -> i64 {
        self.named(&["epoll_ctl"]).filter(|call| call.arguments.contains(operation)).count() as i64
    }

    /// What strace saw, by the counters' names.
    fn seen(&self) -> Numbers {
        let reads: Vec<_> = self.with_socket(&["read", "readv", "recvfrom", "recvmsg"]).collect();
        let writes: Vec<_> = self.with_socket(&["write", "writev", "sendto", "sendmsg"]).collect();
        let accepts: Vec<_> = self.named(&["accept", "accept4"]).collect();
        let by_runtime = RUNTIME_WAITS.contains(&self.kind.model.name());
        let epolls: &[&str] = match by_runtime {
            true => &[],
            false => &["epoll_wait", "epoll_pwait", "epoll_pwait2"],
        };
        let waits: Vec<_> = self.named(epolls).chain(self.named(&POLLS)).collect();
        let epoll_ctl = |operation| if by_runtime { 0 } else { self.epoll_ctl(operation) };
        let again = |calls: &[&Call]| calls.iter().filter(|call| call.again).count() as i64;
        let sum = |calls: &[&Call]| calls.iter().map(|call| call.result.max(0)).sum::<i64>();
        let pairs = [
            ("waits", waits.len() as i64),
            ("events", sum(&waits)),
            ("epoll_adds", epoll_ctl("EPOLL_CTL_ADD")),
            ("epoll_mods", epoll_ctl("EPOLL_CTL_MOD")),
            ("epoll_dels", epoll_ctl("EPOLL_CTL_DEL")),
            ("accepts", accepts.len() as i64),
            ("accept_eagains", again(&accepts)),
            ("reads", reads.len() as i64),
            ("read_bytes", sum(&reads)),
            ("read_eagains", again(&reads)),
            ("writes", writes.len() as i64),
            ("written_bytes", sum(&writes)),
            ("write_eagains", again(&writes)),
        ];
        pairs.map(|(name, number)| (name.to_owned(), number)).into()
    }

    /// Names of counters that are not as traced, with both numbers.
    fn differences(&self) -> String {
        let mut seen = self.seen();
        let enters = self.calls(&["io_uring_enter"]);
        let mut said = String::new();
        let mut differ = |name: &str, counted: i64, traced: i64| {
            if counted != traced {
                let _ = write!(said, "{name}: {counted} counted, {traced} traced; ");
            }
        };
        if enters > 0 {
            // On a ring, connections are read and written without calls: only entering is one,
            // beside the waits of an accepting thread. What is accepted, read and written is
            // compared with what the client did.
            let entered = self.counted["waits"] + self.counted["submits"];
            // Once it was tried before the start whether that is permitted.
            differ("waits + submits", entered + 1, enters + seen["waits"]);
            seen.retain(|name, _| name.starts_with("epoll"));
        } else {
            differ("submits", self.counted["submits"], 0);
        }
        if !self.kind.model.waits_itself() {
            let hidden =
                |name: &str| name.starts_with("epoll") || ["waits", "events"].contains(&name);
            seen.retain(|name, _| !hidden(name));
        }
        for (name, &traced) in &seen {
            differ(name, self.counted[name], traced);
        }
        said
    }
}

/// Reads `strace -f -o`: a call that another thread interrupts is in two lines.
fn parse(text: &str) -> Vec<Call> {
    let mut begun: BTreeMap<u32, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.trim_start().split_once(' ') else { continue };
        let Ok(thread) = thread.parse() else { continue };
        let rest = rest.trim_start();
        if let Some(beginning) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(thread, beginning.to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ") {
            None => rest.to_owned(),
            Some(end) => {
                let Some(beginning) = begun.remove(&thread) else { continue };
                let Some((_, end)) = end.split_once(" resumed>") else { continue };
                beginning + end
            }
        };
        calls.extend(parse_call(thread, &whole));
    }
    calls
}

/// `name(arguments) = result ERROR (text)`; nothing if it is no call.
fn parse_call(thread: u32, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let mut words = result.split_whitespace();
    let number = words.next()?;
    // Of a descriptor, strace also says what it is: `5<socket:[1]>`.
    let number = number.split('<').next()?;
    let result = number.parse().ok()?;
    let again = words.next() == Some("EAGAIN");
    let arguments = arguments.trim_end().strip_suffix(')')?.to_owned();
    Some(Call { thread, name: name.to_owned(), arguments, result, again })
}

#[test]
fn a_trace_is_read() {
    let text = "\
12 epoll_ctl(3<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 5<socket:[77]>, {events=EPOLLIN}) = 0
12 recvfrom(5<socket:[77]>,  <unfinished ...>
13 accept4(4<socket:[7]>, NULL, NULL, SOCK_CLOEXEC) = 9<socket:[90]>
12 <... recvfrom resumed>\"\"..., 65536, 0, NULL, NULL) = 33
12 recvfrom(5<socket:[77]>, 0x7f, 65536, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
13 +++ exited with 0 +++
12 epoll_wait(3<anon_inode:[eventpoll]>,  <detached ...>
";
    let call = |thread, name: &str, arguments: &str, result, again| Call {
        thread,
        name: name.into(),
        arguments: arguments.into(),
        result,
        again,
    };
    let add = "3<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 5<socket:[77]>, {events=EPOLLIN}";
    assert_eq!(
        parse(text),
        [
            call(12, "epoll_ctl", add, 0, false),
            call(13, "accept4", "4<socket:[7]>, NULL, NULL, SOCK_CLOEXEC", 9, false),
            call(12, "recvfrom", "5<socket:[77]>,  \"\"..., 65536, 0, NULL, NULL", 33, false),
            call(12, "recvfrom", "5<socket:[77]>, 0x7f, 65536, 0, NULL, NULL", -1, true),
        ]
    );
}

/// 1,000 requests: kept alive, one per connection, and some that block. Returns connections made
/// and bytes sent.
fn work(server: &mut ServerProcess) -> (i64, i64) {
    let mut sent_bytes = 0;
    let mut kept: Vec<_> = (0..10).map(|_| Client::connect(server.address)).collect();
    for _ in 0..80 {
        kept.iter_mut().for_each(|client| client.send(get("/hello")));
        kept.iter_mut().for_each(|client| assert_eq!(client.response().body, HELLO));
    }
    for number in 0..190 {
        let mut client = Client::connect(server.address);
        let close = get("/hello").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        match number % 2 {
            0 => assert_eq!(client.ask(close).body, HELLO),
            _ => {
                assert_eq!(client.ask(get("/hello")).body, HELLO);
                client.finish();
            }
        }
        assert_eq!(client.rest(), b"");
        sent_bytes += client.sent_bytes;
    }
    for _ in 0..10 {
        let mut client = Client::connect_narrow(server.address);
        client.send(get("/bytes/8388608"));
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(client.response().body.len(), 8_388_608);
        sent_bytes += client.sent_bytes;
    }
    sent_bytes += kept.iter().map(|client| client.sent_bytes).sum::<u64>();
    (210, sent_bytes as i64)
}

/// What is traced: each model under each accept mode if all is asked for, otherwise under one.
fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    for (number, model) in judged().into_iter().enumerate() {
        let modes = accept_modes(model);
        // `single` with two workers counts an accepting thread as well.
        let chosen: Vec<AcceptMode> = match long_tests() {
            true => modes,
            false => vec![modes[number % modes.len()]],
        };
        for accept in chosen {
            let kind = Kind { send_buffer_bytes: Some(65_536), ..Kind::new(model, accept, 2) };
            kinds.push(kind);
            if model.name().starts_with("fiber") {
                kinds.push(Kind { arm: Arm::PerWait, ..kind });
                let shared = Scheduler::Shared;
                kinds.push(Kind { scheduler: shared, arm: Arm::PerWait, ..kind });
            }
        }
    }
    kinds.retain(|kind| kind.options().validate().is_ok());
    kinds
}

#[test]
fn the_counters_are_what_strace_sees() {
    if untraceable().is_some() {
        return;
    }
    for few in kinds().chunks(2) {
        let named = few.iter().map(|kind| (format!("{kind:?}"), *kind));
        all_at_once(LIMIT, named.collect(), |kind| {
            let mut done = (0, 0);
            let traced = Traced::new(kind, |server| done = work(server));
            let (connections, sent_bytes) = done;
            let of_client =
                [("requests", 1000), ("connections", connections), ("read_bytes", sent_bytes)];
            for (name, did) in of_client {
                let counted = traced.counted[name];
                assert_eq!(
                    counted,
                    did,
                    "{name}: by the server, by the client; {}",
                    traced.differences()
                );
            }
            let differences = traced.differences();
            assert!(differences.is_empty(), "{differences}");
        });
    }
}
