//! The cases of [`behaviour`](super::behaviour), given to Hurl itself, and files that it reads or not. Skipped where
//! `hurl` and `hurlfmt` are not on the PATH.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use ablaze_testing::{Bounded, Scratch, skip};

use super::behaviour::{CASES, file_of};

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
