//! What options make of a request: method, URL, fields, body.

use ablaze_testing::Scratch;

use super::gurl;
use super::server::{Recording, Seen};

/// An option, the words behind it (the URL follows, behind `-url`), and what has to be true of the request.
type Row<'a> = (&'a str, &'a [&'a str], &'a dyn Fn(&Seen) -> bool);

#[test]
fn each_option_that_makes_a_request() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-options");
    let file = folder.write("body.txt", "of the\nfile");
    let (at, at_json, at_field) = (format!("@{file}"), format!("s:@{file}"), format!("f=@{file}"));
    let json =
        |text: &'static str| move |seen: &Seen| seen.text() == text && seen.asked() == "POST /p";
    let has = |seen: &Seen, part: &str| seen.text().contains(part);
    let rows: &[Row<'_>] = &[
        ("none", &[], &|seen| {
            let usual = ["User-Agent: gurl", "Accept: */*"];
            seen.asked() == "GET /p"
                && usual.iter().all(|line| seen.head.contains(&(*line).to_owned()))
        }),
        ("-X", &["-X", "PUT"], &|seen| {
            seen.asked() == "PUT /p" && seen.field("Content-Length") == Some("0")
        }),
        ("--request=", &["--request=DELETE"], &|seen| seen.asked() == "DELETE /p"),
        ("-H", &["-H", "A:b", "-H", "C: d:e"], &|seen| {
            // gurl drops a field whose value has a colon.
            seen.field("A") == Some("b") && seen.field("C") == Some("d:e")
        }),
        ("-A", &["-A", "me/1"], &|seen| seen.field("User-Agent") == Some("me/1")),
        ("-d", &["-d", "good"], &|seen| seen.asked() == "POST /p" && seen.text() == "good"),
        ("-d {seq}", &["-d", "{seq}"], &|seen| seen.text() == "{seq}"),
        ("-d @file", &["-d", &at], &|seen| seen.text() == "of the\nfile"),
        ("-d and -X", &["-d", "x", "-X", "PATCH"], &|seen| seen.asked() == "PATCH /p"),
        ("-J", &["-J", "passwd:123456"], &json(r#"{"passwd":"123456"}"#)),
        (
            "-J greedy",
            &["-J", "a:x", "b:=true", "-J", "c:=0.3"],
            &json(r#"{"a":"x","b":true,"c":0.3}"#),
        ),
        ("-J nested", &["-J", "a.b.c:=1", "a.b.d:e"], &json(r#"{"a":{"b":{"c":1,"d":"e"}}}"#)),
        ("-J @file", &["-J", &at_json], &json(r#"{"s":"of the\nfile"}"#)),
        ("-F", &["-F", "a=b", "-F", &at_field], &|seen| {
            let kind = seen.field("Content-Type").unwrap();
            let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
            let file = "name=\"f\"; filename=\"body.txt\"\r\nContent-Type: application/octet-stream\r\n\r\nof the\nfile\r\n";
            seen.asked() == "POST /p"
                && has(seen, "name=\"a\"\r\n\r\nb\r\n")
                && has(seen, file)
                && seen.text().ends_with(&format!("\r\n--{boundary}--\r\n"))
        }),
        ("-form-string", &["-form-string", "a=@b"], &|seen| has(seen, "name=\"a\"\r\n\r\n@b\r\n")),
        ("-Jfa", &["-Jfa", "t=a:good", "t=b:cn", "u=c:me", "-F", "t=x"], &|seen| {
            has(seen, "name=\"t\"\r\n\r\n{\"a\":\"good\",\"b\":\"cn\"}\r\n")
                && has(seen, "name=\"u\"\r\n\r\n{\"c\":\"me\"}\r\n")
                && has(seen, "name=\"t\"\r\n\r\nx\r\n")
        }),
        ("-Jfa-string", &["-Jfa-string", "t=a:@b"], &|seen| {
            has(seen, "\r\n\r\n{\"a\":\"@b\"}\r\n")
        }),
        ("-q", &["-q", "b=2", "a=x y&z"], &|seen| seen.asked() == "GET /p?a=x+y%26z&b=2"),
    ];
    let url = server.short("/p");
    for (row, words, holds) in rows {
        let said = gurl(&[words, &["-url", &url][..]].concat());
        assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{row}");
        let seen = server.one();
        assert!(holds(&seen), "{row}: {seen:?}");
    }
}

#[test]
fn urls_can_be_short() {
    let server = Recording::start();
    let port = server.port;
    for (words, host, path) in [
        (vec![format!(":{port}")], "127.0.0.1", "/"),
        (vec![format!(":{port}/p?q")], "127.0.0.1", "/p?q"),
        (vec![format!("127.0.0.1:{port}/p")], "127.0.0.1", "/p"),
        (vec![format!("localhost:{port}")], "localhost", "/"),
        (vec!["http".into(), format!("http://127.0.0.1:{port}/p")], "127.0.0.1", "/p"),
        // The word without an option wins.
        (vec!["-url".into(), ":1/x".into(), format!(":{port}/y")], "127.0.0.1", "/y"),
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = gurl(&words);
        assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{words:?}");
        let seen = server.one();
        assert_eq!(seen.asked(), format!("GET {path}"));
        assert_eq!(seen.field("Host").unwrap(), format!("{host}:{port}"));
    }
}

#[test]
fn requests_come_as_often_as_asked_over_as_many_connections() {
    let server = Recording::start();
    let said = gurl(&["-an", "5", "-o", "/dev/null", &server.short("/p")]);
    assert_eq!((said.status, said.stdout.as_str()), (0, ""));
    let seen = server.seen();
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().all(|one| one.connection == seen[0].connection), "{seen:?}");

    let said = gurl(&["-an", "40", "-ac", "4", "-oflag", "line", &server.short("/p")]);
    assert_eq!(said.stdout, "GET /p\n".repeat(40), "each body is written whole");
    let connections: std::collections::BTreeSet<usize> =
        server.seen().iter().map(|one| one.connection).collect();
    assert!(connections.len() <= 4, "{connections:?}");

    let said = gurl(&["-an", "0", &server.short("/p")]);
    assert_eq!((said.status, server.seen().len()), (0, 0));
    let said = gurl(&["-duration", "100ms", "-rate", "50", "-o", "/dev/null", &server.short("/p")]);
    assert_eq!(said.status, 0);
    assert!((1..=5).contains(&server.seen().len()), "due at 0, 20, 40, 60 and 80 ms");
}

#[test]
fn the_bench_loads_what_the_client_sends() {
    let server = Recording::start();
    for words in [
        &["-J", "a:1", "b.c:=2"][..],
        &["-F", "a=b", "-Jfa", "c=d:e"],
        &["-d", "x", "-X", "PUT", "-H", "A: b:c", "-A", "me"],
        &["-q", "a=b"],
    ] {
        let url = server.short("/p");
        let asked = |last: &[&str]| {
            let said = gurl(&[words, &["-url", &url], last].concat());
            assert_eq!(said.status, 0, "{said:?}");
            let one = server.seen().remove(0);
            (one.head, one.body)
        };
        assert_eq!(asked(&[]), asked(&["-bench", "-an", "20"]), "{words:?}");
    }
}

#[test]
fn what_is_refused_is_named_in_one_line() {
    let server = Recording::start();
    let url = server.short("/p");
    for (words, expected) in [
        (&["-K", "x.lua"][..], "`ablaze wrk -s SCRIPT.lua URL`"),
        (&["-config=x.cf.js"], "`ablaze wrk -s SCRIPT.lua URL`"),
        (&["-kargs", "-a b"], "ablaze wrk -s"),
        (&["-gen"], "-gen is not supported"),
        (&["-cron", "@every 1s"], "cron or a systemd timer"),
        (&["ws"], "sub-command ws is not supported"),
        (&["websocket"], "sub-command websocket"),
        (&["tcp"], "sub-command tcp"),
        (&["udp"], "sub-command udp"),
        (&["-oflag", "sideways"], "none of append, line, trunc and create"),
        (&["-d", "a", "-J", "b:c"], "a request has one body"),
        (&["-d", "@/no/such/file"], "`/no/such/file`"),
        (&["-H", "no colon"], "Name: value"),
        (&["-ac", "0"], "use -ac 1 or more"),
        (&["-w"], "-w writes records for a stage behind it"),
    ] {
        let said = gurl(&[words, &["-url", &url][..]].concat());
        said.assert_one_line(2, expected);
        assert!(server.seen().is_empty() && said.stdout.is_empty(), "{words:?}");
    }
}
