//! Stages between quoted `|`: lines in, records out.

use ablaze_testing::Scratch;

use super::gurl;
use super::server::Recording;

/// The lines of standard output as JSON.
#[track_caller]
fn records(words: &[&str]) -> Vec<serde_json::Value> {
    let said = gurl(words);
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{words:?}");
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_become_records_under_names_and_only_keys_that_are_asked_for() {
    let folder = Scratch::new("gurl-lines");
    let file = folder.write("lines", "a b\n/x y\r\n\nlast");
    let out = folder.file("out");
    for (source, sink, expected) in [
        (
            &[][..],
            &[][..],
            r#"{"rf.col.0":"a","rf.col.1":"b"}|{"rf.col.0":"/x","rf.col.1":"y"}|{"rf.col.0":""}|{"rf.col.0":"last"}"#,
        ),
        (
            &["-input-fields", "x"],
            &[],
            r#"{"rf.col.0":"a b"}|{"rf.col.0":"/","rf.col.1":" y"}|{"rf.col.0":""}|{"rf.col.0":"last"}"#,
        ),
        (
            &["-skey", "k=rf.col.1,first=rf.col.0"],
            &[],
            r#"{"first":"a","k":"b"}|{"first":"/x","k":"y"}|{"first":""}|{"first":"last"}"#,
        ),
        (
            &["-skey", "k=rf.col.1"],
            &["-wkey", "k,zz"],
            r#"{"k":"b","zz":null}|{"k":"y","zz":null}|{"k":null,"zz":null}|{"k":null,"zz":null}"#,
        ),
        (&[], &["-W", &out, "-wkey", "rf.col.0"], ""),
    ] {
        let said = gurl(&[&["-I", "-R", &file], source, &["|", "-O"], sink].concat());
        assert_eq!((said.status, said.stderr.as_str()), (0, ""));
        assert_eq!(said.stdout.trim_end().replace('\n', "|"), expected);
    }
    assert_eq!(folder.read("out").lines().count(), 4);
}

/// gurl's README: `gurl http -I -R url.list -skey "url=rf.col.0" "|" -ac 5 -r -w -merge "{url}" -o "/dev/null" "|" -O -wkey
/// "status_code"`.
#[test]
fn a_list_of_urls_as_in_gurls_own_example() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-list");
    let urls: String = ["/a", "/status/404", "/b", "/c"]
        .map(|path| format!("127.0.0.1:{}{path}\n", server.port))
        .concat();
    let file = folder.write("url.list", urls);
    let words = [
        "http",
        "-I",
        "-R",
        &file,
        "-skey",
        "url=rf.col.0",
        "|",
        "-ac",
        "5",
        "-r",
        "-w",
        "-merge",
        "{url}",
        "-o",
        "/dev/null",
        "|",
        "-O",
        "-wkey",
        "status_code",
    ];
    let mut statuses: Vec<String> =
        records(&words).iter().map(|record| record.to_string()).collect();
    statuses.sort();
    let [ok, missing] = [r#"{"status_code":"200"}"#, r#"{"status_code":"404"}"#];
    assert_eq!(statuses, [ok, ok, ok, missing]);
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_record_of_a_response_has_gurls_keys() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-records");
    let file = folder.write("lines", "cookies 7\n");
    let stage = ["|", "-r", "-w", "-url", &server.short("/{rf.col.0}")];
    let source = ["-I", "-R", &file];
    let own = serde_json::json!({
        "err": "", "status_code": "200", "body": "two",
        "header": {"Set-Cookie": ["a=1", "b=2"], "Content-Length": ["3"]},
    });
    assert_eq!(records(&[&source[..], &stage, &["|", "-O"]].concat()), std::slice::from_ref(&own));
    let mut merged = own.clone();
    (merged["rf.col.0"], merged["rf.col.1"]) = ("cookies".into(), "7".into());
    assert_eq!(records(&[&source[..], &stage, &["-m", "|", "-O"]].concat()), [merged]);
    // Without -r there is nothing to merge, and requests are counted.
    let alone = ["-an", "3", "-w", &server.short("/cookies"), "|", "-O"];
    assert_eq!(records(&alone), [own.clone(), own.clone(), own]);
}

#[test]
fn names_in_braces_are_values_wherever_gurl_replaces_them() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-names");
    let file = folder.write("lines", "it's \"x\"\n");
    let out = folder.file("{w}.out");
    let url = server.short("/{n}/{other}");
    let request =
        ["-r", "-A", "{n}", "-H", "X: {n}", "-q", "q={n}", "-J", "a:{w}", "-o", &out, "-url", &url];
    let names = ["-I", "-R", &file, "-skey", "n=rf.col.0,w=rf.col.1", "|"];
    let said = gurl(&[&names[..], &request].concat());
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    let seen = server.one();
    assert_eq!(seen.asked(), "POST /it's/{other}?q=%7Bn%7D", "-q keeps its braces");
    assert_eq!((seen.field("User-Agent"), seen.field("X")), (Some("it's"), Some("it's")));
    assert_eq!(seen.text(), r#"{"a":"\"x\""}"#);
    assert_eq!(folder.read("\"x\".out"), "POST /it's/{other}?q=%7Bn%7D");
}

#[test]
fn stages_follow_each_other() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-stages");
    let many: String = (0..3000).map(|number| format!("{number}\n")).collect();
    let file = folder.write("lines", many);
    let (first, second) = (server.short("/{rf.col.0}"), server.short("/second"));
    let words = [
        "-I",
        "-R",
        &file,
        "|",
        "-ac",
        "3",
        "-r",
        "-w",
        "-url",
        &first,
        "|",
        "-r",
        "-w",
        "-d",
        "{status_code} {body}",
        "-url",
        &second,
        "|",
        "-O",
        "-wkey",
        "body",
    ];
    let said = records(&words);
    assert_eq!(said.len(), 3000);
    assert!(said.iter().all(|record| record["body"] == "POST /second"));
    let mut bodies: Vec<String> = server
        .seen()
        .iter()
        .filter(|seen| seen.asked() == "POST /second")
        .map(|seen| seen.text().to_owned())
        .collect();
    bodies.sort();
    let mut expected: Vec<String> = (0..3000).map(|number| format!("200 GET /{number}")).collect();
    expected.sort();
    assert_eq!(bodies, expected);
}

