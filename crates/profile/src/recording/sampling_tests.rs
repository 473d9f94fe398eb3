//! Recording this very process.

use super::*;
use ablaze_sys::clock::monotonic_ns;
use ablaze_sys::usage::thread_usage;
use blazesym::Pid;
use blazesym::symbolize::source::{Process, Source};
use blazesym::symbolize::{Input, Symbolizer};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Held by a test that calls [`burn`], whose time the other would take for its own.
static BURNING: Mutex<()> = Mutex::new(());

#[inline(never)]
fn burn(ns: u64) {
    let spent = || thread_usage().map_or(0, |usage| usage.user_ns + usage.system_ns);
    let end_ns = spent() + ns;
    while spent() < end_ns {
        std::hint::black_box((0..50_000u64).fold(0, |sum, x| std::hint::black_box(sum ^ x)));
    }
}

/// The addresses of [`burn`]. What lies beside it belongs to tests that run at the same time.
fn burn_addresses() -> Range<u64> {
    let here = burn as fn(u64) as usize as u64;
    let process = Source::Process(Process::new(Pid::Slf));
    let symbolizer = Symbolizer::new();
    let found = symbolizer.symbolize_single(&process, Input::AbsAddr(here)).unwrap();
    let symbol = found.as_sym().expect("this test program has its symbols");
    assert!(symbol.name.contains("burn"), "{}", symbol.name);
    here..here + symbol.size.expect("a function has a size") as u64
}

fn own(frequency_hz: u32) -> Request {
    Request { pids: vec![std::process::id()], frequency_hz }
}

/// A recording of this process; where the kernel forbids it, a skip.
#[track_caller]
fn begun(frequency_hz: u32) -> Option<Recording> {
    match Recording::begin(&own(frequency_hz)) {
        Ok(recording) => Some(recording),
        Err(refused) => {
            assert!(!refused.reason.is_empty());
            ablaze_testing::skip::skip(&format!("not sampled here: {refused}"));
            None
        }
    }
}

#[test]
fn the_time_of_a_thread_is_in_the_samples_of_the_window_and_nothing_before_it() {
    let _alone = BURNING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(recording) = begun(997) else { return };
    // A thread that is made later is recorded, too.
    let burner = std::thread::spawn(|| {
        burn(200_000_000);
        let begin_ns = monotonic_ns();
        burn(300_000_000);
        (begin_ns, monotonic_ns())
    });
    let window_ns = burner.join().unwrap();
    let recorded = recording.end(window_ns);
    let burning = burn_addresses();
    let mine: Vec<&Chain> = recorded
        .chains
        .iter()
        .filter(|chain| chain.user.iter().any(|ip| burning.contains(ip)))
        .collect();
    let weight: u64 = mine.iter().map(|chain| chain.weight).sum();
    if recorded.event == "cpu-clock" {
        // 300 ms were burnt in the window, 500 ms in all. Samples in the kernel may lack the function
        // that called it.
        assert!((200_000_000..=330_000_000).contains(&weight), "{weight} ns");
    }
    // The closure that called it, and all the way down to the first function of the thread.
    let whole: u64 = mine.iter().filter(|chain| chain.whole).map(|chain| chain.samples).sum();
    let all: u64 = mine.iter().map(|chain| chain.samples).sum();
    assert!(whole * 10 >= all * 9, "{whole} of {all} stacks are whole");
    assert!(mine.iter().filter(|chain| chain.whole).all(|chain| chain.user.len() > 4));
    assert!(recorded.maps[&std::process::id()].find(burning.start).is_some());
    assert_eq!(recorded.lost, 0);
}

#[test]
fn a_window_in_which_nobody_ran_has_no_samples() {
    let _alone = BURNING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(recording) = begun(997) else { return };
    burn(20_000_000);
    let recorded = recording.end((0, 1));
    assert_eq!(recorded.chains, []);
}

#[test]
fn a_process_that_has_gone_is_refused() {
    // The highest number that a process can have (2^22), and nearly never has.
    let request = Request { pids: vec![4_194_303], frequency_hz: 99 };
    let refused = Recording::begin(&request).unwrap_err();
    assert!(!refused.reason.is_empty() && !refused.fix.is_empty(), "{refused}");
}
