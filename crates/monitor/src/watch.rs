//! The thread that looks at the target, the client and the connections while a run lasts: every
//! 100 ms, or less often where looking itself takes long (many threads, many connections): a fifth
//! of a percent of a core, and up to one percent where short runs would otherwise not be seen.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_model::monitor::{Connections, Process, Target, Throttled};
use ablaze_sys::{clock, usage};

use crate::Destination;
use crate::connections::{self, Look};
use crate::cpu_group::Quotas;
use crate::environment;
use crate::listener::Found;
use crate::present::{Asking, Present, Side};
use crate::process::Watched;
use crate::serving::woken_per_connection;

/// Between two looks at processes.
const PERIOD_NS: u64 = 100_000_000;
/// In the first second, so that short runs are seen too.
const FIRST_PERIOD_NS: u64 = 50_000_000;
/// Between two looks at all connections.
const CONNECTIONS_PERIOD_NS: u64 = 1_000_000_000;
/// Looking may take at most 1 part in this number of a core's time,
const COST: u64 = 500;
/// or in this number where the looks would otherwise lie further apart than [`FAR_APART_NS`]: a run
/// of a second must be seen, whatever the number of threads.
const COST_MOST: u64 = 100;
const FAR_APART_NS: u64 = 300_000_000;
/// At most this many processes that hold one listener are watched.
const MOST_PROCESSES: usize = 64;

/// The server's time to finish what it was asked: a longer one only where it still works after a shorter.
const SETTLING: [Duration; 3] =
    [Duration::from_millis(15), Duration::from_millis(150), Duration::from_millis(600)];
/// How long it is watched then; with the first time before, this is hardly noticed.
const AT_REST: Duration = Duration::from_millis(35);
/// The longest that anything waits for that.
const REST_MOST: Duration = Duration::from_millis(900);

/// What was seen of the server and the client.
#[derive(Debug)]
pub(crate) struct Seen {
    pub target: Target,
    pub client: Option<Process>,
    pub connections: Option<Connections>,
    pub server_connections: Option<Connections>,
    pub cost_ns: Option<u64>,
}

/// A watch that goes on until [`Watching::end`], or until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    on_this_host: bool,
    words: mpsc::Sender<Word>,
    thread: Option<JoinHandle<Looking>>,
}

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Word {
    /// Somebody wants to know how busy both sides have been since then.
    Present { from_ns: u64, reply: mpsc::Sender<Present> },
    /// The load is over and the connections still stand; whoever says so waits for the other end to
    /// be dropped.
    Rest(mpsc::Sender<()>),
    /// The watch is over.
    End,
}

/// What the thread keeps.
#[derive(Debug)]
struct Looking {
    on_this_host: bool,
    listener: Option<Found>,
    woken_per_connection: Option<u64>,
    processes: Vec<Watched>,
    /// So many of them hold the listener; the others were started by these.
    first_processes: usize,
    /// Those of the holders that the client is not under, as they were before.
    quotas: Quotas,
    /// What they have cost since.
    throttled: Option<Throttled>,
    /// Processes that these started and that were gone before anything was known of them.
    children_ended: u64,
    client: Watched,
    addresses: Vec<SocketAddr>,
    connections: Option<Connections>,
    server_connections: Option<Connections>,
    cost_ns: Option<u64>,
}

