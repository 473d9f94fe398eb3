//! A handler's answer, put into bytes behind what is already to be written.

use crate::handler::{Answer, Body};
use crate::http1::answer::{HeadText, Persistence, status_permits_body};
use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::output::Output;

/// How one answer is put into bytes.
#[derive(Debug, Clone, Copy)]
pub struct Rendering<'a> {
    /// What it says about the connection.
    pub persistence: Persistence,
    /// The request was HEAD.
    pub head_only: bool,
    /// The Server field of answers made for their request.
    pub server_name: &'a [u8],
    /// The date.
    pub date: &'a Date,
}

impl Rendering<'_> {
    /// Adds an answer; returns whether the body of the request has to follow.
    #[inline]
    pub fn push(&self, answer: Answer<'_>, request_body_bytes: usize, out: &mut Output) -> bool {
        match answer {
            Answer::Fixed(fixed) => {
                fixed.push(self.persistence, self.head_only, self.date, out);
                false
            }
            Answer::Made { status, content_type, body } => {
                let body_bytes = match &body {
                    Body::OfRequest => request_body_bytes,
                    Body::Borrowed(bytes) => bytes.len(),
                    Body::Owned(bytes) => bytes.len(),
                };
                self.push_head(status, content_type, body_bytes, out);
                if self.head_only || !status_permits_body(status) {
                    return false;
                }
                match body {
                    Body::OfRequest => return true,
                    Body::Borrowed(bytes) => out.push_text(bytes),
                    Body::Owned(bytes) => out.push_owned(bytes),
                }
                false
            }
        }
    }

    fn push_head(&self, status: u16, content_type: &[u8], body_bytes: usize, out: &mut Output) {
        let head = HeadText {
            status,
            server_name: self.server_name,
            content_type,
            body_bytes: body_bytes as u64,
            persistence: self.persistence,
        };
        out.push_with(|text| {
            let date_at = head.write(text);
            text[date_at..date_at + DATE_BYTES].copy_from_slice(self.date.text());
        });
    }
}
