//! A short walk through what the fuzz targets `worker`, `tls_client` and `tls_server` do at length, and what they have
//! found. The seeds are fixed, unless `ABLAZE_SEED` gives another: .ci/full does, and a failure shows it.

use ablaze_random::SplitMix64;
use ablaze_tamper::{client, quic, server, worker};

/// Inputs of each kind; a few seconds. A run of the engine is the work of many connections. Where a seed is given
/// ([`Seeds::of`]), there is time for [`TIMES_WITH_A_SEED`] as many.
const CLIENT_INPUTS: u64 = 40;
const SERVER_INPUTS: u64 = 500;
const WORKER_INPUTS: u64 = 40;
const QUIC_INPUTS: u64 = 150;
const TIMES_WITH_A_SEED: u64 = 3;

/// The same inputs on every machine.
struct Seeds(SplitMix64);

/// How many inputs to make of a kind.
fn inputs(usual: u64) -> u64 {
    if std::env::var_os("ABLAZE_SEED").is_some() { usual * TIMES_WITH_A_SEED } else { usual }
}

impl Seeds {
    /// The usual seed of a test, or that of `ABLAZE_SEED`.
    fn of(usual: u64) -> Self {
        let seed =
            std::env::var("ABLAZE_SEED").map_or(usual, |seed| seed.parse().expect("a number"));
        println!("to see it again: ABLAZE_SEED={seed}");
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Three bytes of setup, then choices; most of them, as a rule, the usual.
    fn input(&mut self, choices: u64) -> Vec<u8> {
        let usual = self.next() % 8;
        let bytes = 3 + self.next() % choices;
        let mut input: Vec<u8> = (0..bytes)
            .map(|_| if self.next() % 8 < usual { 0 } else { self.next() as u8 })
            .collect();
        for byte in &mut input[..3] {
            *byte = self.next() as u8;
        }
        if self.next().is_multiple_of(2) {
            input[2] = 0;
        }
        input
    }
}

/// What nobody touches arrives: in each suite, under each setting, in pieces of each length.
#[test]
fn untouched_every_request_is_answered() {
    for suite in 0..6 {
        for details in 0..=u8::MAX {
            let pieces = [0, 1, 7, 200][usize::from(details ^ details >> 4) % 4];
            server::ask(&[suite, details, pieces]);
            if details % 6 == suite && details % 5 == 0 {
                client::load(&[suite, details, pieces]);
            }
        }
    }
}

#[test]
fn a_client_outlives_what_a_server_sends() {
    let mut seeds = Seeds::of(1);
    for _ in 0..inputs(CLIENT_INPUTS) {
        let input = seeds.input(240);
        println!("{input:?}");
        client::load(&input);
    }
}

#[test]
fn a_server_outlives_what_a_client_sends() {
    let mut seeds = Seeds::of(2);
    for _ in 0..inputs(SERVER_INPUTS) {
        let input = seeds.input(60);
        println!("{input:?}");
        server::ask(&input);
    }
}

/// Where a peer does nothing strange, every request has its response, whatever is asked for and in whatever pieces
/// the responses come.
#[test]
fn a_worker_whose_far_end_is_well_gets_every_response() {
    let mut seeds = Seeds::of(3);
    for _ in 0..100 {
        let input: [u8; 5] = seeds.0.bytes(5).try_into().expect("five bytes");
        println!("{input:?}");
        worker::load(&input);
    }
}

#[test]
fn a_worker_outlives_what_a_server_sends() {
    let mut seeds = Seeds::of(4);
    for _ in 0..inputs(WORKER_INPUTS) {
        let input = [seeds.0.bytes(2), seeds.input(160)].concat();
        println!("{input:?}");
        worker::load(&input);
    }
}

/// Both sides of HTTP/3 over QUIC: untouched first, then against whatever comes.
#[test]
fn http3_is_held_over_quic() {
    quic::client(&[]);
    quic::server(&[]);
    let mut seeds = Seeds::of(19);
    for _ in 0..inputs(QUIC_INPUTS) {
        let input = seeds.input(200);
        quic::client(&input);
        quic::server(&input);
    }
}

/// Networks that hold datagrams back until a round trip is thought to take 20 s: connections end all the same, later than after
/// the 30 s of a usual idle timeout.
#[test]
fn connections_end_however_long_a_round_trip_is() {
    quic::client(
        b"\xfc\xdc\xdc\xdc\x00\x00\x04\x00\x00\x00\x00\x04\xdc\xdc\xdc\xdc\xdc\xdc\xdc\xdc\x2c\xdc\xdc\xdc\xdc\xdc\x76\xdc\
          \xdc\xdc\x44\x05\x36\x2e\x59\x65\x93\xdd\x0e\xdc\xdc\xdc\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xcd\xcd\x31\x30\
          \x33\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\x62\x3d\x8f\x94\x1f\x67\x1f\xa8\x0d\x6f\xcd\xcd\xcd\xcd\xcd\x03\
          \x2c\xf1\x26\xc2\xcd\xcd\x5b\xcd\xcd\xcd\x03\xcd\xcd\xcd\xcd\xcd\xcd\xcd\x00\x00\x00\x04\xf1\x26\xc2\xcd\xcd\x5b\
          \xcd\xcd\xcd\x03\xcd\xcd\xcd\xcd\xcd\xcd\xcd\x00\x00\x00\x04\x0a",
    );
    quic::server(
        b"\x11\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xa5\xe9\xe9\xe9\xe9\xe9\x69\xd8\xd8\xd8\xd8\xd8\xd8\xd8\xd8\xd8\xd8\
          \xd8\xd8\xd8\xd8\xd8\xe9\xe9\xe9\xe9\xe9\xe9\xe9\x3b\xe9\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\
          \xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\xea\x00\x32\x32\x32\x32\x32\x32\x32\x33\x0f\x0a",
    );
}
