//! Cookies: the field is the one that curl sends for the same words, nothing of it stands in a report, and the jar of a run
//! is one that curl reads. `--compressed`.

use ablaze_testing::Scratch as Folder;
use ablaze_testing::skip::installed;

use crate::e2e::recording::Recording;
use crate::e2e::support::{Scratch, ablaze, measured};

const FILE: &str = "# Netscape HTTP Cookie File\n\
    127.0.0.1\tFALSE\t/\tFALSE\t0\tfirst\tv1\n\
    127.0.0.1\tFALSE\t/x\tFALSE\t0\tdeep\tv2\n\
    #HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tother\tv3\n\
    127.0.0.1\tFALSE\t/\tFALSE\t1000\texpired\tv4\n\
    elsewhere.example\tFALSE\t/\tFALSE\t0\tno\tv5\n";

#[test]
fn the_field_is_curls() {
    if installed("curl").is_none() {
        return;
    }
    let server = Recording::start("");
    let file = Scratch::with("cookies.txt", FILE.as_bytes());
    let sets: [&[&str]; 6] = [
        &["--cookie", "a=b; c=d"],
        &["--cookie", "a=b", "--cookie", "c=d;e"],
        &["--cookie", file.word()],
        &["--cookie", "a=b", "--cookie", file.word(), "--cookie", " e=f "],
        &["--cookie", "a="],
        &["--cookie", file.word(), "-H", "Host: Elsewhere.example:81"],
    ];
    for words in sets {
        for path in ["/", "/x/y?z", "/xy"] {
            let target = server.url(path);
            let curls = server.of_curl(&[words, &[&target]].concat());
            let ran = ablaze(&[words, &[&target, "-n2", "-c1"]].concat());
            assert_eq!(ran.status, 0, "{words:?}: {}", ran.stderr);
            for ours in server.taken(2) {
                assert_eq!(ours.fields("Cookie"), curls.fields("Cookie"), "{words:?} {path}");
            }
        }
    }
}

#[test]
fn each_url_has_its_own() {
    let server = Recording::start("");
    let file = Scratch::with("cookies.txt", FILE.as_bytes());
    let list = Scratch::with("list", b"/x/1\n/y\nPOST /x/2 body\n");
    let target = server.url("/");
    let words = [&target, "--urls", list.word(), "--cookie", file.word(), "-n3", "-c1"];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for came in server.taken(3) {
        let expected = if came.line().contains("/x/") {
            "deep=v2; other=v3; first=v1"
        } else {
            "other=v3; first=v1"
        };
        assert_eq!(came.field("Cookie"), expected, "{came:?}");
    }
}

#[test]
fn no_cookie_stands_in_a_report() {
    let server = Recording::start("");
    let folder = Folder::new("secret-cookies");
    let file = folder.write("c.txt", "127.0.0.1\tFALSE\t/\tFALSE\t0\tid\ts3cret\n");
    let outputs = ["r.json", "r.html", "r.txt"].map(|name| folder.file(name));
    let target = server.url("/");
    let words = [&target[..], "--cookie", "key=s3cret", "--cookie", &file, "-n2", "-c1"];
    let [json, html, text] = &outputs;
    let ran = ablaze(&[&words[..], &["-o", json, "-o", html, "-o", text, "--explain"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(server.taken(2)[0].field("Cookie"), "id=s3cret; key=s3cret");
    let mut told = vec![ran.stdout, ran.stderr];
    told.extend(["r.json", "r.html", "r.txt"].map(|name| folder.read(name)));
    assert!(told.iter().all(|text| !text.contains("s3cret")), "{}", told[0]);
}

#[test]
fn the_jar_has_what_the_first_response_set() {
    let server = Recording::start("Set-Cookie: s=1; Path=/; HttpOnly\r\nSet-Cookie: t=2\r\n");
    let folder = Folder::new("jar");
    let (given, jar) = (folder.write("c.txt", FILE), folder.file("jar.txt"));
    let target = server.url("/a/b");
    let words = [&target[..], "--cookie", &given, "--cookie-jar", &jar, "-n2", "-c1"];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    // What comes is kept, not sent.
    assert!(server.taken(2).iter().all(|came| came.field("Cookie") == "other=v3; first=v1"));
    let text = folder.read("jar.txt");
    for line in [
        "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t1",
        "127.0.0.1\tFALSE\t/a\tFALSE\t0\tt\t2",
        "127.0.0.1\tFALSE\t/\tFALSE\t0\tfirst\tv1",
        "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4000000000\tother\tv3",
        "elsewhere.example\tFALSE\t/\tFALSE\t0\tno\tv5",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    assert!(!text.contains("expired"), "{text}");
    if installed("curl").is_some() {
        let curls = server.of_curl(&["-b", &jar, &server.url("/a/c")]);
        assert_eq!(curls.field("Cookie"), "t=2; other=v3; first=v1; s=1");
    }
}

#[test]
fn compressed_responses_are_asked_for() {
    let server = Recording::start("Content-Encoding: br\r\n");
    let target = server.url("/");
    let ran = ablaze(&[&target, "--compressed", "-n2", "-c1"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(server.taken(2)[0].field("Accept-Encoding"), "gzip, br, zstd");
    assert!(ran.stdout.contains("br; bodies are counted as they came"), "{}", ran.stdout);
    let (_, json) = measured(&[&target, "--compressed", "-n4", "-c2"]);
    assert_eq!(json["content_codings"], serde_json::json!(["br"]));
    server.taken(4);
    // Some have a coding and some have none; without the option nobody looks.
    let both = Recording::start_for(|line| match line {
        "GET /br" => "Content-Encoding: br\r\n",
        "GET /GZIP" => "content-encoding: GZIP\r\n",
        _ => "",
    });
    let list = Scratch::with("list", b"/br\n/plain\n/GZIP\n");
    let target = both.url("/");
    for (io, words) in [("uring", &["-c1"][..]), ("epoll", &["-c3", "--pipeline", "2"])] {
        let words = [&[&target[..], "--urls", list.word(), "-n60", "--io", io], words].concat();
        let (_, json) = measured(&[&words[..], &["--compressed"]].concat());
        assert_eq!(json["content_codings"], serde_json::json!(["br", "gzip", "identity"]), "{io}");
        assert!(measured(&words).1.get("content_codings").is_none(), "{io}");
    }
    let target = server.url("/");
    let ran = ablaze(&[&target, "--compressed", "-H", "accept-encoding: gzip", "-n2", "-c1"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(server.taken(2)[0].fields("Accept-Encoding"), ["gzip"]);
}

#[test]
fn what_is_no_cookie_is_one_line() {
    let wrong = Scratch::with("wrong", b"# cookies\nnothing\n");
    let table: [(&[&str], &str); 5] = [
        (&["--cookie", "/no/such/file"], "cannot read file `/no/such/file` for --cookie"),
        (&["--cookie", wrong.word()], "for --cookie, line 2: expected seven fields between tabs"),
        (
            &["--cookie", "a=b", "-H", "Cookie: c=d"],
            "--cookie and -H 'Cookie: …' cannot be used together",
        ),
        (&["--cookie-jar", "/no/such/folder/jar"], "create it first"),
        (
            &["--journey", "x.hurl", "--compressed"],
            "--journey and --compressed cannot be used together",
        ),
    ];
    for (words, expected) in table {
        let ran = ablaze(&[&["http://127.0.0.1:9/", "-n", "1"], words].concat());
        ran.assert_one_line(2, expected);
    }
}
