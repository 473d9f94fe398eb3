//! A recording: events on every thread of some processes, one ring per processor, and a thread that
//! empties the rings. Stacks that are the same are kept once.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::event::{Wanted, online_cpus};
use super::maps::Maps;
use super::record::{Record, Sample};
use super::refusal::refused_by;
use super::ring::Ring;
use super::unwind::Unwinding;
use ablaze_model::profiling::Refused;

/// Between two looks at the rings. At 5,000 samples a second of 9 kB, 450 kB.
const PERIOD: Duration = Duration::from_millis(10);
/// The name of the thread that empties the rings.
const PROFILER: &str = "profiler";
/// At most this many events: one per thread and processor.
const MOST_EVENTS: usize = 8_192;

/// What to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The processes, with all their threads and what they start.
    pub pids: Vec<u32>,
    /// Samples per second of CPU time; the kernel may allow fewer.
    pub frequency_hz: u32,
}

/// A recording that goes on until [`Recording::end`], or until it is dropped.
#[derive(Debug)]
pub struct Recording {
    wanted: Wanted,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<Reading>>,
}

/// What was recorded within a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// `cycles` or `cpu-clock`.
    pub event: &'static str,
    /// Samples per second of CPU time.
    pub frequency_hz: u32,
    /// Whether samples were taken in the kernel, too.
    pub kernel: bool,
    /// Samples that found no place in a ring, over the whole recording.
    pub lost: u64,
    /// The different stacks that were seen in the window.
    pub chains: Vec<Chain>,
    /// What the processes had mapped.
    pub maps: HashMap<u32, Maps>,
}

/// A stack as addresses, with what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The process.
    pub pid: u32,
    /// Addresses in the kernel, innermost first; empty for a sample in the program.
    pub kernel: Vec<u64>,
    /// Addresses in the program, innermost first: each but the first is where a call returns to.
    pub user: Vec<u64>,
    /// Whether `user` reaches the first function of its thread.
    pub whole: bool,
    /// Number of samples of this stack.
    pub samples: u64,
    /// Their periods added up: ns of `cpu-clock`, else cycles.
    pub weight: u64,
}

/// What the thread keeps.
#[derive(Debug)]
struct Reading {
    rings: Vec<Ring>,
    kept: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    /// The processes that are asked about, and those that they have made.
    pids: HashSet<u32>,
    /// The threads that empty rings: they are not part of any run.
    profilers: HashSet<u32>,
    /// The different stacks, numbered.
    numbers: HashMap<Seen, u32>,
    /// When, for how long, and which stack.
    samples: Vec<(u64, u64, u32)>,
    maps: HashMap<u32, Maps>,
    lost: u64,
    unwinding: Unwinding,
}

/// A stack as it was seen.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Seen {
    pid: u32,
    kernel: Vec<u64>,
    user: Vec<u64>,
    whole: bool,
}

impl Recording {
    /// Opens the events, which count from now on.
    ///
    /// # Errors
    /// When the kernel forbids it or the processes have gone.
    pub fn begin(request: &Request) -> Result<Self, Refused> {
        let first = request.pids.first().copied().unwrap_or(0);
        let wanted = Wanted::best(request.frequency_hz, first as i32)?;
        let end = Arc::new(AtomicBool::new(false));
        // Made before the events: a thread that is made later inherits them, and would be in the
        // picture where this process itself is recorded.
        let (hand, take) = std::sync::mpsc::sync_channel::<Reading>(1);
        let (named, has_its_name) = std::sync::mpsc::sync_channel::<()>(1);
        let told = Arc::clone(&end);
        let thread = std::thread::Builder::new()
            .name(PROFILER.to_owned())
            .spawn(move || {
                drop(named);
                let mut reading = take.recv().unwrap_or_else(|_| Reading::empty());
                reading.until(&told);
                reading
            })
            .map_err(|error| refused_by(&error))?;
        // It ends with an error, when the thread runs under its name: nothing is ever sent.
        let _ = has_its_name.recv();
        let pids = request.pids.iter().copied().collect();
        let mut kept = Kept { pids, profilers: profilers(), ..Kept::default() };
        kept.maps.extend(request.pids.iter().map(|pid| (*pid, Maps::of(*pid))));
        let rings = rings(wanted, &request.pids).map_err(|error| refused_by(&error))?;
        let recording = Self { wanted, end, thread: Some(thread) };
        // It waits for exactly this.
        let _ = hand.send(Reading { rings, kept });
        Ok(recording)
    }

