//! Forms: what arrives is what curl sends for the same words, files are sent as they are, and what makes no form is
//! refused in one line.

use std::process::Command;

use ablaze_testing::Scratch as Folder;
use ablaze_testing::skip::installed;

use crate::e2e::recording::{Came, Recording};
use crate::e2e::support::{BACKENDS, Scratch, ablaze, run};

/// The request without its boundary, of which curl chooses another every time.
fn without_boundary(mut came: Came) -> Came {
    let boundary = came.field("Content-Type").rsplit_once("boundary=").unwrap().1.to_owned();
    assert_eq!(boundary.len(), 40, "its length is part of Content-Length: {boundary}");
    let mut body = Vec::new();
    let mut rest = &came.body[..];
    while let Some(at) = rest.windows(40).position(|own| own == boundary.as_bytes()) {
        body.extend_from_slice(&rest[..at]);
        body.extend_from_slice(b"BOUNDARY");
        rest = &rest[at + 40..];
    }
    body.extend_from_slice(rest);
    came.body = body;
    came.head = came.head.iter().map(|line| line.replace(&boundary, "BOUNDARY")).collect();
    came
}

fn assert_same(ours: &Came, curls: &Came, what: &str) {
    assert_eq!(ours.line(), curls.line(), "{what}");
    for name in ["Content-Type", "Content-Length"] {
        assert_eq!(ours.field(name), curls.field(name), "{what}");
    }
    let show = |came: &Came| came.text().chars().take(2000).collect::<String>();
    assert!(ours.body == curls.body, "{what}:\n{}\n{}", show(ours), show(curls));
}

#[test]
fn what_arrives_is_what_curl_sends() {
    if installed("curl").is_none() {
        return;
    }
    let server = Recording::start("");
    let folder = Folder::new("forms");
    let image = folder.write("a picture.PNG", (0..=255).cycle().take(70_000).collect::<Vec<u8>>());
    let large = folder.write("large", vec![b'x'; 3_000_000]);
    let text = folder.write("text.txt", "one\r\ntwo {nobody}\n");
    let empty = folder.write("empty", "");
    let page = folder.write("page.html", "<p>");
    let target = server.url("/form");
    let forms: [Vec<String>; 9] = [
        vec!["-F".into(), "a=b".into()],
        vec!["-F".into(), "é=\"ü; x\"".into(), "--form-string".into(), "s=@x;type=y".into()],
        // As they were typed, whichever option it was.
        ["--form-string", "1=a", "-F", "2=b", "--form-string", "3=c", "-F", "4=d"]
            .map(str::to_owned)
            .to_vec(),
        vec!["-F".into(), format!("f=@{image}"), "-F".into(), format!("g=@{empty}")],
        vec!["-F".into(), format!("f=@{large};type=image/png;filename=x")],
        vec!["-F".into(), format!("h=<{text}"), "-F".into(), "v=1;type=application/json".into()],
        vec!["-F".into(), format!("f=@{page};filename=x"), "-F".into(), format!("f=<{page}")],
        vec!["-F".into(), "t=v;filename=x".into(), "-F".into(), "t=v;filename=x.png".into()],
        vec!["-X".into(), "PUT".into(), "-F".into(), format!("n=@{text};filename=\"a b;c\"")],
    ];
    for (index, form) in forms.iter().enumerate() {
        let words: Vec<&str> = form.iter().map(String::as_str).chain([&target[..]]).collect();
        let curls = without_boundary(server.of_curl(&words));
        let io = ["--io", BACKENDS[index % 2]];
        let ran = ablaze(&[&words[..], &["-n", "3", "-c", "1", "-t", "1"], &io].concat());
        assert_eq!(ran.status, 0, "{words:?}: {}", ran.stderr);
        let came = server.taken(3);
        assert_eq!(came.len(), 3);
        for ours in came {
            assert_same(&without_boundary(ours), &curls, &words.join(" "));
        }
    }
}

#[test]
fn standard_input_is_a_file_or_a_text() {
    if installed("curl").is_none() {
        return;
    }
    let server = Recording::start("");
    let input = Scratch::with("input", b"typed\n");
    for word in ["f=@-", "f=<-", "f=@-;filename=page.html", "f=@-;type=a/b"] {
        let target = server.url("/");
        let sent = |program: &[&str]| {
            let script = ["-c", "input=$1; shift; exec \"$@\" < \"$input\"", "sh", input.word()];
            let words = ["-F", word, &target];
            let ran = run(Command::new("sh").args(script).args(program).args(words));
            assert_eq!(ran.status, 0, "{word}: {}", ran.stderr);
            without_boundary(server.taken(1).remove(0))
        };
        let ours = sent(&[env!("CARGO_BIN_EXE_ablaze"), "-n1", "-c1"]);
        let curls = sent(&["curl", "-sS", "--noproxy", "*", "--max-time", "20"]);
        assert_same(&ours, &curls, word);
    }
}

