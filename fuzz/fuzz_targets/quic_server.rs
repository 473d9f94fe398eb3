//! The servers' HTTP/3 endpoint with the QUIC below it, against a client that makes a real handshake and then says anything on
//! its streams, over a network that cuts, joins, damages, repeats, drops and delays datagrams: it does not panic, and
//! every connection ends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ablaze_tamper::quic::server(input));
