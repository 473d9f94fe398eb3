//! A server's whole TLS, with HTTP/1 and HTTP/2 inside, against a client of rustls whose records are
//! cut, joined, reordered, changed and put between others at every state: it does not panic or run in
//! circles, and where nothing is done to the records every request is answered.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| ablaze_tamper::server::ask(input));
