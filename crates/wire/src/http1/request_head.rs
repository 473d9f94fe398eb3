//! The head of a request as a server sees it, for the built-in targets.
//!
//! As strict and as tolerant as the `response` scanner, and incremental only in that it can be
//! called again with more bytes: a request's head is small and mostly arrives at once.
//! In front of the request line, empty lines are passed over (RFC 9112, 2.2).

use std::ops::Range;

use crate::http1::fields::{
    Facts, Walk, first_line_start, is_token_byte, line_end, next_space, walk,
};

/// What a complete head of a request says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// Length of the head in bytes, its empty line and those before it included.
    pub len: usize,
    /// The method.
    pub method: Method,
    /// Where the request target stands in the bytes.
    pub target: Range<usize>,
    /// Minor version: 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub minor_version: u8,
    /// How the end of the body is found.
    pub framing: RequestFraming,
    /// Whether the client wants to keep the connection (RFC 9112, 9.3).
    pub keep_alive: bool,
    /// The client waits for 100 Continue before it sends the body (RFC 9110, 10.1.1).
    pub expect_continue: bool,
}

/// A method, as far as servers tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
    /// CONNECT
    Connect,
    /// TRACE
    Trace,
    /// Any other token.
    Other,
}

impl Method {
    /// The method of this name; names are case-sensitive (RFC 9110, 9.1).
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        match name {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"PATCH" => Self::Patch,
            b"DELETE" => Self::Delete,
            b"OPTIONS" => Self::Options,
            b"CONNECT" => Self::Connect,
            b"TRACE" => Self::Trace,
            _ => Self::Other,
        }
    }
}

/// How the end of a request's body is found (RFC 9112, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFraming {
    /// No body.
    None,
    /// This many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
}

/// Result of looking for a request's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestScan {
    /// The head is not complete.
    Incomplete,
    /// The head is complete.
    Complete(RequestHead),
}

/// Why bytes are not the head of a request. A server answers 400 and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestHeadError(pub &'static str);

/// Looks for the head of a request at the beginning of `bytes`.
///
/// # Errors
/// When the bytes cannot become the head of a request, or it contradicts itself. The limit of a
/// head's length is the caller's.
pub fn scan(bytes: &[u8]) -> Result<RequestScan, RequestHeadError> {
    scan_parts(bytes).map_err(RequestHeadError)
}

fn scan_parts(bytes: &[u8]) -> Result<RequestScan, &'static str> {
    let start = first_line_start(bytes)?;
    let Some(line) = request_line(bytes, start)? else { return Ok(RequestScan::Incomplete) };
    if let Some(b' ' | b'\t') = bytes.get(line.end) {
        return Err("white space before the first field");
    }
    let mut facts = Facts::default();
    match walk::<true>(bytes, line.end, &mut facts)? {
        Walk::Incomplete => Ok(RequestScan::Incomplete),
        Walk::End(len) => Ok(RequestScan::Complete(conclude(len, line, &facts)?)),
    }
}

/// Framing and persistence (RFC 9112, 6.3 and 9.3).
fn conclude(len: usize, line: RequestLine, facts: &Facts) -> Result<RequestHead, &'static str> {
    facts.judge()?;
    let framing = match (facts.transfer_encoding, facts.content_length) {
        (true, _) if line.minor_version == 0 => {
            return Err("Transfer-Encoding in an HTTP/1.0 request");
        }
        (true, _) if !facts.chunked_last => return Err("the last transfer coding is not chunked"),
        (true, _) => RequestFraming::Chunked,
        (false, Some(length)) => RequestFraming::Length(length),
        (false, None) => RequestFraming::None,
    };
    let keep_alive = !facts.close && (line.minor_version == 1 || facts.keep_alive);
    Ok(RequestHead {
        len,
        method: line.method,
        target: line.target,
        minor_version: line.minor_version,
        framing,
        keep_alive,
        // An HTTP/1.0 client does not know 100 Continue (RFC 9110, 10.1.1).
        expect_continue: facts.expect_continue && line.minor_version == 1,
    })
}

struct RequestLine {
    method: Method,
    target: Range<usize>,
    minor_version: u8,
    /// Offset of the first field line.
    end: usize,
}

/// Reads `METHOD target HTTP/1.x`; none when its end has not arrived.
#[inline(always)]
fn request_line(bytes: &[u8], start: usize) -> Result<Option<RequestLine>, &'static str> {
    match usual_request_line(bytes, start) {
        Some(line) => Ok(Some(line)),
        None => any_request_line(bytes, start),
    }
}

/// A GET, as most are, ended by CR LF.
#[inline(always)]
fn usual_request_line(bytes: &[u8], start: usize) -> Option<RequestLine> {
    let target_start = start + 4;
    let target = bytes.get(start..)?.strip_prefix(b"GET ")?;
    let target_bytes = next_space(target);
    let minor_version = match target.get(target_bytes..)?.first_chunk::<11>()? {
        b" HTTP/1.1\r\n" => 1,
        b" HTTP/1.0\r\n" => 0,
        _ => return None,
    };
    let target = target_start..target_start + target_bytes;
    let end = target.end + 11;
    (target_bytes > 0).then_some(RequestLine { method: Method::Get, target, minor_version, end })
}

#[inline(never)]
fn any_request_line(bytes: &[u8], start: usize) -> Result<Option<RequestLine>, &'static str> {
    let Some(behind) = line_end(&bytes[start..])? else {
        return match bytes[start..].first() {
            Some(first) if !is_token_byte(*first) => Err("the method is not a token"),
            _ => Ok(None),
        };
    };
    let end = bytes.len() - behind.len();
    let line_len = end - if bytes[..end].ends_with(b"\r\n") { 2 } else { 1 };
    let method_end = method_end(&bytes[..line_len], start)?;
    let target_start = method_end + 1;
    // " HTTP/1.x" takes the last nine bytes.
    let target_end = line_len.saturating_sub(9);
    if target_end <= target_start {
        return Err("the request line is not a method, a target and a version");
    }
    let minor_version = match &bytes[target_end..line_len] {
        b" HTTP/1.1" => 1,
        b" HTTP/1.0" => 0,
        _ => return Err("the request line does not end in HTTP/1.0 or HTTP/1.1"),
    };
    if next_space(&bytes[target_start..target_end]) < target_end - target_start {
        return Err("white space or a control in the target");
    }
    let method = Method::of(&bytes[start..method_end]);
    Ok(Some(RequestLine { method, target: target_start..target_end, minor_version, end }))
}

/// Offset of the space behind the method.
fn method_end(line: &[u8], start: usize) -> Result<usize, &'static str> {
    let len = line[start..].iter().take_while(|&&b| is_token_byte(b)).count();
    match line.get(start + len) {
        Some(b' ') if len > 0 => Ok(start + len),
        _ => Err("the method is not a token"),
    }
}
