//! A handler's response, put into bytes behind what is already to be written.

use crate::handler::{Body, Response, Stream};
use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::output::Output;
use crate::http1::response::{Framing, HeadText, Persistence, status_permits_body};

/// How one response is put into bytes.
#[derive(Debug, Clone, Copy)]
pub struct Rendering<'a> {
    /// What it says about the connection.
    pub persistence: Persistence,
    /// The request was HEAD.
    pub head_only: bool,
    /// Head and body are written by different calls.
    pub split: bool,
    /// The client knows the chunked coding.
    pub chunked: bool,
    /// Fields that heads made for their request begin with, each with its line end.
    pub server_fields: &'a [u8],
    /// Length that heads made for their request are padded to.
    pub head_bytes: usize,
    /// The date.
    pub date: &'a Date,
}

/// The body of a request as it is at hand.
#[derive(Debug)]
pub(crate) enum RequestBody<'a> {
    Lent(&'a [u8]),
    Owned(Vec<u8>),
}

impl RequestBody<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// What is to be known of a response whose head, and mostly all of it, was put into bytes.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Length of its head.
    pub head_bytes: usize,
    /// What is still missing.
    pub rest: Rest,
}

/// What of a response is not in bytes yet.
#[derive(Debug)]
pub(crate) enum Rest {
    Nothing,
    /// The body of the request. It can be given away only when the response, which may borrow from
    /// it, is gone.
    BodyOfRequest,
    /// A body that is made as it leaves.
    Stream(Box<dyn Stream>),
}

impl Rendering<'_> {
    /// Adds a response; what is missing then has to follow.
    #[inline]
    pub(crate) fn push(
        &self,
        response: Response<'_>,
        request_body_bytes: usize,
        out: &mut Output,
    ) -> Rendered {
        match response {
            Response::Fixed(fixed) => {
                Rendered { head_bytes: fixed.push(self, out), rest: Rest::Nothing }
            }
            Response::Made { status, content_type, fields, body } => {
                let framing = match &body {
                    Body::OfRequest => Framing::Length(request_body_bytes as u64),
                    Body::Borrowed(bytes) => Framing::Length(bytes.len() as u64),
                    Body::Owned(bytes) => Framing::Length(bytes.len() as u64),
                    Body::Filler(bytes) => Framing::Length(*bytes),
                    Body::Stream(_) if self.chunked => Framing::Chunked,
                    Body::Stream(_) => Framing::ToClose,
                };
                let head_bytes =
                    self.push_head(status, content_type, fields.as_bytes(), framing, out);
                if self.head_only || !status_permits_body(status) {
                    return Rendered { head_bytes, rest: Rest::Nothing };
                }
                Rendered { head_bytes, rest: self.push_body(body, out) }
            }
        }
    }

    /// Adds the body that the client sent.
    pub(crate) fn give_back(&self, body: RequestBody<'_>, out: &mut Output) {
        match body {
            RequestBody::Lent(bytes) => out.push_text(bytes),
            RequestBody::Owned(bytes) => out.push_owned(bytes),
        }
        self.end_body(out);
    }

    fn push_body(&self, body: Body<'_>, out: &mut Output) -> Rest {
        match body {
            Body::OfRequest => return Rest::BodyOfRequest,
            Body::Stream(stream) => return Rest::Stream(stream),
            Body::Borrowed(bytes) => out.push_text(bytes),
            Body::Owned(bytes) => out.push_owned(bytes),
            Body::Filler(bytes) => out.push_filler(bytes),
        }
        self.end_body(out);
        Rest::Nothing
    }

    fn end_body(&self, out: &mut Output) {
        if self.split {
            out.cut();
        }
    }

    fn push_head(
        &self,
        status: u16,
        content_type: &[u8],
        fields: &[u8],
        framing: Framing,
        out: &mut Output,
    ) -> usize {
        let head = HeadText {
            status,
            server_fields: self.server_fields,
            content_type,
            framing,
            fields,
            persistence: self.persistence,
            head_bytes: self.head_bytes,
        };
        if self.split {
            out.cut();
        }
        let before = out.left();
        out.push_with(|text| {
            let date_at = head.write(text);
            text[date_at..date_at + DATE_BYTES].copy_from_slice(self.date.text());
        });
        if self.split {
            out.cut();
        }
        (out.left() - before) as usize
    }
}
