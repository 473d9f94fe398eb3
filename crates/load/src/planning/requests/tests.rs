//! Requests as they are sent: the fields that are added, replaced, left out and refused.

use super::*;

fn get() -> RequestsAsked {
    let mut asked = RequestsAsked::new("h:8080", "/x?y");
    asked.user_agent = "agent".into();
    asked
}

fn text(asked: &RequestsAsked) -> String {
    let requests = asked.build().unwrap();
    String::from_utf8(requests.templates[0].bytes.clone()).unwrap()
}

#[test]
fn a_plain_get() {
    let expected = "GET /x?y HTTP/1.1\r\nHost: h:8080\r\nUser-Agent: agent\r\nAccept: */*\r\n\r\n";
    assert_eq!(text(&get()), expected);
}

#[test]
fn versions_say_what_they_do_not_do_by_themselves() {
    let connection = |minor_version, keep_alive| {
        let text = text(&RequestsAsked { minor_version, keep_alive, ..get() });
        let line = text.lines().find(|line| line.starts_with("Connection")).map(str::to_owned);
        (text.lines().next().unwrap().to_owned(), line)
    };
    assert_eq!(connection(0, false).1, None);
    assert_eq!(connection(0, true).1.unwrap(), "Connection: keep-alive");
    assert_eq!(connection(1, false).1.unwrap(), "Connection: close");
    assert_eq!(connection(1, true).1, None);
    assert_eq!(connection(0, true).0, "GET /x?y HTTP/1.0");
}

#[test]
fn what_a_proxy_forwards_has_the_whole_url_and_who_asks_it() {
    let forwarded = Forwarded { front: "http://h:8080".into(), authorization: None };
    let whole = text(&RequestsAsked { forwarded: Some(forwarded.clone()), ..get() });
    assert!(whole.starts_with("GET http://h:8080/x?y HTTP/1.1\r\nHost: h:8080\r\n"), "{whole}");
    assert!(!whole.contains("Proxy-"), "{whole}");
    let authorization = Some("Basic dTpw".to_owned());
    let forwarded = Some(Forwarded { authorization, ..forwarded });
    let known = text(&RequestsAsked { forwarded, ..get() });
    assert!(known.contains("\r\nProxy-Authorization: Basic dTpw\r\n"), "{known}");
}

#[test]
fn a_body_is_posted_with_its_length_and_type() {
    let body = |body: &str| Bodies::Same(body.as_bytes().into());
    let json = text(&RequestsAsked { bodies: body("{\"a\":1}"), ..get() });
    assert!(json.starts_with("POST /x?y "), "{json}");
    assert!(json.contains("\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"));
    let plain = text(&RequestsAsked { bodies: body("a=1"), ..get() });
    assert!(plain.contains("\r\nContent-Type: text/plain\r\n"), "{plain}");
    let typed = RequestsAsked { content_type: Some("a/b".into()), bodies: body("x"), ..get() };
    assert!(text(&typed).contains("\r\nContent-Type: a/b\r\n"));
    let put = RequestsAsked { method: Some("PUT".into()), bodies: body("x"), ..get() };
    assert!(text(&put).starts_with("PUT "));
    let empty = text(&RequestsAsked { method: Some("POST".into()), ..get() });
    assert!(empty.contains("\r\nContent-Length: 0\r\n"), "{empty}");
}

#[test]
fn headers_given_replace_ours_and_an_empty_one_leaves_it_out() {
    let headers = ["host: other", "Accept:", "X-A: 1", "X-A: 2", "User-Agent: me"];
    let asked = RequestsAsked { headers: headers.map(Into::into).into(), ..get() };
    let expected = "GET /x?y HTTP/1.1\r\nhost: other\r\nUser-Agent: me\r\n\
                    X-A: 1\r\nX-A: 2\r\n\r\n";
    assert_eq!(text(&asked), expected);
}

#[test]
fn a_wrong_or_double_length_and_a_double_host_are_refused() {
    let headers = |headers: &[&str]| RequestsAsked {
        headers: headers.iter().map(|line| (*line).to_owned()).collect(),
        bodies: Bodies::Same((*b"abc").into()),
        ..get()
    };
    assert!(text(&headers(&["Content-Length: 3"])).matches("Content-Length").count() == 1);
    for wrong in [
        &["Content-Length: 4"][..],
        &["Content-Length: 3", "content-length: 3"],
        &["Host: a", "Host: b"],
        &["no colon"],
        &["bad name: x"],
        &["X: a\r\nY: b"],
    ] {
        let error = headers(wrong).build().unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{wrong:?}: {error:?}");
    }
}

#[test]
fn a_transfer_coding_takes_the_place_of_the_length() {
    let asked = RequestsAsked {
        headers: vec!["Transfer-Encoding: chunked".into()],
        bodies: Bodies::Same((*b"0\r\n\r\n").into()),
        ..get()
    };
    assert!(!text(&asked).contains("Content-Length"));
    // Nobody makes chunks of it.
    let plain = RequestsAsked { bodies: Bodies::Same((*b"x").into()), ..asked.clone() };
    assert!(plain.build().unwrap_err().to_string().contains("not in chunks"));
    let none = RequestsAsked { bodies: Bodies::None, ..asked };
    assert!(none.build().is_err());
}

#[test]
fn credentials_are_those_of_the_standard() {
    // RFC 7617, section 2.
    let asked = RequestsAsked { user: Some("Aladdin:open sesame".into()), ..get() };
    assert!(text(&asked).contains("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"));
}

#[test]
fn bodies_in_turn_and_weighted_paths_make_an_order() {
    let lines = Bodies::InTurn(vec![b"a".to_vec(), b"b".to_vec(), b"a".to_vec()]);
    let requests = RequestsAsked { bodies: lines.clone(), ..get() }.build().unwrap();
    assert_eq!(requests.order, [0, 1, 2]);
    assert!(requests.templates[1].bytes.ends_with(b"\r\n\r\nb"));
    let paths = vec![("/a".into(), 3), ("/b".into(), 1)];
    let requests = RequestsAsked { paths: paths.clone(), ..get() }.build().unwrap();
    assert_eq!(requests.order.iter().filter(|entry| **entry == 0).count(), 3);
    assert_eq!(requests.order.len(), 4);
    assert!(RequestsAsked { paths, bodies: lines, ..get() }.build().is_err());
}
