//! The engine's worker, in plain HTTP/1 and HTTP/2 over the simulated network, against a far end that the input scripts:
//! every request ends exactly once, the figures of the run agree, and the run ends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ablaze_tamper::worker::load(input));
