//! The engine's worker, over the simulated network, in plain HTTP/1 and HTTP/2: an input says what is asked for, and
//! what the peer sends, in what pieces and when, and how it closes.

use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_model::plan::{Arrivals, ClockStarts, Close, Http2, Load, Plan, RateProfile};
use ablaze_model::run::Ended;
use ablaze_net::sim::{ConnectReply, FarEnd, Pieces, SimPeer};
use ablaze_wire::http1::builder::RequestBuilder;

use super::choices::Choices;
use super::far_http1::Http1;
use super::far_http2::Http2 as Http2End;
use super::plans::plan;
use super::sums;

/// Bytes of an input that say what is asked for.
const SETUP_BYTES: usize = 5;
/// Connections that fail, in a run.
const FAILED_CONNECTIONS_MAX: u32 = 40;
/// Each connection has this many choices for itself, and those of the next ones.
const CHOICES_EACH: usize = 16;
/// Of a peer's own waits.
pub(crate) const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// A body as long as the send buffers of some kernels.
const BODY_BYTES: usize = 20_000;

/// Lets a worker load a peer as the input says. Where nothing is chosen for the peer, every request has its
/// response, unless connections are to be closed by it.
///
/// # Panics
/// When the engine does, when the figures of the run disagree, when a request ended never or twice, or when the run
/// ends at another time than it may.
pub fn load(input: &[u8]) {
    let Some((setup, choices)) = input.split_first_chunk::<SETUP_BYTES>() else { return };
    let plan = plan_of(setup);
    let pieces = match setup[4] {
        0 => Pieces::Whole,
        bytes @ 1..128 => Pieces::Of(bytes.into()),
        bytes => Pieces::SplitAt((bytes - 127).into()),
    };
    let far_end = FarEndByInput {
        choices: choices.to_vec(),
        pieces,
        mine: Choices::default(),
        speaks: match plan.http2 {
            None => Speaks::Http1(Http1::default()),
            Some(_) => Speaks::Http2(Http2End::default()),
        },
        sent: Vec::new(),
    };
    let run = if setup[0] & 2 == 0 { run_simulated } else { run_simulated_at_once };
    let run =
        run(plan.clone(), &[far_end], &Control::new()).expect("a plan that can be carried out");
    if run.ended != Ended::Unreachable {
        sums::check(&run);
    }
    let record = &run.record;
    let ended = (record.finished(), record.unfinished);
    match (run.ended, plan.limits.requests, plan.limits.duration_ns) {
        // Given up: what was not begun never ends.
        (Ended::Unreachable, requests, _) => {
            assert!(requests.is_none_or(|requests| ended.0 + ended.1 <= requests), "{ended:?}");
        }
        (Ended::Complete, Some(requests), None) => {
            assert_eq!(ended, (requests, 0), "{:?}", record.failures);
            // One after the other, each at most its timeout twice over, a wait for a place and for a close.
            assert!(run.elapsed_ns <= (requests + 1) * 3 * S, "{}", run.elapsed_ns);
        }
        // An open loop ends when its last arrival has ended.
        (Ended::Complete, None, Some(duration_ns)) if matches!(plan.load, Load::Open { .. }) => {
            assert!(run.elapsed_ns <= duration_ns, "{}", run.elapsed_ns);
        }
        (Ended::Complete, None, Some(duration_ns)) => assert_eq!(run.elapsed_ns, duration_ns),
        (how, ..) => panic!("the run ended as {how:?}"),
    }
    // This peer does not close when it is asked to, and who awaits that has no connection meanwhile.
    let connections = &plan.connections;
    let awaits = connections.close == Close::Await
        && (!connections.keep_alive || connections.requests_per_connection.is_some());
    if Choices::new(choices).are_over() && plan.limits.requests.is_some() && !awaits {
        assert_eq!(record.failures_total(), 0, "{:?}", record.failures);
    }
}

/// What is asked for.
fn plan_of(&[how, shape, load, limits, _]: &[u8; SETUP_BYTES]) -> Plan {
    let bit = |bit: u8| how >> bit & 1 == 1;
    let path = if bit(2) { "/{seq}/{rand:4}" } else { "/" };
    // PUT may be sent again, as GET.
    let mut builder =
        RequestBuilder::new(if bit(3) { "PUT" } else { "GET" }, path).header("Host", "there");
    if bit(3) {
        let (number, bytes) = if bit(2) { ("{seq}", BODY_BYTES + 10) } else { ("", BODY_BYTES) };
        builder = builder.header("Content-Length", bytes.to_string());
        builder = builder.body(format!("{number}{}", "b".repeat(BODY_BYTES)));
    }
    let template = builder.build().expect("a request");
    let mut plan = plan(template, 1 + u64::from(load & 31), FAILED_CONNECTIONS_MAX);
    plan.requests.has_body = bit(3);
    plan.connections.keep_alive = !bit(4);
    plan.connections.repeat = !bit(5);
    if bit(6) {
        plan.connections.clock_starts = ClockStarts::AfterConnecting;
    }
    plan.connections.close = *[Close::Await, Close::Fin, Close::Reset]
        .get(usize::from(shape >> 6))
        .unwrap_or(&Close::Await);
    let per_connection = u64::from(limits & 3);
    plan.connections.requests_per_connection = (per_connection > 0).then_some(per_connection);
    plan.limits.warmup_ns = u64::from(limits >> 2 & 3) * 2 * MS;
    if limits & 0x80 != 0 {
        plan.limits.duration_ns = Some(u64::from(limits >> 4 & 7) * 5 * MS + MS);
        plan.limits.requests = None;
    }
    let (connections, depth) = (1 + u32::from(shape & 7), 1 + u32::from(shape >> 3 & 7));
    plan.load = if load & 0x80 == 0 {
        Load::Closed { connections, pipeline: depth }
    } else {
        let rate =
            RateProfile::constant([100.0, 1_000.0, 50_000.0, 3.0e6][usize::from(load >> 5 & 3)]);
        let arrivals = if load & 1 == 0 { Arrivals::Constant } else { Arrivals::Poisson };
        Load::Open { rate, arrivals, connections, bounded: true }
    };
    if bit(0) {
        plan.http2 = Some(Http2 { streams: depth });
    }
    plan
}

