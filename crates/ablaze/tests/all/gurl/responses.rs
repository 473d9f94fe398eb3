//! What becomes of responses: bodies and heads, redirects, files, errors and the exit status.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Scratch};

use super::gurl;
use super::server::Recording;

#[test]
fn bodies_go_to_standard_output_whatever_their_framing_and_status() {
    let server = Recording::start();
    for (path, expected) in [
        ("/p", "GET /p"),
        ("/chunked", "abcde"),
        ("/close", "to the end"),
        ("/short", ""),
        ("/status/404", "no such page"),
    ] {
        let said = gurl(&[&server.short(path)]);
        assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, expected, ""));
    }
    let said = gurl(&["-X", "HEAD", "-v", &server.short("/p")]);
    assert!(
        said.status == 0 && said.stdout.ends_with("< Content-Length: 7\r\n<\r\n\n"),
        "{said:?}"
    );
}

#[test]
fn what_a_server_sends_is_not_touched() {
    let server = Recording::start();
    let out = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["gurl", "-v", &server.short("/raw")])
        .bounded_output()
        .unwrap();
    assert!(out.stdout.ends_with(b"\x1b[31m\xff"), "{:?}", out.stdout);
    assert!(out.stdout.windows(9).any(|bytes| bytes == b": a\x1b[31mb"), "{:?}", out.stdout);
}

#[test]
fn heads_are_printed_with_v() {
    let server = Recording::start();
    let port = server.port;
    let request = format!(
        "> POST /p HTTP/1.1\r\n> Host: 127.0.0.1:{port}\r\n> User-Agent: gurl\r\n> Accept: */*\r\n\
         > Content-Type: text/plain\r\n> Content-Length: 2\r\n>\r\n\n"
    );
    let response = "< HTTP/1.1 200 OK\r\n< X-A: b\r\n< Content-Length: 7\r\n<\r\n\n";
    for option in ["-v", "-verbose", "--verbose"] {
        let said = gurl(&[option, "-d", "hi", &server.short("/p")]);
        assert_eq!(said.stdout, format!("{request}{response}POST /p"));
    }
    // The last of several, as in gurl.
    let said = gurl(&["-v", &server.short("/to/302//p")]);
    assert_eq!(said.stdout.matches("> GET ").count(), 1, "{said:?}");
    assert!(said.stdout.starts_with("> GET /p HTTP/1.1\r\n"), "{said:?}");
}

#[test]
fn colors_lay_out_json() {
    let server = Recording::start();
    for words in [&["-vc"][..], &["-cv"], &["-v", "-c"]] {
        let said = gurl(&[words, &[&server.short("/json")]].concat());
        assert!(
            said.stdout
                .contains("\x1b[30;1m< Content-Type\x1b[0m: \x1b[34;1mapplication/json\x1b[0m\r\n"),
            "{said:?}"
        );
        assert!(
            said.stdout.contains("{\n  \x1b[94m\"a\"\x1b[0m: [\n    \x1b[36m1\x1b[0m,"),
            "{said:?}"
        );
    }
    let said = gurl(&["-c", &server.short("/p")]);
    assert_eq!(said.stdout, "GET /p");
}

#[test]
fn files_are_written_as_oflag_says() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-files");
    let url = server.short("/p");
    let file = folder.write("out", "there was more in it before");
    for (words, expected) in [
        (&["-o", &file][..], "GET /p"),
        (&["-o", &file, "-an", "3"], "GET /p"),
        (&["-o", &file, "-oflag", "append"], "GET /pGET /p"),
        (&["-o", &file, "-oflag", "append|line", "-an", "2"], "GET /pGET /pGET /p\nGET /p\n"),
        (&["-o", &file, "-oflag", "create|trunc"], "GET /p"),
    ] {
        let said = gurl(&[words, &[&url]].concat());
        assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{said:?}");
        assert_eq!(folder.read("out"), expected, "{words:?}");
    }
    let said = gurl(&["-o", "stderr", &url]);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "GET /p"));
    gurl(&["-o", "/no/such/folder/x", &url]).assert_one_line(1, "`/no/such/folder/x` for -o");
    // A request without a response leaves the file as it is.
    gurl(&["-o", &file, ":1/"]).assert_one_line(1, "refused the connection");
    assert_eq!(folder.read("out"), "GET /p");
}

