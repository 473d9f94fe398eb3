//! A short walk through what the fuzz targets `tls_client` and `tls_server` do at length, from fixed
//! seeds, and what they have found.

use ablaze_tamper::{client, server};

/// Inputs of each kind; a few seconds. A run of the engine is the work of many connections.
const CLIENT_INPUTS: u64 = 120;
const SERVER_INPUTS: u64 = 1_500;

/// SplitMix64: the same inputs on every machine.
struct Seeds(u64);

impl Seeds {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
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
    let mut seeds = Seeds(1);
    for _ in 0..CLIENT_INPUTS {
        let input = seeds.input(240);
        println!("{input:?}");
        client::load(&input);
    }
}

#[test]
fn a_server_outlives_what_a_client_sends() {
    let mut seeds = Seeds(2);
    for _ in 0..SERVER_INPUTS {
        let input = seeds.input(60);
        println!("{input:?}");
        server::ask(&input);
    }
}
