//! What several tests need: a fixed time, responses from their bytes, journeys from their text.

use ablaze_journey::{
    Failure, Headers, HttpVersion, Journey, Moment, Reading, ResponseView, Variables, compile,
    parse,
};

/// A time and randomness that never change.
pub struct Fixed;

impl Fixed {
    /// 2026-11-23T08:20:00Z
    pub const UNIX_US: i64 = 1_795_422_000_000_000;
}

impl Moment for Fixed {
    fn unix_us(&mut self) -> i64 {
        Self::UNIX_US
    }

    fn random(&mut self) -> u128 {
        0x0123_4567_89ab_cdef_0123_4567_89ab_cdef
    }
}

/// Parses and compiles, or panics with the message that a user would see.
pub fn journey(text: &str) -> Journey {
    let file = parse(text, "test.hurl").unwrap_or_else(|error| panic!("{error}"));
    compile(&file, "test.hurl").unwrap_or_else(|error| panic!("{error}"))
}

/// Why a text is not run.
pub fn refusal(text: &str) -> String {
    let file = parse(text, "test.hurl").unwrap_or_else(|error| panic!("{error}"));
    compile(&file, "test.hurl").expect_err(text).to_string()
}

/// A response of HTTP/1.1 in its bytes, without `Content-Length`.
#[derive(Clone, Copy)]
pub struct Response {
    pub status: u16,
    /// Lines, each with its end.
    pub fields: &'static str,
    pub body: &'static [u8],
}

impl Response {
    pub fn reading(&self) -> Reading<'_> {
        Reading::new(ResponseView {
            version: HttpVersion::Http11,
            status: self.status,
            headers: Headers::Lines(self.fields.as_bytes()),
            body: self.body,
            duration_ns: 1_500_000,
            url: "http://localhost/",
        })
    }
}

/// What failed of the first step's expectations, captures and asserts.
pub fn failures(journey: &Journey, response: &Response) -> (Vec<Failure>, Variables) {
    let mut variables = journey.variables();
    let reading = response.reading();
    let step = &journey.steps[0];
    let first =
        step.expect(&reading).and_then(|()| step.capture(&reading, &mut variables, &mut Fixed));
    if let Err(failure) = first {
        return (vec![failure], variables);
    }
    let mut failed = Vec::new();
    let checked = step.check(&reading, &variables, &mut Fixed, |failure| failed.push(failure));
    assert_eq!(checked.failed, failed.len() as u64);
    (failed, variables)
}
