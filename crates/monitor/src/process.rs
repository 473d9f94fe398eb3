//! A process and its threads, watched from outside through /proc: CPU time of each thread, time it
//! waited for a processor, memory, descriptors, switches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use ablaze_model::monitor::{AtRest, Process, Switches, Thread};

use crate::at_rest::{at_rest, busy};
use crate::present::Side;
use crate::proc_text::{name_in, number_after, ticks_ns};
use crate::series::{Series, range};
use crate::serving::WatchedServing;
use crate::thread::{WatchedThread, account_of};

/// At most this many threads of a process are watched one by one; the process's own CPU time has them all.
const MOST_THREADS: usize = 256;
/// At most this many of them are reported, the busiest.
const MOST_REPORTED: usize = 64;

/// Children of at most this many threads of a process are looked for.
const MOST_FORKING: usize = 16;

/// Threads that used so much of a core together are busy.
const BUSY: f64 = 0.7;

/// A process under watch.
#[derive(Debug)]
pub(crate) struct Watched {
    pid: u32,
    name: String,
    executable: Option<String>,
    command_line: Vec<String>,
    whole: Series<Whole>,
    serving: Option<WatchedServing>,
    at_rest: Option<AtRest>,
    /// It is this process: threads of the client are not the server's.
    is_own: bool,
    traced_before: Option<String>,
    cpus_allowed: BTreeSet<u32>,
    /// It was looked at and is gone.
    ended: bool,
    looks: u64,
    threads: BTreeMap<u32, WatchedThread>,
    /// By thread: one that ends takes its count with it.
    switches_before: BTreeMap<u32, Switches>,
}

/// One reading of a process.
#[derive(Debug, Clone, Copy)]
struct Whole {
    user_ns: u64,
    system_ns: u64,
    thread_count: u64,
    memory_bytes: u64,
    descriptors: Option<u64>,
    stopped_by: Option<Stopper>,
}

/// Who stopped a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopper {
    /// State T.
    Signal,
    /// State t.
    Tracer,
}

impl Watched {
    /// Its name and command line are those of now: at the end it may be gone.
    pub(crate) fn new(pid: u32) -> Self {
        Self {
            pid,
            name: name_in(&format!("/proc/{pid}")).unwrap_or_default(),
            executable: fs::read_link(format!("/proc/{pid}/exe"))
                .ok()
                .map(|path| path.to_string_lossy().into_owned()),
            command_line: command_line(pid),
            whole: Series::new(),
            serving: None,
            at_rest: None,
            is_own: false,
            traced_before: tracer(pid),
            cpus_allowed: BTreeSet::new(),
            ended: false,
            looks: 0,
            threads: BTreeMap::new(),
            switches_before: switches(pid),
        }
    }

    /// The same of a process that serves. That may be this one: where a program loads its own server, its CPU time
    /// is that of the threads that are not the client's.
    pub(crate) fn that_serves(pid: u32) -> Self {
        let is_own = pid == std::process::id();
        Self { serving: Some(WatchedServing::new(pid)), is_own, ..Self::new(pid) }
    }

    /// Takes a reading; a process that is gone gives none.
    pub(crate) fn look(&mut self, at_ns: u64) {
        let Some(whole) = whole(self.pid) else {
            self.ended = true;
            return;
        };
        self.whole.add(at_ns, whole);
        self.looks += 1;
        if self.looks.is_power_of_two() {
            // It may pin itself, or be pinned, later.
            self.cpus_allowed = cpus_allowed(self.pid);
        }
        if let Some(serving) = &mut self.serving {
            serving.look(at_ns);
        }
        let alive: BTreeSet<u32> = threads(self.pid).take(MOST_THREADS).collect();
        for &tid in &alive {
            let folder = format!("/proc/{}/task/{tid}", self.pid);
            let account = fs::read_to_string(format!("{folder}/schedstat")).ok();
            if let Some(account) = account.and_then(|text| account_of(&text)) {
                let thread = self.threads.entry(tid).or_insert_with(WatchedThread::new);
                thread.look(at_ns, account, &folder);
            }
        }
        // Threads that come and go must not fill the memory.
        if self.threads.len() > 4 * MOST_THREADS {
            self.threads.retain(|tid, _| alive.contains(tid));
        }
    }

