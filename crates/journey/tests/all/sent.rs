//! What Hurl sends for a file, beside what the compiled steps write. Skipped where `hurl` is not on the PATH.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use ablaze_journey::{StepBody, Template, Value, Variables};
use ablaze_testing::{Bounded, Scratch, skip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::support::{Fixed, journey};

/// Each is below a request line.
const REQUESTS: &[&str] = &[
    "",
    "A-{{name}}: {{name}} \\# x\n[Query]\nq: {{name}} &=ä/~*+\n{{name}}: {{n}}\nempty:\n",
    "[Cookies]\na: {{name}}\nb: x y\n[BasicAuth]\n{{name}}: p:{{n}}\n",
    "[Options]\nuser: bob:{{name}}\nheader: X-Late: {{n}}\nvariable: own=v{{n}}\n`{{own}}`\n",
    "[Form]\na: {{name}} +&\nb: {{n}}\n",
    "{ \"a\": {{n}}, \"{{name}}\": [\"x{{text}}y\\n\\u00e9\", {{yes}}, 1.50E+2] }\n",
    "\"{{text}}\"\n",
    "<?xml version=\"1.0\"?>\n<a>{{n}}</a>\n",
    "```\n{{name}} \\n x\n\n```\n",
    "```json\n{\"a\": \"{{text}}\"}\n```\n",
    "```xml\n<a>{{n}}</a>\n```\n",
    "```raw\n{{name}}\n```\n",
    "```graphql\n\n query A { a(b: \"é\\n\") }  \n\nvariables {\n  \"b\" : [ 1 , \"{{text}}\" ] }\n```\n",
    "```graphql\n{ a }\n```\n",
    "`one {{name}} \\u{1f600}`\n",
    "base64,SGVs bG8=;\n",
    "hex,48656c6c6f;\n",
    "Content-Type: text/own\n{\"a\": 1}\n",
];

const TEXT: &str = "a \"b\" \\ /";

/// The head and the body of a request, which is answered.
fn received(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let length = field(&head, "content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some((head, body))
}

fn field(head: &str, name: &str) -> Option<String> {
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    fields
        .into_iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.into())
}

fn rendered(template: &Template, variables: &Variables) -> Vec<u8> {
    let mut out = Vec::new();
    template.render(variables, &mut Fixed, &mut out).unwrap_or_else(|error| panic!("{error}"));
    out
}

#[test]
fn steps_write_what_hurl_sends() {
    let Some(hurl) = skip::installed_if_all("hurl") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    // Ends with the test's process.
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            if received(&mut stream).is_none_or(|request| sender.send(request).is_err()) {
                return;
            }
        }
    });
    let entries = REQUESTS.iter().map(|below| format!("POST {base}/p?x={{{{name}}}}\n{below}\n"));
    let text: String = entries.collect();
    let scratch = Scratch::new("journey-sent");
    let file = scratch.write("sent.hurl", &text);
    let given = [("name", "bob"), ("n", "5"), ("yes", "true"), ("text", TEXT)];
    let words = given.map(|(name, value)| ["--variable".to_owned(), format!("{name}={value}")]);
    let output = Command::new(hurl).args(words.concat()).arg(&file).bounded_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let journey = journey(&text);
    let mut variables = journey.variables();
    for (name, value) in given {
        let value = match value {
            "5" => Value::from(5),
            "true" => Value::Boolean(true),
            text => Value::from(text),
        };
        variables.set(journey.names().slot(name).unwrap(), Some(value));
    }
    for (step, below) in journey.steps.iter().zip(REQUESTS) {
        let (head, body) = requests.recv_timeout(Duration::from_secs(10)).unwrap();
        step.set_variables(&mut variables, &mut Fixed).unwrap();
        let mut url = Vec::new();
        step.write_url(&variables, &mut Fixed, &mut url).unwrap();
        let line = format!("POST {} HTTP/1.1", String::from_utf8(url).unwrap().replace(&base, ""));
        assert_eq!(head.lines().next(), Some(line.as_str()), "{below}");
        for (name, value) in &step.headers {
            let name = String::from_utf8(rendered(name, &variables)).unwrap();
            let value = String::from_utf8(rendered(value, &variables)).unwrap();
            assert_eq!(field(&head, &name), Some(value), "{below}");
        }
        let own = match &step.body {
            StepBody::Template(template) => rendered(template, &variables),
            other => {
                assert_eq!(other, &StepBody::None);
                Vec::new()
            }
        };
        assert_eq!(String::from_utf8_lossy(&own), String::from_utf8_lossy(&body), "{below}");
        let is_given = below.contains("Content-Type");
        if let Some(content_type) = step.content_type.filter(|_| !is_given) {
            assert_eq!(field(&head, "content-type").as_deref(), Some(content_type), "{below}");
        }
        let cookies = String::from_utf8(rendered(&step.cookies, &variables)).unwrap();
        assert_eq!(field(&head, "cookie").unwrap_or_default(), cookies, "{below}");
        let user = step.basic_auth.as_ref().map(|user| STANDARD.encode(rendered(user, &variables)));
        let user = user.map(|user| format!("Basic {user}"));
        assert_eq!(field(&head, "authorization"), user, "{below}");
    }
}
