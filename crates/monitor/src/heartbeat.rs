//! A thread that does nothing but sleep, 10 ms at a time: short enough to see pauses of 20 ms, and
//! a tenth of the cost of one that sleeps a millisecond. When it wakes up late, so did everything: the machine was paused, the process was stopped, or other tasks had the processors.
//! The scheduler's own account of the thread tells the last from the others.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ablaze_model::monitor::{Gap, Heartbeat};
use ablaze_sys::{clock, usage};

const BEAT: Duration = Duration::from_millis(10);
/// Waking up so much too late is a gap, ns.
const KEPT_NS: u64 = 20_000_000;
/// At most this many gaps are kept one by one, the longest.
const MOST_KEPT: usize = 64;
const STACK_BYTES: usize = 64 * 1024;

/// Counts a beat, and keeps its gap if that is one.
fn count(heartbeat: &mut Heartbeat, gap: Gap) {
    heartbeat.beats += 1;
    if gap.length_ns < KEPT_NS {
        return;
    }
    heartbeat.gaps += 1;
    heartbeat.gaps_ns += gap.length_ns;
    if let Some(waited_ns) = gap.waited_ns {
        *heartbeat.gaps_waited_ns.get_or_insert(0) += waited_ns;
    }
    heartbeat.longest.push(gap);
    if heartbeat.longest.len() > MOST_KEPT {
        let shortest =
            (0..heartbeat.longest.len()).min_by_key(|at| heartbeat.longest[*at].length_ns);
        shortest.map(|at| heartbeat.longest.remove(at));
    }
}

/// What of it lies in the window. Gaps that are not kept one by one were shorter than all that are, and
/// stay.
pub(crate) fn within(mut heartbeat: Heartbeat, (from_ns, to_ns): (u64, u64)) -> Heartbeat {
    let kept = std::mem::take(&mut heartbeat.longest);
    for gap in kept {
        // It was late from the moment it should have woken up.
        let late_ns = gap.at_clock_ns + BEAT.as_nanos() as u64;
        let begin_ns = late_ns.clamp(from_ns, to_ns.max(from_ns));
        let end_ns = (late_ns + gap.length_ns).clamp(from_ns, to_ns.max(from_ns));
        let length_ns = end_ns - begin_ns;
        let waited_ns = gap.waited_ns.map(|waited_ns| waited_ns.min(length_ns));
        heartbeat.gaps_ns -= gap.length_ns - length_ns;
        if let (Some(sum), Some(all)) = (&mut heartbeat.gaps_waited_ns, gap.waited_ns) {
            *sum -= all - waited_ns.unwrap_or(0);
        }
        if length_ns < KEPT_NS {
            heartbeat.gaps -= 1;
            heartbeat.gaps_ns -= length_ns;
            if let (Some(sum), Some(part)) = (&mut heartbeat.gaps_waited_ns, waited_ns) {
                *sum -= part;
            }
            continue;
        }
        let at_clock_ns = begin_ns - (late_ns - gap.at_clock_ns).min(begin_ns);
        heartbeat.longest.push(Gap { at_clock_ns, length_ns, waited_ns });
    }
    heartbeat
}

/// A heartbeat that goes on until [`Beating::end`], or until it is dropped.
#[derive(Debug)]
pub(crate) struct Beating {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Heartbeat, u64)>>,
}

impl Beating {
    /// `None` when no thread can be started.
    pub(crate) fn begin() -> Option<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let thread = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || beat(&until))
            .ok()?;
        Some(Self { over, thread: Some(thread) })
    }

    /// What it saw, and the CPU time that took.
    pub(crate) fn end(mut self) -> (Heartbeat, u64) {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take().and_then(|thread| thread.join().ok());
        thread.unwrap_or_default()
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn beat(over: &AtomicBool) -> (Heartbeat, u64) {
    let account = File::open("/proc/thread-self/schedstat").ok();
    let waited = || account.as_ref().and_then(waited_ns);
    let mut heartbeat = Heartbeat::default();
    let mut last_ns = clock::monotonic_ns();
    let mut waited_before = waited();
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(BEAT);
        let now_ns = clock::monotonic_ns();
        let length_ns = now_ns.saturating_sub(last_ns).saturating_sub(BEAT.as_nanos() as u64);
        let waited_now = waited();
        let waited_ns = waited_before.zip(waited_now).map(|(old, new)| new.saturating_sub(old));
        waited_before = waited_now;
        let waited_ns = waited_ns.map(|waited_ns| waited_ns.min(length_ns));
        count(&mut heartbeat, Gap { at_clock_ns: last_ns, length_ns, waited_ns });
        last_ns = now_ns;
    }
    let cost = usage::thread_usage().map_or(0, |usage| usage.user_ns + usage.system_ns);
    (heartbeat, cost)
}

/// The second number of schedstat: time spent waiting for a processor, ns
/// (scheduler/sched-stats).
fn waited_ns(account: &File) -> Option<u64> {
    let mut bytes = [0; 64];
    let length = account.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(length_ms: u64) -> Gap {
        Gap { at_clock_ns: 7, length_ns: length_ms * 1_000_000, waited_ns: Some(1) }
    }

    #[test]
    fn only_what_lies_in_the_window_counts() {
        let mut heartbeat = Heartbeat::default();
        let late = |at_ms: u64, length_ms: u64| Gap {
            at_clock_ns: (at_ms - 10) * 1_000_000,
            length_ns: length_ms * 1_000_000,
            waited_ns: Some(length_ms * 1_000_000),
        };
        // Before, across its beginning, within, across its end by little, behind.
        for gap in [late(20, 50), late(80, 57), late(300, 25), late(990, 30), late(2000, 100)] {
            count(&mut heartbeat, gap);
        }
        let seen = within(heartbeat, (100_000_000, 1_000_000_000));
        assert_eq!((seen.gaps, seen.gaps_ns), (2, 62_000_000));
        assert_eq!(seen.gaps_waited_ns, Some(62_000_000));
        assert_eq!(seen.longest, [late(100, 37), late(300, 25)]);
    }

    #[test]
    fn short_gaps_are_beats_and_long_ones_are_kept() {
        let mut heartbeat = Heartbeat::default();
        for _ in 0..100 {
            count(&mut heartbeat, gap(1));
        }
        count(&mut heartbeat, gap(20));
        count(&mut heartbeat, gap(500));
        assert_eq!((heartbeat.beats, heartbeat.gaps, heartbeat.gaps_ns), (102, 2, 520_000_000));
        assert_eq!(heartbeat.longest, [gap(20), gap(500)]);
    }

    #[test]
    fn the_list_is_bounded_and_keeps_the_longest() {
        let mut heartbeat = Heartbeat::default();
        for length_ms in 20..220 {
            count(&mut heartbeat, gap(length_ms));
        }
        assert_eq!((heartbeat.gaps, heartbeat.longest.len()), (200, MOST_KEPT));
        assert_eq!(heartbeat.longest[0], gap(156));
    }

    #[test]
    fn it_beats_until_it_is_ended_and_costs_little() {
        let beating = Beating::begin().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let (heartbeat, cost_ns) = beating.end();
        assert!(heartbeat.beats > 0 && heartbeat.beats <= 25, "{heartbeat:?}");
        assert!(cost_ns < 100_000_000, "{cost_ns}");
    }
}
