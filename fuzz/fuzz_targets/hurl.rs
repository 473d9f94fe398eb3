//! Hurl files and responses: no text panics, an error is in the text, what is a file is the same file after it was
//! printed, and steps can be rendered, captured and checked whatever the response.
#![no_main]

use ablaze_journey::syntax::print;
use ablaze_journey::{
    Headers, HttpVersion, Jar, Moment, Origin, Reading, ResponseView, Value, compile, parse,
};
use libfuzzer_sys::fuzz_target;

struct Fixed;

impl Moment for Fixed {
    fn unix_us(&mut self) -> i64 {
        1_795_422_000_000_000
    }

    fn random(&mut self) -> u128 {
        4
    }
}

fuzz_target!(|input: (&str, &[u8], &[u8])| {
    let (text, fields, body) = input;
    let file = match parse(text, "fuzz") {
        Ok(file) => file,
        Err(error) => {
            assert!((1..=text.split('\n').count()).contains(&(error.line as usize)));
            assert_eq!(error.to_string().lines().count(), 3);
            return;
        }
    };
    let printed = print(&file);
    match parse(&printed, "printed") {
        Ok(again) => assert_eq!(again, file, "{printed}"),
        Err(error) => panic!("{error}\n{printed}"),
    }
    let Ok(journey) = compile(&file, "fuzz") else { return };
    let mut variables = journey.variables();
    for slot in 0..journey.names().len() {
        variables.set(slot, Some(Value::from(slot as i64)));
    }
    let mut jar = Jar::new();
    let origin = Origin { host: "a.example.org", path: "/x/y", is_tls: true };
    for step in &journey.steps {
        let mut url = Vec::new();
        let _ = step.set_variables(&mut variables, &mut Fixed);
        let _ = step.write_url(&variables, &mut Fixed, &mut url);
        let headers = Headers::Lines(fields);
        let view = ResponseView {
            version: HttpVersion::Http11,
            status: 200,
            headers,
            body,
            duration_ns: 1,
            url: "http://a.example.org/x/y",
        };
        for cookie in headers.values(b"set-cookie") {
            jar.store(cookie, &origin, 1_795_422_000);
        }
        let reading = Reading::new(view);
        let _ = step.expect(&reading);
        let _ = step.capture(&reading, &mut variables, &mut Fixed);
        step.check(&reading, &variables, &mut Fixed, drop);
    }
    let mut sent = Vec::new();
    jar.write(&origin, 1_795_422_000, &mut sent);
    assert!(!sent.contains(&b'\n'));
});
