//! The engine's whole TLS, from the ClientHello to `close_notify`, against a server of rustls whose records
//! are cut, joined, reordered, changed and put between others at every state: it does not panic, every
//! run ends, and where nothing is done to the records every request is answered.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ablaze_tamper::client::load(input));
