//! Whatever servers do, the figures add up and the run ends, over HTTP/1 and HTTP/2. The inputs are always the same,
//! unless `ABLAZE_SEED` gives others: .ci/full does, and a failure names the seed.

use ablaze_model::Run;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::{Arrivals, Close, Load, Plan, RateProfile};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, Misbehave, Pieces, SimPeer};
use ablaze_random::SplitMix64;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::{Asked, Http2Script, frame};
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

/// A number that looks random, from the seed and what it is asked for.
fn chance(seed: u64, connection: u64, request: u64, what: u64) -> u64 {
    let mut x = seed ^ (connection << 40) ^ (request << 20) ^ (what << 8);
    for _ in 0..3 {
        x = SplitMix64::at(x, 0);
    }
    x
}

/// Responses well mostly, and in every other way sometimes.
fn act(seed: u64, trouble: u64, moment: &mut Moment<'_, '_>) {
    let (connection, request) = (moment.connection, moment.request);
    let chance = |what| chance(seed, connection, request, what);
    let delay_ns = [0, 10 * US, MS, 3 * MS][chance(1) as usize % 4];
    if chance(2) % 100 >= trouble {
        // Two sides without any delay would play for ever in one instant.
        return moment.send(delay_ns.max(US), (chance(3) % 3) as usize);
    }
    let response = chance(4) as usize % ANSWERS.len();
    match chance(5) % 8 {
        0 => {}
        1 => moment.far.close_after(delay_ns),
        2 => moment.far.reset_after(delay_ns),
        3 => moment.send_part(delay_ns, response, 1 + chance(6) as usize % 15),
        4 => {
            moment.send_part(delay_ns, response, 1 + chance(6) as usize % 15);
            moment.far.close_after(delay_ns + chance(7) % MS);
        }
        5 => {
            moment.send(delay_ns, response);
            moment.far.close_after(delay_ns);
        }
        6 => {
            moment.send(delay_ns, response);
            moment.far.reset_after(delay_ns);
        }
        _ => moment.send(delay_ns, response),
    }
}

fn connect(seed: u64, trouble: u64, number: u64) -> ConnectReply {
    match chance(seed, number, 0, 9) % 400 {
        0..2 if trouble > 0 => ConnectReply::Never,
        2..10 if trouble > 0 => ConnectReply::RefuseAfter(50 * US, 111),
        other => ConnectReply::AcceptAfter(other * US),
    }
}

fn peer(seed: u64, trouble: u64) -> Script {
    Script::new(&ANSWERS, move |moment| act(seed, trouble, moment))
        .connecting(move |_, number| connect(seed, trouble, number))
}

/// Frames that no request asked for: a ping, fewer streams, a window that opens, an unknown kind; DATA on stream 0, a
/// window that is too large, HEADERS on an idle stream, which break the rules (RFC 9113, 6.1, 6.9.1, 5.1.1). The last one
/// follows all DATA.
fn unasked_frames() -> Vec<Vec<u8>> {
    vec![
        frame(6, 0, 0, b"12345678"),
        frame(4, 0, 0, &[0, 3, 0, 0, 0, 1]),
        frame(8, 0, 0, &1_u32.to_be_bytes()),
        frame(77, 3, 5, b"what"),
        frame(0, 0, 0, b"x"),
        frame(8, 0, 0, &0x7fff_ffff_u32.to_be_bytes()),
        frame(1, 0x4, 9_999, &[0x88]),
        frame(8, 0, 0, &100_000_u32.to_be_bytes()),
    ]
}

/// As [`act`], over HTTP/2.
fn act_http2(seed: u64, trouble: u64, asked: &mut Asked<'_, '_>) {
    let (connection, request) = (asked.connection, asked.request);
    let chance = |what| chance(seed, connection, request, what);
    let delay_ns = [0, 10 * US, MS, 3 * MS][chance(1) as usize % 4];
    if chance(2) % 100 >= trouble {
        return asked.response(delay_ns.max(US));
    }
    match chance(5) % 10 {
        0 => {}
        1 => asked.far.close_after(delay_ns),
        2 => asked.far.reset_after(delay_ns),
        3 => asked.begin(delay_ns),
        4 => {
            asked.begin(delay_ns);
            asked.far.close_after(delay_ns + chance(7) % MS);
        }
        5 => asked.refuse(delay_ns.max(US)),
        6 => asked.reset(delay_ns.max(US)),
        7 => {
            asked.goaway(delay_ns);
            asked.response(delay_ns.max(US));
        }
        8 => {
            asked.response(delay_ns);
            asked.far.close_after(delay_ns);
        }
        _ => {
            asked.send_further(delay_ns.max(US), chance(8) as usize % 7);
            asked.response(delay_ns.max(US));
        }
    }
}

