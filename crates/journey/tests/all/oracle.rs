//! The cases of [`behaviour`](super::behaviour), given to Hurl itself, and files that it reads or not. Skipped where
//! `hurl` and `hurlfmt` are not on the PATH.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use std::path::Path;

use ablaze_journey::parse;
use ablaze_journey::syntax::print;
use ablaze_testing::{Bounded, Scratch, skip};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::behaviour::{CASES, file_of};
use super::properties::{files, texts};

/// Answers the requests of one run of hurl, `/0`, `/1`, …, with the cases' responses.
fn answer(stream: &mut TcpStream) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let path = String::from_utf8_lossy(&head).split(' ').nth(1)?.to_owned();
    let response = &CASES.get(path.trim_start_matches('/').parse::<usize>().ok()?)?.response;
    let length = response.body.len();
    let fields = response.fields;
    let head = format!(
        "HTTP/1.1 {} X\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n",
        response.status
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(response.body).ok()
}

#[test]
fn hurl_says_the_same_of_every_line() {
    let Some(hurl) = skip::installed_if_all("hurl") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the test's process.
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            answer(&mut stream);
        }
    });
    let scratch = Scratch::new("journey-oracle");
    let mut wrong = Vec::new();
    for (index, case) in CASES.iter().enumerate() {
        let (text, outcomes) = file_of(case, &format!("http://{address}/{index}"));
        let file = scratch.write(&format!("{index}.hurl"), &text);
        let output =
            Command::new(&hurl).args(["--json", "--continue-on-error", &file]).bounded_output();
        let output = output.unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
        let asserts = json["entries"][0]["asserts"].as_array().unwrap();
        for (line, holds) in outcomes {
            let own = asserts.iter().filter(|assert| assert["line"] == line);
            let hurls = own.map(|assert| assert["success"] == true).next_back();
            if hurls != Some(holds) {
                let shown = text.lines().nth(line as usize - 1).unwrap();
                wrong.push(format!("{index}:{line}: {shown}: hurl says {hurls:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What hurlfmt makes of a file; `None` if it is none for it.
fn understood(hurlfmt: &Path, file: &str) -> Option<serde_json::Value> {
    let output = Command::new(hurlfmt).args(["--out", "json", file]).bounded_output().unwrap();
    serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success())
}

/// A file without what hurlfmt tells apart and a tree does not, and without `[1]`, which Hurl takes for a section.
fn as_printed(text: &str) -> String {
    let text = text.replace("base64,AAEC;", "hex,000102;").replace("a=1.50", "a=1.5");
    text.replace("c= {{d}}y", "c=\"{{d}}y\"")
        .replace("[1]\n", "[{}]\n")
        .replace("{\"b\": {{c}} }", "{\"b\":{{c}}}")
}

#[test]
fn hurl_reads_the_same_from_what_is_printed() {
    let Some(hurlfmt) = skip::installed_if_all("hurlfmt") else { return };
    let scratch = Scratch::new("journey-printed");
    let mut runner = TestRunner::deterministic();
    let mut wrong = Vec::new();
    for index in 0..150 {
        let tree =
            if index % 3 == 0 { files().boxed() } else { texts().boxed() }.new_tree(&mut runner);
        let text = as_printed(&tree.unwrap().current());
        let file = scratch.write("given.hurl", &text);
        let hurls = understood(&hurlfmt, &file);
        match (parse(&text, "given"), hurls) {
            (Err(_), None) => {}
            (Ok(_), None) => wrong.push(format!("refused by hurl only:\n{text}")),
            (Err(error), Some(_)) => wrong.push(format!("read by hurl:\n{text}{error}")),
            (Ok(own), Some(hurls)) => {
                let printed = print(&own);
                let file = scratch.write("printed.hurl", &printed);
                let again = understood(&hurlfmt, &file);
                if again.as_ref() != Some(&hurls) {
                    wrong.push(format!(
                        "{text}\n=>\n{printed}\n{hurls}\n{}",
                        again.unwrap_or_default()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n--------\n"));
}
