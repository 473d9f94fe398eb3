//! Several requests in one string, as scripts for pipelining give them: where each of them ends.

use ablaze_wire::http1::request_head::{self, RequestFraming, RequestScan};

use crate::ScriptError;

/// Where each request of a string ends; the last end is that of the string.
///
/// # Errors
/// When it is no request, or the last one is not whole.
pub fn ends(bytes: &[u8]) -> Result<Vec<usize>, ScriptError> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < bytes.len() || ends.is_empty() {
        at += length(&bytes[at..])
            .map_err(|why| ScriptError(format!("{why} at {}", position(bytes, at))))?;
        ends.push(at);
    }
    Ok(ends)
}

/// Whether nothing stands behind the first head: no body, and no further request.
pub fn is_head_alone(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\r\n\r\n").is_some_and(|at| at + 4 == bytes.len())
}

/// The length of the first request.
fn length(bytes: &[u8]) -> Result<usize, String> {
    const INCOMPLETE: &str = "incomplete request";
    let head = match request_head::scan(bytes).map_err(|error| error.to_string())? {
        RequestScan::Complete(head) => head,
        RequestScan::Incomplete => return Err(INCOMPLETE.to_owned()),
    };
    let length = match head.framing {
        RequestFraming::None => head.len,
        RequestFraming::Length(body) => head.len + body as usize,
        // Chunks end with the string: a second request behind them is not looked for.
        RequestFraming::Chunked => bytes.len(),
    };
    if length > bytes.len() { Err(INCOMPLETE.to_owned()) } else { Ok(length) }
}

/// Line and column of a byte, from 1.
fn position(bytes: &[u8], at: usize) -> String {
    let before = &bytes[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_behind_each_other_are_told_apart() {
        let one = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n".as_slice();
        let post = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc".as_slice();
        let all = [one, post, one].concat();
        let expected = [one.len(), one.len() + post.len(), all.len()];
        assert_eq!(ends(&all).unwrap(), expected);
        assert_eq!(ends(one).unwrap(), [one.len()]);
    }

    #[test]
    fn a_head_alone_has_nothing_behind_it() {
        assert!(is_head_alone(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
        assert!(!is_head_alone(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n\r\n"));
        assert!(!is_head_alone(b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
        assert!(!is_head_alone(b"GET / HTTP/1.1\r\n"));
    }

    #[test]
    fn what_is_no_whole_request_is_refused_with_its_place() {
        for (bytes, part) in [
            (&b""[..], "incomplete request at 1:1"),
            (b"GET / HTTP/1.1\r\nHost: h\r\n", "incomplete request at 1:1"),
            (b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET", "incomplete request at 4:1"),
            (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", "incomplete request"),
            (b"hello\r\n\r\n", "at 1:1"),
        ] {
            let refused = ends(bytes).unwrap_err().0;
            assert!(refused.contains(part), "{refused}");
        }
    }
}