#[test]
fn redirects_are_followed_as_go_does() {
    let server = Recording::start();
    for (status, words, expected) in [
        ("301", &["-d", "x"][..], "GET /p"),
        ("302", &[], "GET /p"),
        ("303", &["-X", "PUT", "-d", "x"], "GET /p"),
        ("307", &["-d", "x"], "POST /p"),
        ("308", &["-F", "a=b"], "POST /p"),
    ] {
        let first = format!("/to/{status}//p");
        let said = gurl(&[words, &["-url", &server.short(&first)]].concat());
        assert_eq!((said.status, said.stdout.as_str()), (0, expected), "{status}: {said:?}");
        let seen = server.seen();
        assert_eq!(seen.len(), 2, "{seen:?}");
        let referer = format!("http://127.0.0.1:{}{first}", server.port);
        assert_eq!(seen[1].field("Referer"), Some(referer.as_str()));
        let kept = if status > "303" { seen[0].body.clone() } else { Vec::new() };
        assert_eq!(seen[1].body, kept);
        assert_eq!(seen[0].connection, seen[1].connection);
    }
    // Go counts the requests.
    let said = gurl(&[&server.short("/loop")]);
    said.assert_one_line(1, "stopped after 10 redirects");
    assert_eq!((server.seen().len(), said.stdout.as_str()), (10, ""));
    let said = gurl(&[&server.short("/to/302/gopher://x/")]);
    said.assert_one_line(1, "cannot be followed");
}

#[test]
fn another_server_is_told_no_credentials() {
    let (one, other) = (Recording::start(), Recording::start());
    let away =
        format!("http://me:secret@127.0.0.1:{}/to/302/http://127.0.0.1:{}/x", one.port, other.port);
    let said = gurl(&["-H", "Cookie: a=b", "-H", "X: y", &away]);
    assert_eq!(said.status, 0, "{said:?}");
    let (first, second) = (one.one(), other.one());
    assert!(first.field("Authorization").is_some() && first.field("Cookie").is_some());
    assert!(second.field("Authorization").is_none() && second.field("Cookie").is_none());
    assert_eq!(second.field("X"), Some("y"));
    assert!(!second.field("Referer").unwrap().contains("secret"));
}

#[test]
fn what_gets_no_response_is_one_line_and_status_1() {
    let server = Recording::start();
    let said = gurl(&[":1/"]);
    said.assert_one_line(1, "http://127.0.0.1:1/: 127.0.0.1:1 refused the connection");
    gurl(&["no-such-host.invalid/"]).assert_one_line(1, "check its spelling");
    gurl(&[&server.short("/cut")]).assert_one_line(1, "chunks are malformed");
    let said = gurl(&["-an", "3", ":1/"]);
    assert_eq!((said.status, said.stderr.lines().count()), (1, 3));
    // It accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(":{}/", silent.local_addr().unwrap().port());
    gurl(&["-connect-timeout", "300ms", &url]).assert_one_line(1, "timed out");
}

/// The server sends back what it is sent while it is sent: whoever first sends all, and then reads, waits for ever.
#[test]
fn a_body_may_come_back_while_it_is_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(":{}/", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.strip_prefix("Content-Length: ") {
                Some(value) => length = value.trim().parse().unwrap(),
                None if line == "\r\n" => break,
                None => {}
            }
        }
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").unwrap();
        let (mut buffer, mut left) = (vec![0; 65536], length);
        while left > 0 {
            let here = reader.read(&mut buffer).unwrap();
            stream.write_all(&buffer[..here]).unwrap();
            left -= here;
        }
    });
    let folder = Scratch::new("gurl-echo");
    let body: Vec<u8> = (0..30_000_000u32).map(|at| (at % 251) as u8).collect();
    let (sent, got) = (folder.write("sent", &body), folder.file("got"));
    let said = gurl(&["-d", &format!("@{sent}"), "-o", &got, &url]);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""));
    assert!(std::fs::read(&got).unwrap() == body);
}

#[test]
fn certificates_are_verified_unless_k_says_not_to() {
    // Ended when it is dropped.
    let mut server = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(["serve", "127.0.0.1:0", "--tls"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .start()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.contains("https://")).unwrap();
    let url = line[line.find("https://").unwrap()..].split_whitespace().next().unwrap();
    let url = url.trim_end_matches('/');
    let url = format!("{url}/hello");
    gurl(&[&url]).assert_one_line(1, "-k accepts any certificate");
    let said = gurl(&["-k", "-an", "2", &url]);
    assert_eq!((said.status, said.stdout.as_str()), (0, &*"hello, world!\n".repeat(2)), "{said:?}");
    let said = gurl(&["-k", "-bench", "-an", "5", &url]);
    assert!(said.stdout.contains("200:5 "), "{said:?}");
}