    /// Whether it ended after it had been seen only once, or never: nothing is known of its CPU time.
    pub(crate) fn was_hardly_seen(&self) -> bool {
        self.ended && self.looks < 2
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The processes that it started and that there are, by number.
    pub(crate) fn children(&self) -> Vec<u32> {
        if self.is_own {
            // What this program starts is not the server's.
            return Vec::new();
        }
        let of_thread = |tid| {
            let path = format!("/proc/{}/task/{tid}/children", self.pid);
            fs::read_to_string(path).unwrap_or_default()
        };
        let lists: Vec<String> = threads(self.pid).take(MOST_FORKING).map(of_thread).collect();
        let numbers = lists.iter().flat_map(|list| list.split_whitespace());
        numbers.filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Whether its threads together used most of a core lately: what loops may go from one to another, as runtimes move tasks.
    pub(crate) fn is_busy(&self) -> bool {
        let own = |thread: &&WatchedThread| !(self.is_own && is_of_client(thread.name()));
        self.threads.values().filter(own).map(WatchedThread::most_lately).sum::<f64>() > BUSY
    }

    /// For how long each thread has run or has been ready to so far, ns: where others have the CPUs, one that loops mostly waits.
    pub(crate) fn busy_times(&self) -> BTreeMap<u32, u64> {
        threads(self.pid)
            .take(MOST_THREADS)
            .filter_map(|tid| {
                let path = format!("/proc/{}/task/{tid}/schedstat", self.pid);
                let account = account_of(&fs::read_to_string(path).ok()?)?;
                Some((tid, account.cpu_ns + account.waited_ns))
            })
            .collect()
    }

    /// It was looked at for so long after the end of the load, having had so long to finish. How many of its threads were busy, or one
    /// where they were together.
    pub(crate) fn was_at_rest(
        &mut self,
        settled: Duration,
        watched_ns: u64,
        before: &BTreeMap<u32, u64>,
    ) -> u64 {
        let now = self.busy_times();
        let of_client =
            |tid: &u32| self.threads.get(tid).is_some_and(|one| is_of_client(one.name()));
        let own = now.iter().filter(|(tid, _)| !(self.is_own && of_client(tid)));
        // One that began meanwhile has done all of it in this time.
        let used = own.map(|(tid, now)| now.saturating_sub(before.get(tid).copied().unwrap_or(0)));
        self.at_rest = at_rest(settled, watched_ns, used);
        self.at_rest.as_ref().map_or(0, busy)
    }

    /// How busy it has been since then: its threads that load, or all the others. `None` for fewer than two readings.
    pub(crate) fn present(&self, from_ns: u64, loads: bool) -> Option<Side> {
        let counts = |name: &str| match loads {
            true => name.starts_with("worker-"),
            false => !(self.is_own && is_of_client(name)),
        };
        let threads = self.threads.values().filter(|thread| counts(thread.name()));
        let shares: Vec<f64> = threads.filter_map(|thread| thread.share_since(from_ns)).collect();
        let busiest = shares.iter().copied().reduce(f64::max)?;
        // The others have other things to do.
        let threads = shares.iter().filter(|share| **share >= busiest / 100.0).count();
        let cores = shares.iter().sum();
        Some(Side { name: self.name.clone(), busiest, cores, threads })
    }

    /// What was seen in the window.
    pub(crate) fn seen(&self, window_ns: (u64, u64)) -> Process {
        let readings = self.whole.within(window_ns);
        let range = |field: &dyn Fn(&Whole) -> Option<u64>| {
            range(readings.iter().filter_map(|(_, whole)| field(whole)))
        };
        let (first, last) = readings.first().zip(readings.last()).unzip();
        let risen = |field: fn(&Whole) -> u64| {
            first
                .zip(last)
                .map_or(0, |(first, last)| field(&last.1).saturating_sub(field(&first.1)))
        };
        let watched_ns = first.zip(last).map_or(0, |(first, last)| last.0 - first.0);
        let mut threads: Vec<Thread> = self
            .threads
            .iter()
            .filter_map(|(tid, watched)| watched.seen(*tid, window_ns))
            .collect();
        let (mut user_ns, mut system_ns) =
            (risen(|whole| whole.user_ns), risen(|whole| whole.system_ns));
        if self.is_own {
            let of_client = threads.iter().filter(|thread| is_of_client(&thread.name));
            let client_ns: u64 = of_client.map(|thread| thread.cpu_ns).sum();
            let all_ns = (user_ns + system_ns).max(1);
            // The kernel's account of a thread has no parts: they are taken to be as those of the process.
            let rest = all_ns.saturating_sub(client_ns) as f64 / all_ns as f64;
            user_ns = (user_ns as f64 * rest) as u64;
            system_ns = (system_ns as f64 * rest) as u64;
            threads.retain(|thread| !is_of_client(&thread.name));
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.cpu_ns));
        threads.truncate(MOST_REPORTED);
        Process {
            pid: self.pid,
            name: self.name.clone(),
            executable: self.executable.clone(),
            command_line: self.command_line.clone(),
            watched_ns,
            readings: readings.len() as u64,
            stopped_readings: stopped(readings),
            user_ns,
            system_ns,
            memory_bytes: range(&|whole| Some(whole.memory_bytes)),
            descriptors: range(&|whole| whole.descriptors),
            thread_count: range(&|whole| Some(whole.thread_count)),
            switches: self.switches(),
            cpus_allowed: self.cpus_allowed.iter().copied().collect(),
            ended: self.ended,
            traced_by: tracer(self.pid).or_else(|| self.traced_before.clone()),
            serving: self.serving.as_ref().map(|serving| serving.seen(window_ns)),
            at_rest: self.at_rest,
            threads,
        }
    }

    /// Switches since the watch began, of the threads that there are.
    fn switches(&self) -> Option<Switches> {
        let now = switches(self.pid);
        let risen = now.iter().map(|(tid, now)| {
            let before = self.switches_before.get(tid).copied().unwrap_or_default();
            Switches {
                voluntary: now.voluntary.saturating_sub(before.voluntary),
                involuntary: now.involuntary.saturating_sub(before.involuntary),
            }
        });
        risen.reduce(|sum, one| Switches {
            voluntary: sum.voluntary + one.voluntary,
            involuntary: sum.involuntary + one.involuntary,
        })
    }
}

/// Whether a thread of this name is one that a run starts: the engine's workers, and those that watch.
fn is_of_client(name: &str) -> bool {
    name.starts_with("worker-") || ["monitor", "heartbeat"].contains(&name)
}

/// Readings in which it was stopped. Who traces its system calls stops it for a moment at each of them, and a reading meets such
/// moments: a stop by a tracer counts where the process did not run until the next reading of one, or since the one before.
fn stopped(readings: &[(u64, Whole)]) -> u64 {
    let whole = |at: usize| readings.get(at).map(|(_, whole)| whole);
    let goes_on = |one: &Whole, other: Option<&Whole>| {
        other.is_some_and(|other| {
            let times = |whole: &Whole| (whole.user_ns, whole.system_ns);
            other.stopped_by == Some(Stopper::Tracer) && times(one) == times(other)
        })
    };
    let counts = |(at, (_, one)): &(usize, &(u64, Whole))| match one.stopped_by {
        None => false,
        Some(Stopper::Signal) => true,
        Some(Stopper::Tracer) => {
            goes_on(one, at.checked_sub(1).and_then(whole)) || goes_on(one, whole(at + 1))
        }
    };
    readings.iter().enumerate().filter(counts).count() as u64
}

fn whole(pid: u32) -> Option<Whole> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let descriptors = fs::metadata(format!("/proc/{pid}/fd")).ok().map(|folder| folder.size());
    // Since Linux 6.2 the size of the folder is the number of descriptors; before, it was 0.
    parsed_stat(&stat, descriptors.filter(|count| *count > 0))
}

