//! The ways to misbehave, and a few correct ones that clients get wrong.

use std::time::Duration;

/// What is done with a request, or with a connection before its first request.
///
/// Unless a line says otherwise, the request is read completely first, and behind a complete
/// response the connection is kept or closed as the request asks; to HTTP/1.0 a response says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// 200 with a body of this length.
    Fine {
        /// Length of the body.
        body_bytes: usize,
    },
    /// As `Fine` with 14 bytes, but this status.
    Status(u16),

    /// FIN as soon as the connection stands, before anything is read.
    CloseAtOnce,
    /// FIN after the request, without a byte of a response.
    CloseWithoutResponse,
    /// RST as soon as the connection stands.
    ResetAtOnce,
    /// RST after the request, without a byte of a response.
    Reset,
    /// Head, `sent` of `announced` bytes of the body, then RST.
    ResetMidBody {
        /// Content-Length.
        announced: usize,
        /// Bytes that are sent.
        sent: usize,
    },
    /// Head, `sent` of `announced` bytes of the body, then FIN.
    ShortBody {
        /// Content-Length.
        announced: usize,
        /// Bytes that are sent.
        sent: usize,
    },
    /// Half of the head, then FIN.
    ShortHead,

    /// `Fine` with 14 bytes, after this time.
    Late(Duration),
    /// Nothing at all: the request is read, never answered, the connection left open.
    Hang,
    /// Head, `sent` of `announced` bytes of the body, then nothing, the connection left open.
    Stall {
        /// Content-Length.
        announced: usize,
        /// Bytes that are sent.
        sent: usize,
    },
    /// A body of this length, byte by byte with this pause between two.
    Trickle {
        /// Length of the body.
        body_bytes: usize,
        /// Time between two bytes.
        pause: Duration,
    },

    /// A chunked body of this length.
    Chunked {
        /// Length of the body, without the coding.
        body_bytes: usize,
        /// How it is cut up.
        chunks: Chunks,
    },
    /// A body without announced length, ended by FIN.
    UntilClose {
        /// Length of the body.
        body_bytes: usize,
    },
    /// HTTP/1.0 with `Connection: keep-alive` and a length: the connection stays open, whatever
    /// the request asks for.
    KeepAlive10,
    /// HTTP/1.0 with a length and nothing about the connection: it is closed.
    Close10,
    /// 204, with a Content-Length that means nothing, if given.
    NoContent {
        /// The meaningless length.
        bogus_length: Option<usize>,
    },
    /// 304, with the Content-Length of the body that is not sent, if given.
    NotModified {
        /// The length.
        length: Option<usize>,
    },
    /// `100 Continue`, then 200 with 14 bytes; without the client having asked.
    ContinueFirst,
    /// Lines of the head end in LF alone.
    BareLf,
    /// A field value continued on the next line; Content-Length is one of them.
    ObsFold,
    /// Every byte of head and body in a segment of its own, with this pause between two.
    SplitEverywhere {
        /// Time between two bytes.
        pause: Duration,
    },
    /// Two requests are awaited (the second for at most 200 ms), their responses sent in one write.
    TwoInOne,

    /// Bytes that are no HTTP, then FIN.
    Garbage,
    /// A correct response with this many bytes too many behind it.
    Surplus {
        /// Number of bytes.
        bytes: usize,
    },
    /// Two values of Content-Length that differ.
    ConflictingLengths,
    /// Content-Length and chunked at once.
    LengthAndChunked,
    /// A Content-Length that is no number.
    LengthNoNumber,
    /// A correct response whose head has a field of this length.
    LongHead {
        /// Length of the field's value.
        field_bytes: usize,
    },
    /// Field after field, for ever; the end comes when the client closes.
    EndlessHead,

    /// This many requests are answered with 14 bytes, then the idle connection is closed: FIN, and
    /// RST to a request that comes anyway.
    ResponsesThenClose {
        /// Number of responses.
        responses: u64,
        /// Whether the last response says `Connection: close`.
        announced: bool,
    },
    /// Answered when the head is there, before the body was read, and closed with FIN.
    ResponseBeforeBody,
    /// The same, but closed with the body unread, which makes the kernel send RST.
    ResponseBeforeBodyThenReset,

    /// `Fine` with 14 bytes, exactly this time after the request was read; both times are
    /// recorded, for tests of what a client says about latency.
    Stamped {
        /// From the read that completed the request to the write of the response.
        delay: Duration,
    },
}

/// How a chunked body is cut up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunks {
    /// One chunk, everything in one write.
    Whole,
    /// Chunks of one byte, every byte of the coding in a write of its own.
    ByteByByte,
    /// Three chunks with extensions, leading zeros and upper-case digits, and trailers.
    ExtensionsAndTrailers,
    /// A size that is no number.
    Broken,
    /// FIN before the last chunk.
    Unfinished,
}