fn http2_peer(seed: u64, trouble: u64) -> Http2Script {
    let act = move |asked: &mut Asked<'_, '_>| act_http2(seed, trouble, asked);
    Http2Script::with(&[], &unasked_frames(), act)
        .connecting(move |number| connect(seed, trouble, number))
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
                plan.limits.unreachable_after = u32::MAX;
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
                    plan.requests.groups = Groups::of(&["/".to_owned(), "/b".to_owned()]);
                }
                if before { clock_before(plan) } else { plan }
            },
        )
}

/// What holds of an open loop, too.
fn sums_hold(plan: &Plan, run: &Run) {
    if run.ended == Ended::Unreachable {
        return;
    }
    check_sums(run);
    let groups = &run.record.groups;
    let names: Vec<&String> = groups.iter().map(|group| &group.name).collect();
    assert!(names.into_iter().eq(&plan.requests.groups.names), "{groups:?}");
}

fn holds(plan: &Plan, run: &Run) {
    let record = &run.record;
    if run.ended == Ended::Unreachable {
        return;
    }
    sums_hold(plan, run);
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

/// Runs these plans against a peer made from a seed, its share of trouble in percent, pieces and gaps.
fn hold<P: SimPeer + Send + Sync>(
    cases: u32,
    plans: impl Strategy<Value = Plan>,
    peer: fn(u64, u64) -> P,
    check: fn(&Plan, &Run),
) {
    let seed = std::env::var("ABLAZE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    };
    let inputs = (plans, any::<u64>(), 0..60u64, 0..40u32, 0..3u64);
    let held = TestRunner::new(config).run(&inputs, |(plan, chances, trouble, piece, gap)| {
        let pieces = if piece == 0 { Pieces::Whole } else { Pieces::Of(piece) };
        run(&plan, &peer(chances, trouble).cut(pieces, gap * 10 * US), |run| check(&plan, run));
        Ok(())
    });
    held.unwrap_or_else(|failure| panic!("to see it again: ABLAZE_SEED={seed}. {failure}"));
}

#[test]
fn figures_add_up_and_runs_end() {
    hold(250, plans(), peer, holds);
}

#[test]
fn figures_add_up_and_runs_end_over_http2() {
    let plans = plans().prop_map(|plan| {
        let streams = plan.load.pipeline();
        over_http2(plan, streams)
    });
    hold(150, plans, http2_peer, holds);
}

/// The server permits fewer streams during the warm-up, and one of its requests waits for one when it ends.
#[test]
fn what_waits_for_a_stream_when_the_clock_starts_is_of_the_warm_up() {
    let mut plan = with_timeout(pipelined(plan(1, 1), 4), 20 * MS);
    plan.limits.unreachable_after = u32::MAX;
    plan.limits.warmup_ns = 6 * MS;
    for plan in [over_http2(plan.clone(), 4), over_http2(clock_before(plan), 4)] {
        run(&plan, &http2_peer(14_220_703_209_626_337_027, 45), |run| holds(&plan, run));
    }
}

#[test]
fn figures_add_up_in_open_loop() {
    hold(80, plans().prop_map(open), peer, sums_hold);
    let over_http2 = plans().prop_map(|plan| {
        let streams = plan.load.pipeline();
        Plan { http2: Some(ablaze_model::plan::Http2 { streams }), ..open(plan) }
    });
    hold(60, over_http2, http2_peer, sums_hold);
}

/// The same as an open loop that is too fast for its connections, half of the time.
fn open(mut plan: Plan) -> Plan {
    let rate = RateProfile::constant(500.0 * f64::from(plan.load.connections()));
    let connections = plan.load.connections();
    plan.load = Load::Open { rate, arrivals: Arrivals::Poisson, connections, bounded: true };
    plan
}
