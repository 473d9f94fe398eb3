//! What the raw model answers with: what the handler gives to `GET /`, as it looks on the wire.

use std::io::IoSlice;

use crate::handler::Handler;
use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::output::Output;
use crate::http1::protocol::{Http1, Next};
use crate::service::Service;

/// The forms of the response: they differ in what they say about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It stays open, which HTTP/1.1 implies.
    Implied,
    /// It stays open, and an HTTP/1.0 client is told.
    Announced,
    /// It is closed behind the response.
    Close,
}

/// The response in its forms.
#[derive(Debug)]
pub struct Responses {
    date: Date,
    /// The date in the responses.
    dated: [u8; DATE_BYTES],
    forms: [Vec<u8>; 3],
}

impl Responses {
    /// Builds the forms of the response.
    pub fn new<H: Handler>(service: &Service<H>) -> Self {
        let date = Date::now();
        let forms = Self::build(service, &date);
        Self { dated: *date.text(), date, forms }
    }

    /// Follows the clock, a second at a time.
    #[inline]
    pub fn update<H: Handler>(&mut self, service: &Service<H>) {
        self.date.update();
        if self.dated != *self.date.text() {
            self.dated = *self.date.text();
            self.forms = Self::build(service, &self.date);
        }
    }

    /// The response in this form.
    #[inline]
    pub fn of(&self, form: Form) -> &[u8] {
        &self.forms[form as usize]
    }

    fn build<H: Handler>(service: &Service<H>, date: &Date) -> [Vec<u8>; 3] {
        let requests: [&[u8]; 3] = [
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            b"GET / HTTP/1.0\r\n\r\n",
        ];
        requests.map(|request| {
            let mut protocol = Http1::default();
            let mut out = Output::default();
            let mut next = protocol.receive(request, service, date, &mut out);
            // A handler's own delay is left out, too.
            while matches!(next, Next::Wait(_)) {
                next = protocol.proceed(service, date, &mut out);
            }
            take_all(&mut out)
        })
    }
}

fn take_all(out: &mut Output) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !out.is_empty() {
        let mut slices = [IoSlice::new(&[])];
        let used = out.slices(&mut slices);
        let part = slices[..used].first().map_or(0, |slice| {
            bytes.extend_from_slice(slice);
            slice.len()
        });
        out.wrote(part);
    }
    bytes
}