#[test]
fn what_fails_is_in_its_record_and_the_rest_goes_on() {
    let server = Recording::start();
    let folder = Scratch::new("gurl-fails");
    let file = folder.write("lines", format!("127.0.0.1:1/\nnot a host\n:{}/p\n", server.port));
    let stage = [
        "-I",
        "-R",
        &file,
        "-input-fields",
        "\t",
        "|",
        "-r",
        "-w",
        "-url",
        "{rf.col.0}",
        "|",
        "-O",
    ];
    let said = gurl(&stage);
    assert_eq!((said.status, said.stderr.as_str()), (1, ""), "{said:?}");
    let records: Vec<serde_json::Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&str> = records.iter().map(|record| record["err"].as_str().unwrap()).collect();
    assert!(errors[0].contains("refused the connection"), "{errors:?}");
    assert!(errors[1].contains("not a host"), "{errors:?}");
    assert_eq!((errors[2], &records[2]["body"]), ("", &"GET /p".into()));
    assert_eq!(
        (&records[0]["status_code"], &records[0]["header"]),
        (&"0".into(), &serde_json::Value::Null)
    );

    let said = gurl(&["-I", "-R", "/no/such/file", "|", "-O"]);
    said.assert_one_line(2, "`/no/such/file` for -R");
    let said = gurl(&["-I", "-R", &file, "|", "-O", "-W", "/no/such/folder/x"]);
    said.assert_one_line(1, "`/no/such/folder/x` for -W");
}