/// What the peer of a connection speaks, as far as it does.
#[derive(Clone)]
enum Speaks {
    Http1(Http1),
    Http2(Http2End),
}

/// The peer of a connection.
#[derive(Clone)]
struct FarEndByInput {
    choices: Vec<u8>,
    pieces: Pieces,
    mine: Choices,
    speaks: Speaks,
    sent: Vec<u8>,
}

/// What a peer may do besides speaking, and where its words go.
pub(crate) struct Acts<'a, 'b> {
    pub(crate) far: &'a mut FarEnd<'b>,
    pub(crate) choices: &'a mut Choices,
    sent: &'a mut Vec<u8>,
}

impl Acts<'_, '_> {
    /// Sends these bytes, some time after now: not at once, or two sides without any delay would play for ever in one
    /// instant.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let start = self.sent.len() as u32;
        self.sent.extend(bytes);
        let delay_ns = self.delay_ns();
        self.far.send_after(delay_ns, start, bytes.len() as u32);
    }

    fn delay_ns(&mut self) -> u64 {
        // 25 ms is beyond the timeout.
        *self.choices.one_of(&[10 * US, US, US, 400 * US, MS, 3 * MS, 25 * MS])
    }

    /// Sends this response, the usual one, or does with it, or instead of it, what the input says.
    pub(crate) fn respond(&mut self, response: &[u8]) {
        match self.choices.byte() % 16 {
            0..4 => self.send(response),
            4 => {}
            5 => {
                let raw = self.choices.bytes(60);
                self.send(&raw);
            }
            6 => {
                let kept = self.choices.up_to(response.len());
                self.send(&response[..kept]);
            }
            7 => {
                let mut changed = response.to_vec();
                let place = self.choices.up_to(response.len() - 1);
                changed[place] = self.choices.byte();
                self.send(&changed);
            }
            8 => self.send(&[response, response].concat()),
            9 => {
                self.send(response);
                let raw = self.choices.bytes(20);
                self.send(&raw);
            }
            10 => {
                self.send(response);
                self.end();
            }
            11 => {
                let kept = self.choices.up_to(response.len());
                self.send(&response[..kept]);
                self.end();
            }
            12 => {
                let raw = self.choices.bytes(20);
                self.send(&[&raw, response].concat());
            }
            13 => {
                self.read();
                self.send(response);
            }
            14 => {
                let delay_ns = self.delay_ns();
                self.far.wake_after(delay_ns, 0);
                self.send(response);
            }
            _ => self.end(),
        }
    }

    /// Closes in one of the ways there are.
    fn end(&mut self) {
        let delay_ns = self.delay_ns();
        match self.choices.byte() % 3 {
            0 => self.far.close_after(delay_ns),
            1 => self.far.reset_after(delay_ns),
            _ => self.far.fin_after(delay_ns),
        }
    }

    /// Reads in another way from now on.
    fn read(&mut self) {
        match self.choices.byte() % 4 {
            0 => self.far.read_at_once(),
            1 => {
                self.far.set_window(1 + self.choices.up_to(4_000));
                self.far.read_slowly(1 + self.choices.up_to(2_000), 50 * US);
            }
            2 => self.far.set_window(1 + self.choices.up_to(10_000)),
            _ => {
                self.far.set_window(self.choices.up_to(10_000));
                self.far.stop_reading();
            }
        }
    }
}

impl FarEndByInput {
    fn act(&mut self, far: &mut FarEnd<'_>, what: impl FnOnce(&mut Speaks, &mut Acts<'_, '_>)) {
        let mut acts = Acts { far, choices: &mut self.mine, sent: &mut self.sent };
        what(&mut self.speaks, &mut acts);
    }
}

impl SimPeer for FarEndByInput {
    fn bytes(&self) -> &[u8] {
        &self.sent
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        let skipped = (number as usize * CHOICES_EACH).min(self.choices.len());
        self.mine = Choices::new(&self.choices[skipped..]);
        far.cut(self.pieces, 5 * US);
        match self.mine.byte() % 16 {
            8 => ConnectReply::RefuseAfter(50 * US, 111),
            9 => ConnectReply::Never,
            10 => ConnectReply::AcceptAfter(0),
            11 => {
                far.wake_after(100 * US, 0);
                ConnectReply::AcceptAfter(US)
            }
            12 => {
                self.act(far, |_, acts| acts.read());
                ConnectReply::AcceptAfter(US)
            }
            13 => {
                far.close_after(300 * US);
                ConnectReply::AcceptAfter(US)
            }
            _ => ConnectReply::AcceptAfter(US),
        }
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.act(far, |speaks, acts| match speaks {
            Speaks::Http1(end) => end.received(acts, bytes),
            Speaks::Http2(end) => end.received(acts, bytes),
        });
    }

    /// Nobody asked.
    fn woken(&mut self, far: &mut FarEnd<'_>, _token: u32) {
        self.act(far, |speaks, acts| {
            let unasked = match speaks {
                Speaks::Http1(_) => super::far_http1::HELLO.to_vec(),
                Speaks::Http2(end) => end.unasked(acts),
            };
            acts.respond(&unasked);
        });
    }
}