impl Watching {
    /// Finds the listener and starts the thread.
    pub(crate) fn begin(destination: &Destination) -> Self {
        let listener = destination.listener();
        let on_this_host = destination.is_on_this_host();
        let holders = listener.as_ref().map(Found::holders).unwrap_or_default();
        let woken_per_connection = listener
            .as_ref()
            .and_then(|listener| woken_per_connection(&holders, listener.inodes()));
        let quotas = Quotas::of(holders.iter().take(MOST_PROCESSES).copied());
        let processes: Vec<Watched> =
            holders.into_iter().take(MOST_PROCESSES).map(Watched::that_serves).collect();
        let mut looking = Looking {
            on_this_host,
            listener,
            woken_per_connection,
            first_processes: processes.len(),
            processes,
            quotas: quotas.without(&Quotas::own()),
            throttled: None,
            children_ended: 0,
            client: Watched::new(std::process::id()),
            addresses: match destination {
                Destination::Tcp(addresses) => addresses.clone(),
                Destination::Unix(_) => Vec::new(),
            },
            connections: None,
            server_connections: None,
            cost_ns: None,
        };
        let (words, hearing) = mpsc::channel();
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            looking.until(&hearing);
            looking
        });
        Self { on_this_host, words, thread: thread.ok() }
    }

    /// To be called when the load is over and the connections still stand: where the server was
    /// busy, it is looked at whether it still is. Returns when that is done.
    pub(crate) fn look_at_rest(&self) -> impl FnOnce() + Send + 'static {
        let words = self.words.clone();
        move || {
            let (looked, done) = mpsc::channel();
            if words.send(Word::Rest(looked)).is_ok() {
                // It ends with an error: nothing is ever sent.
                let _ = done.recv_timeout(REST_MOST);
            }
        }
    }

    /// What to ask the thread while it watches.
    pub(crate) fn asking(&self) -> Asking {
        Asking::new(self.words.clone())
    }

    /// Ends the thread; what it saw in the window.
    pub(crate) fn end(mut self, window_ns: (u64, u64)) -> Seen {
        // Without a thread nobody hears it.
        let _ = self.words.send(Word::End);
        let looked = self.thread.take().and_then(|thread| thread.join().ok());
        let on_this_host = self.on_this_host;
        let Some(looked) = looked else {
            let target = Target {
                on_this_host,
                listener: None,
                woken_per_connection: None,
                throttled: None,
                children_ended: 0,
                processes: Vec::new(),
            };
            return Seen {
                target,
                client: None,
                connections: None,
                server_connections: None,
                cost_ns: None,
            };
        };
        let mut processes: Vec<Process> =
            looked.processes.iter().map(|process| process.seen(window_ns)).collect();
        processes.sort_by_key(|process| std::cmp::Reverse(process.cpu_ns()));
        Seen {
            target: Target {
                on_this_host,
                listener: looked.listener.map(|found| found.seen(window_ns)),
                woken_per_connection: looked.woken_per_connection,
                throttled: looked.throttled,
                children_ended: looked.children_ended,
                processes,
            },
            client: Some(looked.client.seen(window_ns)),
            connections: looked.connections,
            server_connections: looked.server_connections,
            cost_ns: looked.cost_ns,
        }
    }
}

impl Looking {
    fn until(&mut self, hearing: &mpsc::Receiver<Word>) {
        let begun_ns = clock::monotonic_ns();
        let mut connections_next_ns = begun_ns + CONNECTIONS_PERIOD_NS / 5;
        loop {
            let before_ns = own_cpu_ns();
            let now_ns = clock::monotonic_ns();
            self.look(now_ns);
            let looked_ns = own_cpu_ns();
            let took_ns = looked_ns.saturating_sub(before_ns);
            // Looks at all connections have a period of their own: they must not hold up the others.
            if now_ns >= connections_next_ns {
                self.look_at_connections(now_ns);
                let took_ns = own_cpu_ns().saturating_sub(looked_ns);
                connections_next_ns = now_ns + CONNECTIONS_PERIOD_NS.max(took_ns * COST);
            }
            let young = now_ns.saturating_sub(begun_ns) < 1_000_000_000;
            let next_ns = clock::monotonic_ns() + wait_ns(young, took_ns);
            if self.hear_until(next_ns, hearing).is_break() {
                break;
            }
        }
        // Once more: the end of the window may just have passed.
        self.look(clock::monotonic_ns());
        self.throttled = self.quotas.until(&self.quotas.again());
        self.cost_ns = Some(own_cpu_ns());
    }

    /// Does what it is told until the next look is due. Whoever asks how busy both sides are causes no look of its own: those may be
    /// dear.
    fn hear_until(&mut self, next_ns: u64, hearing: &mpsc::Receiver<Word>) -> ControlFlow<()> {
        loop {
            let wait_ns = next_ns.saturating_sub(clock::monotonic_ns());
            match hearing.recv_timeout(Duration::from_nanos(wait_ns)) {
                Ok(Word::Rest(_looked)) => {
                    self.look_at_rest();
                    self.count_connections_to_the_end();
                    return ControlFlow::Continue(());
                }
                // Whoever asked may have gone.
                Ok(Word::Present { from_ns, reply }) => drop(reply.send(self.present(from_ns))),
                Ok(Word::End) | Err(RecvTimeoutError::Disconnected) => {
                    return ControlFlow::Break(());
                }
                Err(RecvTimeoutError::Timeout) => return ControlFlow::Continue(()),
            }
        }
    }

    fn look(&mut self, now_ns: u64) {
        self.client.look(now_ns);
        for process in &mut self.processes {
            process.look(now_ns);
        }
        self.look_for_children(now_ns);
        if let Some(listener) = &mut self.listener {
            listener.look(now_ns);
        }
    }