#[test]
fn typed_values_have_placeholders_and_files_have_none() {
    let server = Recording::start("");
    let file = Scratch::with("file", b"{seq} {user}");
    let feed = Scratch::with("users.csv", b"user\nann\nbo\n");
    let from_file = format!("f=@{}", file.word());
    let target = server.url("/");
    let words = ["-F", "id={seq:3}", "-F", &from_file, "--form-string", "user={user}"];
    let rest = ["--feed", feed.word(), "-n", "4", "-c", "1", "-t", "1"];
    let ran = ablaze(&[&[&target[..]], &words[..], &rest].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for (index, came) in server.taken(4).iter().enumerate() {
        let text = came.text();
        let user = ["ann", "bo"][index % 2];
        assert!(text.contains(&format!("\r\n\r\n00{index}\r\n")), "{text}");
        assert!(text.contains("\r\n\r\n{seq} {user}\r\n"), "{text}");
        assert!(text.contains(&format!("\r\n\r\n{user}\r\n")), "{text}");
        assert_eq!(came.field("Content-Length"), came.body.len().to_string());
    }
}

#[test]
fn json_bodies_are_made_of_words() {
    let server = Recording::start("");
    let file = Scratch::with("file", b"a \"text\"\n");
    let note = format!("note=@{}", file.word());
    let words = ["name=ann", "age:=30", "home.city=Rome", "tags[]=x", "tags[]:=1", &note];
    let words: Vec<&str> = words.iter().flat_map(|word| ["--body-json", *word]).collect();
    let target = server.url("/");
    let ran = ablaze(&[&[&target[..], "-n1", "-c1", "-X", "PATCH"], &words[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let came = server.taken(1).remove(0);
    assert_eq!(came.line(), "PATCH /");
    assert_eq!(came.field("Content-Type"), "application/json");
    let expected =
        r#"{"name":"ann","age":30,"home":{"city":"Rome"},"tags":["x",1],"note":"a \"text\"\n"}"#;
    assert_eq!(came.text(), expected);
    // Placeholders are filled in, and a type that is given is sent.
    let words = ["--body-json", "[]={seq:4}", "--content-type", "application/x+json"];
    let ran = ablaze(&[&[&target[..], "-n1", "-c1"], &words[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let came = server.taken(1).remove(0);
    assert_eq!((came.line(), came.text()), ("POST /", r#"["0000"]"#.to_owned()));
    assert_eq!(came.field("Content-Type"), "application/x+json");
}

#[test]
fn what_makes_no_json_is_one_line() {
    let scratch = Folder::new("broken-json");
    let of_file = format!("k:=@{}", scratch.write("bad.json", "{bad"));
    let table: [(&[&str], &str); 7] = [
        (&["--body-json", &of_file], "for k is not JSON: key must be a string"),
        (&["--body-json", "a"], "--body-json: `a` is no member: expected name=text or name:=JSON"),
        (&["--body-json", "a:=x"], "--body-json: `a:=x`: what follows `:=` is not JSON"),
        (&["--body-json", "a[b=1"], "--body-json: `a[b=1` has a `[` without `]`"),
        (&["--body-json", "a=@/no/such/file"], "cannot read file `/no/such/file` for --body-json"),
        (&["--body-json", "a=1", "-b", "x"], "--body-json and --body cannot be used together"),
        (&["--body-json", "a=1", "-F", "a=b"], "--body-json and --form cannot be used together"),
    ];
    for (words, expected) in table {
        let ran = ablaze(&[&["http://127.0.0.1:9/", "-n", "1"], words].concat());
        ran.assert_one_line(2, expected);
    }
}

#[test]
fn what_makes_no_form_is_one_line() {
    let folder = Folder::new("no-forms");
    let folder_word = format!("f=@{}", folder.path().display());
    let table: [(&[&str], &str); 13] = [
        (&["-F", "a"], "-F: `a` has no `=`: expected name=value"),
        (&["--form-string", "=b"], "--form-string: `=b` has no name"),
        (&["-F", "a=@/no/such/file"], "cannot read file `/no/such/file` for -F: no such file"),
        (&["-F", &folder_word], "for -F: is a directory; use another file"),
        (&["-F", "a=b;headers=x"], "`;headers=x` is not supported"),
        (&["-F", "a=@-", "-F", "b=<-"], "standard input, which can be read once"),
        (&["-F", "a=b", "-b", "x"], "--form and --body cannot be used together"),
        (&["-F", "a=b", "-d", "x=1"], "-d is the duration; for a body use -b 'x=1'"),
        (&["-F", "a=b", "-m", "GET"], "-F and --method GET cannot be used together"),
        (&["-F", "a=b", "-m", "HEAD"], "-F and --method HEAD cannot be used together"),
        (&["-F", "a=b", "--content-type", "x/y"], "-F and --content-type cannot be used together"),
        (&["-F", "a=b", "-H", "content-type: x/y"], "-F and -H 'Content-Type: …' cannot"),
        (&["-F", "a={rand:x}"], "`{rand:` needs a number of digits"),
    ];
    for (words, expected) in table {
        let ran = ablaze(&[&["http://127.0.0.1:9/", "-n", "1"], words].concat());
        ran.assert_one_line(2, expected);
    }
    let ran = ablaze(&["ab", "--form", "a=b", "-n", "1", "http://127.0.0.1:9/"]);
    assert!(ran.stderr.contains("-F is an option of `ablaze load`"), "{}", ran.stderr);
}
