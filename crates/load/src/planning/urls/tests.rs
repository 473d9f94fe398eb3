//! Lists as people write them for several tools, and what is none.

use super::*;

fn feed(text: &str) -> Feed {
    Feed::of(Blob::new("list", text.as_bytes().to_vec()))
}

#[test]
fn url_lists_have_comments_weights_and_one_far_end() {
    let text = "# shop\nhttp://h:8080/a\n\n  h:8080/b?c=1  3 # often\nHTTP://H:8080/{seq} 2\n";
    let list = url_list(&feed(text), None).unwrap();
    assert_eq!((list.url.host.as_str(), list.url.port), ("h", 8080));
    let expected = [("/a", 1), ("/b?c=1", 3), ("/{seq}", 2)];
    assert_eq!(list.paths(), expected.map(|(path, weight)| (path.to_owned(), weight)));
    let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
    assert_eq!(names, ["http://h:8080/a", "h:8080/b?c=1", "HTTP://H:8080/{seq}"]);
}

/// Notepad writes the mark; it is no part of the first URL.
#[test]
fn a_byte_order_mark_is_no_part_of_a_list() {
    let list = url_list(&feed("\u{feff}http://h:8080/a\r\nhttp://h:8080/b 2\r\n"), None).unwrap();
    assert_eq!(list.paths(), [("/a".to_owned(), 1), ("/b".to_owned(), 2)]);
    let bytes = b"http://h/a\nhttp://h/\xff\n".to_vec();
    let refused = url_list(&Feed::of(Blob::new("list", bytes)), None).unwrap_err().to_string();
    assert_eq!(refused, "list line 2: expected UTF-8 text, a list of URLs");
    let refused =
        url_list(&feed("http://h/a 99999999999999999999\n"), None).unwrap_err().to_string();
    assert!(
        refused.starts_with("list line 1: weight `99999999999999999999` is too large"),
        "{refused}"
    );
}

#[test]
fn a_list_too_long_is_refused_before_a_line_is_read() {
    // The first line is wrong, which nobody has found out.
    let text = "http://h/ 1 2\n".to_owned() + &"http://elsewhere:1/\n".repeat(LONGEST as usize);
    let base = Url::parse("h:81/").unwrap();
    let error = url_list(&feed(&text), Some(&base)).unwrap_err().to_string();
    assert!(error.contains("more than 1000000 URLs"), "{error}");
    // What belongs to an entry is none.
    let of_two = "# list\n\nPOST http://h/a\nX-A: 1\nX-B:\n@body\nh:81/b\n";
    assert_eq!([1, 2].map(|most| lines::are_more_than(of_two, most)), [true, false]);
}

#[test]
fn names_have_no_passwords() {
    let text = "http://me:s3cret@h/a\nme:s3cret@h/x@y:z\nhttp://s3cret@h/?u=http://a:b@c/\nh/d 2\n";
    let list = url_list(&feed(text), None).unwrap();
    let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
    assert_eq!(names, ["http://h/a", "h/x@y:z", "http://h/?u=http://a:b@c/", "h/d"]);
}

#[test]
fn with_a_base_lines_may_be_paths() {
    let base = Url::parse("h:81/ignored").unwrap();
    let feed = feed("/a\nh:81/b 2\n");
    let list = url_list(&feed, Some(&base)).unwrap();
    assert_eq!(list.paths(), [("/a".to_owned(), 1), ("/b".to_owned(), 2)]);
    let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
    assert_eq!(names, ["/a", "h:81/b"]);
    assert!(url_list(&feed, None).unwrap_err().to_string().contains("line 1"));
}

#[test]
fn lists_may_name_several_hosts() {
    let text = "h/a\nPOST https://other:8443/b x\nhttp://H:80/c 2\nPOST h/b\nh:81/d\n";
    let list = url_list(&feed(text), None).unwrap();
    assert_eq!(list.url.host_header(), "h");
    let others: Vec<String> = list.others.iter().map(front).collect();
    assert_eq!(others, ["https://other:8443", "http://h:81"]);
    assert_eq!(list.host_of_paths(), [0, 1, 0, 0, 2]);
    let names: Vec<&str> = list.entries.iter().map(|entry| &entry.name[..]).collect();
    // Requests of two hosts are two groups, though method and path are the same.
    let expected =
        ["h/a", "POST https://other:8443/b", "http://H:80/c", "POST http://h/b", "h:81/d"];
    assert_eq!(names, expected);
    let base = Url::parse("https://other:8443/x").unwrap();
    let list = url_list(&feed(&format!("/p\n{text}")), Some(&base)).unwrap();
    assert_eq!(list.host_of_paths(), [0, 1, 0, 1, 1, 2]);
}

