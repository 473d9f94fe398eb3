//! Forms, against the bytes that curl sends for the same words.

#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use ablaze_testing::skip::installed;
use ablaze_testing::{Bounded, Scratch};
use ablaze_wire::http1::response::field;
use ablaze_wire::multipart::argument::{Field, Source, form, form_string};
use ablaze_wire::multipart::{Body, Part, content_type};

/// The boundary that curl chose, and the body that it sent.
fn sent_by_curl(words: &[&str]) -> (String, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut bytes = Vec::new();
        loop {
            if let Some(head) =
                bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
            {
                let length = field(&bytes[..head], "Content-Length").unwrap();
                let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
                if bytes.len() == head + length {
                    let kind = field(&bytes[..head], "Content-Type").unwrap().to_vec();
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                    return (String::from_utf8(kind).unwrap(), bytes.split_off(head));
                }
            }
            let mut piece = [0; 65_536];
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "closed early");
            bytes.extend_from_slice(&piece[..read]);
        }
    });
    let always = ["-sS", "--noproxy", "*", "-H", "Expect:", "--max-time", "20", &url];
    let run = Command::new("curl").args(always).args(words).bounded_output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let (kind, body) = server.join().unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    assert_eq!(content_type(&boundary), kind);
    (boundary, body)
}

/// The body that these fields make here.
fn ours(fields: &[Field], boundary: &str) -> Vec<u8> {
    let contents: Vec<Vec<u8>> = fields
        .iter()
        .map(|field| match &field.source {
            Source::Text(text) => text.clone().into_bytes(),
            Source::File(path) | Source::TextOf(path) => std::fs::read(path).unwrap(),
        })
        .collect();
    let parts: Vec<Part<'_>> = fields
        .iter()
        .zip(&contents)
        .map(|(field, content)| {
            let filename = field.filename();
            Part { name: &field.name, filename, content_type: field.sent_type(), content }
        })
        .collect();
    Body::new(&parts, boundary).unwrap().to_vec()
}

#[test]
fn forms_are_curls_byte_for_byte() {
    if installed("curl").is_none() {
        return;
    }
    let folder = Scratch::new("form");
    let image = folder.write("a picture.PNG", (0..=255).cycle().take(70_000).collect::<Vec<u8>>());
    let text = folder.write("t\"ext.txt", "one\r\ntwo\n");
    let empty = folder.write("empty", "");
    let page = folder.write("page.html", "<p>");
    let forms: Vec<Vec<String>> = vec![
        vec!["a=b".into()],
        vec!["a=b".into(), "a=c".into(), "é=\"ü; x\"".into(), "empty=".into()],
        vec![format!("f=@{image}"), format!("g=@{empty}"), format!("h=<{text}")],
        vec![format!("f=@{text};type=text/csv; charset=utf-8;filename=\"other name\"")],
        vec!["v=1;type=application/json".into(), format!("w=@{text};type=x/y")],
        vec!["q=  padded  ".into(), "qu\"ot\\ed=\"a\\\"b\\\\c\"".into()],
        vec![format!("n=@{empty};filename=page.html")],
        vec![format!("n=@{page};filename=x"), format!("o=@{empty};filename=x")],
        vec!["t=v;filename=x".into(), "t=v;filename=x.png".into()],
        vec![format!("t=<{page}"), format!("t=<{page};type=a/b")],
    ];
    for form_words in forms {
        let words: Vec<&str> = form_words.iter().flat_map(|word| ["-F", word]).collect();
        let fields: Vec<Field> = form_words.iter().map(|word| form(word).unwrap()).collect();
        let (boundary, body) = sent_by_curl(&words);
        let (own, curls) = (ours(&fields, &boundary), body);
        assert!(own == curls, "{words:?}:\n{}\n{}", show(&own), show(&curls));
    }
    let (boundary, body) =
        sent_by_curl(&["--form-string", "a=@b;type=c", "--form-string", "d= \"e"]);
    let fields = ["a=@b;type=c", "d= \"e"].map(|word| form_string(word).unwrap());
    assert_eq!(show(&ours(&fields, &boundary)), show(&body));
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned()
}