/// /proc/PID/stat: `pid (name) state …`, where the name may hold blanks and brackets. Behind the
/// last bracket stand, counted from the state as 3: utime 14, stime 15, threads 20, pages 24.
fn parsed_stat(stat: &str, descriptors: Option<u64>) -> Option<Whole> {
    let (_, behind) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = behind.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    // A process that ended and was not waited for says nothing more.
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return None;
    }
    Some(Whole {
        user_ns: ticks_ns(field(14)?),
        system_ns: ticks_ns(field(15)?),
        thread_count: field(20)?,
        memory_bytes: field(24)?.checked_mul(rustix::param::page_size() as u64)?,
        descriptors,
        stopped_by: match *fields.first()? {
            "T" => Some(Stopper::Signal),
            "t" => Some(Stopper::Tracer),
            _ => None,
        },
    })
}

fn threads(pid: u32) -> impl Iterator<Item = u32> {
    let folder = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// CPUs that any of its threads may run on; of this process, any of the client's workers.
fn cpus_allowed(pid: u32) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for tid in threads(pid).take(MOST_THREADS) {
        let folder = format!("/proc/{pid}/task/{tid}");
        if pid == std::process::id()
            && !name_in(&folder).is_some_and(|name| name.starts_with("worker-"))
        {
            continue;
        }
        let status = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        all.extend(list.into_iter().flat_map(parsed_cpus));
    }
    all
}

/// `0-2,7`
fn parsed_cpus(list: &str) -> impl Iterator<Item = u32> {
    list.trim().split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<u32>(), last.parse::<u32>()) {
            (Ok(first), Ok(last)) if last < 1 << 16 => first..last + 1,
            _ => 0..0,
        }
    })
}

/// Switches of each thread that there is now.
fn switches(pid: u32) -> BTreeMap<u32, Switches> {
    threads(pid)
        .take(MOST_THREADS)
        .filter_map(|tid| {
            let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
            let voluntary = number_after(&text, "voluntary_ctxt_switches")?;
            let involuntary = number_after(&text, "nonvoluntary_ctxt_switches")?;
            Some((tid, Switches { voluntary, involuntary }))
        })
        .collect()
}

/// Who traces it now: `strace, process 4711`.
fn tracer(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let tracer = number_after(&status, "TracerPid").filter(|tracer| *tracer > 0)?;
    let name = name_in(&format!("/proc/{tracer}")).unwrap_or_else(|| "a tracer".to_owned());
    Some(format!("{name}, process {tracer}"))
}

fn command_line(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
