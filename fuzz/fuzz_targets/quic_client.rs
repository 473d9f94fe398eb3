//! The engine's HTTP/3 with the QUIC below it, against a server that makes a real handshake and then says anything on its
//! streams, over a network that cuts, joins, damages, repeats, drops and delays datagrams: it does not panic, every
//! connection ends, no request ends twice, and where nobody interferes every request is answered.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ablaze_tamper::quic::client(input));
