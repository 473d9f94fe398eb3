//! The server's view of a request: never panics, a prefix never contradicts the whole, and it
//! agrees with `httparse` where both accept.
#![no_main]

use ablaze_wire::http1::request_head::{RequestScan, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = scan(bytes);
    for len in (0..bytes.len()).rev().take(64) {
        match scan(&bytes[..len]) {
            Ok(RequestScan::Incomplete) => {}
            Ok(complete) => assert_eq!(Ok(complete), whole),
            Err(_) => assert!(whole.is_err(), "{whole:?}"),
        }
    }
    let Ok(RequestScan::Complete(head)) = whole else { return };
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut oracle = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(len)) = oracle.parse(bytes) else { return };
    assert_eq!(head.len, len);
    assert_eq!(Some(&bytes[head.target]), oracle.path.map(str::as_bytes));
    assert_eq!(Some(head.minor_version), oracle.version);
});
