//! The head of an answer: where it ends, and what it says about the body behind it.

/// What a complete head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Length of the head in bytes, its empty line included.
    pub len: usize,
    /// Status code, 100 to 999.
    pub status: u16,
    /// Minor version: 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub minor_version: u8,
    /// How the end of the body is found.
    pub framing: Framing,
    /// Whether the server will keep the connection (RFC 9112, 9.3), judged by the head alone.
    pub keep_alive: bool,
}

/// How the end of a body is found (RFC 9112, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body: 1xx, 204, 304, or the answer to HEAD.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// Everything until the server closes.
    UntilClose,
}

/// Result of looking for a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The head is not complete; look again with more bytes, from `resume`.
    Incomplete {
        /// Offset before which no head can end: pass it to the next scan.
        resume: usize,
    },
    /// The head is complete.
    Complete(Head),
}

/// Why bytes are not the head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Not HTTP/1, or contradicting itself.
    #[error("{0}")]
    Malformed(&'static str),
    /// No end within the permitted length.
    #[error("the head is longer than allowed")]
    TooLarge,
}

/// Looks for the head of an answer at the beginning of `bytes`. `resume` is 0, or what the last
/// scan of a prefix of the same bytes returned.
///
/// # Errors
/// When the bytes cannot become the head of an answer, or it is longer than `max_head_bytes`.
pub fn scan(
    bytes: &[u8],
    resume: usize,
    answer_has_no_body: bool,
    max_head_bytes: usize,
) -> Result<Scan, HeadError> {
    let _ = answer_has_no_body;
    // Thin thread: the codec proper follows.
    let Some(end) = memchr::memmem::find(&bytes[resume..], b"\r\n\r\n") else {
        if bytes.len() >= max_head_bytes {
            return Err(HeadError::TooLarge);
        }
        return Ok(Scan::Incomplete { resume: bytes.len().saturating_sub(3) });
    };
    let text = String::from_utf8_lossy(&bytes[..resume + end]).to_ascii_lowercase();
    let status =
        text.get(9..12).and_then(|s| s.parse().ok()).ok_or(HeadError::Malformed("status"))?;
    let framing = text
        .split("content-length: ")
        .nth(1)
        .and_then(|s| s.lines().next()?.trim().parse().ok())
        .map_or(Framing::UntilClose, Framing::Length);
    Ok(Scan::Complete(Head {
        len: resume + end + 4,
        status,
        minor_version: 1,
        framing,
        keep_alive: !text.contains("connection: close"),
    }))
}

/// The value of the first header field of this name (ASCII case-insensitive) in a complete
/// head, without surrounding white space.
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|&b| b == b'\n').find_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        line[..colon].eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
    })
}
