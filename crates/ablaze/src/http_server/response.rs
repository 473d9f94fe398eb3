//! What is answered.

use std::fmt::Write;

/// A response, after which the connection is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    status: u16,
    content_type: &'static str,
    /// Fields beside those that all have: whole lines without their ends.
    fields: Vec<&'static str>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// A response with a body of this type.
    pub fn new(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type, fields: Vec::new(), body }
    }

    /// A response in words.
    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
    }

    /// The same with a field: its line, as `Allow: GET`.
    #[must_use]
    pub fn with(mut self, line: &'static str) -> Self {
        self.fields.push(line);
        self
    }

    /// Its head.
    pub fn head(&self) -> String {
        let (content_type, length) = (self.content_type, self.body.len());
        let mut head = begin(self.status, content_type, &self.fields);
        let _ = write!(head, "Content-Length: {length}\r\nConnection: close\r\n\r\n");
        head
    }

    /// The head of a response that goes on for as long as the connection: its body is sent piece by piece.
    pub fn endless(content_type: &'static str, fields: &[&'static str]) -> String {
        begin(200, content_type, fields) + "Connection: close\r\n\r\n"
    }
}

fn begin(status: u16, content_type: &str, fields: &[&str]) -> String {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let _ = write!(head, "Content-Type: {content_type}\r\nX-Content-Type-Options: nosniff\r\n");
    for line in fields {
        let _ = write!(head, "{line}\r\n");
    }
    head
}

/// The phrases of RFC 9110, 15.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        _ => "Service Unavailable",
    }
}