    /// Ends it; what was recorded from `window_ns.0` to `window_ns.1` of the monotonic clock.
    pub fn end(mut self, window_ns: (u64, u64)) -> Recorded {
        self.end.store(true, Ordering::Release);
        let kept = self.thread.take().and_then(|thread| thread.join().ok());
        let Wanted { event, frequency_hz, kernel, .. } = self.wanted;
        let recorded =
            Recorded { event: event.name(), frequency_hz, kernel, ..Recorded::default() };
        match kept {
            Some(reading) => reading.kept.within(window_ns, recorded),
            None => recorded,
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
    }
}

/// One ring per processor, which the events of all threads write into.
fn rings(wanted: Wanted, pids: &[u32]) -> io::Result<Vec<Ring>> {
    let cpus = online_cpus();
    if wanted.whole_machine {
        if !pids.iter().any(|pid| !threads(*pid).is_empty()) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let ring = |cpu: &i32| Ring::of(wanted.open(-1, *cpu)?, cpus.len());
        return cpus.iter().map(ring).collect();
    }
    let mut rings: Vec<Option<Ring>> = cpus.iter().map(|_| None).collect();
    let mut events = 0;
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    for thread in pids.iter().flat_map(|pid| threads(*pid)) {
        if events + cpus.len() > MOST_EVENTS {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        for (cpu, ring) in cpus.iter().zip(&mut rings) {
            let event = match wanted.open(thread, *cpu) {
                Ok(event) => event,
                // It has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => break,
                Err(error) => return Err(error),
            };
            events += 1;
            match ring {
                Some(ring) => ring.adopt(event)?,
                None => *ring = Some(Ring::of(event, cpus.len())?),
            }
        }
    }
    let rings: Vec<Ring> = rings.into_iter().flatten().collect();
    if rings.is_empty() { Err(gone()) } else { Ok(rings) }
}

/// The threads of a process, but not those that empty rings.
fn threads(pid: u32) -> Vec<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|thread| pid != std::process::id() || !empties_rings(*thread)).collect()
}

/// The threads of this process that empty rings.
fn profilers() -> HashSet<u32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|thread| empties_rings(*thread)).map(|thread| thread as u32).collect()
}

fn empties_rings(thread: i32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    name.is_ok_and(|name| name.trim() == PROFILER)
}

impl Reading {
    fn empty() -> Self {
        Self { rings: Vec::new(), kept: Kept::default() }
    }

    fn until(&mut self, end: &AtomicBool) {
        while !end.load(Ordering::Acquire) && !self.rings.is_empty() {
            self.drain();
            std::thread::sleep(PERIOD);
        }
        self.drain();
    }

    fn drain(&mut self) {
        for ring in &mut self.rings {
            ring.drain(|bytes| self.kept.take(bytes));
        }
    }
}

impl Kept {
    fn take(&mut self, bytes: &[u8]) {
        match Record::read(bytes) {
            Some(Record::Sample(sample))
                if self.pids.contains(&sample.pid) && !self.profilers.contains(&sample.thread) =>
            {
                self.keep(sample);
            }
            Some(Record::Lost(lost)) => self.lost += lost,
            Some(Record::Mapped { pid, mapping }) if self.pids.contains(&pid) => {
                self.maps.entry(pid).or_default().add(mapping);
                self.unwinding.forget(pid);
            }
            Some(Record::Forked { pid, parent })
                if pid != parent && self.pids.contains(&parent) =>
            {
                self.pids.insert(pid);
                let inherited = self.maps.get(&parent).cloned().unwrap_or_default();
                self.maps.entry(pid).or_insert(inherited);
            }
            _ => {}
        }
    }

    fn keep(&mut self, sample: Sample) {
        let next = self.numbers.len() as u32;
        let Sample { pid, at_ns, period, kernel, user, .. } = sample;
        let (user, whole) = match user {
            Some(user) => {
                let maps = self.maps.entry(pid).or_insert_with(|| Maps::of(pid));
                self.unwinding.unwound(pid, maps, &user)
            }
            None => (Vec::new(), true),
        };
        let number = *self.numbers.entry(Seen { pid, kernel, user, whole }).or_insert(next);
        self.samples.push((at_ns, period, number));
    }

    fn within(self, window_ns: (u64, u64), mut recorded: Recorded) -> Recorded {
        let mut seen: HashMap<u32, (u64, u64)> = HashMap::new();
        for (at_ns, period, number) in self.samples {
            if (window_ns.0..=window_ns.1).contains(&at_ns) {
                let (samples, weight) = seen.entry(number).or_default();
                *samples += 1;
                *weight += period;
            }
        }
        for (Seen { pid, kernel, user, whole }, number) in self.numbers {
            if let Some(&(samples, weight)) = seen.get(&number) {
                recorded.chains.push(Chain { pid, kernel, user, whole, samples, weight });
            }
        }
        (recorded.lost, recorded.maps) = (self.lost, self.maps);
        recorded
    }
}

#[cfg(test)]
#[path = "sampling_tests.rs"]
mod tests;
