//! `ablaze import`, from words to a file and an exit status.

use std::io::Write;
use std::process::{Command, Stdio};

use ablaze_testing::{Bounded, Ran, Scratch};

fn import(words: &[&str]) -> Ran {
    Command::new(env!("CARGO_BIN_EXE_ablaze")).arg("import").args(words).ran()
}

#[test]
fn a_command_becomes_a_journey_quoted_or_not() {
    let expected = "POST http://127.0.0.1:8080/login\n[Form]\nuser: ann\npassword: nna\n";
    for words in [
        &["curl http://127.0.0.1:8080/login -d 'user=ann&password=nna'"][..],
        &["curl", "http://127.0.0.1:8080/login", "-d", "user=ann&password=nna"],
    ] {
        let ran = import(words);
        assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected, ""));
    }
}

#[test]
fn a_recording_is_written_to_a_file_and_what_is_left_out_to_stderr() {
    let folder = Scratch::new("import");
    let har = r#"{"log":{"entries":[
        {"request":{"method":"GET","url":"http://h/","headers":[]},"response":{"status":200}},
        {"request":{"method":"GET","url":"data:,x","headers":[]},"response":{"status":200}}]}}"#;
    let har = folder.write("a.har", har);
    let journey = folder.file("a.hurl");
    let ran = import(&["-o", &journey, &har]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(
        ran.stderr.starts_with("ablaze: left out: entry 2 of the HAR file, `data:,x`"),
        "{ran:?}"
    );
    assert_eq!(folder.read("a.hurl"), "GET http://h/\nHTTP 200\n");
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.start().unwrap();
    child.stdin.take().unwrap().write_all(b"curl h \\\n -L").unwrap();
    assert_eq!(child.end().stdout, "GET http://h\n[Options]\nlocation: true\n");
}

#[test]
fn what_cannot_be_imported_gets_one_line() {
    let folder = Scratch::new("import-wrong");
    let text = folder.write("a.txt", "hello world");
    for (words, needle) in [
        (&[][..], "missing source"),
        (&["/no/such.har"], "cannot read file `/no/such.har` for import"),
        (&[text.as_str()], "`hello` is no curl command"),
        (&["curl ftp://h/"], "only http:// and https://"),
        (&["-o", "/no/such/folder/x.hurl", "curl h"], "-o "),
        (&["--outptu", "x", "curl h"], "--output"),
    ] {
        import(words).assert_one_line(2, needle);
    }
}
