//! The response scanner: never panics, sees the same in pieces as at once, and agrees with `httparse`
//! on status, length and fields where both accept.
#![no_main]

use ablaze_wire::http1::response::{HeadError, Scan, field, scan};
use libfuzzer_sys::fuzz_target;

// The first byte chooses how, the others are the response.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let (no_body, cut) = (choice >= 0x80, choice & 0x7f);
    // Long enough that the status line is judged before the limit is.
    for max_head_bytes in [8192, 64] {
        let whole = scan(bytes, 0, no_body, max_head_bytes);
        same_in_pieces(bytes, cut, no_body, max_head_bytes, whole);
    }
    agrees_with_httparse(bytes);
});

fn same_in_pieces(
    bytes: &[u8],
    cut: u8,
    no_body: bool,
    max_head_bytes: usize,
    whole: Result<Scan, HeadError>,
) {
    let mut resume = 0;
    let step = usize::from(cut % 7) + 1;
    let mut ends: Vec<usize> = (0..bytes.len()).step_by(step).collect();
    ends.push(bytes.len());
    for end in ends {
        match scan(&bytes[..end], resume, no_body, max_head_bytes) {
            Ok(Scan::Incomplete { resume: next }) => resume = next,
            Ok(complete) => return assert_eq!(Ok(complete), whole, "{end}"),
            // What a wrong beginning looks like can be told better from more of it.
            Err(HeadError::Malformed(_)) => {
                return assert!(matches!(whole, Err(HeadError::Malformed(_))), "{end}: {whole:?}");
            }
            Err(HeadError::TooLarge) => return assert_eq!(whole, Err(HeadError::TooLarge)),
        }
    }
    assert!(matches!(whole, Ok(Scan::Incomplete { .. })), "{whole:?}");
}

fn agrees_with_httparse(bytes: &[u8]) {
    let Ok(Scan::Complete(head)) = scan(bytes, 0, false, usize::MAX) else { return };
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut oracle = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(len)) = oracle.parse(bytes) else { return };
    assert_eq!(head.len, len);
    assert_eq!(Some(head.status), oracle.code);
    assert_eq!(Some(head.minor_version), oracle.version);
    for header in oracle.headers.iter() {
        let first = oracle.headers.iter().find(|h| h.name.eq_ignore_ascii_case(header.name));
        assert_eq!(field(&bytes[..len], header.name), first.map(|h| h.value.trim_ascii()));
    }
}
