//! The head that was read last, so that an equal one is recognised instead of read again: a load
//! tester sends the same bytes over and over, and so do most programs. Scanning a head of ten
//! fields takes a thousand instructions, comparing it thirty.

use std::cell::RefCell;

use ablaze_wire::http1::request_head::{self, RequestHead, RequestHeadError, RequestScan};

/// Longer heads are not remembered: they are rare, and comparing them would cost memory.
const KNOWN_BYTES_MAX: usize = 1024;

thread_local! {
    /// One per thread: all of its connections mostly hear from the same kind of client. It is
    /// never lent beyond a call, so a fiber may move to another thread in between.
    static KNOWN: RefCell<KnownHead> = const { RefCell::new(KnownHead::new()) };
}

/// As [`request_head::scan`]: what a head says depends on its bytes alone.
///
/// # Errors
/// Those of the scanner.
#[inline]
pub fn scan(bytes: &[u8]) -> Result<RequestScan, RequestHeadError> {
    KNOWN.with_borrow_mut(|known| known.scan(bytes))
}

#[derive(Debug)]
struct KnownHead {
    bytes: Vec<u8>,
    head: Option<RequestHead>,
}

impl KnownHead {
    const fn new() -> Self {
        Self { bytes: Vec::new(), head: None }
    }

    #[inline]
    fn scan(&mut self, bytes: &[u8]) -> Result<RequestScan, RequestHeadError> {
        if let Some(head) = &self.head
            && bytes.starts_with(&self.bytes)
        {
            return Ok(RequestScan::Complete(head.clone()));
        }
        self.scan_new(bytes)
    }

    #[inline(never)]
    fn scan_new(&mut self, bytes: &[u8]) -> Result<RequestScan, RequestHeadError> {
        let scan = request_head::scan(bytes)?;
        if let RequestScan::Complete(head) = &scan
            && head.len <= KNOWN_BYTES_MAX
        {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.len]);
            self.head = Some(head.clone());
        }
        Ok(scan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: &[u8] = b"GET /one HTTP/1.1\r\nHost: a\r\n\r\n";
    const OTHER: &[u8] = b"POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";

    #[test]
    fn what_is_recognised_is_what_would_be_read() {
        let mut known = KnownHead::new();
        let pieces: Vec<&[u8]> =
            vec![ONE, ONE, &ONE[..ONE.len() - 1], OTHER, OTHER, ONE, &ONE[..5], b"", OTHER];
        for bytes in pieces {
            assert_eq!(known.scan(bytes), request_head::scan(bytes));
        }
    }

    proptest! {
        #[test]
        fn any_sequence_of_heads_is_read_as_without_memory(
            sequence in prop::collection::vec((0usize..4, 0usize..80, any::<u8>()), 1..40)
        ) {
            let heads: [&[u8]; 4] =
                [ONE, OTHER, b"HEAD / HTTP/1.0\r\n\r\n", b"\r\nGET / HTTP/1.1\nHost: b\n\n"];
            let mut known = KnownHead::new();
            for (which, at, byte) in sequence {
                let mut bytes = heads[which].to_vec();
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
                prop_assert_eq!(known.scan(&bytes), request_head::scan(&bytes));
                prop_assert_eq!(known.scan(heads[which]), request_head::scan(heads[which]));
            }
        }
    }
}
