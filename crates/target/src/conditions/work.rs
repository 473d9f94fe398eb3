//! CPU time burnt on purpose, as a handler that computes something would.

use std::hint::black_box;
use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

/// Below this, reading the thread's clock (a system call) would cost too much of the time: the
/// calibration alone decides.
const CLOCKED_NS_MIN: u64 = 5_000;

/// The time between two looks at the clock, at most. A CPU that clocks down, or that the host lends to
/// another guest, slows what is under way by as much as that goes on; only the next look sees it.
const SLICE_NS_MAX: u64 = 250_000;

/// Burns this many nanoseconds of this thread's CPU time and does nothing else. It is one function
/// that is never inlined, so that it shows under its name in a flame graph.
///
/// Times from 5 µs are measured by the thread's CPU clock, in slices: what the kernel takes away
/// meanwhile is not counted, and a CPU that clocks down burns as long. Shorter ones are a number of
/// turns of a loop, calibrated when [`calibrate`] was called first.
#[inline(never)]
pub fn burn_cpu(ns: u64) {
    burn_by(*calibrate(), ns);
}

/// Measures how fast [`burn_cpu`] burns, once per process; takes a few milliseconds. A server does
/// this before it listens.
pub fn calibrate() -> &'static Calibration {
    static CALIBRATION: OnceLock<Calibration> = OnceLock::new();
    CALIBRATION.get_or_init(Calibration::measure)
}

/// How fast the loop turns.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    turns_per_us: f64,
}

impl Calibration {
    /// The fastest of some rounds: whatever disturbs a round makes it slower.
    fn measure() -> Self {
        const TURNS: u64 = 500_000;
        let round = || {
            let before_ns = thread_cpu_ns();
            turn(TURNS);
            thread_cpu_ns() - before_ns
        };
        let fastest_ns = (0..8).map(|_| round()).min().unwrap_or(0);
        Self::of(TURNS, fastest_ns)
    }

    fn of(turns: u64, ns: u64) -> Self {
        Self { turns_per_us: turns as f64 * 1e3 / ns.max(1) as f64 }
    }

    /// What one slice showed, but no faster than this, and no slower than an eighth: one that was held up for long
    /// says nothing about the next.
    fn within_reason(self, seen: Self) -> Self {
        Self { turns_per_us: seen.turns_per_us.clamp(self.turns_per_us / 8.0, self.turns_per_us) }
    }

    fn turns_for(&self, ns: u64) -> u64 {
        (ns as f64 * self.turns_per_us / 1e3) as u64
    }
}

#[inline(always)]
fn burn_by(calibration: Calibration, ns: u64) {
    if ns < CLOCKED_NS_MIN {
        turn(calibration.turns_for(ns));
        return;
    }
    let mut before_ns = thread_cpu_ns();
    let ends_ns = before_ns.saturating_add(ns);
    // The calibration has the fastest that this CPU was; how fast it is now, the first slice shows.
    let mut turns = calibration.turns_for((ns / 4).min(SLICE_NS_MAX));
    loop {
        turn(turns);
        let now_ns = thread_cpu_ns();
        let left_ns = ends_ns.saturating_sub(now_ns);
        // The next look at the clock would itself take longer.
        if left_ns < 100 {
            return;
        }
        let seen = Calibration::of(turns, now_ns.saturating_sub(before_ns));
        before_ns = now_ns;
        turns = calibration.within_reason(seen).turns_for(left_ns.min(SLICE_NS_MAX));
    }
}

/// A chain of multiplications, each of which waits for the one before it: its speed hangs on the
/// clock of the CPU alone.
#[inline(always)]
fn turn(turns: u64) {
    let mut value = black_box(turns);
    for _ in 0..turns {
        value = value.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        value = black_box(value);
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CPU time that burning takes; the least of some trials, because whatever disturbs one makes
    /// it longer.
    fn least_cost_ns(burn: impl Fn()) -> u64 {
        let cost = |()| {
            let before_ns = thread_cpu_ns();
            burn();
            thread_cpu_ns() - before_ns
        };
        [(); 10].map(cost).into_iter().min().unwrap_or(0)
    }

    #[test]
    fn as_much_is_burnt_as_asked_for() {
        calibrate();
        for ns in [20_000u64, 1_000_000, 10_000_000] {
            let cost_ns = least_cost_ns(|| burn_cpu(ns));
            // By the very clock that is asserted on. Two looks at it come on top.
            assert!(cost_ns >= ns - 100, "{cost_ns} of {ns} ns");
            assert!(cost_ns <= ns + ns / 10 + 20_000, "{cost_ns} of {ns} ns");
        }
        // On a CPU that has become half as fast since, and on one that was disturbed when it was calibrated.
        for factor in [2.0, 0.5] {
            let calibration = Calibration { turns_per_us: calibrate().turns_per_us * factor };
            for ns in [20_000u64, 10_000_000] {
                let cost_ns = least_cost_ns(|| burn_by(calibration, ns));
                assert!(
                    cost_ns >= ns - 100,
                    "{cost_ns} of {ns} ns with the calibration times {factor}"
                );
                assert!(
                    cost_ns <= ns + ns / 10 + 20_000,
                    "{cost_ns} of {ns} ns with the calibration times {factor}"
                );
            }
        }
        // Without the clock: as good as the calibration.
        let cost_ns = least_cost_ns(|| (0..1000).for_each(|_| burn_cpu(2_000)));
        assert!((1_000_000..=8_000_000).contains(&cost_ns), "{cost_ns}");
        assert!(least_cost_ns(|| burn_cpu(0)) < 1_000_000);
    }
}
