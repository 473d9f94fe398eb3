//! Tests of [`super`]: requests as words make them.

use std::ffi::OsString;

use ablaze_testing::Scratch;

use super::*;

fn of(words: &[&str], record: Option<&Record>) -> Result<Request, CommandError> {
    let words: Vec<OsString> = words.iter().map(Into::into).collect();
    Request::new(&Options::parse(&words)?, record)
}

fn body_of(words: &[&str], record: Option<&Record>) -> String {
    match of(words, record).unwrap().body {
        Some(Body::Given(bytes)) => String::from_utf8(bytes.0).unwrap(),
        Some(Body::File(blob)) => String::from_utf8(blob.bytes().unwrap().to_vec()).unwrap(),
        None => String::new(),
    }
}

fn record(pairs: &[(&str, &str)]) -> Record {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
}

#[test]
fn members_make_json() {
    let folder = Scratch::new("gurl-request");
    let file = folder.write("f", "of a \"file\"");
    for (words, expected) in [
        // A string, whatever it looks like; the last gurl makes a number of it.
        (&["-J", "passwd:123456"][..], r#"{"passwd":"123456"}"#),
        (&["-J", "a:1", "b:=2", "c:=0.3", "-url", ":1"], r#"{"a":"1","b":2,"c":0.3}"#),
        (&["-J", "x.y.d:=true", "-J", "x.y.e:=111"], r#"{"x":{"y":{"d":true,"e":111}}}"#),
        (&["-J", "o:={}", "n:=null", "-J", "name"], r#"{"o":{},"n":null,"name":""}"#),
        (&["-J", "u:http://h/?a=b", "m:\\@x", "e:"], r#"{"u":"http://h/?a=b","m":"@x","e":""}"#),
        (&["-J", &format!("f:@{file}")], r#"{"f":"of a \"file\""}"#),
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["-url", ":1"]).collect();
        assert_eq!(body_of(&words, None), expected, "{words:?}");
    }
}

#[test]
fn a_url_behind_members_is_the_url() {
    for url in [":1/x", "http://127.0.0.1:1/x"] {
        let request = of(&["-J", "a:1", "b:2", url], None).unwrap();
        assert_eq!(request.url.to_string(), "http://127.0.0.1:1/x");
        let request = of(&["-q", "a=1", "b=2", url], None).unwrap();
        assert_eq!(request.url.to_string(), "http://127.0.0.1:1/x?a=1&b=2");
    }
    let error = of(&["-J", "a:1", "h:1"], None).unwrap_err();
    assert!(error.line.contains("-url"), "{error}");
}

#[test]
fn parameters_are_encoded_and_sorted_as_gurl_does() {
    let path = |words: &[&str]| of(words, None).unwrap().url.path_and_query;
    assert_eq!(
        path(&["-q", "b=2", "a=x y&z", "a=é=", "-url", ":1/p"]),
        "/p?a=x+y%26z&a=%C3%A9%3D&b=2"
    );
    // gurl writes a second question mark.
    assert_eq!(path(&["-q", "b=2", "-url", ":1/p?z=1"]), "/p?z=1&b=2");
    assert!(of(&["-q", "b", "-url", ":1"], None).unwrap_err().line.contains("name=value"));
}

#[test]
fn forms_have_json_fields_first_and_files_as_go_sends_them() {
    let folder = Scratch::new("gurl-form");
    let file = folder.write("f.txt", "content");
    let words = [
        "-F",
        &format!("f=@{file}"),
        "-F",
        "g=h;type=x",
        "-form-string",
        "i=@j",
        "-Jfa",
        "t=a:b",
        "t=c:=1",
        "-Jfa-string",
        "u=k:@l",
        "-url",
        ":1",
    ];
    let request = of(&words, None).unwrap();
    let b = "------------------ablaze00000000";
    assert_eq!(
        request.content_type.as_deref(),
        Some(&*format!("multipart/form-data; boundary={}", &b[2..]))
    );
    let head = |name: &str| format!("{b}\r\nContent-Disposition: form-data; name=\"{name}\"");
    let expected = [
        format!("{}\r\n\r\n{{\"a\":\"b\",\"c\":1}}\r\n", head("t")),
        format!("{}\r\n\r\n{{\"k\":\"@l\"}}\r\n", head("u")),
        format!(
            "{}; filename=\"f.txt\"\r\nContent-Type: application/octet-stream\r\n\r\ncontent\r\n",
            head("f")
        ),
        format!("{}\r\n\r\nh;type=x\r\n", head("g")),
        format!("{}\r\n\r\n@j\r\n", head("i")),
        format!("{b}--\r\n"),
    ];
    assert_eq!(body_of(&words, None), expected.concat());
    // One whose content has the boundary gets another.
    let words = ["-F", &format!("a={b}"), "-url", ":1"];
    assert!(body_of(&words, None).starts_with("------------------ablaze00000001\r\n"));
}

#[test]
fn the_values_of_a_record_stand_for_its_names() {
    let record = record(&[("rf.col.0", "x y"), ("name", "a\"b"), ("n", "7")]);
    let words = [
        "-A",
        "{name}",
        "-H",
        "X: {n}{other}",
        "-q",
        "a={n}",
        "-X",
        "{n}",
        "-J",
        "who:{name}",
        "n:={n}",
        "-url",
        ":1/{rf.col.0}/{",
    ];
    let request = of(&words, Some(&record)).unwrap();
    assert_eq!(request.url.path_and_query, "/x%20y/{?a=%7Bn%7D");
    assert_eq!(
        (request.user_agent.as_str(), request.headers),
        ("a\"b", vec!["X: 7{other}".to_owned()])
    );
    assert_eq!(request.method.as_deref(), Some("{n}"));
    assert_eq!(body_of(&words, Some(&record)), r#"{"who":"a\"b","n":7}"#);
    assert_eq!(body_of(&["-d", "{n}{n}", ":1"], Some(&record)), "77");
    assert!(
        body_of(&["-F", "{n}={name}", ":1"], Some(&record)).contains("name=\"7\"\r\n\r\na\"b\r\n")
    );
    let nested = Record::from([("header".to_owned(), serde_json::json!({"A": ["b"]}))]);
    assert_eq!(body_of(&["-d", "{header}", ":1"], Some(&nested)), r#"{"A":["b"]}"#);
}

/// A value may come from a server: it names no file, and is no JSON unless the word says so.
#[test]
fn a_value_is_nothing_but_a_value() {
    let record = record(&[("v", "@/etc/passwd"), ("e", "=1"), ("k", "a.b:c")]);
    assert_eq!(body_of(&["-d", "{v}", ":1"], Some(&record)), "@/etc/passwd");
    assert_eq!(
        body_of(&["-J", "a:{v}", "b:{e}", "{k}:1", ":1"], Some(&record)),
        r#"{"a":"@/etc/passwd","b":"=1","a.b:c":"1"}"#
    );
    let form = body_of(&["-F", "a={v}", "-Jfa", "j=x:{v}", ":1"], Some(&record));
    assert!(
        form.contains("\r\n\r\n@/etc/passwd\r\n") && form.contains(r#"{"x":"@/etc/passwd"}"#),
        "{form}"
    );
}

#[test]
fn what_makes_no_request_is_named() {
    for (words, needle) in [
        (&["-d", "a", "-F", "b=c", ":1"][..], "-d and -F cannot be used together"),
        (&["-J", "a:1", "-d", "x", ":1"], "-d and -J cannot be used together"),
        (&["-F", "a", ":1"], "-F `a`: expected name=value"),
        (&["-J", "a:=x", ":1"], "`a:=x`"),
        (&["-F", "a=@/no/such/file", ":1"], "`/no/such/file`"),
        (&["-v"], "missing URL"),
        (&["http://h:x/"], "port `x`"),
    ] {
        let error = of(words, None).unwrap_err();
        assert!(error.line.contains(needle) && error.status == 2, "{words:?}: {error}");
    }
}
