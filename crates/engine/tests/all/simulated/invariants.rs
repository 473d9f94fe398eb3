//! Whatever servers do, the figures add up and the run ends.

use ablaze_model::plan::{Close, Plan};
use ablaze_model::run::Ended;
use ablaze_net::sim::{Answer, Misbehave, Pieces};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::simulated::support::{
    HELLO, HELLO_CLOSE, MS, Moment, S, Script, US, check_sums, clock_before, pipelined, plan,
    plan_for, run, with_timeout, with_workers,
};

const ANSWERS: [&[u8]; 9] = [
    HELLO,
    HELLO_CLOSE,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 204 Nothing\r\n\r\n",
    b"nonsense\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, surplus",
    b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\nnot so many",
];

/// A number that looks random, from the seed and what it is asked for (splitmix64).
fn chance(seed: u64, connection: u64, request: u64, what: u64) -> u64 {
    let mut x = seed ^ (connection << 40) ^ (request << 20) ^ (what << 8);
    for _ in 0..3 {
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
    }
    x
}

/// Answers well mostly, and in every other way sometimes.
fn act(seed: u64, trouble: u64, moment: &mut Moment<'_, '_>) {
    let (connection, request) = (moment.connection, moment.request);
    let chance = |what| chance(seed, connection, request, what);
    let delay_ns = [0, 10 * US, MS, 3 * MS][chance(1) as usize % 4];
    if chance(2) % 100 >= trouble {
        // Two sides without any delay would play for ever in one instant.
        return moment.send(delay_ns.max(US), (chance(3) % 3) as usize);
    }
    let answer = chance(4) as usize % ANSWERS.len();
    match chance(5) % 8 {
        0 => {}
        1 => moment.far.close_after(delay_ns),
        2 => moment.far.reset_after(delay_ns),
        3 => moment.send_part(delay_ns, answer, 1 + chance(6) as usize % 15),
        4 => {
            moment.send_part(delay_ns, answer, 1 + chance(6) as usize % 15);
            moment.far.close_after(delay_ns + chance(7) % MS);
        }
        5 => {
            moment.send(delay_ns, answer);
            moment.far.close_after(delay_ns);
        }
        6 => {
            moment.send(delay_ns, answer);
            moment.far.reset_after(delay_ns);
        }
        _ => moment.send(delay_ns, answer),
    }
}

fn connect(seed: u64, trouble: u64, number: u64) -> Answer {
    match chance(seed, number, 0, 9) % 400 {
        0..2 if trouble > 0 => Answer::Never,
        2..10 if trouble > 0 => Answer::RefuseAfter(50 * US, 111),
        other => Answer::AcceptAfter(other * US),
    }
}

fn peer(seed: u64, trouble: u64) -> Script {
    Script::new(&ANSWERS, move |moment| act(seed, trouble, moment))
        .connecting(move |_, number| connect(seed, trouble, number))
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        (1..80u64, 1..9u32, 1..4u32, 1..6u32),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        (0..3usize, prop::option::of(1..5u64), 0..4u64, prop::option::of(1..200u64)),
    )
        .prop_map(
            |((n, connections, workers, depth), (keep, before, repeat, varied), rest)| {
                let (close, per_connection, warmup, duration_ms) = rest;
                let mut plan = pipelined(with_workers(plan(n, connections), workers), depth);
                if let Some(ms) = duration_ms {
                    plan.limits = plan_for(ms * MS, 1).limits;
                }
                plan = with_timeout(plan, 20 * MS);
                plan.limits.hopeless_after = u32::MAX;
                plan.limits.warmup_ns = warmup * 2 * MS;
                plan.connections.keep_alive = keep;
                plan.connections.repeat = repeat;
                plan.connections.close = [Close::Await, Close::Fin, Close::Reset][close];
                plan.connections.requests_per_connection = per_connection;
                if varied {
                    plan.requests.templates = vec![
                        crate::simulated::support::get("/{seq}/{rand:4}"),
                        crate::simulated::support::get("/b"),
                    ];
                    plan.requests.order = vec![0, 1, 0];
                }
                if before { clock_before(plan) } else { plan }
            },
        )
}

fn holds(plan: &Plan, run: &ablaze_model::Run) {
    let record = &run.record;
    if run.ended == Ended::Hopeless {
        return;
    }
    check_sums(run);
    let finished = record.finished();
    if let Some(n) = plan.limits.requests {
        assert_eq!((finished, record.unfinished), (n, 0), "{:?}", record.failures);
        // Each at most its timeout, twice over, a rest and a wait for a close; one after another.
        assert!(run.elapsed_ns <= n.max(1) * 3 * S, "{}", run.elapsed_ns);
    }
    if let Some(duration_ns) = plan.limits.duration_ns {
        assert_eq!(run.elapsed_ns, duration_ns);
    }
    let places = u128::from(plan.load.connections() * plan.load.pipeline());
    assert!(record.in_flight_ns <= places * u128::from(run.elapsed_ns), "more in flight than fit");
    assert_eq!(record.failures_of(ablaze_model::FailureKind::Other), 0, "unnamed failures");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 250, rng_seed: RngSeed::Fixed(1), failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default()
    })]

    #[test]
    fn figures_add_up_and_runs_end(
        plan in plans(), seed in any::<u64>(), trouble in 0..60u64, piece in 0..40u32, gap in 0..3u64,
    ) {
        let pieces = if piece == 0 { Pieces::Whole } else { Pieces::Of(piece) };
        run(&plan, &peer(seed, trouble).cut(pieces, gap * 10 * US), |run| holds(&plan, run));
    }
}