    fn present(&self, from_ns: u64) -> Present {
        let processes = self.processes.iter().filter(|process| !process.has_ended());
        Present {
            client: self.client.present(from_ns, true),
            server: Side::together(processes.filter_map(|process| process.present(from_ns, false))),
            processors: environment::cpus_online(),
        }
    }

    /// What the target's processes start serves, too: a server that forks, or whose work a process of its own does.
    fn look_for_children(&mut self, now_ns: u64) {
        let first = self.first_processes;
        let before = self.processes.len();
        let mut index = 0;
        self.processes.retain(|process| {
            index += 1;
            index <= first || !process.was_hardly_seen()
        });
        self.children_ended += (before - self.processes.len()) as u64;
        let own = std::process::id();
        let mut known: BTreeSet<u32> = self.processes.iter().map(Watched::pid).collect();
        let mut next = 0;
        while next < self.processes.len() && self.processes.len() < MOST_PROCESSES {
            let children = match self.processes[next].has_ended() {
                true => Vec::new(),
                false => self.processes[next].children(),
            };
            for pid in children {
                if pid != own && self.processes.len() < MOST_PROCESSES && known.insert(pid) {
                    let mut child = Watched::new(pid);
                    child.look(now_ns);
                    self.processes.push(child);
                }
            }
            next += 1;
        }
    }

    /// Takes no time where the server was not busy.
    fn look_at_rest(&mut self) {
        // The load has just ended: this look is the last of it.
        self.look(clock::monotonic_ns());
        if !self.processes.iter().any(Watched::is_busy) {
            return;
        }
        let over_ns = clock::monotonic_ns();
        for settling in SETTLING {
            let settled = Duration::from_nanos(clock::monotonic_ns() - over_ns);
            std::thread::sleep(settling.saturating_sub(settled));
            let before: Vec<_> = self.processes.iter().map(Watched::busy_times).collect();
            let begun_ns = clock::monotonic_ns();
            std::thread::sleep(AT_REST);
            let watched_ns = clock::monotonic_ns() - begun_ns;
            let all = self.processes.iter_mut().zip(&before);
            let busy =
                all.map(|(process, before)| process.was_at_rest(settling, watched_ns, before));
            if busy.sum::<u64>() == 0 {
                break;
            }
        }
    }

    /// Looks under the load may lie seconds apart: what was sent again since the last one is still known.
    fn count_connections_to_the_end(&mut self) {
        let Some(so_far) = &mut self.connections else { return };
        let Some(look) = Look::now(clock::monotonic_ns(), &self.addresses, self.on_this_host)
        else {
            return;
        };
        connections::counted_to_the_end(so_far, look.client);
        if let Some((so_far, look)) = self.server_connections.as_mut().zip(look.server) {
            connections::counted_to_the_end(so_far, look);
        }
    }

    fn look_at_connections(&mut self, now_ns: u64) {
        if self.addresses.is_empty() {
            return;
        }
        let look = Look::now(now_ns, &self.addresses, self.on_this_host);
        let Some(Look { client, server }) = look else { return };
        self.connections = Some(connections::seen(self.connections.take(), client));
        if let Some(server) = server {
            let so_far = self.server_connections.take();
            self.server_connections = Some(connections::seen(so_far, server));
        }
    }
}

/// Until the next look, after one that took so much CPU time.
fn wait_ns(young: bool, took_ns: u64) -> u64 {
    let period_ns = if young { FIRST_PERIOD_NS } else { PERIOD_NS };
    let sparing_ns = took_ns * COST;
    period_ns.max(sparing_ns.min(FAR_APART_NS.max(took_ns * COST_MOST)))
}

/// CPU time of this thread so far, ns.
fn own_cpu_ns() -> u64 {
    usage::thread_usage().map_or(0, |usage| usage.user_ns + usage.system_ns)
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.words.send(Word::End);
    }
}

#[cfg(test)]
mod tests {
    use super::wait_ns;

    #[test]
    fn dear_looks_are_rarer_but_a_run_of_a_second_is_seen() {
        assert_eq!(wait_ns(true, 50_000), 50_000_000);
        assert_eq!(wait_ns(false, 50_000), 100_000_000);
        // A fifth of a percent.
        assert_eq!(wait_ns(false, 400_000), 200_000_000);
        // A process of hundreds of threads: still three looks in a second.
        assert_eq!(wait_ns(true, 3_000_000), 300_000_000);
        // One percent at most.
        assert_eq!(wait_ns(false, 20_000_000), 2_000_000_000);
    }
}
