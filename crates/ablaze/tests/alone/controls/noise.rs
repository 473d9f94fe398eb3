//! Whether others used the machine during a run, by what its own monitor saw of the whole machine:
//! then neither side was what it is alone, and nothing is to be learnt from it.

use ablaze_testing::skip::{long_tests, skip};

use crate::controls::verdict::Report;

/// So many times a run on a noisy machine is tried where tests that take long are asked for.
const ATTEMPTS: u32 = 3;
/// Shares above which a machine is noisy: of the processors' time a hypervisor took, of one
/// processor other processes took, of the time some task waited for a processor.
const STOLEN: f64 = 0.01;
const OTHERS: f64 = 0.1;
const PRESSURE: f64 = 0.25;

/// Runs until there is nothing to object to, and judges only runs on a quiet machine: whether it
/// came to that. `objection` says what is wrong.
///
/// # Panics
/// With the objection, when the machine was quiet.
#[track_caller]
pub fn quiet(run: impl Fn() -> Report, objection: impl Fn(&Report) -> Option<String>) -> bool {
    let attempts = if long_tests() { ATTEMPTS } else { 1 };
    for attempt in 1..=attempts {
        let report = run();
        let Some(objection) = objection(&report) else { return true };
        let Some(noise) = noise(&report) else { panic!("{objection}") };
        println!("machine too noisy, attempt {attempt} of {attempts}: {noise}");
        if attempt == attempts {
            skip(&format!("machine too noisy, in {attempts} attempts: {noise}"));
        }
    }
    false
}

/// The same where it must have come to that if tests that take long are asked for; otherwise a
/// machine too noisy is a skip.
#[track_caller]
pub fn if_quiet(run: impl Fn() -> Report, objection: impl Fn(&Report) -> Option<String>) {
    assert!(quiet(run, objection) || !long_tests(), "machine too noisy");
}

/// What others did meanwhile; `None` on a quiet machine.
fn noise(report: &Report) -> Option<String> {
    let (number, sum) = (|at: &str| report.number(at), |at: &str, key: &str| report.sum(at, key));
    let times = |key: &str| number(&format!("/monitor/kernel/processors/{key}"));
    let busy_ns = times("user_ns") + times("system_ns");
    let all_ns = busy_ns + times("interrupts_ns") + times("idle_ns") + times("steal_ns");
    let interval_ns = number("/monitor/interval_ns");
    let ours_ns = ["/workers", "/monitor/target/processes"]
        .map(|side| sum(side, "user_ns") + sum(side, "system_ns"))
        .iter()
        .sum::<f64>();
    let stolen = times("steal_ns") / all_ns;
    let others = (busy_ns - ours_ns) / interval_ns;
    // Not every kernel keeps it.
    let pressure =
        report.known("/monitor/kernel/pressure/cpu_some_ns").unwrap_or(0.0) / interval_ns;
    (stolen > STOLEN || others > OTHERS || pressure > PRESSURE).then(|| {
        format!("steal {stolen:.3}, others {others:.2} processors, pressure {pressure:.2}")
    })
}