#[test]
fn several_hosts_are_refused_where_they_would_not_be_what_was_meant() {
    let many: String = (1..=65).map(|port| format!("h:{port}/\n")).collect();
    let passwords = "a/x\nhttp://me:s3cret@b/y\n";
    let table = [
        (many.as_str(), None, "line 65: http://h:65 is one host too many"),
        (passwords, None, "that of http://b has a user and a password"),
        ("a/x\n/y\n", Some("http://me:s3cret@b/"), "that of http://b has a user"),
        ("a/x\nb/y\n", Some("http://c/"), "no line of `list` goes to http://c"),
    ];
    for (text, base, expected) in table {
        let base = base.map(|base| Url::parse(base).unwrap());
        let error = url_list(&feed(text), base.as_ref()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn what_is_no_list_is_refused_with_its_line() {
    let table = [
        ("weight", "h/a\nh/b often\n", "line 2: weight `often`"),
        ("words", "h/a 1 2\n", "line 1"),
        ("empty", "# nothing\n", "contains no URL"),
    ];
    for (name, text, expected) in table {
        let error = url_list(&feed(text), None).unwrap_err();
        assert!(error.to_string().contains(expected), "{name}: {error}");
        assert!(matches!(error, Error::Usage(_)), "{name}: {error:?}");
    }
}

/// Method, path, fields and body of each; a file's name behind `@`.
fn shown(text: &str) -> Vec<String> {
    let list = url_list(&feed(text), None).unwrap();
    let show = |entry: ListedUrl| match entry.own {
        None => format!("- {} {}", entry.path, entry.weight),
        Some(own) => {
            let body = match own.body {
                None => String::new(),
                Some(OwnBody::Text(text)) => format!(" [{text}]"),
                Some(OwnBody::File(name)) => format!(" @{name}"),
            };
            format!("{} {} {:?}{body}", own.method, entry.path, own.headers)
        }
    };
    list.entries.into_iter().map(show).collect()
}

#[test]
fn lines_may_say_method_and_body() {
    let text = "http://h/a 2\nPOST http://h/b {\"a\": 1} # no comment\nGET h/c # a comment\n\
                PUT h/d @some file.json\nhttp://h/e POST a=1&b=2\nh/f DELETE\nM-SEARCH h:80/g\n";
    let expected = [
        "- /a 2",
        r#"POST /b [] [{"a": 1} # no comment]"#,
        "GET /c []",
        "PUT /d [] @some file.json",
        "POST /e [] [a=1&b=2]",
        "DELETE /f []",
        "M-SEARCH /g []",
    ];
    assert_eq!(shown(text), expected);
    let list = url_list(&feed(text), None).unwrap();
    assert_eq!((&list.entries[0].name[..], &list.entries[1].name[..]), ("http://h/a", "POST /b"));
}

/// The example of vegeta's manual, and what it permits besides.
#[test]
fn targets_of_vegeta() {
    let text = "# targets\nGET http://h:80/path?item=ball\nX-Account-ID: 99\n\n\
                DELETE http://h/things\nConfirmation-Token: 90215\nX-Empty:\n\
                # between\nAuthorization: Token DEADBEEF\n\n\
                POST http://h/things\nContent-Type: application/json\n@/path/to/body.json\n\
                GET http://h/next\nPOST http://h/last\n  @body\n";
    let expected = [
        r#"GET /path?item=ball ["X-Account-ID: 99"]"#,
        r#"DELETE /things ["Confirmation-Token: 90215", "X-Empty:", "Authorization: Token DEADBEEF"]"#,
        r#"POST /things ["Content-Type: application/json"] @/path/to/body.json"#,
        "GET /next []",
        "POST /last [] @body",
    ];
    assert_eq!(shown(text), expected);
}

#[test]
fn a_wrong_line_is_named_with_what_was_expected() {
    let table = [
        (
            "GET h/a\n\nX: y\n",
            "list line 3: `X:` is a header and belongs below a line `METHOD URL`",
        ),
        ("h/a\n@x\n", "list line 2: `@x` is a body and belongs below a line `METHOD URL`"),
        ("POST h/a x\nX: y\n", "list line 2: `X:` is a header"),
        ("GET h/a 3\n", "line 1: `3` behind the URL is a body, which GET does not send"),
        ("GET h/a\n@x\n", "line 2: `@x` is a body, which GET does not send"),
        ("POST h/a @\n", "line 1: `@` names no file: expected `@FILE`"),
        (
            "h/a post\n",
            "weight `post` is not a whole number: expected `URL WEIGHT` or `METHOD URL BODY`",
        ),
        ("POST http://h:x/\n", "line 1"),
    ];
    for (text, expected) in table {
        let error = url_list(&feed(text), None).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
