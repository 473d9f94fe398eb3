//! The loop allocates nothing per request: twice as many requests allocate as much as once.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

#[path = "simulated/plans.rs"]
mod plans;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use ablaze_engine::plan::Plan;
use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_net::sim::{FixedAnswer, Misbehave, Pieces, SimPeer};

use plans::{
    HELLO, HELLO_CLOSE, MS, S, US, clock_before, closing_each, get, pipelined, plan_for,
    with_timeout, with_workers, without_repeat,
};

/// Of all threads: a run has its own.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract;
// counting in an atomic neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout`, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise about `pointer` and `layout`, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const N: u64 = 5_000;

fn allocations<P: SimPeer + Sync>(plan: &Plan, peer: &P, requests: u64, at_once: bool) -> u64 {
    let mut plan = plan.clone();
    plan.limits.requests = Some(requests);
    let control = Control::new();
    let peers = std::slice::from_ref(peer);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let run = if at_once {
        run_simulated_at_once(plan, peers, &control)
    } else {
        run_simulated(plan, peers, &control)
    };
    let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(run.unwrap().record.answers, requests);
    count
}

fn allocates_nothing_per_request<P: SimPeer + Sync>(what: &str, plan: &Plan, peer: &P) {
    for at_once in [false, true] {
        let once = allocations(plan, peer, N, at_once);
        let twice = allocations(plan, peer, 2 * N, at_once);
        // A queue of the simulated network may grow a last time, a slice be one more.
        assert!(twice <= once + 20, "{what}: {once} for {N} requests, {twice} for twice as many");
    }
}

/// One test, so that no other thread allocates meanwhile.
#[test]
fn nothing_is_allocated_per_request() {
    let hello = FixedAnswer::new(HELLO, 100 * US);
    let kept = with_timeout(plan_for(3_600 * S, 20), 200 * MS);
    allocates_nothing_per_request("kept alive", &kept, &hello);
    allocates_nothing_per_request("two workers", &with_workers(kept.clone(), 2), &hello);
    allocates_nothing_per_request("pipelined", &pipelined(kept.clone(), 8), &hello);
    let cut = FixedAnswer::new(HELLO, 100 * US).cut(Pieces::SplitAt(20), 10 * US);
    allocates_nothing_per_request("split heads", &kept, &cut);
    let closing = FixedAnswer::new(HELLO_CLOSE, 100 * US).closing_after(1);
    allocates_nothing_per_request("closing each", &closing_each(kept.clone()), &closing);
    let mut patched = without_repeat(clock_before(kept));
    patched.requests.templates = vec![get("/{seq}/{rand:8}"), get("/")];
    patched.requests.order = vec![0, 1];
    allocates_nothing_per_request("patched", &patched, &hello);
}
